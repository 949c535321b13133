"""Cancelling: a caller leaves at once, whatever the store does, and what it leaves behind works."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import trio
from logs import LogBuilder, store_of
from trio.testing import MockClock, wait_all_tasks_blocked

from sessionref import Reference, SessionReferenceResolver, Target, open_resolver
from sessionref.errors import ReadFailedError
from sessionref.storage import MemorySessionStore, StoredSession
from sessionref.testing import BlockedStore, ParkedStore, ShieldingStore

Call = Callable[[SessionReferenceResolver], Awaitable[object]]

TARGET = Target(session_id="target")


def some_store() -> MemorySessionStore:
    logs = [LogBuilder(session_id) for session_id in "abc"]
    for log in logs:
        log.user("hi")
    return store_of(*logs)


async def prepare(resolver: SessionReferenceResolver) -> object:
    references = [Reference(session_id=session_id) for session_id in "abc"]
    return await resolver.prepare(TARGET, "see", references)


async def list_candidates(resolver: SessionReferenceResolver) -> object:
    return await resolver.list_candidates(TARGET, "a")


each_call = pytest.mark.parametrize(
    ("call", "at_once"), [(prepare, 3), (list_candidates, 1)], ids=["prepare", "list_candidates"]
)


@contextmanager
def releasing(store: ParkedStore | BlockedStore) -> Iterator[None]:
    """Release a store in the end, so that a test that fails does not hang."""
    try:
        yield
    finally:
        store.release()


async def cancel_when_waiting(
    call: Call, resolver: SessionReferenceResolver, is_waiting: Callable[[], bool]
) -> trio.CancelScope:
    """Cancel a call once the store makes it wait, and return when the call has returned."""
    scope = trio.CancelScope()

    async def run() -> None:
        with scope:
            await call(resolver)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await wait_all_tasks_blocked()
        while not is_waiting():
            await trio.lowlevel.checkpoint()
        scope.cancel()
    return scope


@each_call
@pytest.mark.parametrize("store_type", [ParkedStore, ShieldingStore])
async def test_a_cancelled_call_takes_no_time(
    autojump_clock: MockClock, call: Call, at_once: int, store_type: type[ParkedStore]
) -> None:
    """A cancelled call returns at the very moment, even if its store shields itself."""
    store = store_type(some_store())
    async with open_resolver(store) as resolver:
        with releasing(store), trio.fail_after(1_000):
            started = trio.current_time()
            # Were the caller held, the clock would jump to the limit.
            scope = await cancel_when_waiting(call, resolver, lambda: store.waiting == at_once)
            assert scope.cancelled_caught
            assert trio.current_time() == started


@each_call
async def test_a_cancelled_call_leaves_nothing_behind(call: Call, at_once: int) -> None:
    """A store that can be cancelled is cancelled with its caller."""
    store = ParkedStore(some_store())
    async with open_resolver(store) as resolver:
        await cancel_when_waiting(call, resolver, lambda: store.waiting == at_once)
        await wait_all_tasks_blocked()
        assert store.waiting == 0


@each_call
async def test_a_shielded_call_goes_on_in_the_background(call: Call, at_once: int) -> None:
    """What a store will not give up ends when the store ends it, and its result is nobody's."""
    store = ShieldingStore(some_store())
    async with open_resolver(store) as resolver:
        with releasing(store):
            await cancel_when_waiting(call, resolver, lambda: store.waiting == at_once)
            await wait_all_tasks_blocked()
            assert store.waiting == at_once
        await wait_all_tasks_blocked()
        assert store.waiting == 0


@each_call
@pytest.mark.parametrize("store_type", [ParkedStore, ShieldingStore, BlockedStore])
async def test_a_resolver_works_on_after_cancelling(
    call: Call, at_once: int, store_type: type[ParkedStore | BlockedStore]
) -> None:
    """However many calls were cancelled, the next one has its place."""
    store = store_type(some_store())
    async with open_resolver(store) as resolver:
        with releasing(store):
            for count in range(1, 9):
                has_come = partial(has_arrived, store, count * at_once)
                await cancel_when_waiting(call, resolver, has_come)
        assert await call(resolver)
        await wait_all_tasks_blocked()
        assert store.waiting == 0


