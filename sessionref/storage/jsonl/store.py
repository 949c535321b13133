"""The store of a folder of JSONL logs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Container, Sequence
from copy import copy
from pathlib import Path
from typing import Final, TypeVar

import trio

from sessionref.errors import SessionNotFoundError, StorageError
from sessionref.session.fold import SessionLog
from sessionref.storage.jsonl.listing import find_below, find_log, list_below
from sessionref.storage.jsonl.reader import LogRules, read_log_file
from sessionref.storage.protocol import StoredSession, TitleReading

__all__ = ["JsonlSessionStore"]

_Result = TypeVar("_Result")

_MOST_THREADS: Final = 64
"""Threads at most, those included that hang in the file system after their caller has left."""

_TITLE_READERS: Final = 1
"""Threads that read titles: small logs keep the interpreter busy, and a second one only gets into
the way of the first at each call into the file system (a third slower, measured)."""

# A run of trio that ends takes the places of its abandoned threads with it: each has its own.
_threads: Final = trio.lowlevel.RunVar[trio.CapacityLimiter]("sessionref threads")


class JsonlSessionStore:
    """A `SessionStore` of the logs below a folder: raw and zstd, read and never changed.

    At most `concurrency` files are read at the same time.  `max_log_bytes` bounds what a compressed
    log may decompress to; `known_types` are event types that a host knows beside those of DSH.

    File work runs in threads.  A cancelled caller leaves its thread behind, which ends at the next
    piece that it reads; the place of the caller is free at once.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        concurrency: int = 4,
        max_log_bytes: int = 2**30,
        known_types: Container[str] = (),
    ) -> None:
        self._root = Path(root)
        self._rules = LogRules(max_log_bytes, known_types)
        self._callers = trio.CapacityLimiter(concurrency)
        self._title_readers = trio.CapacityLimiter(_TITLE_READERS)

    @property
    def root(self) -> Path:
        """The folder that the logs lie below."""
        return self._root

    @property
    def rules(self) -> LogRules:
        """What its logs are read by."""
        return self._rules

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        """Yield all sessions in batches; only the first bytes of each log are read.

        Logs of the retired flat layout are listed as unsupported.  A root that does not exist yet
        has no sessions; raises `StoreUnreadableError` if it cannot be listed.
        """
        batches = list_below(str(self._root))
        while batch := await self._in_thread(lambda: next(batches, None)):
            yield batch

    async def find_session(self, session_id: str) -> StoredSession:
        """Return the session of an id, else raise `SessionNotFoundError`."""
        return await self._in_thread(lambda: find_below(str(self._root), session_id))

    async def read_log(self, session: StoredSession) -> SessionLog:
        """Return what the log of a session means, in one state that its file had.

        Raises a `StorageError` with path, line and byte.
        """
        return await self._in_thread(lambda: self._read(session, keeps_surface=True))

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        """Return the titles of sessions, in their order, read one after the other in one thread."""
        async with self._title_readers:
            return await self._in_thread(lambda: [self._read_title(each) for each in sessions])

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        async with self._callers:
            return await trio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=_threads_of_this_run()
            )

    def _read(self, session: StoredSession, *, keeps_surface: bool) -> SessionLog:
        if session.error is not None:
            raise copy(session.error)
        try:
            return read_log_file(
                find_log(session),
                self._rules,
                trio.from_thread.check_cancelled,
                keeps_surface=keeps_surface,
            )
        except FileNotFoundError as error:
            raise SessionNotFoundError(session_id=session.session_id or "") from error

    def _read_title(self, session: StoredSession) -> TitleReading:
        try:
            return TitleReading(self._read(session, keeps_surface=False).title)
        except StorageError as error:
            return TitleReading(error=error)


def _threads_of_this_run() -> trio.CapacityLimiter:
    try:
        return _threads.get()
    except LookupError:
        limiter = trio.CapacityLimiter(_MOST_THREADS)
        _threads.set(limiter)
        return limiter
