"""How the cost of work grows with its size, told so that a busy machine cannot spoil it."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import TypeVar

__all__ = ["assert_linear"]

_Input = TypeVar("_Input")

_SIZES = (2**14, 2**16, 2**18, 2**20)
_STEP = 4
_SLACK = 2.5  # so that ten times the cost passes, and the sixteen times of a square do not
_FLOOR = 0.02  # seconds that are lost in the noise
_ATTEMPTS = 5


def assert_linear(
    make: Callable[[int], _Input], work: Callable[[_Input], object], largest: int = _SIZES[-1]
) -> None:
    """Fail if work on four times as much costs much more than four times as much.

    `make` gives an input of a size, up to `largest`.  What counts is the processor's time in this
    process; the smaller input counts by its best attempt, and one good attempt at the larger one
    is enough.  A square shows at small sizes already, so that a failure does not take hours.
    """
    sizes = [size for size in _SIZES if size <= largest]
    smaller = make(sizes[0])
    before = min(_cost(work, smaller) for _ in range(_ATTEMPTS))
    for size in sizes[1:]:
        larger = make(size)
        limit = before * _STEP * _SLACK + _FLOOR
        costs: list[float] = []
        while len(costs) < _ATTEMPTS and (not costs or min(costs) > limit):
            costs.append(_cost(work, larger))
        assert min(costs) <= limit, f"{size:,} take {min(costs):.3f} s, after {before:.3f} s before"
        before = min(costs)


def _cost(work: Callable[[_Input], object], value: _Input) -> float:
    started = process_time()
    work(value)
    return process_time() - started
