"""Stores that wait, hang, shield themselves or fail, for tests of what uses a store."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from copy import copy

import trio

from sessionref.errors import StorageError
from sessionref.session.fold import SessionLog
from sessionref.storage.protocol import SessionStore, StoredSession, TitleReading

__all__ = ["BlockedStore", "FailingStore", "ParkedStore", "ShieldingStore"]


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
