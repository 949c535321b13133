"""What the index knows of a session, and the numbers that sort sessions.  Pure.

The number of a session's row is its *rank*: rows in the order of their ranks are, but for ties, in
the order of the answer, so that a search reads rows until it has enough and then stops.

    rank = area | group | bucket | sequence

A *bucket* is about a second; newer ones come first.  Within a bucket rows are numbered as they
come, and sorted exactly when they are read.  The *narrow* area numbers 16 of them, which keeps
ranks and all that lists them short; what does not fit is in the *wide* area.
"""

# ruff: noqa: S608 - statements are put together from this package's own parts alone

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sessionref.discovery.sqlite.text import decode, encode, lower
from sessionref.reference.visible import is_blank
from sessionref.storage.protocol import Revision

__all__ = [
    "AREAS",
    "SELECT",
    "WIDE",
    "Area",
    "IndexedSession",
    "Row",
    "bucket_of",
    "from_row",
    "pack_revision",
    "rank_ranges",
    "to_row",
    "unpack_revision",
]

_COLUMNS: Final = (
    *("session.id", "cwd.path", "session.title", "session.created_at", "session.updated_at"),
    *("session.parent_session", "session.is_subagent", "session.problem", "session.version"),
    *("session.delegation_depth", "session.seed_length", "session.is_seeded"),
    *("session.agent_preset", "project.name", "session.folder", "file.name", "session.revision"),
    "session.checkpoint",
)
SELECT: Final = f"""
    SELECT {", ".join(_COLUMNS)} FROM session
    LEFT JOIN cwd ON cwd.key = session.cwd
    JOIN name AS project ON project.key = session.project
    JOIN name AS file ON file.key = session.file"""
"""Reads rows for `from_row`; what follows says which."""

_BUCKET_BITS: Final = 10
_LAST_BUCKET: Final = 2**32 - 1
"""Buckets reach to the year 2109; what is later than that is in the newest of them."""


class Area(NamedTuple):
    """A part of the ranks: where it starts, and how many bits number the rows of a bucket."""

    start: int
    sequence_bits: int

    def all_ranks(self) -> tuple[int, int]:
        """Return the first and last rank."""
        return self.start, self.start + 2 * self._group_size - 1

    def group_without_cwd(self) -> tuple[int, int]:
        """Return the first and last rank of sessions without cwd."""
        return self.start, self.start + self._group_size - 1

    def group_with_cwd(self) -> tuple[int, int]:
        """Return the first and last rank of sessions with a cwd."""
        return self.start + self._group_size, self.start + 2 * self._group_size - 1

    @property
    def _group_size(self) -> int:
        return (_LAST_BUCKET + 1) << self.sequence_bits


NARROW: Final = Area(0, 4)
WIDE: Final = Area(2**61, 28)
AREAS: Final = (NARROW, WIDE)


class IndexedSession(NamedTuple):
    """One session of the index.

    The first part is what a candidate is made of; then comes what else the header says, then where
    the log lies and which state of it was read.  `title` is the one that is shown, None where that
    is the id; `problem` tells why the log cannot be read, in whatever form it was put in.

    The log is `project/folder/file` below the root, each the bytes of a name; `folder` is None
    where it is the one that the id has by itself.  `checkpoint` is what the reader goes on from.
    """

    id: str
    cwd: str | None
    title: str | None
    created_at: int
    updated_at: int | None = None
    parent_session: str | None = None
    is_subagent: bool = False
    problem: str | None = None

    version: int = 0
    delegation_depth: int = 0
    seed_length: int | None = None
    is_seeded: bool | None = None
    agent_preset: str | None = None

    project: bytes = b""
    folder: bytes | None = None
    file: bytes = b""
    revision: Revision | None = None
    checkpoint: bytes | None = None


def rank_ranges(cwd: str | None, created_at: int) -> list[tuple[int, int]]:
    """Return the first and last rank that a session may have, in each area."""
    bucket = _LAST_BUCKET - min(created_at >> _BUCKET_BITS, _LAST_BUCKET)
    group = (cwd is not None) << 32
    ranges = []
    for area in AREAS:
        first = area.start + ((group + bucket) << area.sequence_bits)
        ranges.append((first, first + (1 << area.sequence_bits) - 1))
    return ranges


def bucket_of(rank: int) -> int:
    """Return the bucket of a rank, with its group: whatever the area, smaller ones come first."""
    area = WIDE if rank >= WIDE.start else NARROW
    return (rank - area.start) >> area.sequence_bits


def pack_revision(revision: Revision) -> bytes:
    """Return a revision as bytes, equal where revisions are: its numbers, each after its size.

    Those of some systems are beyond the range of SQLite's integers.
    """
    parts = bytearray()
    for number in revision:
        size = number.bit_length() // 8 + 1
        parts.append(size)
        parts += number.to_bytes(size, "big", signed=True)
    return bytes(parts)


def unpack_revision(data: bytes) -> Revision:
    """Return the revision that `pack_revision` was given."""
    numbers = []
    place = 0
    while place < len(data):
        end = place + 1 + data[place]
        numbers.append(int.from_bytes(data[place + 1 : end], "big", signed=True))
        place = end
    return Revision(*numbers)


class Row(NamedTuple):
    """A row of the table `session`, column by column."""

    rank: int
    id: bytes
    id_lower: bytes | None
    title: bytes | None
    title_lower: bytes | None
    cwd: int | None
    created_at: int
    updated_at: int | None
    parent_session: bytes | None
    is_subagent: bool
    problem: bytes | None
    version: int
    delegation_depth: int
    seed_length: int | None
    is_seeded: bool | None
    agent_preset: bytes | None
    project: int
    folder: bytes | None
    file: int
    revision: bytes | None
    checkpoint: bytes | None


def to_row(rank: int, session: IndexedSession, cwd: int | None, project: int, file: int) -> Row:
    """Return the row of a session, given its rank and the numbers of its cwd and names."""
    title = session.title
    named = None if title is None or is_blank(title) else encode(title)
    encoded_id = encode(session.id)
    return Row(
        rank,
        encoded_id,
        lower(encoded_id),
        named,
        None if named is None else lower(named),
        cwd,
        session.created_at,
        session.updated_at,
        _encoded(session.parent_session),
        session.is_subagent,
        _encoded(session.problem),
        session.version,
        session.delegation_depth,
        session.seed_length,
        session.is_seeded,
        _encoded(session.agent_preset),
        project,
        session.folder,
        file,
        None if session.revision is None else pack_revision(session.revision),
        session.checkpoint,
    )


def from_row(row: Sequence[Any]) -> IndexedSession:
    """Return the session of a row that `SELECT` reads."""
    return IndexedSession(
        id=decode(row[0]),
        cwd=_decoded(row[1]),
        title=_decoded(row[2]),
        created_at=row[3],
        updated_at=row[4],
        parent_session=_decoded(row[5]),
        is_subagent=bool(row[6]),
        problem=_decoded(row[7]),
        version=row[8],
        delegation_depth=row[9],
        seed_length=row[10],
        is_seeded=None if row[11] is None else bool(row[11]),
        agent_preset=_decoded(row[12]),
        project=row[13],
        folder=row[14],
        file=row[15],
        revision=None if row[16] is None else unpack_revision(row[16]),
        checkpoint=row[17],
    )


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else encode(text)


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else decode(data)
