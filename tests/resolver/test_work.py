"""Work on somebody else's loop: long pieces in a thread, several at a time, failures plain."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from sessionref.work import run_all, run_pure

SHORT, LONG = 1, 10**6


@pytest.mark.parametrize(("size", "on_loop"), [(SHORT, True), (LONG, False)])
async def test_long_work_leaves_the_loop(size: int, on_loop: bool) -> None:
    """Only work that is long by its own measure is worth a change of thread."""
    here = threading.get_ident()
    there = await run_pure(lambda _: threading.get_ident(), size)
    assert (there == here) is on_loop


@pytest.mark.parametrize("size", [SHORT, LONG])
async def test_what_work_raises_comes_out_plain(size: int) -> None:
    """An error of the work is raised as it is."""

    def fail(check: Callable[[], None]) -> None:
        check()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_pure(fail, size)


@pytest.mark.parametrize("size", [SHORT, LONG])
async def test_work_can_be_cancelled(size: int) -> None:
    """A call inside a cancelled scope does not return a result."""
    with trio.CancelScope() as scope:
        scope.cancel()
        await run_pure(lambda _: None, size)
    assert scope.cancelled_caught


async def test_abandoned_work_ends_at_its_next_check() -> None:
    """A thread whose caller was cancelled gives up when it asks whether to go on."""
    started, released, ended = threading.Event(), threading.Event(), threading.Event()

    def work(check: Callable[[], None]) -> None:
        started.set()
        released.wait()
        try:
            check()
        except trio.Cancelled:
            ended.set()
            raise

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_pure, work, LONG)
        await trio.to_thread.run_sync(started.wait)
        nursery.cancel_scope.cancel()
    released.set()
    assert await trio.to_thread.run_sync(ended.wait, 30)


async def test_results_come_in_the_order_of_the_jobs() -> None:
    """However the jobs end, their results stand where the jobs stood."""
    events = [trio.Event() for _ in range(5)]

    async def job(number: int) -> int:
        if number + 1 < len(events):
            await events[number + 1].wait()
        events[number].set()
        return number

    jobs = [partial(job, number) for number in range(5)]
    assert await run_all(jobs, at_once=5) == [0, 1, 2, 3, 4]


async def test_no_jobs_have_no_results() -> None:
    """Nothing to do is done."""
    assert await run_all([], at_once=1) == []


@pytest.mark.parametrize("at_once", [1, 3, 10])
async def test_so_many_jobs_run_at_once(at_once: int) -> None:
    """No more jobs run at a time than may, and no fewer."""
    running = 0
    release = trio.Event()

    async def job() -> None:
        nonlocal running
        running += 1
        await release.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(run_all, [job] * 5, at_once=at_once))
        await wait_all_tasks_blocked()
        assert running == min(at_once, 5)
        release.set()
    assert running == 5


async def test_the_first_failure_ends_the_rest() -> None:
    """When a job fails, the others are cancelled, and its error is raised, not a group."""
    ended: list[str] = []

    async def wait() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("cancelled")

    async def fail() -> None:
        await wait_all_tasks_blocked()
        raise ZeroDivisionError

    jobs: list[Callable[[], Awaitable[None]]] = [wait, fail, wait]
    with pytest.raises(ZeroDivisionError):
        await run_all(jobs, at_once=3)
    assert ended == ["cancelled", "cancelled"]


async def test_of_two_failures_one_is_raised() -> None:
    """Jobs that fail at the same moment raise one error, not a group of them."""

    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_all([fail, fail], at_once=2)


async def test_a_cancelled_caller_cancels_the_jobs() -> None:
    """Nothing goes on once nobody waits for it."""
    ended: list[str] = []

    async def wait() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("cancelled")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(run_all, [wait, wait], at_once=1))
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert ended == ["cancelled"]
