"""The fakes of `sessionref.testing`: what each promises to those who test with it."""

from __future__ import annotations

import pytest
import trio
from logs import LogBuilder, store_of
from trio.testing import wait_all_tasks_blocked

from sessionref.errors import SessionDamagedError, StoreUnreadableError
from sessionref.storage import MemorySessionStore, SessionStore
from sessionref.testing import BlockedStore, FailingStore, ParkedStore, ShieldingStore

WAITING = [ParkedStore, ShieldingStore, BlockedStore]


def one_session() -> MemorySessionStore:
    log = LogBuilder("s")
    log.title("T")
    return store_of(log)


async def list_all(store: SessionStore) -> None:
    async for _ in store.list_sessions():
        pass


@pytest.mark.parametrize("fake", WAITING)
async def test_every_call_waits(fake: type[ParkedStore | BlockedStore]) -> None:
    """Each of the four calls waits until it is released, and then goes on."""
    behind = one_session()
    session = await behind.find_session("s")
    store = fake(behind)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(list_all, store)
        nursery.start_soon(store.find_session, "s")
        nursery.start_soon(store.read_log, session)
        nursery.start_soon(store.read_titles, [session])
        await wait_all_tasks_blocked()
        assert (store.waiting, store.arrived) == (4, 4)
        store.release()
    assert (store.waiting, store.arrived) == (0, 4)


@pytest.mark.parametrize("fake", WAITING)
async def test_a_released_store_does_not_wait(fake: type[ParkedStore | BlockedStore]) -> None:
    """Calls that come after the release go on as well."""
    store = fake(one_session())
    store.release()
    assert (await store.find_session("s")).session_id == "s"


@pytest.mark.parametrize("fake", [ParkedStore, BlockedStore])
async def test_a_waiting_call_can_be_cancelled(
    fake: type[ParkedStore | BlockedStore],
) -> None:
    """A cancelled call waits no longer, though a thread of it may hang on."""
    store = fake(one_session())
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.find_session, "s")
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert store.waiting == 0
    finally:
        store.release()


async def test_a_shielded_call_cannot_be_cancelled() -> None:
    """A shielding store holds its caller until it is released."""
    store = ShieldingStore(one_session())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.find_session, "s")
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await wait_all_tasks_blocked()
        assert store.waiting == 1
        store.release()
    assert store.waiting == 0


async def test_a_failing_store_fails_anew_each_time() -> None:
    """Every call raises a copy: what one caller adds to an error, the next does not see."""
    damage = SessionDamagedError(reason="broken")
    store = FailingStore(one_session(), {"s": damage})
    session = await store.find_session("s")
    for _ in range(2):
        with pytest.raises(SessionDamagedError, match="broken") as caught:
            await store.read_log(session)
        assert caught.value is not damage
    (reading,) = await store.read_titles([session])
    assert str(reading.error) == str(damage)
    assert (store.log_reads, store.title_reads) == (2, 1)


async def test_a_failing_store_may_break_its_contract() -> None:
    """An error that is no storage error is raised for titles too."""
    store = FailingStore(one_session(), {"s": ZeroDivisionError()})
    session = await store.find_session("s")
    with pytest.raises(ZeroDivisionError):
        await store.read_log(session)
    with pytest.raises(ZeroDivisionError):
        await store.read_titles([session])


async def test_a_failing_store_may_fail_to_list() -> None:
    """A listing error is raised by listings, and by nothing else."""
    error = StoreUnreadableError(path="/r", reason="gone")
    store = FailingStore(one_session(), listing_error=error)
    with pytest.raises(StoreUnreadableError):
        await list_all(store)
    assert (await store.find_session("s")).session_id == "s"


async def test_a_failing_store_without_errors_is_the_store_behind() -> None:
    """What is not to fail is answered by the store behind."""
    store = FailingStore(one_session())
    await list_all(store)
    session = await store.find_session("s")
    title = (await store.read_log(session)).title
    (reading,) = await store.read_titles([session])
    assert reading.title == title
    assert (store.log_reads, store.title_reads) == (1, 1)
