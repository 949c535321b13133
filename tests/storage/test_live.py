"""Sessions that a host holds open, and sessions in memory."""

from __future__ import annotations

import threading

import pytest
import trio
from logs import LogBuilder

from sessionref.errors import (
    SessionDamagedError,
    SessionNotFoundError,
    SessionUnsupportedError,
)
from sessionref.storage import LiveSession, LiveSessions, MemorySessionStore


def live(log: LogBuilder) -> LiveSession:
    return LiveSession(log.header, log.events)


async def test_a_live_session_is_read_as_it_is_now() -> None:
    """What the host appends counts from the next read on."""
    log = LogBuilder()
    session = live(log)
    assert (await session.read_log()).last_seq is None
    log.user("hi")
    assert await session.read_log() == log.log()
    assert session.updated_at == log.events[-1]["time"]


def test_a_live_session_without_events_has_not_grown() -> None:
    """Without an event, or with one that has no time, nobody knows when a session last grew."""
    assert LiveSession(LogBuilder().header).updated_at is None
    assert LiveSession(LogBuilder().header, [{"type": "todo/write"}]).updated_at is None


async def test_a_live_session_follows_the_format() -> None:
    """A host's events are held to the same rules as those of a log."""
    log = LogBuilder()
    log.append("acme/ledger", {})
    with pytest.raises(SessionUnsupportedError, match="acme/ledger"):
        await live(log).read_log()
    assert (await live(log).read_log({"acme/ledger"})).last_seq == 0
    log.events[0]["seq"] = 1
    with pytest.raises(SessionDamagedError, match="event 0"):
        await live(log).read_log()


async def test_a_capture_is_one_moment() -> None:
    """While another thread appends, each read sees some first events, and never half of one."""
    log = LogBuilder()
    session = live(log)
    done = threading.Event()

    def append() -> None:
        for number in range(3_000):
            log.user(str(number))
        done.set()

    seen: list[int] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, append)
        while not done.is_set():
            captured = await session.read_log()
            assert [node.text for _, node in captured.surface] == [
                str(number) for number in range(len(captured.surface))
            ]
            seen.append(len(captured.surface))
    assert seen == sorted(seen)
    assert len((await session.read_log()).surface) == 3_000


async def test_a_long_live_session_can_be_given_up() -> None:
    """Reading many events happens in a thread, which a cancelled caller leaves."""
    log = LogBuilder()
    for number in range(2_000):
        log.user(str(number))
    with trio.CancelScope() as scope:
        scope.cancel()
        await live(log).read_log()
    assert scope.cancelled_caught


def test_live_sessions_come_and_go() -> None:
    """A host opens and closes sessions by id; the last one opened under an id is the one."""
    sessions = LiveSessions()
    first, second, other = (live(LogBuilder(session_id)) for session_id in "aab")
    for session in (first, second, other):
        sessions.open(session)
    assert list(sessions) == [second, other]
    assert sessions.get("a") is second
    sessions.close("a")
    sessions.close("a")
    assert sessions.get("a") is None
    assert list(sessions) == [other]


def test_live_sessions_may_change_while_they_are_iterated() -> None:
    """Iterating shows the sessions of one moment, whatever the host does meanwhile."""
    sessions = LiveSessions()
    for session_id in "abc":
        sessions.open(live(LogBuilder(session_id)))
    seen = []
    for session in sessions:
        sessions.close("c")
        sessions.open(live(LogBuilder("d")))
        seen.append(session.header.id)
    assert seen == ["a", "b", "c"]


async def test_sessions_in_memory_come_and_go() -> None:
    """A store in memory has what was put into it, and forgets what is removed."""
    store = MemorySessionStore()
    log = LogBuilder("s")
    store.put(log.header)
    log.user("hi")
    store.put(log.header, log.events)
    (batch,) = [batch async for batch in store.list_sessions()]
    (session,) = batch
    assert session == await store.find_session("s")
    assert (session.header, session.updated_at) == (log.header, log.events[-1]["time"])
    assert await store.read_log(session) == log.log()
    store.remove("s")
    store.remove("s")
    with pytest.raises(SessionNotFoundError):
        await store.find_session("s")
    with pytest.raises(SessionNotFoundError):
        await store.read_log(session)
    (reading,) = await store.read_titles([session])
    assert isinstance(reading.error, SessionNotFoundError)


async def test_what_is_put_is_kept() -> None:
    """A store in memory keeps the events that it was given, whatever is appended later."""
    store = MemorySessionStore(known_types={"acme/ledger"})
    log = LogBuilder("s")
    log.append("acme/ledger", {})
    store.put(log.header, log.events)
    log.user("later")
    assert (await store.read_log(await store.find_session("s"))).last_seq == 0
