"""An index file in use: opened, given up when it turns out to be bad, and closed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import apsw
import trio
from filelock import FileLock, Timeout

from sessionref.discovery.sqlite.about import ROOT, read_about, write_about
from sessionref.discovery.sqlite.checksum import check_sum, read_sum, write_sum
from sessionref.discovery.sqlite.connections import Connections
from sessionref.discovery.sqlite.files import LOCK_SUFFIX, make_file, set_aside
from sessionref.discovery.sqlite.schema import DamagedFileError, hold_file
from sessionref.errors import TitleIndexError

__all__ = ["FAILURES", "OpenedIndex"]

_RETRY_SECONDS: Final = 0.05
_SMALL_BYTES: Final = 2**24
"""A file of this size is added up in some ten milliseconds, which an opening may take."""

_DAMAGE: Final = (
    *(apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.MismatchError),
    *(ArithmeticError, LookupError, TypeError, ValueError),
)

FAILURES: Final = (
    *(apsw.Error, DamagedFileError),
    *(ArithmeticError, LookupError, TypeError, ValueError),
)
"""What using an index may raise: SQLite's errors, and what reading values raises that no index
holds, because bytes have been flipped."""


class OpenedIndex:
    """The connections of one index, and why there are none.

    `on_problem` is told of each thing that keeps the index from being used, or has made it start
    anew.
    """

    def __init__(
        self, path: Path, root: str, on_problem: Callable[[TitleIndexError], None]
    ) -> None:
        self._path = path
        self._root = os.path.realpath(root)
        self._on_problem = on_problem
        self._changing = trio.Lock()
        self._held = ExitStack()
        self._inode: int | None = None
        self._file = -1
        self._is_sure = False
        self.connections: Connections | None = None
        self.problem: TitleIndexError | None = None

    async def open(self) -> None:
        """Open the file, unless it is open; `connections` stays None if it cannot be used."""
        async with self._changing:
            if self.connections is not None and await trio.to_thread.run_sync(self._is_there):
                return
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._open)
            self._tell()

    async def give_up(self, connections: Connections, error: Exception) -> None:
        """Do without a file that has failed: a damaged one is set aside for a new one."""
        async with self._changing:
            if connections is not self.connections:
                return
            with trio.CancelScope(shield=True):
                if isinstance(error, (DamagedFileError, *_DAMAGE)):
                    await trio.to_thread.run_sync(partial(self._replace, str(error)))
                else:
                    await trio.to_thread.run_sync(self._close)
                    self.problem = self.unusable(_reason(error))
            self._tell()

    async def close(self) -> None:
        """Close the file; an abandoned lookup closes its own connection when it ends."""
        connections = self.connections
        if connections is not None and connections.written is not None and self._is_small():
            await self.seal()
        async with self._changing:
            await trio.to_thread.run_sync(self._close)

    async def check(self) -> None:
        """Add a large file's bytes up, which opening it does with a small one; once.

        A damaged one is set aside for a new one.
        """
        connections = self.connections
        if connections is None or self._is_sure:
            return
        work = partial(check_sum, self._path, self._file, trio.from_thread.check_cancelled)
        try:
            await trio.to_thread.run_sync(work, abandon_on_cancel=True)
        except (DamagedFileError, OSError) as error:
            await self.give_up(connections, error)
        self._is_sure = True

    async def seal(self) -> None:
        """Leave behind what the file's bytes add up to, if nobody else writes, and that can be.

        Only of a state that was written here is it known that no part of it is yet to come.
        """
        connections = self.connections
        # Nothing is lost without a sum, and what the file suffers from its next use will tell.
        with suppress(*FAILURES, OSError):
            if connections is None or not await connections.checkpoint():
                return
            work = partial(read_sum, self._file, trio.from_thread.check_cancelled)
            found = await trio.to_thread.run_sync(work, abandon_on_cancel=True)
            if found is not None and found.user_version == connections.written:
                await trio.to_thread.run_sync(write_sum, self._path, found)
                connections.written = None

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Be the only one, of all processes, inside the block; waits for others to leave it."""
        lock = FileLock(f"{self._path}{LOCK_SUFFIX}", thread_local=False, mode=0o600)
        while True:
            try:
                await trio.to_thread.run_sync(partial(lock.acquire, blocking=False))
                break
            except Timeout:
                await trio.sleep(_RETRY_SECONDS)
            except OSError as error:
                raise self.unusable(_reason(error)) from error
        try:
            yield
        finally:
            lock.release()

    def unusable(self, reason: str) -> TitleIndexError:
        """Return the error that says why the index cannot be used."""
        return TitleIndexError(
            path=str(self._path),
            reason=reason,
            advice="lookups read the logs instead; the next refresh tries again",
        )

    def _open(self) -> None:
        self._close()
        self.problem = None
        try:
            self._connect()
        except TitleIndexError as error:
            self.problem = error
        except (DamagedFileError, *_DAMAGE) as error:
            self._replace(str(error))
        except (apsw.Error, OSError) as error:
            self.problem = self.unusable(_reason(error))

    def _replace(self, reason: str) -> None:
        """Set a damaged file aside and open a new one."""
        self._close()
        self.problem = None
        try:
            if self._is_there():  # else another process has done so already
                aside = set_aside(self._path)
                advice = f"it was set aside as {aside.name}, and a new one takes its place"
                self.problem = TitleIndexError(
                    path=str(self._path), reason=f"it is damaged ({reason})", advice=advice
                )
            self._connect()
        except TitleIndexError as error:
            self.problem = error
        except (OSError, *FAILURES) as error:
            self.problem = self.unusable(_reason(error))

    def _connect(self) -> None:
        make_file(self._path)
        self._inode = self._path.stat().st_ino
        held = ExitStack()
        with held:
            file = held.enter_context(hold_file(self._path))
            self._file = file
            self._is_sure = self._is_small()
            if self._is_sure:
                check_sum(self._path, file, _carry_on)
            connections = Connections(self._path, file)
            held.callback(connections.close)
            connection = connections.take()
            try:
                _claim(connection, self._path, self._root)
            finally:
                connections.give_back(connection)
            self.connections = connections
            self._held = held.pop_all()

    def _close(self) -> None:
        self.connections = None
        self._held.close()

    def _is_small(self) -> bool:
        return os.fstat(self._file).st_size <= _SMALL_BYTES

    def _is_there(self) -> bool:
        try:
            return self._path.stat().st_ino == self._inode
        except OSError:
            return False

    def _tell(self) -> None:
        if self.problem is not None:
            self._on_problem(self.problem)


def _claim(connection: apsw.Connection, path: Path, root: str) -> None:
    """Let an index be of a folder; raise if it is of another one."""
    known = read_about(connection, ROOT)
    if known is None:
        write_about(connection, ROOT, _as_text(root))
    elif known != _as_text(root):
        raise TitleIndexError(
            path=str(path),
            reason=f"it is the index of another folder, {known}",
            advice="name another place for the index of this one",
        )


def _reason(error: Exception) -> str:
    # Without the path: that of a file to be set aside is another one each time.
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _as_text(root: str) -> str:
    return root.encode(errors="backslashreplace").decode()


def _carry_on() -> None:
    pass
