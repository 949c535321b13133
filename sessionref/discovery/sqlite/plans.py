"""How a search goes about it: what each way is expected to cost.  Pure.

No answer depends on what is decided here, only how long it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

from sessionref.discovery.sqlite.text import GRAM_SIZE

__all__ = ["COSTS", "Costs"]

_OVERLAPPING: Final = 0.5
"""The share of the rows with one gram that have one overlapping it, however rare that is in all."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What the steps of a search take, in microseconds; what counts is how they compare.

    walk: a row is read in the order of the table, and compared with the needle.
    walk_in_cwd: the same of a row of one cwd; such rows lie apart from each other.
    check: a row is looked up by its number, and compared.
    pass_by: the list of a gram is read on by one row.
    gather: one of the rows is collected that begin with a short needle, or lie in a folder.
    open: the list of a gram is opened.
    """

    walk: float = 1.2
    walk_in_cwd: float = 2.5
    check: float = 5.0
    pass_by: float = 0.03
    gather: float = 0.3
    open: float = 20.0
    patience: float = 2.0
    """A walk is given up after so many times the rows that it was expected to take."""
    least_walk: int = 300
    """Rows that a walk is worth in any case."""

    def choose_grams(
        self, grams: Sequence[str], rows_with: Callable[[str], int], rows: int, total: int
    ) -> list[str]:
        """Return the grams that are worth looking up together to find some among `rows` rows.

        `grams` come in the order of their places in the needle, and `total` is how many rows the
        counts of `rows_with` are of.  Each gram has to spare more checks than its list costs.
        """
        counts = [min(rows_with(gram), total) for gram in grams]
        chosen: list[int] = []
        left = float(rows)
        while len(chosen) < len(grams):
            best, gain, rest = 0, 0.0, left
            for place, count in enumerate(counts):
                if place in chosen:
                    continue
                share = count / max(total, 1)
                if any(abs(place - other) < GRAM_SIZE for other in chosen):
                    share = max(share, _OVERLAPPING)
                # Where few rows are left, a long list is skipped through rather than read.
                cost = self.open + min(count * self.pass_by, left * self.check)
                spared = left * (1 - share) * self.check - cost
                if spared > gain:
                    best, gain, rest = place, spared, left * share
            if gain <= 0:
                break
            chosen.append(best)
            left = rest
        return [grams[place] for place in chosen]

    def worth_walking(self, limit: int, total: int) -> float:
        """Return how many rows have to match for a walk to be faster than gathering them all."""
        return sqrt(limit * total * self.walk / max(self.gather, 1e-9))

    def steps(self, limit: int, matching: int, rows: int, total: int) -> int:
        """Return how many steps to walk through `rows` rows before giving up; 0 for not at all.

        About `matching` of `total` rows match, of which `limit` are wanted.
        """
        expected = min(rows, limit * total / max(matching, 1))
        if expected * self.walk >= matching * self.gather:
            return 0
        return int(self.patience * expected) + self.least_walk

    def steps_in_cwd(self, limit: int, matching: int, rows: int, total: int) -> int:
        """Return the same for a walk through the rows of one cwd."""
        dearer = replace(self, walk=self.walk_in_cwd)
        return dearer.steps(limit, matching, rows, total)


COSTS: Final = Costs()
