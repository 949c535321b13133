"""Put sessions into the index and take them out, with all that is looked up of them.

Each function is one transaction, or a part of the caller's.  Rows go in the order of their ranks,
for FTS5 writes out what it has gathered whenever a row comes before the last one.
"""

# ruff: noqa: S608 - statements are put together from this package's own parts alone

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import apsw

from sessionref.discovery.sqlite.rows import IndexedSession, rank_ranges, to_row
from sessionref.discovery.sqlite.text import encode, gram_text, lower

__all__ = ["merge_grams", "put_sessions", "remove_sessions"]

_FIND_OLD: Final = """
    SELECT rank, cwd, project, coalesce(id_lower, id), coalesce(title_lower, title)
    FROM session WHERE id = ?"""
_PUT: Final = f"INSERT OR REPLACE INTO session VALUES ({', '.join('?' * 21)})"
_ADD_GRAMS: Final = "INSERT INTO session_gram (rowid, grams) VALUES (?, ?)"
# Without content of its own, FTS5 has to be told what it forgets.
_REMOVE_GRAMS: Final = (
    "INSERT INTO session_gram (session_gram, rowid, grams) VALUES ('delete', ?, ?)"
)


class _Looked(NamedTuple):
    """What a session is looked up by."""

    rank: int
    cwd: int | None
    project: int
    id: bytes
    title: bytes | None

    def grams(self) -> tuple[int, str]:
        return self.rank, gram_text(self.cwd, self.id, self.title or b"")


def put_sessions(connection: apsw.Connection, sessions: Iterable[IndexedSession]) -> None:
    """Put sessions in, each in the place of the one that has its id."""
    latest = {session.id: session for session in sessions}
    ordered = sorted(latest.values(), key=lambda each: rank_ranges(each.cwd, each.created_at))
    keys = _Keys(connection)
    gone: list[_Looked] = []
    come: list[_Looked] = []
    with connection:
        for session in ordered:
            old = _find_old(connection, session.id)
            new = _put(connection, keys, session, old)
            if old != new:
                come.append(new)
                if old is not None:
                    gone.append(old)
        _move(connection, gone, come)


def remove_sessions(connection: apsw.Connection, session_ids: Iterable[str]) -> None:
    """Take the sessions of some ids out; an id that is not there is passed over."""
    with connection:
        found = (_find_old(connection, session_id) for session_id in set(session_ids))
        gone = [old for old in found if old is not None]
        connection.executemany("DELETE FROM session WHERE rank = ?", ((old.rank,) for old in gone))
        _move(connection, gone, [])


def merge_grams(connection: apsw.Connection, pages: int = 2000) -> Iterator[None]:
    """Merge the pieces that grams are kept in into one, some pages at each step of the iterator.

    Lookups get by without, and are faster after it.  Each step is a transaction, or a part of the
    caller's, and the work may stop after any.
    """
    for table in ("session_gram", "cwd_gram"):
        merge = f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)"
        step = -pages  # the first one says that all pieces are meant
        changes = 2
        while changes >= 2:  # so FTS5 tells whether there was something left to merge
            before = connection.total_changes()
            connection.execute(merge, (step,))
            changes = connection.total_changes() - before
            step = pages
            yield


def _put(
    connection: apsw.Connection, keys: _Keys, session: IndexedSession, old: _Looked | None
) -> _Looked:
    rank = _choose_rank(connection, session, old)
    if old is not None and old.rank != rank:
        connection.execute("DELETE FROM session WHERE rank = ?", (old.rank,))
    cwd = None if session.cwd is None else keys.of_cwd(session.cwd)
    row = to_row(rank, session, cwd, keys.of_name(session.project), keys.of_name(session.file))
    connection.execute(_PUT, row)
    return _Looked(rank, cwd, row.project, row.id_lower or row.id, row.title_lower or row.title)


def _choose_rank(connection: apsw.Connection, session: IndexedSession, old: _Looked | None) -> int:
    ranges = rank_ranges(session.cwd, session.created_at)
    if old is not None and any(first <= old.rank <= last for first, last in ranges):
        return old.rank
    for first, last in ranges:
        highest: int | None = connection.execute(
            "SELECT max(rank) FROM session WHERE rank BETWEEN ? AND ?", (first, last)
        ).get
        if highest is None:
            return first
        if highest < last:
            return highest + 1
    raise AssertionError("a second has more sessions than an index can hold")


def _find_old(connection: apsw.Connection, session_id: str) -> _Looked | None:
    row = connection.execute(_FIND_OLD, (encode(session_id),)).fetchone()
    return None if row is None else _Looked(*row)


def _move(connection: apsw.Connection, gone: list[_Looked], come: list[_Looked]) -> None:
    """Bring up to date what is looked up, and forget folders that have no session any more."""
    connection.executemany(_REMOVE_GRAMS, (old.grams() for old in sorted(gone)))
    connection.executemany(_ADD_GRAMS, (new.grams() for new in sorted(come)))
    counts = Counter(new.cwd for new in come)
    counts.subtract(old.cwd for old in gone)
    connection.executemany(
        "UPDATE cwd SET sessions = sessions + ? WHERE key = ?",
        ((change, cwd) for cwd, change in counts.items() if change),
    )
    for cwd in sorted({old.cwd for old in gone if old.cwd is not None}):
        lowered: bytes | None = connection.execute(
            "DELETE FROM cwd WHERE key = ? AND sessions = 0 RETURNING coalesce(path_lower, path)",
            (cwd,),
        ).get
        if lowered is not None:
            connection.execute(
                "INSERT INTO cwd_gram (cwd_gram, rowid, grams) VALUES ('delete', ?, ?)",
                (cwd, gram_text(None, lowered)),
            )
    connection.executemany(
        "DELETE FROM name WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM session WHERE project = ?1)",
        ((project,) for project in {old.project for old in gone}),
    )


class _Keys:
    """The numbers of folders and names, new ones made where there are none."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._cwds: dict[str, int] = {}
        self._names: dict[bytes, int] = {}

    def of_cwd(self, cwd: str) -> int:
        key = self._cwds.get(cwd)
        if key is None:
            key = self._cwds[cwd] = self._find("cwd", "path", encode(cwd)) or self._add_cwd(cwd)
        return key

    def of_name(self, name: bytes) -> int:
        key = self._names.get(name)
        if key is None:
            key = self._find("name", "name", name) or self._add("name (name)", name)
            self._names[name] = key
        return key

    def _add_cwd(self, cwd: str) -> int:
        path = encode(cwd)
        lowered = lower(path)
        key = self._add("cwd (path, path_lower)", path, lowered)
        self._connection.execute(
            "INSERT INTO cwd_gram (rowid, grams) VALUES (?, ?)",
            (key, gram_text(None, path if lowered is None else lowered)),
        )
        return key

    def _find(self, table: str, column: str, value: bytes) -> int | None:
        query = f"SELECT key FROM {table} WHERE {column} = ?"
        key: int | None = self._connection.execute(query, (value,)).get
        return key

    def _add(self, columns: str, *values: bytes | None) -> int:
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO {columns} VALUES ({marks})", values)
        return self._connection.last_insert_rowid()
