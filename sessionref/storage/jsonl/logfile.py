"""The file of a log: opened with care, and read as far as it went when it was opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Final

from sessionref.errors import (
    SessionDamagedError,
    SessionTooLargeError,
    SessionUnsupportedError,
)
from sessionref.storage.protocol import Revision

__all__ = ["BoundedFile", "open_log", "revision_of"]

_OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    # A pipe in the place of a log must not hold its reader until somebody writes.
    | getattr(os, "O_NONBLOCK", 0)
)


_COMPARED_BYTES: Final = 2**12


@contextmanager
def open_log(path: str) -> Iterator[tuple[FileIO, Revision]]:
    """Yield a log opened for reading, and its state: a regular file, no link, pipe or folder.

    Raises `SessionDamagedError` with the path, and `FileNotFoundError` if there is nothing.  What
    is raised inside tells the path, too; a failure to read becomes `SessionDamagedError`.
    """
    try:
        file = FileIO(path, "rb", opener=_open)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = "it is a symbolic link" if error.errno == errno.ELOOP else _reason(error)
        raise SessionDamagedError(reason=reason, path=path) from error
    with file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise SessionDamagedError(reason="it is not a regular file", path=path)
        try:
            yield file, revision_of(found)
        except OSError as error:
            raise SessionDamagedError(reason=_reason(error), path=path) from error
        except MemoryError as error:
            reason = "reading it takes more memory than there is"
            raise SessionTooLargeError(reason=reason, path=path, limit=0) from error
        except (SessionDamagedError, SessionUnsupportedError, SessionTooLargeError) as error:
            raise error.located(path) from error.__cause__


def _open(path: str, _: int) -> int:
    return os.open(path, _OPEN_FLAGS)


def _reason(error: OSError) -> str:
    return f"it cannot be read ({error.strerror or error})"


def revision_of(found: os.stat_result) -> Revision:
    """Return the state that a file was found in."""
    return Revision(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class BoundedFile:
    """The bytes that a file had when it was opened, whatever it has grown by since."""

    def __init__(self, file: FileIO, revision: Revision, size: int | None = None) -> None:
        self._file = file
        self._start = 0
        self._before = revision
        self._size = revision.size if size is None else size
        self._place = 0
        self._first = b""
        self._last = b""

    @property
    def revision(self) -> Revision:
        """The state that the file had when it was opened."""
        return self._before

    def start_at(self, byte: int) -> None:
        """Read from a byte on, and forget what was read before."""
        self._file.seek(byte)
        self._start = self._place = byte
        self._first = self._last = b""

    def peek(self, start: int, count: int) -> bytes:
        """Return bytes from anywhere in the file, which does not count as reading."""
        return os.pread(self._file.fileno(), count, start)

    def read(self, count: int) -> bytes:
        """Return at most `count` bytes, none at the end."""
        data = self._file.read(min(count, self._size - self._place)) or b""
        if data:
            self._first = self._first or data[:_COMPARED_BYTES]
            self._last = data[-_COMPARED_BYTES:]
            self._place += len(data)
        return data

    def has_changed(self) -> bool:
        """Return whether the file has changed in anything since it was opened."""
        return revision_of(os.fstat(self._file.fileno())) != self._before

    def is_as_read(self) -> bool:
        """Return whether what was read still stands in the file, as far as can be told.

        A file that has grown, or of which only the name or the rights have changed, is looked at
        again where reading began and ended: it may have been filled with something else meanwhile.
        """
        before, after = self._before, revision_of(os.fstat(self._file.fileno()))
        if after == before:
            return True
        if after.size == before.size and after.mtime_ns != before.mtime_ns:
            return False
        return after.size >= before.size and self._stands_there()

    def _stands_there(self) -> bool:
        for place, data in (
            (self._start, self._first),
            (self._place - len(self._last), self._last),
        ):
            self._file.seek(place)
            if self._file.read(len(data)) != data:
                return False
        return True
