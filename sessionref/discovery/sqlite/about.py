"""What an index says of itself: which folder it is of, by which rules it was read, and when."""

from __future__ import annotations

from collections.abc import Container, Iterable
from hashlib import blake2b
from typing import Final
from unicodedata import unidata_version

import apsw

from sessionref.session.generations import NEWEST_VERSION

__all__ = ["REFRESHED_AT", "ROOT", "RULES", "read_about", "rules_id", "write_about"]

ROOT: Final = "root"
RULES: Final = "rules"
REFRESHED_AT: Final = "refreshed_at"

_READING: Final = 1
"""To be raised when logs come to be read differently: what others have read is void then."""


def read_about(connection: apsw.Connection, key: str) -> str | None:
    """Return what the index says under a key, or None."""
    query = "SELECT value FROM sessionref_index WHERE key = ?"
    row = connection.execute(query, (key,)).fetchone()
    return None if row is None else str(row[0])


def write_about(connection: apsw.Connection, key: str, value: str) -> None:
    """Let the index say something under a key."""
    connection.execute("INSERT OR REPLACE INTO sessionref_index VALUES (?, ?)", (key, value))


def rules_id(max_log_bytes: int, known_types: Container[str]) -> str:
    """Return what changes when a log may be read or found otherwise without having changed."""
    types = sorted(known_types) if isinstance(known_types, Iterable) else repr(known_types)
    # Which letters have a lower case, and which, is another matter in another Python.
    rules = (_READING, NEWEST_VERSION, unidata_version, max_log_bytes, types)
    return blake2b(repr(rules).encode(errors="surrogatepass"), digest_size=8).hexdigest()
