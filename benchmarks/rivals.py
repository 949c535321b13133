"""What else could answer a lookup: a pass over all text in memory, and SQL as one writes it first.

Each is a function that runs in a process of its own, and returns the seconds of each needle.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Final

import apsw

from benchmarks.titles import titled_sessions

__all__ = ["LIMIT", "Question", "build_rivals", "time_instr", "time_memory", "time_trigrams"]

LIMIT: Final = 50

Question = tuple[str, str | None, str]
"""A lower-cased needle, and the cwd and id of the target that asks."""

_ORDER: Final = """
    AND plain.id <> :id
    ORDER BY
        CASE WHEN plain.cwd = :cwd THEN 0 WHEN plain.cwd IS NULL THEN 1 ELSE 2 END,
        plain.created_at DESC, plain.id
    LIMIT :limit"""
_TRIGRAMS: Final = """
    SELECT plain.id, plain.cwd, plain.title FROM trigram JOIN plain ON plain.rowid = trigram.rowid
    WHERE trigram MATCH :needle"""
_LIKE: Final = r"""
    SELECT id, cwd, title FROM plain
    WHERE (id LIKE :needle ESCAPE '\' OR cwd LIKE :needle ESCAPE '\'
        OR title LIKE :needle ESCAPE '\')"""
_INSTR: Final = """
    SELECT id, cwd, title FROM plain
    WHERE (instr(id, :needle) OR instr(cwd, :needle) OR instr(title, :needle))"""


def build_rivals(path: Path, size: int) -> None:
    """Make a database of the corpus with one plain table, lower-cased, and FTS5's own trigrams."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
        connection.execute("CREATE TABLE plain (id TEXT, cwd TEXT, title TEXT, created_at INTEGER)")
        connection.execute(
            "CREATE VIRTUAL TABLE trigram USING fts5"
            "(id, cwd, title, content='plain', detail=full, tokenize='trigram')"
        )
        with connection:
            connection.executemany(
                "INSERT INTO plain VALUES (?, ?, ?, ?)",
                (
                    (each.id, each.cwd and each.cwd.lower(), each.title.lower(), each.created_at)
                    for each in titled_sessions(size)
                ),
            )
            connection.execute("INSERT INTO trigram (trigram) VALUES ('rebuild')")


def time_memory(path: Path, questions: Sequence[Question]) -> list[float]:
    """Time one pass of `bytes.find` over all text, from session to session that matches.

    It neither ranks what it finds nor makes anything of it: an answer costs more than that.
    """
    with closing(_open(path)) as connection:
        rows = connection.execute("SELECT id, ifnull(cwd, ''), title FROM plain")
        text = "".join(
            f"{session_id}\0{cwd}\0{title}\n" for session_id, cwd, title in rows
        ).encode()
    times = []
    for needle, _, _ in questions:
        sought = needle.encode()
        start = perf_counter()
        found = []
        place = text.find(sought)
        while 0 <= place < len(text):
            found.append(place)
            place = text.find(sought, text.index(b"\n", place) + 1)
        times.append(perf_counter() - start)
    return times


def time_trigrams(path: Path, questions: Sequence[Question]) -> list[float]:
    """Time a lookup by FTS5's trigrams, and by LIKE where a needle is too short for them."""
    with closing(_open(path)) as connection:
        return [
            _time(connection, _LIKE, f"%{_escaped(question[0])}%", question)
            if len(question[0]) < 3
            else _time(connection, _TRIGRAMS, _quoted(question[0]), question)
            for question in questions
        ]


def time_instr(path: Path, questions: Sequence[Question]) -> list[float]:
    """Time a lookup by `instr` in every row."""
    with closing(_open(path)) as connection:
        return [_time(connection, _INSTR, question[0], question) for question in questions]


def _open(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)


def _time(connection: apsw.Connection, statement: str, needle: str, question: Question) -> float:
    _, cwd, session_id = question
    parameters = {"needle": needle, "cwd": cwd, "id": session_id, "limit": LIMIT}
    start = perf_counter()
    connection.execute(statement + _ORDER, parameters).fetchall()
    return perf_counter() - start


def _quoted(needle: str) -> str:
    return '"' + needle.replace('"', '""') + '"'


def _escaped(needle: str) -> str:
    return re.sub(r"[\\%_]", r"\\\g<0>", needle)
