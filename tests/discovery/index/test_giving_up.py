"""An index that is given up while it is at work leaves nothing open, and nothing half done."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import apsw
import pytest
import trio
from discovery.index.indexed_folder import IndexedFolder, open_files

from sessionref.discovery.sqlite import RefreshProgress, SqliteTitleIndex
from sessionref.errors import TitleIndexError


def give_up(index: SqliteTitleIndex, nursery: trio.Nursery) -> None:
    """Let an index believe that its file has turned out to be damaged."""
    connections = index._file.connections
    assert connections is not None
    nursery.start_soon(index._file.give_up, connections, apsw.CorruptError("bad page"))


@pytest.fixture
def folder(tmp_path: Path) -> IndexedFolder:
    folder = IndexedFolder(tmp_path)
    folder.fill(10)
    return folder


@pytest.mark.parametrize("moment", [1, 2])
async def test_a_refresh_survives_that_its_file_is_set_aside(
    folder: IndexedFolder, moment: int
) -> None:
    """When a lookup finds damage during a refresh, the new file gets all sessions, not the rest."""
    await folder.build()
    folder.fill(5, first=10)
    calls: list[RefreshProgress] = []

    async with folder.index() as index, trio.open_nursery() as nursery:

        def on_progress(progress: RefreshProgress) -> None:
            calls.append(progress)
            if len(calls) == moment:
                give_up(index, nursery)

        await index.refresh(on_progress)
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
        assert (await index.status()).problem is None
    assert len(folder.aside()) == 1
    assert len(folder.index_problems()) == 1


async def test_a_file_may_be_given_up_while_it_is_written(folder: IndexedFolder) -> None:
    """Giving up does not wait for a transaction, nor disturb it, and all ends up closed."""
    await folder.build()
    is_inside, may_go_on = threading.Event(), threading.Event()

    def work(connection: apsw.Connection) -> int:
        is_inside.set()
        may_go_on.wait()
        count: int = connection.execute("SELECT count(*) FROM session").get
        return count

    async with folder.index() as index:
        connections = index._file.connections
        assert connections is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connections.write, work)
            await trio.to_thread.run_sync(is_inside.wait)
            await index._file.give_up(connections, apsw.CorruptError("bad page"))
            assert await folder.is_as_scanned(index)
            may_go_on.set()
        await index.refresh()
        assert await folder.is_as_scanned(index)
    assert open_files(folder.path.parent) == []


async def test_connections_that_are_closed_open_nothing(folder: IndexedFolder) -> None:
    """Whoever still has the connections to a file that was given up does not get to the new one."""
    await folder.build()
    async with folder.index() as index:
        connections = index._file.connections
        assert connections is not None
        await index._file.give_up(connections, apsw.CorruptError("bad page"))
        with pytest.raises(apsw.ConnectionClosedError):
            await connections.read(lambda connection: connection.execute("SELECT 1").get)
        with pytest.raises(apsw.ConnectionClosedError):
            await connections.write(lambda connection: connection.execute("SELECT 1").get)
        with pytest.raises(apsw.ConnectionClosedError):
            await connections.checkpoint()


async def test_another_file_in_its_place_is_not_taken_for_it(folder: IndexedFolder) -> None:
    """A new file, made by another process meanwhile, gets all sessions before it says so."""
    await folder.build()
    new = IndexedFolder(folder.root.parent)
    new.path = folder.path.with_name("new")
    async with new.index():
        pass
    moved = folder.path.with_name("moved")

    def replace(_: RefreshProgress) -> None:
        if not moved.exists():
            folder.path.rename(moved)
            shutil.copy(new.path, folder.path)

    async with folder.index() as index:
        await index.refresh(replace)
        assert moved.exists()
        assert await folder.is_as_scanned(index)
        async with folder.index() as later:
            assert await folder.is_as_scanned(later)
            assert await later.verify() == []


async def test_keeping_fresh_does_not_hurry_where_nothing_helps(folder: IndexedFolder) -> None:
    """Where the file cannot be used, one attempt is made, and told once."""
    folder.path.mkdir(parents=True)
    attempts = []
    async with folder.index() as index:
        refresh = index.refresh

        async def counted() -> None:
            attempts.append(1)
            await refresh()

        index.refresh = counted  # type: ignore[method-assign, assignment]
        with trio.move_on_after(0.3):
            await index.keep_fresh()
    assert len(attempts) == 1
    assert len(folder.index_problems()) == 1


async def test_a_file_that_fails_for_good_is_told_in_the_family(folder: IndexedFolder) -> None:
    """Where the new file is no better than the old one, a refresh raises `TitleIndexError`."""
    async with folder.index() as index, trio.open_nursery() as nursery:

        def on_progress(_: RefreshProgress) -> None:
            if index._file.connections is not None:
                give_up(index, nursery)

        with pytest.raises(TitleIndexError):
            await index.refresh(on_progress)
        assert await folder.is_as_scanned(index)


async def test_the_status_of_a_deleted_file_is_told(folder: IndexedFolder) -> None:
    """A file that somebody deletes while it is open has a status, and is made anew."""
    await folder.build()
    async with folder.index() as index:
        folder.path.unlink()
        assert (await index.status()).bytes == 0
        await index.refresh()
        assert folder.path.exists()
        assert await folder.is_as_scanned(index)
