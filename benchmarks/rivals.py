"""What else could answer a lookup: a pass over all text in memory, and SQL as one writes it first.

Each way is made from the file that `build_rivals` writes, and then asked.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from benchmarks.titles import titled_sessions

__all__ = ["LIMIT", "Instr", "Memory", "Question", "Trigrams", "build_rivals"]

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


class Memory:
    """One pass of `bytes.find` over all text, from session to session that matches.

    It neither ranks what it finds nor makes anything of it: an answer costs more than that.
    """

    def __init__(self, path: Path) -> None:
        with closing(_open(path)) as connection:
            rows = connection.execute("SELECT id, ifnull(cwd, ''), title FROM plain")
            lines = (f"{session_id}\0{cwd}\0{title}\n" for session_id, cwd, title in rows)
            self._text = "".join(lines).encode()

    def ask(self, question: Question) -> None:
        """Find the places of all sessions that match."""
        text, needle = self._text, question[0].encode()
        found = []
        place = text.find(needle)
        while 0 <= place < len(text):
            found.append(place)
            place = text.find(needle, text.index(b"\n", place) + 1)


class Instr:
    """A statement that looks for the needle in every row."""

    def __init__(self, path: Path) -> None:
        self._connection = _open(path)

    def ask(self, question: Question) -> None:
        """Read the answer."""
        self._read(_INSTR, question[0], question)

    def _read(self, statement: str, needle: str, question: Question) -> None:
        _, cwd, session_id = question
        parameters = {"needle": needle, "cwd": cwd, "id": session_id, "limit": LIMIT}
        self._connection.execute(statement + _ORDER, parameters).fetchall()


class Trigrams(Instr):
    """FTS5's own trigrams, and LIKE where a needle is too short for them."""

    def ask(self, question: Question) -> None:
        """Read the answer."""
        needle = question[0]
        if len(needle) < 3:
            escaped = re.sub(r"[\\%_]", r"\\\g<0>", needle)
            self._read(_LIKE, f"%{escaped}%", question)
        else:
            quoted = needle.replace('"', '""')
            self._read(_TRIGRAMS, f'"{quoted}"', question)


def _open(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
