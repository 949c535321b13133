"""The check for stores: every store of the library passes it, and broken ones do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from logs import LogBuilder, store_of

from sessionref.errors import SessionDamagedError, SessionNotFoundError
from sessionref.session.fold import SessionLog
from sessionref.storage import (
    JsonlSessionStore,
    MemorySessionStore,
    Revision,
    SessionStore,
    StoredSession,
    TitleReading,
)
from sessionref.testing import (
    BlockedStore,
    FailingStore,
    ParkedStore,
    ShieldingStore,
    check_store,
)


def some_logs() -> list[LogBuilder]:
    """Sessions with and without title and cwd, and one that cannot be read."""
    logs = [
        LogBuilder("first", cwd="/w/app", created_at=1),
        LogBuilder("Second", created_at=2),
        LogBuilder("absent", cwd="/w/App", created_at=2),
        LogBuilder("bad", cwd="/w/app", created_at=3),
    ]
    for log in logs:
        log.user("hi")
    logs[0].title("Fix the parser")
    logs[1].title("МИР 修复")
    logs[3].append("mode/set", {})
    return logs


def memory() -> MemorySessionStore:
    return store_of(*some_logs())


async def test_the_store_in_memory_keeps_its_promises() -> None:
    """`MemorySessionStore` passes the check."""
    await check_store(memory())


@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])
async def test_the_store_of_a_folder_keeps_its_promises(tmp_path: Path, compressed: bool) -> None:
    """`JsonlSessionStore` passes the check, damaged logs, odd files and all."""
    for log in some_logs():
        log.write(tmp_path, compressed=compressed)
    LogBuilder("no header", cwd="/w/app").write(tmp_path, b"[]\n")
    (tmp_path / "--w-app--" / "old.jsonl").write_bytes(b"")
    LogBuilder("Second", cwd="/w/app").write(tmp_path)
    LogBuilder("third").write(tmp_path)
    await check_store(JsonlSessionStore(tmp_path))


@pytest.mark.parametrize("fake", [ParkedStore, ShieldingStore, BlockedStore])
async def test_a_fake_that_was_released_keeps_its_promises(
    fake: type[ParkedStore | BlockedStore],
) -> None:
    """A store that waits is a store: once it is released, it passes the check."""
    store = fake(memory())
    store.release()
    await check_store(store)
    assert store.waiting == 0
    assert store.arrived > 0


async def test_a_failing_store_keeps_its_promises() -> None:
    """A store that fails for one session does so alike for its log and its title."""
    await check_store(FailingStore(memory(), {"first": SessionDamagedError(reason="broken")}))


class BrokenStore:
    """A store that passes the check, for others to break."""

    def __init__(self) -> None:
        self.store: SessionStore = memory()

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        async for batch in self.store.list_sessions():
            yield batch

    async def find_session(self, session_id: str) -> StoredSession:
        return await self.store.find_session(session_id)

    async def read_log(self, session: StoredSession) -> SessionLog:
        return await self.store.read_log(session)

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        return await self.store.read_titles(sessions)


class ListsTwice(BrokenStore):
    """Lists a session twice."""

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        async for batch in super().list_sessions():
            yield [*batch, batch[0]]


class ListsLittle(BrokenStore):
    """Lists only one session."""

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        async for batch in super().list_sessions():
            yield batch[:1]


class HidesHeaders(BrokenStore):
    """Lists sessions without header and without error."""

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        async for batch in super().list_sessions():
            yield [replace(session, header=None) for session in batch]


class Renames(BrokenStore):
    """Lists sessions under other ids than their own."""

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        async for batch in super().list_sessions():
            yield [replace(session, session_id=f"x{session.session_id}") for session in batch]


class FindsAnother(BrokenStore):
    """Finds a session with another header than it lists."""

    async def find_session(self, session_id: str) -> StoredSession:
        found = await super().find_session(session_id)
        assert found.header is not None
        return replace(found, header=replace(found.header, created_at=99))


class ChangesRevisions(BrokenStore):
    """Gives an unchanged session another revision."""

    async def find_session(self, session_id: str) -> StoredSession:
        return replace(await super().find_session(session_id), revision=Revision(1, 2, 3, 4, 5))


class FindsAnything(BrokenStore):
    """Finds a session for every id."""

    async def find_session(self, session_id: str) -> StoredSession:
        try:
            return await super().find_session(session_id)
        except SessionNotFoundError:
            return await super().find_session("first")


class NamesAnother(BrokenStore):
    """Says that another id was not found."""

    async def find_session(self, session_id: str) -> StoredSession:
        try:
            return await super().find_session(session_id)
        except SessionNotFoundError as error:
            raise SessionNotFoundError(session_id="another") from error


class ReadsAnother(BrokenStore):
    """Reads the same log for every session."""

    async def read_log(self, session: StoredSession) -> SessionLog:
        return await super().read_log(await self.find_session("first"))


class ReadsOnce(BrokenStore):
    """Reads a log as another one each time."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def read_log(self, session: StoredSession) -> SessionLog:
        self.reads += 1
        return replace(await super().read_log(session), last_seq=self.reads)


