"""Work on the event loop of somebody else's window: long pieces in a thread, several at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import trio

__all__ = ["open_background", "run_all", "run_pure"]

_Result = TypeVar("_Result")

_LONG: Final = 10_000
"""The size from which work is moved off the loop; about a millisecond of it."""


async def run_pure(work: Callable[[Callable[[], None]], _Result], size: int) -> _Result:
    """Return what `work` returns, which gets a function to call between its steps.

    `size` is the work's own measure, in steps of about a tenth of a microsecond.  Long work runs in
    a thread: a cancelled caller leaves at once, and the thread ends at the next step.
    """
    if size < _LONG:
        await trio.lowlevel.checkpoint()
        return work(_carry_on)
    return await trio.to_thread.run_sync(
        work, trio.from_thread.check_cancelled, abandon_on_cancel=True
    )


@asynccontextmanager
async def open_background() -> AsyncIterator[trio.Nursery]:
    """Yield a nursery whose tasks are cancelled, and waited for, when the block is left.

    What is raised in the block leaves it as it is, not in a group; a task should raise nothing.
    """
    opening = trio.open_nursery()
    nursery = await opening.__aenter__()
    try:
        yield nursery
    finally:
        # Nor may whoever cancels this while it waits replace what the block has raised.
        nursery.cancel_scope.shield = True
        nursery.cancel_scope.cancel()
        await opening.__aexit__(None, None, None)


async def run_all(
    jobs: Sequence[Callable[[], Awaitable[_Result]]], *, at_once: int
) -> list[_Result]:
    """Return what all jobs return, in their order; at most `at_once` of them run at a time.

    The first exception cancels the other jobs and is raised as it is, not in a group.
    """
    results: dict[int, _Result] = {}
    failures: list[Exception] = []
    limiter = trio.CapacityLimiter(at_once)

    async def run(place: int) -> None:
        async with limiter:
            try:
                results[place] = await jobs[place]()
            except Exception as error:  # noqa: BLE001 - it is raised again below
                failures.append(error)
                nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for place in range(len(jobs)):
            nursery.start_soon(run, place)
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(jobs))]


def _carry_on() -> None:
    pass
