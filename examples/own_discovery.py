"""Answer lookups from memory: read a log's title once for each state of its file."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from sessionref import Candidate, Target, open_resolver
from sessionref.discovery import Discovery
from sessionref.discovery.ranking import candidate, label_of, matches, rank
from sessionref.storage import (
    Corpus,
    CorpusSession,
    JsonlSessionStore,
    Revision,
    TitleReading,
)
from sessionref.testing import FailingStore, check_discovery

State = tuple[str, Revision]


class RememberingDiscovery:
    """A `Discovery` that remembers the title of each log as long as its revision stays."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[State | None, TitleReading] = {}

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        """Return the first `limit` sessions that match a query, best first."""
        sessions = [
            (header, session)
            for session in await self._corpus.list_sessions()
            if (header := session.header) is not None and header.id != target.session_id
        ]
        readings = await self._read_titles([session for _, session in sessions])
        found = [
            (rank(target.cwd, header), header, session, reading)
            for (header, session), reading in zip(sessions, readings, strict=True)
        ]
        found.sort(key=lambda entry: entry[0])
        needle = query.lower()
        return [
            candidate(header, label, session.updated_at, problem_of(reading))
            for _, header, session, reading in found
            if matches(needle, header, label := label_of(header.id, title_of(reading)))
        ][:limit]

    async def _read_titles(self, sessions: list[CorpusSession]) -> list[TitleReading]:
        known = self._known  # another lookup may put its own in the place of it meanwhile
        unknown = [session for session in sessions if state_of(session) not in known]
        fresh = iter(await self._corpus.read_titles(unknown))
        readings: list[TitleReading] = []
        remembered: dict[State | None, TitleReading] = {}
        for session in sessions:
            state = state_of(session)
            reading = known[state] if state in known else next(fresh)
            readings.append(reading)
            if state is not None:
                remembered[state] = reading
        self._known = remembered
        return readings


def state_of(session: CorpusSession) -> State | None:
    """Return what a title can be remembered by; a live session may change at any time."""
    if session.live is not None or session.stored is None or session.stored.revision is None:
        return None
    return session.place, session.stored.revision


def title_of(reading: TitleReading) -> str | None:
    """Return a title, or None where a log has none or cannot be read."""
    return None if reading.title is None else reading.title.title


def problem_of(reading: TitleReading) -> str | None:
    """Return why a log cannot be read, or None."""
    return None if reading.error is None else reading.error.describe()


def write_log(root: Path, session_id: str, title: str) -> None:
    """Write a log that holds a title and nothing else."""
    log = root / "--home-me-shop--" / session_id / "session.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    header = {"type": "session", "version": 0, "id": session_id, "createdAt": 1}
    header |= {"delegationDepth": 0, "cwd": "/home/me/shop"}
    data = {"title": title, "messageSeqs": [], "source": {"kind": "user"}}
    event = {"type": "session/title", "seq": 0, "time": 1, "data": data}
    log.write_text(f"{json.dumps(header)}\n{json.dumps(event)}\n", encoding="utf-8")


async def main(root: Path) -> None:
    """Check the discovery, and count how many titles its lookups read."""
    for name in ("bread", "cake", "rolls"):
        write_log(root, name, f"All about {name}")
    store = FailingStore(JsonlSessionStore(root))  # it never fails here, but it counts
    corpus = Corpus(store)
    discovery: Discovery = RememberingDiscovery(corpus)
    await check_discovery(discovery, corpus, queries=["about"])
    print("The discovery keeps what the protocol promises.")

    target = Target(session_id="new", cwd="/home/me/shop")
    discovery = RememberingDiscovery(corpus)
    async with open_resolver(store, discovery=discovery) as resolver:
        for changed in (None, None, "cake"):
            if changed is not None:
                write_log(root, changed, "All about cream cake")
            before = store.title_reads
            found = await resolver.list_candidates(target, "ca")
            labels = ", ".join(candidate.label for candidate in found)
            print(f"{store.title_reads - before} titles read, found: {labels}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        trio.run(main, Path(folder))
