"""Discovery without an index: rank the headers, then read titles until there are enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

import trio

from sessionref.discovery.diagnostics import Diagnostic, Reporter
from sessionref.discovery.ranking import candidate, label_of, matches, rank
from sessionref.model import Candidate, Target
from sessionref.storage.corpus import Corpus, CorpusSession
from sessionref.storage.protocol import TitleReading
from sessionref.work import run_all, run_pure

__all__ = ["ScanDiscovery", "match_session"]

_FIRST_BATCH, _LARGEST_BATCH = 16, 256
"""Titles that are read in one go: a change of thread costs about as much as reading a small log.

The longer nothing is found, the more are read before looking again."""

_STEPS_PER_SESSION: Final = 20
_REPORTED_AT_ONCE: Final = 64


class ScanDiscovery:
    """A `Discovery` that reads logs at every question, at most `concurrency` batches at a time.

    It knows nothing from one question to the next, so it is never stale; its cost grows with the
    logs.  An empty query reads at most `limit` of them.  Faults are told to `on_diagnostic`, or by
    a `reporter` that others use too.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        concurrency: int = 4,
        on_diagnostic: Callable[[Diagnostic], None] | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        self._corpus = corpus
        self._concurrency = concurrency
        self._reporter = reporter or Reporter(on_diagnostic)

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        """Return the first `limit` sessions that match a query, best first."""
        found = await self._corpus.list_sessions()
        needle = query.lower()
        steps = len(found) * _STEPS_PER_SESSION
        ranked = await run_pure(lambda _: _rank(target, found), steps)
        for place, session in enumerate(await run_pure(lambda _: _faulty(found), steps)):
            if place % _REPORTED_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            self._report(session, TitleReading(error=session.error))
        rest = iter(ranked)
        candidates: list[Candidate] = []
        batch = _FIRST_BATCH
        while len(candidates) < limit:
            wanted = self._concurrency * batch
            if not needle:
                wanted = min(wanted, limit - len(candidates))
            sessions = list(islice(rest, wanted))
            if not sessions:
                break
            readings = await self._read_titles(sessions, batch)
            batch = min(2 * batch, _LARGEST_BATCH)
            for session, reading in zip(sessions, readings, strict=True):
                self._report(session, reading)
            candidates += await _match_all(needle, sessions, readings)
        return candidates[:limit]

    async def _read_titles(
        self, sessions: Sequence[CorpusSession], batch: int
    ) -> list[TitleReading]:
        jobs = [partial(self._corpus.read_titles, part) for part in _parts(sessions, batch)]
        parts = await run_all(jobs, at_once=self._concurrency)
        return [reading for part in parts for reading in part]

    def _report(self, session: CorpusSession, reading: TitleReading) -> None:
        session_id = session.header.id if session.header is not None else None
        if session_id is None and session.stored is not None:
            session_id = session.stored.session_id
        if reading.error is None:
            self._reporter.clear(session.place, session_id)
        else:
            self._reporter.report(Diagnostic(session.place, session_id, reading.error))


def _rank(target: Target, found: Sequence[CorpusSession]) -> list[CorpusSession]:
    keyed = [
        (rank(target.cwd, header), place)
        for place, session in enumerate(found)
        if (header := session.header) is not None and header.id != target.session_id
    ]
    return [found[place] for _, place in sorted(keyed)]


def _faulty(found: Sequence[CorpusSession]) -> list[CorpusSession]:
    return [session for session in found if session.error is not None]


def _parts(sessions: Sequence[CorpusSession], size: int) -> Iterator[Sequence[CorpusSession]]:
    for start in range(0, len(sessions), size):
        yield sessions[start : start + size]


async def _match_all(
    needle: str, sessions: Sequence[CorpusSession], readings: Sequence[TitleReading]
) -> list[Candidate]:
    """Return the candidates among some sessions; a title may be of any length."""
    titles = (reading.title for reading in readings)
    size = sum(_STEPS_PER_SESSION + len(title.title) for title in titles if title is not None)

    def work(check: Callable[[], None]) -> list[Candidate]:
        found = []
        for session, reading in zip(sessions, readings, strict=True):
            check()
            match = match_session(needle, session, reading)
            if match is not None:
                found.append(match)
        return found

    return await run_pure(work, size)


def match_session(needle: str, session: CorpusSession, reading: TitleReading) -> Candidate | None:
    """Return a session as it is offered if a lower-cased needle occurs in it, else None."""
    header = session.header
    if header is None:
        return None
    label = label_of(header.id, None if reading.title is None else reading.title.title)
    if not matches(needle, header, label):
        return None
    problem = None if reading.error is None else reading.error.describe()
    return candidate(header, label, session.updated_at, problem)
