"""The schema of an index: brought up to date, and refused where the file is not ours.

`sessionref._migrations` opens the file with Python's SQLite, everything else with apsw's.  On POSIX
a process that has one file open through both loses its locks as soon as either closes it.  So a
file is migrated before its first connection in this process and never while there is one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessionref.errors import TitleIndexError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["STEPS", "DamagedFileError", "hold_file"]

STEPS: Final = ("s001_name_the_application", "s002_hold_sessions", "s003_look_up_grams")
"""The steps that make the schema of this version: those of `sessionref._migrations`, in order."""

_MAGIC: Final = b"SQLite format 3\0"
_BUSY_SECONDS: Final = 30


@dataclass
class _Held:
    """A file that connections of this process have open, opened once more to look at its bytes."""

    file: int
    holders: int = 0


_holding = threading.Lock()
_held: dict[tuple[int, int], _Held] = {}


class DamagedFileError(Exception):
    """A file is no SQLite database, or one whose pages do not fit together."""


@contextmanager
def hold_file(path: Path) -> Iterator[int]:
    """Let apsw open an index, its schema up to date, inside the block; yield it open for reading.

    Raises `TitleIndexError` for a file that a newer version has written or that belongs to somebody
    else, unchanged; `DamagedFileError` for one that is broken.
    """
    with _holding:
        place = _place_of(path)
        if place not in _held:
            _migrate(path)
            _held[place] = _Held(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
        held = _held[place]
        held.holders += 1
    try:
        yield held.file
    finally:
        with _holding:
            held.holders -= 1
            if not held.holders:
                # Closing it before the last connection would cost that one its locks, too.
                del _held[place]
                os.close(held.file)


def _place_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    return found.st_dev, found.st_ino


def _migrate(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
        if start and start != _MAGIC:
            raise DamagedFileError("it does not start as a database does")
        if not start or _is_behind(path):
            # Importing it takes longer than most lookups, and most indexes are up to date.
            from sessionref._migrations import migrate

            migrate(path)
    except sqlite3.Error as error:
        raise _sort(path, error) from error
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error


def _is_behind(path: Path) -> bool:
    """Return whether an index has yet to have some steps; raise if it is none of ours."""
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
        if not tables:
            return True
        application = None
        with suppress(sqlite3.OperationalError):
            query = "SELECT value FROM sessionref_index WHERE key = 'application'"
            application = db.execute(query).fetchone()
        if application != ("sessionref",):
            raise TitleIndexError(
                path=str(path),
                reason="it is a database of another program",
                advice="name another place for the index; this file was left as it is",
            )
        query = "SELECT name FROM _sqlite_migrations WHERE migration_set = 'sessionref'"
        applied = {name for (name,) in db.execute(query)}
    newer = applied - set(STEPS)
    if newer:
        raise TitleIndexError(
            path=str(path),
            reason=f"a newer version of sessionref has written it ({min(newer)})",
            advice="update sessionref, or name another place for the index",
        )
    return applied != set(STEPS)


def _sort(path: Path, error: sqlite3.Error) -> Exception:
    if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
        return _unusable(path, str(error))
    return DamagedFileError(str(error))


def _unusable(path: Path, reason: str) -> TitleIndexError:
    return TitleIndexError(
        path=str(path), reason=reason, advice="name another place for it, or do without an index"
    )
