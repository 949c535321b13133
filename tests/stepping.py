"""How long the steps on an event loop take."""

from __future__ import annotations

import time

import trio

__all__ = ["StepWatch"]


class StepWatch(trio.abc.Instrument):
    """Takes the processor's time of each step that the loop makes."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._started: float | None = None

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._started = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self._started is not None:
            self.longest = max(self.longest, time.thread_time() - self._started)
