"""Live sessions before stored ones: which is read, when they disagree, what changes meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from logs import LogBuilder, store_of

from sessionref.errors import (
    SessionConflictError,
    SessionDamagedError,
    SessionNotFoundError,
    StorageError,
    StoreUnreadableError,
)
from sessionref.session.header import SessionHeader
from sessionref.storage import Corpus, CorpusSession, LiveSession, LiveSessions, TitleReading
from sessionref.testing import FailingStore

STORED = SessionHeader(0, "s", 1, 0, "/w", "p", 3, "subagent", "fast")


def titled(session_id: str, title: str, **header: Any) -> LogBuilder:
    log = LogBuilder(session_id, **header)
    log.title(title)
    return log


def go_live(live: LiveSessions, log: LogBuilder) -> None:
    live.open(LiveSession(log.header, log.events))


def title_of(reading: TitleReading) -> str | None:
    return None if reading.title is None else reading.title.title


async def one(corpus: Corpus) -> CorpusSession:
    (session,) = await corpus.list_sessions()
    return session


async def test_a_corpus_has_both_kinds() -> None:
    """Stored and live sessions are listed together, each once."""
    live = LiveSessions()
    go_live(live, titled("b", "live"))
    go_live(live, titled("c", "live"))
    corpus = Corpus(store_of(titled("a", "stored"), titled("b", "stored")), live)
    sessions = {
        session.header and session.header.id: session for session in await corpus.list_sessions()
    }
    assert len(sessions) == 3
    kinds = {
        session_id: (session.stored is not None, session.live is not None)
        for session_id, session in sessions.items()
    }
    assert kinds == {"a": (True, False), "b": (True, True), "c": (False, True)}
    assert [sessions[session_id].place for session_id in "abc"] == ["memory", "memory", "live"]


async def test_a_corpus_without_live_sessions_is_its_store() -> None:
    """A host that holds no session open need not say so."""
    log = titled("a", "stored")
    assert await Corpus(store_of(log)).read_log("a") == log.log()


async def test_live_wins() -> None:
    """Of a session that is live, log and title are the live ones."""
    live = LiveSessions()
    stored, newer = titled("s", "stored"), titled("s", "live")
    newer.user("more")
    go_live(live, newer)
    corpus = Corpus(store_of(stored), live)
    session = await one(corpus)
    assert session.error is None
    assert session.updated_at == newer.events[-1]["time"]
    assert await corpus.read_log("s") == newer.log()
    assert list(map(title_of, await corpus.read_titles([session]))) == ["live"]


async def test_a_session_grew_when_its_log_did() -> None:
    """The time of the last live event counts, and before the first that of the stored log."""
    live = LiveSessions()
    stored = titled("s", "stored")
    corpus = Corpus(store_of(stored), live)
    assert (await one(corpus)).updated_at == stored.events[-1]["time"]
    go_live(live, LogBuilder("s"))
    assert (await one(corpus)).updated_at == stored.events[-1]["time"]


async def test_a_live_session_without_events_has_not_grown() -> None:
    """A session that is only live and has no event has no time."""
    live = LiveSessions()
    go_live(live, LogBuilder("s"))
    assert (await one(Corpus(store_of(), live))).updated_at is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("created_at", 2),
        ("delegation_depth", 1),
        ("cwd", "/v"),
        ("cwd", None),
        ("parent_session", "q"),
        ("parent_session", None),
        ("seed_length", 4),
        ("seed_length", None),
    ],
)
async def test_headers_that_differ_are_a_conflict(name: str, value: object) -> None:
    """A live session whose header disagrees with its log is listed, and cannot be read."""
    changes: dict[str, Any] = {name: value}
    live = LiveSessions()
    live.open(LiveSession(replace(STORED, **changes)))
    store = store_of()
    store.put(STORED)
    corpus = Corpus(store, live)
    session = await one(corpus)
    assert session.header == replace(STORED, **changes)
    assert isinstance(session.error, SessionConflictError)
    assert (session.error.session_id, session.error.fields) == ("s", (name,))
    with pytest.raises(SessionConflictError, match=name):
        await corpus.read_log("s")
    (reading,) = await corpus.read_titles([session])
    assert str(reading.error) == str(session.error)


async def test_a_live_session_of_another_version_is_a_conflict() -> None:
    """The version of the format is part of who a session is."""
    live = LiveSessions()
    live.open(LiveSession(replace(STORED, version=99)))
    store = store_of()
    store.put(STORED)
    session = await one(Corpus(store, live))
    assert isinstance(session.error, SessionConflictError)
    assert session.error.fields == ("version",)


@pytest.mark.parametrize("changes", [{"origin": None}, {"agent_preset": "slow"}])
async def test_other_members_may_differ(changes: dict[str, Any]) -> None:
    """Origin and agent preset do not say which session it is."""
    live = LiveSessions()
    live.open(LiveSession(replace(STORED, **changes)))
    store = store_of()
    store.put(STORED)
    assert (await one(Corpus(store, live))).error is None


async def test_a_conflict_tells_all_that_differs() -> None:
    """Every field that disagrees is named, and what to do."""
    live = LiveSessions()
    live.open(LiveSession(replace(STORED, cwd="/v", seed_length=None)))
    store = store_of()
    store.put(STORED)
    with pytest.raises(SessionConflictError, match=r"another cwd, seed_length .*close one"):
        await Corpus(store, live).read_log("s")


async def test_a_live_session_makes_up_for_a_damaged_log() -> None:
    """Where the stored header cannot be read, there is nothing to disagree with."""

    class Damaged(FailingStore):
        async def list_sessions(self) -> Any:
            async for batch in self._store.list_sessions():
                yield [replace(each, header=None, error=damage) for each in batch]

    damage = SessionDamagedError(reason="broken")
    live = LiveSessions()
    log = titled("s", "live")
    corpus = Corpus(Damaged(store_of(titled("s", "stored"))), live)
    assert (await one(corpus)).error is damage
    go_live(live, log)
    session = await one(corpus)
    assert (session.error, session.header) == (None, log.header)
    assert list(map(title_of, await corpus.read_titles([session]))) == ["live"]


async def test_a_session_that_goes_live_after_the_listing_is_live() -> None:
    """Titles are those of the moment of reading: what went live since is read live."""
    live = LiveSessions()
    corpus = Corpus(store_of(titled("s", "stored")), live)
    session = await one(corpus)
    go_live(live, titled("s", "live"))
    assert list(map(title_of, await corpus.read_titles([session]))) == ["live"]
    go_live(live, titled("s", "live", cwd="/elsewhere"))
    (reading,) = await corpus.read_titles([session])
    assert isinstance(reading.error, SessionConflictError)


async def test_a_session_that_is_closed_after_the_listing_is_stored() -> None:
    """What the host has closed since is read from the store, a conflict included."""
    live = LiveSessions()
    corpus = Corpus(store_of(titled("s", "stored")), live)
    for header in [{}, {"cwd": "/elsewhere"}]:
        go_live(live, titled("s", "live", **header))
        session = await one(corpus)
        live.close("s")
        assert list(map(title_of, await corpus.read_titles([session]))) == ["stored"]


async def test_a_session_that_was_only_live_is_read_as_it_was() -> None:
    """What is not stored can still be read after its host has closed it."""
    live = LiveSessions()
    go_live(live, titled("s", "live"))
    corpus = Corpus(store_of(), live)
    session = await one(corpus)
    live.close("s")
    assert list(map(title_of, await corpus.read_titles([session]))) == ["live"]
    with pytest.raises(ValueError, match="not stored"):
        _ = session.stored_part


async def test_titles_come_in_order() -> None:
    """Live, stored and failing sessions in any order give their own titles and errors."""
    live = LiveSessions()
    go_live(live, titled("b", "live b"))
    bad = LogBuilder("c")
    bad.append("mode/set", {})
    go_live(live, bad)
    store = FailingStore(
        store_of(titled("a", "A"), titled("d", "D"), titled("e", "E")),
        {"d": SessionDamagedError(reason="broken")},
    )
    corpus = Corpus(store, live)
    sessions = sorted(await corpus.list_sessions(), key=lambda session: str(session.header))
    readings = await corpus.read_titles(sessions)
    assert list(map(title_of, readings)) == ["A", "live b", None, None, "E"]
    assert [isinstance(reading.error, SessionDamagedError) for reading in readings] == [
        *(False, False, True, True, False)
    ]
    assert store.title_reads == 3


async def test_no_titles_are_read_where_none_are_asked_for() -> None:
    """Without a stored session the store is not asked."""
    store = FailingStore(store_of())
    assert await Corpus(store).read_titles([]) == []
    assert store.title_reads == 0


async def test_a_session_that_is_neither_is_not_found() -> None:
    """An id that is neither stored nor live is not found."""
    with pytest.raises(SessionNotFoundError, match="'s'"):
        await Corpus(store_of()).read_log("s")


async def test_a_live_session_need_not_be_stored() -> None:
    """A session that has no log yet is read live."""
    live = LiveSessions()
    log = titled("s", "live")
    go_live(live, log)
    assert await Corpus(store_of(), live).read_log("s") == log.log()


async def test_a_host_can_make_a_type_known() -> None:
    """Types that a host knows are known in its live sessions too."""
    live = LiveSessions()
    log = titled("s", "live")
    log.append("acme/ledger", {})
    go_live(live, log)
    with pytest.raises(StorageError, match="acme/ledger"):
        await Corpus(store_of(), live).read_log("s")
    known = Corpus(store_of(), live, known_types={"acme/ledger"})
    assert (await known.read_log("s")).last_seq == 1
    assert list(map(title_of, await known.read_titles([await one(known)]))) == ["live"]


async def test_a_store_that_cannot_be_listed_is_an_error() -> None:
    """Live sessions alone would be no true answer."""
    live = LiveSessions()
    go_live(live, titled("s", "live"))
    error = StoreUnreadableError(path="/r", reason="gone")
    with pytest.raises(StoreUnreadableError):
        await Corpus(FailingStore(store_of(), listing_error=error), live).list_sessions()
