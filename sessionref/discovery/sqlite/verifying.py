"""Compare an index with the logs that it is of: every log is read, and every row looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from sessionref.discovery.ranking import candidate, label_of
from sessionref.discovery.sqlite.answers import candidate_of
from sessionref.discovery.sqlite.connections import Connections
from sessionref.discovery.sqlite.reading import find_session
from sessionref.discovery.sqlite.text import decode, gram_text, match_all
from sessionref.model import Candidate
from sessionref.storage.protocol import SessionStore, StoredSession, TitleReading

__all__ = ["Difference", "verify"]

_PAGE: Final = 2_000


class Difference(NamedTuple):
    """In what an index differs from the logs: whose session, where it lies, and how."""

    session_id: str | None
    place: str
    problem: str


async def verify(store: SessionStore, connections: Connections, path: Path) -> list[Difference]:
    """Return in what the index at `path` differs from the logs of a store, each of them read."""
    found: list[Difference] = await connections.read(partial(_check_pages, path=path))
    seen: set[str] = set()
    # What raises below must not leave a listing behind that has not come to its end.
    for batch in [batch async for batch in store.list_sessions()]:
        sessions = [each for each in batch if each.header is not None]
        readings = await store.read_titles(sessions)
        expected = [_expected(*pair) for pair in zip(sessions, readings, strict=True)]
        seen.update(each.session_id for each in expected)
        places = [each.place for each in sessions]
        found += await connections.read(partial(_compare, expected=expected, places=places))
    last = -1
    while page := await connections.read(partial(_check_rows, rank=last, seen=seen, path=path)):
        last, differences = page
        found += differences
    return found


def _expected(session: StoredSession, reading: TitleReading) -> Candidate:
    header = session.header
    if header is None:
        raise ValueError("the session has no header")
    error = session.error or reading.error
    title = None if error is not None or reading.title is None else reading.title.title
    problem = None if error is None else error.describe()
    return candidate(header, label_of(header.id, title), session.updated_at, problem)


def _compare(
    connection: apsw.Connection, expected: Sequence[Candidate], places: Sequence[str]
) -> list[Difference]:
    found = []
    for log, place in zip(expected, places, strict=True):
        row = find_session(connection, log.session_id)
        if row is None:
            found.append(Difference(log.session_id, place, "it is not in the index"))
            continue
        known = dict(candidate_of(row))
        for name, value in log:
            if known[name] != value:
                problem = f"its {name} is {known[name]!r} in the index and {value!r} in the log"
                found.append(Difference(log.session_id, place, problem))
    return found


def _check_rows(
    connection: apsw.Connection, rank: int, seen: set[str], path: Path
) -> tuple[int, list[Difference]] | None:
    """Look up a page of rows after a rank by all of their grams; return the last rank, too."""
    query = """
        SELECT rank, id, cwd, coalesce(id_lower, id), coalesce(title_lower, title, x'')
        FROM session WHERE rank > ? ORDER BY rank LIMIT ?"""
    rows: list[Any] = connection.execute(query, (rank, _PAGE)).fetchall()
    if not rows:
        return None
    found = []
    for row_rank, encoded, cwd, *fields in rows:
        session_id = decode(encoded)
        if session_id not in seen:
            found.append(Difference(session_id, str(path), "its log has gone"))
        elif not _has_grams(connection, row_rank, gram_text(cwd, *fields).split(" ")):
            found.append(Difference(session_id, str(path), "lookups do not find all of it"))
    return rows[-1][0], found


def _has_grams(connection: apsw.Connection, rank: int, grams: Iterable[str]) -> bool:
    query = "SELECT 1 FROM session_gram WHERE session_gram MATCH ? AND rowid = ?"
    wanted = [gram for gram in grams if gram]
    return not wanted or connection.execute(query, (match_all(wanted), rank)).fetchone() is not None


def _check_pages(connection: apsw.Connection, path: Path) -> list[Difference]:
    rows = connection.execute("PRAGMA quick_check").fetchall()
    return [Difference(None, str(path), str(text)) for (text,) in rows if text != "ok"]
