"""Fakes for stores, and checks that hold any store or discovery to its protocol.

Whoever implements `SessionStore` or `Discovery` can call the checks in their own tests; a check
raises `AssertionError` with the rule that is broken.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from copy import copy

import trio

from sessionref.discovery.protocol import Discovery
from sessionref.discovery.scan import ScanDiscovery
from sessionref.errors import SessionNotFoundError, StorageError
from sessionref.model import Candidate, Target
from sessionref.session.fold import SessionLog
from sessionref.storage.corpus import Corpus
from sessionref.storage.protocol import SessionStore, StoredSession, TitleReading

__all__ = [
    "BlockedStore",
    "FailingStore",
    "ParkedStore",
    "ShieldingStore",
    "check_discovery",
    "check_store",
]


class _WaitingStore(ABC):
    """A store whose every call waits before it goes on to the store behind it.

    `waiting` counts the calls that wait now, `arrived` all that ever did.
    """

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self.waiting = 0
        self.arrived = 0

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        """Wait, then yield what the store behind yields."""
        await self._wait_counted()
        async for batch in self._store.list_sessions():
            yield batch

    async def find_session(self, session_id: str) -> StoredSession:
        """Wait, then return what the store behind returns."""
        await self._wait_counted()
        return await self._store.find_session(session_id)

    async def read_log(self, session: StoredSession) -> SessionLog:
        """Wait, then return what the store behind returns."""
        await self._wait_counted()
        return await self._store.read_log(session)

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        """Wait, then return what the store behind returns."""
        await self._wait_counted()
        return await self._store.read_titles(sessions)

    async def _wait_counted(self) -> None:
        self.waiting += 1
        self.arrived += 1
        try:
            await self._wait()
        finally:
            self.waiting -= 1

    @abstractmethod
    async def _wait(self) -> None:
        """Return when a call may go on."""


class ParkedStore(_WaitingStore):
    """A store whose calls wait until `release` is called; they can be cancelled."""

    def __init__(self, store: SessionStore) -> None:
        super().__init__(store)
        self._released = trio.Event()

    def release(self) -> None:
        """Let all calls go on, those that come later too."""
        self._released.set()

    async def _wait(self) -> None:
        await self._released.wait()


class ShieldingStore(ParkedStore):
    """A store whose calls wait until `release` is called, and shield themselves meanwhile."""

    async def _wait(self) -> None:
        with trio.CancelScope(shield=True):
            await super()._wait()


class BlockedStore(_WaitingStore):
    """A store whose calls hang in a thread, as in a dead network drive, until `release`."""

    def __init__(self, store: SessionStore) -> None:
        super().__init__(store)
        self._released = threading.Event()

    def release(self) -> None:
        """Let all threads end, those that come later too."""
        self._released.set()

    async def _wait(self) -> None:
        await trio.to_thread.run_sync(self._released.wait, abandon_on_cancel=True)


class FailingStore:
    """A store that fails: for the sessions in `errors` with their error, else as the one behind.

    `listing_error`, if given, is raised by every listing.  `log_reads` and `title_reads` count the
    sessions that were read.
    """

    def __init__(
        self,
        store: SessionStore,
        errors: Mapping[str, Exception] | None = None,
        *,
        listing_error: Exception | None = None,
    ) -> None:
        self._store = store
        self._errors = dict(errors or {})
        self._listing_error = listing_error
        self.log_reads = 0
        self.title_reads = 0

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        """Raise the listing error, or yield what the store behind yields."""
        if self._listing_error is not None:
            raise copy(self._listing_error)
        async for batch in self._store.list_sessions():
            yield batch

    async def find_session(self, session_id: str) -> StoredSession:
        """Return what the store behind returns."""
        return await self._store.find_session(session_id)

    async def read_log(self, session: StoredSession) -> SessionLog:
        """Raise the error of the session, or return what the store behind returns."""
        self.log_reads += 1
        error = self._errors.get(session.session_id or "")
        if error is not None:
            raise copy(error)
        return await self._store.read_log(session)

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        """Give each session its error, or what the store behind gives."""
        self.title_reads += len(sessions)
        readings = list(await self._store.read_titles(sessions))
        for place, session in enumerate(sessions):
            error = self._errors.get(session.session_id or "")
            if isinstance(error, StorageError):
                readings[place] = TitleReading(error=copy(error))
            elif error is not None:
                raise copy(error)
        return readings


async def check_store(store: SessionStore) -> None:
    """Hold a store, which must hold two sessions or more that can be read, to its protocol."""
    sessions = [session async for batch in store.list_sessions() for session in batch]
    ids = [session.session_id for session in sessions if session.session_id is not None]
    assert len(ids) == len(set(ids)), "a listing has each session once"
    for session in sessions:
        if session.error is None:
            await _check_session(store, session)
    readable = [each for each in sessions if isinstance(await _read(store, each), SessionLog)]
    assert len(readable) >= 2, "the check needs two readable sessions"
    await _check_titles(store, sessions)
    await _check_absence(store, ids)
    await _check_cancelling(store, readable[0])


async def _read(store: SessionStore, session: StoredSession) -> SessionLog | tuple[object, str]:
    """Return the log of a session, or type and text of the error with which reading it fails."""
    try:
        return await store.read_log(session)
    except StorageError as error:
        return type(error), str(error)


async def _check_session(store: SessionStore, session: StoredSession) -> None:
    assert session.header is not None, "a session without error has a header"
    assert session.session_id == session.header.id, "a listing tells the id of the header"
    found = await store.find_session(session.header.id)
    assert found.header == session.header, "a session is found as it is listed"
    assert found.revision == session.revision, "an unchanged session keeps its revision"
    log = await _read(store, found)
    if isinstance(log, SessionLog):
        assert log.header == session.header, "a log has the header that was listed"
    assert await _read(store, session) == log, "reading an unchanged log twice gives the same"


async def _check_titles(store: SessionStore, sessions: Sequence[StoredSession]) -> None:
    readings = await store.read_titles(sessions)
    assert len(readings) == len(sessions), "every session gets an answer, in order"
    for session, reading in zip(sessions, readings, strict=True):
        log = await _read(store, session)
        if isinstance(log, SessionLog):
            assert reading == TitleReading(log.title), "a title is the one of the log"
        else:
            failure = type(reading.error), str(reading.error)
            assert failure == log, "a title fails as its log does"
    assert list(await store.read_titles([])) == [], "no sessions have no titles"


async def _check_absence(store: SessionStore, ids: Sequence[str]) -> None:
    absent = "absent"
    while absent in ids:
        absent += "-"
    for session_id in (absent, ""):
        try:
            await store.find_session(session_id)
        except SessionNotFoundError as error:
            assert error.session_id == session_id, "the error names the id that was asked for"
        else:
            raise AssertionError("an id that no session has is not found")


async def _check_cancelling(store: SessionStore, session: StoredSession) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await store.read_log(session)
    assert scope.cancelled_caught, "a read can be cancelled"
    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(store.read_log, session)
    log = await store.read_log(session)
    assert log.header == session.header, "a store works on after a cancelled read"


async def check_discovery(
    discovery: Discovery, corpus: Corpus, *, queries: Sequence[str] = ()
) -> None:
    """Hold a discovery over a corpus to its protocol: it must answer exactly as the scan does.

    The corpus must not change meanwhile.  Beside `queries`, parts of the ids, cwds and labels of
    the corpus are asked for, in several cases and at several limits.
    """
    scan = ScanDiscovery(corpus)
    everything = await scan.list_candidates(Target(session_id=""), "", 10**9)
    for target in _targets(everything):
        for query in {"", *queries, *_queries(everything)}:
            expected = await scan.list_candidates(target, query, 10**9)
            for limit in sorted({1, 2, max(len(expected) - 1, 1), len(expected) + 1}):
                found = await discovery.list_candidates(target, query, limit)
                assert found == expected[:limit], (
                    f"the first {limit} sessions that match {query!r}, seen from {target}, are "
                    f"those of the scan"
                )


def _targets(candidates: Sequence[Candidate]) -> list[Target]:
    listed = [Target(session_id=listed.session_id, cwd=listed.cwd) for listed in candidates[:2]]
    return [Target(session_id="no such session"), *listed]


def _queries(candidates: Sequence[Candidate]) -> set[str]:
    queries = {"no session holds this text"}
    for candidate in candidates[:8]:
        for text in (candidate.session_id, candidate.cwd or "", candidate.label):
            middle = len(text) // 2
            queries |= {text, text.upper(), text[:1], text[-2:], text[middle : middle + 4]}
    return queries
