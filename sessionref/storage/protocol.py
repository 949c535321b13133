"""What a session store promises: list the sessions, find one, read logs and titles.

`sessionref.testing.check_store` holds any implementation to it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sessionref.errors import StorageError
from sessionref.session.fold import SessionLog
from sessionref.session.header import SessionHeader
from sessionref.session.title import SessionTitle

__all__ = ["Revision", "SessionStore", "StoredSession", "TitleReading"]


class Revision(NamedTuple):
    """Which state of a log was seen: two equal revisions are the same bytes."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One session of a store, as a listing finds it.

    `place` tells people where it lies.  `error` says why it cannot be read, as far as the listing
    can tell; `header` is None where that could not be read either, and `session_id` where not even
    that is known.  `updated_at` is when the log last grew, in milliseconds since the epoch.
    """

    place: str
    session_id: str | None
    header: SessionHeader | None = None
    revision: Revision | None = None
    updated_at: int | None = None
    error: StorageError | None = None


class TitleReading(NamedTuple):
    """The title of one session: None where its log has none, or where `error` says why not."""

    title: SessionTitle | None = None
    error: StorageError | None = None


class SessionStore(Protocol):
    """A place that sessions are read from.  Nothing here changes what is stored.

    Any method may be called at any time, also several at once, from one trio run.  A cancelled call
    leaves nothing open.  A call that cannot be cancelled may shield itself: whoever waits for it
    through a resolver is let go all the same.
    """

    def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        """Yield all sessions in batches, in no particular order, each session once.

        A session that cannot be read is listed with its error and stops nothing.  An empty store
        yields no sessions.  Raises `StoreUnreadableError` if the store as a whole cannot be listed.
        """
        ...  # pragma: no cover - a protocol has no body

    async def find_session(self, session_id: str) -> StoredSession:
        """Return the session of an id, as a listing at this moment would have it.

        Raises `SessionNotFoundError`, or `StoreUnreadableError` as a listing does.
        """
        ...  # pragma: no cover - a protocol has no body

    async def read_log(self, session: StoredSession) -> SessionLog:
        """Return what the log of a session means: a state that it had at one moment of the call.

        Raises the error of the listing if there is one, else a `StorageError` with its reason;
        `SessionNotFoundError` if the log has vanished.
        """
        ...  # pragma: no cover - a protocol has no body

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        """Return the titles of sessions, in their order; what fails fails for its own session only.

        A title is readable exactly where the log is: each error is the one that `read_log` raises.
        """
        ...  # pragma: no cover - a protocol has no body
