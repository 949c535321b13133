"""Connections to an index: readers that can be interrupted, and one that writes.

Every use of a connection is one synchronous function in a thread, so that no transaction stays open
behind a cancelled await.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from random import getrandbits
from typing import Final, Generic, TypeVar

import apsw
import trio

from sessionref.discovery.sqlite.schema import DamagedFileError

__all__ = ["Connections"]

_Result = TypeVar("_Result")

_MOST_READERS: Final = 4
_CACHE_KIB: Final = 16_384

# SQLite waits so long for a lock before it gives up; a waiting writer is not to be cancelled.
_READER_PATIENCE: Final = 5_000
_WRITER_PATIENCE: Final = 100
_RETRY_SECONDS: Final = 0.05


class Connections:
    """The connections to one index file, made as they are needed and closed together.

    `file` is that file, open, so that no other one is taken for it that lies at its path later.
    Not more than four lookups are in SQLite at a time; further ones wait for their turn.
    `written` is the `user_version` of the last transaction that was written here, None if there is
    none; whoever has taken note may set it back.
    """

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._found = os.fstat(file)
        self._idle: list[apsw.Connection] = []
        self._idle_writer: list[apsw.Connection] = []
        self._guard = threading.Lock()
        self._is_closed = False
        self.written: int | None = None
        self._readers = trio.CapacityLimiter(_MOST_READERS)
        self._writing = trio.Lock()

    async def read(self, work: Callable[[apsw.Connection], _Result]) -> _Result:
        """Return what `work` reads, all of it in one state of the index.

        A cancelled caller leaves at once, and what SQLite does for it is interrupted.
        """
        async with self._readers:
            while True:
                reading = _Reading(self, work)
                try:
                    return await trio.to_thread.run_sync(reading.run, abandon_on_cancel=True)
                except apsw.BusyError:
                    await trio.sleep(_RETRY_SECONDS)
                finally:
                    reading.abandon()

    async def write(self, work: Callable[[apsw.Connection], _Result]) -> _Result:
        """Return what `work` does, all of it in one transaction, which is not cancelled half-way.

        Waits for as long as another process is writing; that wait can be cancelled.
        """
        async with self._writing:
            while True:
                try:
                    with trio.CancelScope(shield=True):
                        result = await trio.to_thread.run_sync(self._write, work)
                except apsw.BusyError:
                    await trio.sleep(_RETRY_SECONDS)
                else:
                    return result

    async def checkpoint(self) -> bool:
        """Bring the file itself up to date; return whether others let it."""

        def work() -> bool:
            writer = self._take(self._idle_writer, _WRITER_PATIENCE)
            try:
                row = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._give_back(self._idle_writer, writer)
            return row is not None and row[0] == 0

        async with self._writing:
            with trio.CancelScope(shield=True):
                is_done = await trio.to_thread.run_sync(work)
        return is_done

    def close(self) -> None:
        """Close all connections; one that is in use is closed when that ends."""
        with self._guard:
            self._is_closed = True
            idle = [*self._idle, *self._idle_writer]
            self._idle.clear()
            self._idle_writer.clear()
        for connection in idle:
            connection.close()

    def take(self) -> apsw.Connection:
        """Return a connection that nobody else uses until it is given back.

        Raises `apsw.ConnectionClosedError` after `close`.
        """
        return self._take(self._idle, _READER_PATIENCE)

    def give_back(self, connection: apsw.Connection) -> None:
        """Let others use a connection; a transaction that is open is taken back."""
        self._give_back(self._idle, connection)

    def _take(self, idle: list[apsw.Connection], patience: int) -> apsw.Connection:
        with self._guard:
            if self._is_closed:
                raise apsw.ConnectionClosedError("the index has been closed")
            if idle:
                return idle.pop()
        return self._connect(patience)

    def _give_back(self, idle: list[apsw.Connection], connection: apsw.Connection) -> None:
        is_sound = True
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            # One that was interrupted refuses all work until the last of its statements has gone.
            is_sound = False
        with self._guard:
            if is_sound and not self._is_closed:
                idle.append(connection)
                return
        connection.close()

    def _write(self, work: Callable[[apsw.Connection], _Result]) -> _Result:
        writer = self._take(self._idle_writer, _WRITER_PATIENCE)
        version = getrandbits(31)
        try:
            # A transaction that begins by reading fails where another one has written meanwhile.
            writer.execute("BEGIN IMMEDIATE")
            result = work(writer)
            # Each transaction has its number, in the first page of the file: see `checksum`.
            writer.execute(f"PRAGMA user_version = {version}")
            writer.execute("COMMIT")
            self.written = version
        finally:
            self._give_back(self._idle_writer, writer)
        return result

    def _connect(self, patience: int) -> apsw.Connection:
        connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(patience)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("PRAGMA temp_store = MEMORY")
        except apsw.Error:
            connection.close()
            raise
        if not self._is_there():
            connection.close()
            raise DamagedFileError("another file has taken its place")
        return connection

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), self._found)
        except OSError:
            return False


class _Reading(Generic[_Result]):
    """One use of a connection, which whoever waits for it may abandon from another thread."""

    def __init__(
        self, connections: Connections, work: Callable[[apsw.Connection], _Result]
    ) -> None:
        self._connections = connections
        self._work = work
        self._guard = threading.Lock()
        self._is_abandoned = False
        self._connection: apsw.Connection | None = None

    def run(self) -> _Result:
        connection = self._connections.take()
        try:
            with self._guard:
                if self._is_abandoned:
                    raise apsw.InterruptError("nobody waits for this any more")
                self._connection = connection
            connection.execute("BEGIN")
            return self._work(connection)
        finally:
            with self._guard:
                self._connection = None
            self._connections.give_back(connection)

    def abandon(self) -> None:
        """Let the connection stop what it does; nothing if it is done."""
        with self._guard:
            self._is_abandoned = True
            if self._connection is not None:
                self._connection.interrupt()
