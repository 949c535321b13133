"""All sessions that can be referenced: live ones before what is stored of them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from copy import copy
from dataclasses import dataclass

from sessionref.errors import (
    SessionConflictError,
    SessionNotFoundError,
    StorageError,
)
from sessionref.session.fold import SessionLog
from sessionref.session.header import SessionHeader
from sessionref.storage.live import LiveSession, LiveSessions
from sessionref.storage.protocol import SessionStore, StoredSession, TitleReading

__all__ = ["Corpus", "CorpusSession"]

_IDENTITY = (
    "version",
    "id",
    "created_at",
    "cwd",
    "parent_session",
    "seed_length",
    "delegation_depth",
)


@dataclass(frozen=True, slots=True)
class CorpusSession:
    """One session of the corpus: what is stored of it, what is live of it, or both.

    `error` says why it cannot be read, as far as a listing can tell.
    """

    stored: StoredSession | None
    live: LiveSession | None
    error: StorageError | None

    @property
    def header(self) -> SessionHeader | None:
        """The header, None where a stored one cannot be read."""
        if self.live is not None:
            return self.live.header
        return self.stored.header if self.stored is not None else None

    @property
    def stored_part(self) -> StoredSession:
        """What is stored of a session that is not live."""
        if self.stored is None:
            raise ValueError("the session is not stored")
        return self.stored

    @property
    def updated_at(self) -> int | None:
        """When the session last grew, in milliseconds since the epoch."""
        if self.live is not None and self.live.updated_at is not None:
            return self.live.updated_at
        return self.stored.updated_at if self.stored is not None else None

    @property
    def place(self) -> str:
        """Where the session lies, for people."""
        return self.stored.place if self.stored is not None else "live"


class Corpus:
    """A session store with the live sessions of a host before it.

    Live wins at every read.  A live session whose header disagrees with its stored one is in
    conflict: it is listed, and it cannot be read.
    """

    def __init__(
        self,
        store: SessionStore,
        live: LiveSessions | None = None,
        *,
        known_types: Container[str] = (),
    ) -> None:
        self._store = store
        self._live = LiveSessions() if live is None else live
        self._known_types = known_types

    async def list_sessions(self) -> list[CorpusSession]:
        """Return all sessions, in no particular order, each once.

        Raises `StoreUnreadableError` if the store cannot be listed.
        """
        found: list[CorpusSession] = []
        unseen = {session.header.id: session for session in self._live}
        async for batch in self._store.list_sessions():
            for stored in batch:
                live = unseen.pop(stored.session_id, None) if stored.session_id else None
                found.append(_merge(stored, live))
        found.extend(_merge(None, live) for live in unseen.values())
        return found

    def merge(self, stored: StoredSession | None, live: LiveSession | None) -> CorpusSession:
        """Return one session of what is stored and what is live of it, at least one of them."""
        return _merge(stored, live)

    async def read_log(self, session_id: str) -> SessionLog:
        """Return what the log of a session means, of the live one if there is one.

        Raises `SessionNotFoundError`, `SessionConflictError` or what reading the log raises.
        """
        try:
            stored = await self._store.find_session(session_id)
        except SessionNotFoundError:
            stored = None
        live = self._live.get(session_id)
        if stored is None and live is None:
            raise SessionNotFoundError(session_id=session_id)
        session = _merge(stored, live)
        if session.error is not None:
            raise copy(session.error)
        if live is not None:
            return await live.read_log(self._known_types)
        return await self._store.read_log(session.stored_part)

    async def read_titles(self, sessions: Sequence[CorpusSession]) -> list[TitleReading]:
        """Return the titles of sessions, in their order; what fails fails for its session only."""
        readings: list[TitleReading] = []
        stored: dict[int, StoredSession] = {}
        for place, session in enumerate(map(self._now, sessions)):
            if session.error is not None:
                readings.append(TitleReading(error=session.error))
            elif session.live is not None:
                readings.append(await self._read_live_title(session.live))
            else:
                readings.append(TitleReading())
                stored[place] = session.stored_part
        if stored:
            found = await self._store.read_titles(list(stored.values()))
            for place, reading in zip(stored, found, strict=True):
                readings[place] = reading
        return readings

    def _now(self, session: CorpusSession) -> CorpusSession:
        """Return a listed session with what has gone live or was closed since."""
        header = session.header
        live = self._live.get(header.id) if header is not None else None
        if live is session.live or (live is None and session.stored is None):
            return session
        return _merge(session.stored, live)

    async def _read_live_title(self, live: LiveSession) -> TitleReading:
        try:
            return TitleReading((await live.read_log(self._known_types)).title)
        except StorageError as error:
            return TitleReading(error=error)


def _merge(stored: StoredSession | None, live: LiveSession | None) -> CorpusSession:
    if live is None:
        return CorpusSession(stored, None, stored.error if stored is not None else None)
    differing: tuple[str, ...] = ()
    if stored is not None and stored.header is not None:
        differing = tuple(
            name for name in _IDENTITY if getattr(stored.header, name) != getattr(live.header, name)
        )
    error = SessionConflictError(session_id=live.header.id, fields=differing) if differing else None
    return CorpusSession(stored, live, error)