class ForgetsTitles(BrokenStore):
    """Gives a title too few."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        return (await super().read_titles(sessions))[:-1]


class MixesTitles(BrokenStore):
    """Gives the titles of one session to another."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        return (await super().read_titles(sessions))[::-1]


class HidesTitleErrors(BrokenStore):
    """Does not tell why there is no title."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        return [TitleReading(reading.title) for reading in await super().read_titles(sessions)]


class ChangesTitleErrors(BrokenStore):
    """Tells another error for the title than for the log."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        damage = SessionDamagedError(reason="something else")
        readings = await super().read_titles(sessions)
        return [each if each.error is None else TitleReading(error=damage) for each in readings]


class InventsTitles(BrokenStore):
    """Gives a title where none was asked for."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        return await super().read_titles(sessions) or [TitleReading()]


class CannotBeCancelled(BrokenStore):
    """Finishes a read that was cancelled."""

    async def read_log(self, session: StoredSession) -> SessionLog:
        with trio.CancelScope(shield=True):
            return await super().read_log(session)
        raise AssertionError("a shield lets no cancellation through")


class BreaksWhenCancelled(BrokenStore):
    """Reads nothing right after a cancelled read."""

    def __init__(self) -> None:
        super().__init__()
        self.is_broken = False

    async def read_log(self, session: StoredSession) -> SessionLog:
        try:
            log = await super().read_log(session)
        except trio.Cancelled:
            self.is_broken = True
            raise
        return replace(log, header=LogBuilder("another").header) if self.is_broken else log


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (ListsTwice, "each session once"),
        (ListsLittle, "needs two readable sessions"),
        (HidesHeaders, "without error has a header"),
        (Renames, "tells the id of the header"),
        (FindsAnother, "found as it is listed"),
        (ChangesRevisions, "keeps its revision"),
        (FindsAnything, "is not found"),
        (NamesAnother, "names the id that was asked for"),
        (ReadsAnother, "has the header that was listed"),
        (ReadsOnce, "twice gives the same"),
        (ForgetsTitles, "every session gets an answer"),
        (MixesTitles, "a title"),
        (HidesTitleErrors, "fails as its log does"),
        (ChangesTitleErrors, "fails as its log does"),
        (InventsTitles, "no sessions have no titles"),
        (CannotBeCancelled, "can be cancelled"),
        (BreaksWhenCancelled, "works on"),
    ],
)
async def test_a_broken_store_is_found_out(broken: type[BrokenStore], rule: str) -> None:
    """A store that breaks a promise fails the check, which tells which one."""
    await check_store(BrokenStore())
    with pytest.raises(AssertionError, match=rule):
        await check_store(broken())
