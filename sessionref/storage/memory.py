"""Sessions in memory: for tests, and for hosts that keep their sessions elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Iterable, Sequence
from typing import Any

import trio

from sessionref.errors import SessionNotFoundError, StorageError
from sessionref.session.fold import SessionLog
from sessionref.session.header import SessionHeader
from sessionref.storage.live import LiveSession
from sessionref.storage.protocol import StoredSession, TitleReading

__all__ = ["MemorySessionStore"]


class MemorySessionStore:
    """A `SessionStore` of headers and lists of events."""

    def __init__(self, *, known_types: Container[str] = ()) -> None:
        self._known_types = known_types
        self._sessions: dict[str, LiveSession] = {}

    def put(self, header: SessionHeader, events: Iterable[dict[str, Any]] = ()) -> None:
        """Store a session; one of the same id is replaced.  The events must not change later."""
        self._sessions[header.id] = LiveSession(header, list(events))

    def remove(self, session_id: str) -> None:
        """Forget a session; unknown ids are ignored."""
        self._sessions.pop(session_id, None)

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        """Yield all sessions in one batch."""
        await trio.lowlevel.checkpoint()
        yield [self._describe(session) for session in self._sessions.values()]

    async def find_session(self, session_id: str) -> StoredSession:
        """Return the session of an id, else raise `SessionNotFoundError`."""
        await trio.lowlevel.checkpoint()
        return self._describe(self._get(session_id))

    async def read_log(self, session: StoredSession) -> SessionLog:
        """Return what the events of a session mean, else raise a `StorageError`."""
        return await self._get(session.session_id).read_log(self._known_types)

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        """Return the titles of sessions, in their order."""
        return [await self._read_title(session) for session in sessions]

    async def _read_title(self, session: StoredSession) -> TitleReading:
        try:
            return TitleReading((await self.read_log(session)).title)
        except StorageError as error:
            return TitleReading(error=error)

    def _get(self, session_id: str | None) -> LiveSession:
        session = self._sessions.get(session_id or "")
        if session is None:
            raise SessionNotFoundError(session_id=session_id or "")
        return session

    def _describe(self, session: LiveSession) -> StoredSession:
        return StoredSession(
            place="memory",
            session_id=session.header.id,
            header=session.header,
            updated_at=session.updated_at,
        )
