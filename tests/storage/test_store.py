"""The store of a folder: its threads, what cancelling leaves behind, and what may vanish."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import trio
from logs import LogBuilder
from trio.testing import wait_all_tasks_blocked

from sessionref.errors import (
    SessionDamagedError,
    SessionNotFoundError,
    SessionTooLargeError,
    SessionUnsupportedError,
)
from sessionref.storage import JsonlSessionStore, StoredSession
from sessionref.storage.jsonl.store import _threads_of_this_run

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


class Gate:
    """Event types that a host knows, and that takes its time to say so: a read hangs here."""

    def __init__(self) -> None:
        self.asked = 0
        self.arrived = threading.Semaphore(0)
        self.released = threading.Event()

    def __contains__(self, kind: object) -> bool:
        self.asked += 1
        self.arrived.release()
        self.released.wait()
        return True

    async def wait_for_reader(self) -> None:
        await trio.to_thread.run_sync(self.arrived.acquire)


async def wait_for_threads() -> None:
    """Return when no thread of any store is at work."""
    threads = _threads_of_this_run()
    borrowers = [object() for _ in range(int(threads.total_tokens))]
    for borrower in borrowers:
        await threads.acquire_on_behalf_of(borrower)
    for borrower in borrowers:
        threads.release_on_behalf_of(borrower)


async def list_all(store: JsonlSessionStore) -> list[StoredSession]:
    return [session async for batch in store.list_sessions() for session in batch]


def stuck_log(session_id: str) -> LogBuilder:
    """A log whose reading asks for known types in two of its pieces."""
    log = LogBuilder(session_id)
    log.append("acme/first", {})
    log.user("x" * 2**21)
    log.append("acme/second", {})
    return log


def test_the_root_is_told(tmp_path: Path) -> None:
    """A store knows the folder that it reads, given as a path or as text."""
    assert JsonlSessionStore(str(tmp_path)).root == tmp_path


@each_encoding
async def test_a_log_is_read(tmp_path: Path, compressed: bool) -> None:
    """What is listed and found can be read, log and title."""
    log = LogBuilder("s", cwd="/w")
    log.user("hi")
    log.title("T")
    log.write(tmp_path, compressed=compressed)
    store = JsonlSessionStore(tmp_path)
    (session,) = await list_all(store)
    assert await store.find_session("s") == session
    assert await store.read_log(session) == log.log()
    (reading,) = await store.read_titles([session])
    assert reading.title == log.log().title


async def test_titles_come_in_order(tmp_path: Path) -> None:
    """Each session gets its own title or error, in the order in which they were asked for."""
    for session_id, title in [("a", "A"), ("b", None), ("c", "C")]:
        log = LogBuilder(session_id)
        if title is None:
            log.append("mode/set", {})
        else:
            log.title(title)
        log.write(tmp_path)
    store = JsonlSessionStore(tmp_path)
    sessions = sorted(await list_all(store), key=lambda session: session.place, reverse=True)
    first, second, third = await store.read_titles(sessions)
    assert [reading.title and reading.title.title for reading in (first, third)] == ["C", "A"]
    assert isinstance(second.error, SessionDamagedError)
    assert second.title is None


async def test_the_error_of_a_listing_is_that_of_reading(tmp_path: Path) -> None:
    """A session that was listed with an error is not even opened; the error is raised anew."""
    path = LogBuilder("s").write(tmp_path, b"[]\n")
    store = JsonlSessionStore(tmp_path)
    (session,) = await list_all(store)
    path.unlink()
    with pytest.raises(SessionDamagedError) as caught:
        await store.read_log(session)
    assert str(caught.value) == str(session.error)
    assert caught.value is not session.error
    (reading,) = await store.read_titles([session])
    assert str(reading.error) == str(session.error)


async def test_a_log_that_vanished_is_not_found(tmp_path: Path) -> None:
    """A log that was removed since it was listed is not found, log and title."""
    path = LogBuilder("s").write(tmp_path)
    store = JsonlSessionStore(tmp_path)
    (session,) = await list_all(store)
    path.unlink()
    with pytest.raises(SessionNotFoundError, match="'s'"):
        await store.read_log(session)
    (reading,) = await store.read_titles([session])
    assert isinstance(reading.error, SessionNotFoundError)


async def test_a_nameless_log_that_vanished_is_not_found(tmp_path: Path) -> None:
    """A log in a folder that stands for no id has none to name."""
    store = JsonlSessionStore(tmp_path)
    gone = StoredSession(str(tmp_path / "--w--" / "a b" / "session.jsonl"), None)
    with pytest.raises(SessionNotFoundError) as caught:
        await store.read_log(gone)
    assert caught.value.session_id == ""


async def test_the_limit_is_that_of_the_store(tmp_path: Path) -> None:
    """`max_log_bytes` bounds what a compressed log may hold, and says so."""
    log = LogBuilder("s")
    log.user("x" * 2_000)
    log.write(tmp_path, compressed=True)
    store = JsonlSessionStore(tmp_path, max_log_bytes=1_000)
    (session,) = await list_all(store)
    with pytest.raises(SessionTooLargeError, match="1,000 bytes"):
        await store.read_log(session)


async def test_known_types_are_those_of_the_store(tmp_path: Path) -> None:
    """A host's own event types are known in every log of the store."""
    log = LogBuilder("s")
    log.append("acme/ledger", {})
    log.write(tmp_path)
    (session,) = await list_all(JsonlSessionStore(tmp_path))
    with pytest.raises(SessionUnsupportedError):
        await JsonlSessionStore(tmp_path).read_log(session)
    known = JsonlSessionStore(tmp_path, known_types={"acme/ledger"})
    assert (await known.read_log(session)).last_seq == 0


