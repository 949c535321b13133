"""A title index of the corpus, made and asked by what the library itself is made of."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Final

import apsw

from benchmarks.rivals import LIMIT, Question
from benchmarks.titles import TitledSession, titled_sessions
from sessionref._migrations import migrate
from sessionref.discovery.sqlite.counting import count_grams
from sessionref.discovery.sqlite.rows import IndexedSession
from sessionref.discovery.sqlite.search import search
from sessionref.discovery.sqlite.writing import merge_grams, put_sessions
from sessionref.storage.protocol import Revision

__all__ = ["Index", "build_index"]

_BATCH: Final = 20_000


class Index:
    """The title index, opened as a reader opens it."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        self._connection.execute("PRAGMA cache_size = -16384")

    def ask(self, question: Question) -> None:
        """Look a needle up."""
        needle, cwd, session_id = question
        search(self._connection, cwd, session_id, needle, LIMIT)


def build_index(path: Path, size: int) -> float:
    """Make an index of so many sessions; return the seconds that it took."""
    migrate(path)
    start = perf_counter()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -128000")
        sessions = map(_indexed, titled_sessions(size), map(Random, range(size)))
        while batch := list(islice(sessions, _BATCH)):
            put_sessions(connection, batch)
        for _ in merge_grams(connection):
            pass
        count_grams(connection)
    return perf_counter() - start


def _indexed(session: TitledSession, random: Random) -> IndexedSession:
    """Return a session with all that the index holds of an ordinary one."""
    time_ns = session.created_at * 1_000_000
    slug = "_no-cwd" if session.cwd is None else f"--{session.cwd[1:].replace('/', '-')}--"
    return IndexedSession(
        session.id,
        session.cwd,
        session.title,
        session.created_at,
        updated_at=session.created_at + random.randrange(10_000_000),
        parent_session=session.id if random.random() < 0.2 else None,
        version=4,
        is_seeded=False,
        project=slug.encode(),
        file=b"session.v4.jsonl.zstd",
        revision=Revision(
            66_304, random.randrange(10**7), random.randrange(10**6), time_ns + 7, time_ns + 77
        ),
        checkpoint=random.randbytes(60),
    )
