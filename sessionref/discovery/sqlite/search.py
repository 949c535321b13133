"""Which sessions match a needle, from the index.

A search reads two streams of ranks, each in order: the sessions with the target's cwd, then all
others.  It stops as soon as it has enough, so what comes last costs nothing.  Sessions are found

* by the *grams* of the needle, in their ids and titles.  FTS5 goes through the lists of several
  grams at once, as far as it is asked.  Only for one or two characters of ASCII it first gathers
  all grams that begin with them, which is fast while they are rare;
* by *cwd*: those with the needle in them are few, and their sessions are gathered from an index;
* by *walking* from row to row, where so many match that the next one is never far.

Which of them is fast, `plans` decides.  All find the same, for each row is compared with the needle
itself.  A walk that takes much longer than expected is given up where it is, and the others go on
from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from heapq import merge, nsmallest
from itertools import chain, groupby
from math import inf
from typing import Any, NamedTuple

import apsw

from sessionref.discovery.sqlite.counting import (
    CWD_GRAMS,
    SESSION_GRAMS,
    Frequencies,
    read_frequencies,
)
from sessionref.discovery.sqlite.plans import COSTS, Costs
from sessionref.discovery.sqlite.reading import read_ranked
from sessionref.discovery.sqlite.rows import AREAS, WIDE, Area, IndexedSession, bucket_of
from sessionref.discovery.sqlite.statements import (
    BY_CWD,
    BY_GRAMS,
    BY_WALKING,
    CWDS,
    CWDS_BY_GRAMS,
    IN_ONE_CWD,
    NTH,
    NTH_IN_ONE_CWD,
    ONE_CWD,
)
from sessionref.discovery.sqlite.text import (
    cwd_gram,
    encode,
    is_beginning,
    match_all,
    needle_grams,
)

__all__ = ["search"]

_Hit = tuple[int, int, bytes]  # rank, created_at, id
_Rows = Callable[[int, int], Iterator[_Hit]]  # those from one rank to another


def search(
    connection: apsw.Connection,
    target_cwd: str | None,
    target_id: str,
    needle: str,
    limit: int,
    costs: Costs = COSTS,
) -> list[IndexedSession]:
    """Return the first `limit` sessions that match a lower-cased needle, without the target's.

    They are those that `ranking.matches` takes, in the order of `ranking.rank`, all of one state of
    the index.  `Connection.interrupt` ends it from another thread, with `apsw.InterruptError`.
    """
    with connection:
        question = _Search(connection, target_cwd, target_id, needle, limit, costs)
        try:
            ranks = _first_ranks(question, limit)
        finally:
            question.close()
        sessions = read_ranked(connection, ranks)
    return sessions  # noqa: RET504 - by its type, the block above may swallow an exception


def _first_ranks(question: _Search, limit: int) -> list[int]:
    found: list[int] = []
    # The second stream is not even asked for where the first one is enough.
    for stream in (question.in_same_cwd, question.in_others):
        for _, tied in groupby(stream(), key=_bucket):
            hits = nsmallest(limit - len(found), tied, key=_order)
            found += [rank for rank, _, _ in hits]
            if len(found) == limit:
                return found
    return found


def _bucket(hit: _Hit) -> int:
    return bucket_of(hit[0])


def _order(hit: _Hit) -> tuple[int, bytes]:
    return -hit[1], hit[2]


class _Cwd(NamedTuple):
    """A cwd of the index: its number, how many sessions it has, and whether the needle is in it."""

    key: int
    sessions: int
    has_needle: bool


class _Search:
    """One question, and what is known before the first row is read."""

    def __init__(
        self,
        connection: apsw.Connection,
        target_cwd: str | None,
        target_id: str,
        needle: str,
        limit: int,
        costs: Costs,
    ) -> None:
        self._connection = connection
        self._cursors: list[apsw.Cursor] = []
        self._limit = limit
        self._costs = costs
        self._grams = needle_grams(needle)
        self._is_short = any(map(is_beginning, self._grams))
        self._frequencies = read_frequencies(connection, SESSION_GRAMS, self._grams)
        self._total = self._frequencies.total
        # How many sessions are expected to have a short needle; of others that does not matter.
        self._matching = self._frequencies.rows_with(self._grams[0]) if self._is_short else 0
        self._parameters = {
            "needle": encode(needle),
            "target": encode(target_id),
            "passed_over": 0,
            "grams": match_all(self._choose_grams(self._frequencies) or self._grams[:1]),
        }
        self._cwd = None if target_cwd is None else self._find_cwd(target_cwd)
        wide = connection.execute("SELECT 1 FROM session WHERE rank >= ?", (WIDE.start,))
        self._areas = AREAS if wide.fetchone() else AREAS[:1]

    def close(self) -> None:
        """End all statements: one that goes on keeps an interrupted connection interrupted."""
        for cursor in self._cursors:
            cursor.close(force=True)

    def in_same_cwd(self) -> Iterator[_Hit]:
        """Yield the sessions of the target's cwd that match, bucket by bucket."""
        if self._cwd is None:
            return iter(())
        key, sessions, is_in_cwd = self._cwd
        here = self._parameters | {"cwd": key, "is_in_cwd": is_in_cwd}
        grams = [] if is_in_cwd else self._choose_grams(self._frequencies, sessions)
        if not grams:
            return self._in_ranks(partial(self._run, IN_ONE_CWD, here), Area.group_with_cwd)
        here["grams"] = match_all([cwd_gram(key), *grams])
        steps = self._costs.steps_in_cwd(self._limit, self._matching, sessions, self._total)
        by_grams = partial(self._run, BY_GRAMS, here)
        walking = self._walking(steps, IN_ONE_CWD, NTH_IN_ONE_CWD, here, by_grams)
        return self._in_ranks(walking, Area.group_with_cwd)

    def in_others(self) -> Iterator[_Hit]:
        """Yield all other sessions that match, bucket by bucket: those without cwd come first."""
        others = self._parameters | {"passed_over": 0 if self._cwd is None else self._cwd.key}
        if not self._grams:
            return self._in_ranks(partial(self._run, BY_WALKING, others), Area.all_ranks)
        cwds = _Cwds(self._cwds_with_needle())
        in_cwds = cwds.read(self._costs.worth_walking(self._limit, self._total))
        by_grams = partial(self._run, BY_GRAMS, others)

        def by_grams_and_cwd(first: int, last: int) -> Iterator[_Hit]:
            cwds.read()
            if not cwds.keys:
                return by_grams(first, last)
            here = others | {"cwds": json.dumps(cwds.keys)}
            by_cwd = self._run(BY_CWD, here, first, last)
            # What comes from both comes once.
            return (hit for hit, _ in groupby(merge(by_grams(first, last), by_cwd)))

        steps = self._steps(in_cwds + self._matching)
        if not steps:
            return self._in_ranks(by_grams_and_cwd, Area.all_ranks)
        steps_without = self._steps(self._matching)
        without = self._walking(steps_without, BY_WALKING, NTH, others, by_grams)
        within = self._walking(steps, BY_WALKING, NTH, others, by_grams_and_cwd)
        return chain(
            self._in_ranks(without, Area.group_without_cwd),
            self._in_ranks(within, Area.group_with_cwd),
        )

    def _in_ranks(self, rows: _Rows, part: Callable[[Area], tuple[int, int]]) -> Iterator[_Hit]:
        return merge(*(rows(*part(area)) for area in self._areas), key=_bucket)

    def _walking(
        self, steps: int, walk: str, nth: str, parameters: Mapping[str, Any], rest: _Rows
    ) -> _Rows:
        """Return what walks so many steps, and then goes on in another way."""

        def rows(first: int, last: int) -> Iterator[_Hit]:
            if steps:
                bounds = {"first": first, "steps": steps}
                row = self._connection.execute(nth, {**parameters, **bounds}).fetchone()
                end = last if row is None else min(row[0], last)
                yield from self._run(walk, parameters, first, end)
                first = end + 1
            if first <= last:
                yield from rest(first, last)

        return rows

    def _run(
        self, statement: str, parameters: Mapping[str, Any], first: int, last: int
    ) -> Iterator[_Hit]:
        bounds = {"first": first, "last": last}
        return self._open(statement, {**parameters, **bounds})

    def _open(self, statement: str, parameters: Mapping[str, Any]) -> Iterator[Any]:
        cursor = self._connection.cursor()
        self._cursors.append(cursor)
        return cursor.execute(statement, parameters)

    def _steps(self, matching: int) -> int:
        return self._costs.steps(self._limit, matching, self._total, self._total)

    def _choose_grams(self, frequencies: Frequencies, rows: int | None = None) -> list[str]:
        return self._costs.choose_grams(
            self._grams,
            frequencies.rows_with,
            frequencies.total if rows is None else rows,
            frequencies.total,
        )

    def _find_cwd(self, cwd: str) -> _Cwd | None:
        row = self._connection.execute(
            ONE_CWD, {**self._parameters, "path": encode(cwd)}
        ).fetchone()
        return None if row is None else _Cwd(*row)

    def _cwds_with_needle(self) -> Iterator[tuple[int, int]]:
        """Yield the cwds that the needle is in: their numbers, and how many sessions they have."""
        frequencies = read_frequencies(self._connection, CWD_GRAMS, self._grams)
        if self._is_short and self._grams[0] in frequencies.counts:
            grams = []  # such a needle is in so many that looking at all of them is no detour
        else:
            grams = self._choose_grams(frequencies) or self._grams[:1]
        statement = CWDS_BY_GRAMS if grams else CWDS
        return self._open(statement, self._parameters | {"grams": match_all(grams)})


class _Cwds:
    """Cwds, read as far as they are wanted."""

    def __init__(self, found: Iterator[tuple[int, int]]) -> None:
        self._found = found
        self.keys: list[int] = []
        self._sessions = 0

    def read(self, enough: float = inf) -> int:
        """Read on until they have enough sessions together; return how many they have."""
        while self._sessions < enough and (cwd := next(self._found, None)) is not None:
            self.keys.append(cwd[0])
            self._sessions += cwd[1]
        return self._sessions
