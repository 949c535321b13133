"""A sum of an index's file, in a file beside it: a flipped byte in a title looks like a title.

SQLite notices pages that do not fit together, and no more.  So whoever has written an index leaves
behind what its bytes add up to, and whoever opens it next adds them up again.

The sum is of one state of the file, which its version names: the database's `user_version`, to
which every transaction of ours gives another value, and SQLite's own counter, which is raised by
those of others.  Both lie in the first page, and so a file whose version is not that of the sum has
been written to since, and nothing is known of it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from sessionref.discovery.sqlite.schema import DamagedFileError

__all__ = ["SUM_SUFFIX", "check_sum", "read_sum", "write_sum"]

SUM_SUFFIX: Final = "-sum"

_PIECE_BYTES: Final = 2**20
# https://www.sqlite.org/fileformat.html#the_database_header
_CHANGES: Final = slice(24, 28)
_USER_VERSION: Final = slice(60, 64)
_HEADER_BYTES: Final = 100


class FileSum(NamedTuple):
    """What the bytes of a file add up to in the state of a version."""

    version: int
    size: int
    crc: int

    @property
    def user_version(self) -> int:
        """The database's `user_version` in that state."""
        return self.version & 0xFFFF_FFFF


def read_sum(file: int, check: Callable[[], object]) -> FileSum | None:
    """Return the sum of an open file, None if it is written to meanwhile.

    `check` is called between pieces, to give up by raising.
    """
    version = _version_of(file)
    size = crc = 0
    while piece := os.pread(file, _PIECE_BYTES, size):
        check()
        size += len(piece)
        crc = zlib.crc32(piece, crc)
    # SQLite writes pages in their order when it brings a file up to date, the first one first.
    return FileSum(version, size, crc) if _version_of(file) == version else None


def write_sum(path: Path, found: FileSum) -> None:
    """Leave a sum beside an index for whoever opens it next."""
    place = Path(f"{path}{SUM_SUFFIX}")
    part = Path(f"{place}.part")
    with open(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(" ".join(map(str, found)))
    part.replace(place)


def check_sum(path: Path, file: int, check: Callable[[], object]) -> None:
    """Raise `DamagedFileError` if an index's bytes are not those that were left behind."""
    try:
        text = Path(f"{path}{SUM_SUFFIX}").read_text("ascii")
        known = FileSum(*map(int, text.split(" ")))
    except (OSError, ValueError, TypeError):
        return
    if _version_of(file) != known.version:
        return
    found = read_sum(file, check)
    # It may have been written to since its version was looked at.
    if found is not None and found.version == known.version and found != known:
        raise DamagedFileError("its bytes are not those that were written")


def _version_of(file: int) -> int:
    header = os.pread(file, _HEADER_BYTES, 0)
    return int.from_bytes(header[_CHANGES] + header[_USER_VERSION], "big")