async def test_a_cancelled_caller_leaves_at_once(tmp_path: Path) -> None:
    """A read that hangs holds neither its caller nor its caller's place."""
    gate = Gate()
    stuck_log("stuck").write(tmp_path)
    LogBuilder("other").write(tmp_path)
    store = JsonlSessionStore(tmp_path, concurrency=1, known_types=gate)
    stuck = await store.find_session("stuck")
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.read_log, stuck)
            await gate.wait_for_reader()
            nursery.cancel_scope.cancel()
        other = await store.find_session("other")
        assert (await store.read_log(other)).last_seq is None
    finally:
        gate.released.set()
    await wait_for_threads()


@each_encoding
async def test_an_abandoned_thread_ends_at_the_next_piece(tmp_path: Path, compressed: bool) -> None:
    """A thread whose caller has left does not read its log to the end."""
    gate = Gate()
    stuck_log("stuck").write(tmp_path, compressed=compressed)
    store = JsonlSessionStore(tmp_path, known_types=gate)
    stuck = await store.find_session("stuck")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.read_log, stuck)
        await gate.wait_for_reader()
        nursery.cancel_scope.cancel()
    gate.released.set()
    await wait_for_threads()
    assert gate.asked == 1


async def test_a_read_that_is_not_cancelled_goes_on(tmp_path: Path) -> None:
    """Only a cancelled read ends before its log does."""
    gate = Gate()
    gate.released.set()
    stuck_log("s").write(tmp_path)
    store = JsonlSessionStore(tmp_path, known_types=gate)
    await store.read_log(await store.find_session("s"))
    assert gate.asked == 2


async def test_so_many_files_are_read_at_once(tmp_path: Path) -> None:
    """`concurrency` bounds the reads that are under way; the others wait for their turn."""
    gate = Gate()
    for session_id in "abcde":
        stuck_log(session_id).write(tmp_path)
    store = JsonlSessionStore(tmp_path, concurrency=2, known_types=gate)
    sessions = await list_all(store)
    async with trio.open_nursery() as nursery:
        for session in sessions:
            nursery.start_soon(store.read_log, session)
        for _ in range(2):
            await gate.wait_for_reader()
        await wait_all_tasks_blocked()
        assert gate.asked == 2
        assert store._callers.statistics().tasks_waiting == 3
        gate.released.set()
    assert gate.asked == 10


async def test_a_listing_can_be_cancelled(tmp_path: Path) -> None:
    """A listing that is cancelled between two batches leaves no thread at work."""
    for number in range(300):
        LogBuilder(str(number)).write(tmp_path)
    store = JsonlSessionStore(tmp_path)
    with trio.CancelScope() as scope:
        async for _ in store.list_sessions():
            scope.cancel()
    assert scope.cancelled_caught
    await wait_for_threads()
    assert len(await list_all(store)) == 300
