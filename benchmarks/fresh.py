"""One measurement a process: nothing that ran before can have warmed it up or filled its memory.

Ours and the floor take turns, so that whatever else the machine does falls on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median

__all__ = ["Timing", "take_turns"]


@dataclass(frozen=True)
class Timing:
    """The best and the median of several measurements, in seconds."""

    best: float
    median: float


def take_turns(rounds: int, *measurements: Callable[[], float]) -> list[Timing]:
    """Return the timing of each measurement, all of them made in turns, `rounds` times.

    A measurement returns seconds.  It is sent to another process, and so must be a function of a
    module, or a `partial` of one.
    """
    seconds: list[list[float]] = [[] for _ in measurements]
    context = get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as processes:
        for _ in range(rounds):
            for taken, measurement in zip(seconds, measurements, strict=True):
                taken.append(processes.submit(measurement).result())
    return [_timing(taken) for taken in seconds]


def _timing(seconds: Sequence[float]) -> Timing:
    return Timing(best=min(seconds), median=median(seconds))
