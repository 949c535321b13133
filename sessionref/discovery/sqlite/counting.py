"""How frequent grams are, as far as plans need to know: counted in a sample of the rows."""

# ruff: noqa: S608 - statements are put together from this package's own parts alone

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import apsw

from sessionref.discovery.sqlite.text import beginnings, decode, grams_of

__all__ = ["CWD_GRAMS", "SESSION_GRAMS", "Frequencies", "count_grams", "read_frequencies"]

SESSION_GRAMS: Final = "session_gram"
CWD_GRAMS: Final = "cwd_gram"

_SAMPLE: Final = 8_000
_FREQUENT: Final = 400
"""A gram that is in one of so many rows is frequent; the index keeps no count of rarer ones."""

_SOURCES: Final = {
    SESSION_GRAMS: (
        "session",
        """SELECT coalesce(id_lower, id), coalesce(title_lower, title, x'') FROM session
        WHERE rank IN (SELECT rank FROM session WHERE rank % 1000003 % ? = 0)""",
    ),
    CWD_GRAMS: ("cwd", "SELECT coalesce(path_lower, path) FROM cwd WHERE key % ? = 0"),
}


@dataclass(frozen=True, slots=True)
class Frequencies:
    """About how many rows of a table there are, and how many of them have each of some grams."""

    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def rows_with(self, gram: str) -> int:
        """Return in about how many rows a gram is; a guess for one that is not frequent."""
        return self.counts.get(gram, self.total // _FREQUENT // 2)


def count_grams(connection: apsw.Connection) -> None:
    """Count anew how frequent grams are: worth its second or two after a large change.

    No answer depends on it, only how long it takes.  One transaction, or a part of the caller's.
    """
    with connection:
        connection.execute("DELETE FROM frequency")
        for grams, (table, query) in _SOURCES.items():
            total: int = connection.execute(f"SELECT count(*) FROM {table}").get
            counts = Counter[str]()
            sampled = 0
            for fields in connection.execute(query, (max(1, total // _SAMPLE),)):
                sampled += 1
                found = chain.from_iterable(grams_of(decode(text)) for text in fields)
                counts.update(set(chain.from_iterable(map(beginnings, found))))
            rows = [
                (grams, gram, count * total // sampled)
                for gram, count in counts.items()
                if count * _FREQUENT >= sampled
            ]
            connection.executemany(
                "INSERT INTO frequency VALUES (?, ?, ?)", [(grams, "", total), *rows]
            )


def read_frequencies(connection: apsw.Connection, grams: str, wanted: Iterable[str]) -> Frequencies:
    """Return what was counted of some grams of a table of grams."""
    counts = dict(
        connection.execute(
            "SELECT gram, rows FROM frequency"
            " WHERE grams = ? AND gram IN (SELECT value FROM json_each(?))",
            (grams, json.dumps(["", *wanted])),
        )
    )
    return Frequencies(counts.pop("", 0), counts)
