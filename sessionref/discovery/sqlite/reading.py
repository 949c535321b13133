"""Read sessions of the index by what they are known by."""

# ruff: noqa: S608 - statements are put together from this package's own parts alone

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from sessionref.discovery.sqlite.rows import SELECT, IndexedSession, from_row
from sessionref.discovery.sqlite.text import encode

__all__ = ["find_session", "read_ranked"]


def find_session(connection: apsw.Connection, session_id: str) -> IndexedSession | None:
    """Return the session of an id, or None."""
    query = f"{SELECT} WHERE session.id = ?"
    row = connection.execute(query, (encode(session_id),)).fetchone()
    return None if row is None else from_row(row)


def read_ranked(connection: apsw.Connection, ranks: Sequence[int]) -> list[IndexedSession]:
    """Return the sessions of some ranks, in their order."""
    query = f"""
        SELECT found.* FROM json_each(?) AS wanted
        CROSS JOIN ({SELECT.replace("SELECT", "SELECT session.rank AS rank,", 1)}) AS found
            ON found.rank = wanted.value
        ORDER BY wanted.key"""
    rows = connection.execute(query, (json.dumps(ranks),))
    return [from_row(row[1:]) for row in rows]