def has_arrived(store: ParkedStore | BlockedStore, count: int) -> bool:
    return store.arrived == count


@each_call
async def test_a_call_leaves_a_thread_that_hangs(call: Call, at_once: int) -> None:
    """A store whose thread hangs in the file system holds neither its caller nor the block."""
    store = BlockedStore(some_store())
    with releasing(store):
        async with open_resolver(store) as resolver:
            await cancel_when_waiting(call, resolver, lambda: store.waiting == at_once)
        assert store.waiting == 0


@each_call
async def test_one_cancelled_call_disturbs_no_other(call: Call, at_once: int) -> None:
    """Of two equal calls the one that is not cancelled gets its answer."""
    store = ParkedStore(some_store())
    results: list[object] = []

    async def keep(resolver: SessionReferenceResolver) -> None:
        results.append(await call(resolver))

    async with open_resolver(store) as resolver, trio.open_nursery() as nursery:
        nursery.start_soon(keep, resolver)
        await cancel_when_waiting(call, resolver, lambda: store.waiting == 2 * at_once)
        await wait_all_tasks_blocked()
        assert store.waiting == at_once
        store.release()
    assert len(results) == 1
    assert results[0]


class HalfStuckStore(ShieldingStore):
    """A store that does not answer, but for one session that it cannot find."""

    async def find_session(self, session_id: str) -> StoredSession:
        if session_id == "b":
            raise LookupError(session_id)
        return await super().find_session(session_id)


async def test_a_failure_waits_for_nobody() -> None:
    """When one session cannot be read, the message fails at once, whatever the others do."""
    store = HalfStuckStore(some_store())
    async with open_resolver(store) as resolver:
        with releasing(store):
            with pytest.raises(ReadFailedError, match="'b'"):
                await prepare(resolver)
            assert store.waiting == 2


@each_call
async def test_a_call_that_is_cancelled_before_it_starts_reads_nothing(
    call: Call, at_once: int
) -> None:
    """A call inside a cancelled scope does not reach the store."""
    store = ParkedStore(some_store())
    async with open_resolver(store) as resolver:
        with trio.CancelScope() as scope:
            scope.cancel()
            await call(resolver)
        await wait_all_tasks_blocked()
        assert scope.cancelled_caught
        assert store.waiting == 0


async def test_leaving_waits_for_what_shields_itself() -> None:
    """No task outlives its resolver: the block is left when the store has let go."""
    store = ShieldingStore(some_store())
    leaving, left = trio.Event(), trio.Event()

    async def use() -> None:
        async with open_resolver(store) as resolver:
            await cancel_when_waiting(prepare, resolver, lambda: store.waiting == 3)
            leaving.set()
        assert store.waiting == 0
        left.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(use)
        with releasing(store):
            await leaving.wait()
            await wait_all_tasks_blocked()
            assert not left.is_set()
    assert left.is_set()


@pytest.mark.parametrize("store_type", [ParkedStore, BlockedStore])
async def test_leaving_ends_what_can_be_cancelled(
    store_type: type[ParkedStore | BlockedStore],
) -> None:
    """Calls that others wait for when the block is left fail, in words."""
    store = store_type(some_store())
    failures: list[Exception] = []

    async def keep(call: Call, resolver: SessionReferenceResolver) -> None:
        try:
            await call(resolver)
        except Exception as error:  # noqa: BLE001 - it is looked at below
            failures.append(error)

    try:
        async with trio.open_nursery() as nursery, open_resolver(store) as resolver:
            for call in (prepare, list_candidates):
                nursery.start_soon(partial(keep, call, resolver))
            await wait_all_tasks_blocked()
        assert store.waiting == 0
    finally:
        store.release()
    assert len(failures) == 2
    assert all("block was left" in str(failure) for failure in failures)
