"""Any number of processes use one index at the same time."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

import apsw
import pytest
import trio
from discovery.index.indexed_folder import IndexedFolder
from discovery.index.processes import churn, start, try_to_write

from sessionref.discovery.sqlite import checksum
from sessionref.discovery.sqlite.checksum import check_sum
from sessionref.discovery.sqlite.schema import DamagedFileError


def write_logs(folder: IndexedFolder, seconds: float) -> None:
    """Begin, rename, move and delete sessions for some time."""
    random, end = Random(7), time.monotonic() + seconds
    while time.monotonic() < end:
        session_id = f"s{random.randrange(60)}"
        found = list(folder.root.glob(f"*/{session_id}"))
        if found and random.random() < 0.5:
            shutil.rmtree(found[0])
        elif found:
            folder.add(session_id, f"Fix {random.random()}", cwd="/w/app")
        else:
            folder.add(session_id)
        time.sleep(0.01)


def damage(folder: IndexedFolder, seconds: float) -> None:
    """Overwrite parts of the index, cut it, replace it and delete it for some time."""
    random, end = Random(8), time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
        with suppress(FileNotFoundError):
            way = random.randrange(4)
            if way == 0:
                os.truncate(folder.path, random.randrange(50_000))
            elif way == 1:
                folder.path.write_bytes(random.randbytes(20_000))
            elif way == 2:
                folder.path.with_name("other").write_bytes(random.randbytes(20_000))
                folder.path.with_name("other").replace(folder.path)
            else:
                folder.path.unlink()


async def use_together(
    tmp_path: Path, processes: int, seconds: float, *, is_damaged: bool = False
) -> None:
    folder = IndexedFolder(tmp_path)
    folder.fill(60)
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                start(churn, folder.root, folder.path, seconds, seed, is_damaged=is_damaged)
            )
            for seed in range(processes)
        ]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, write_logs, folder, seconds)
            if is_damaged:
                nursery.start_soon(trio.to_thread.run_sync, damage, folder, seconds)
        results = [await trio.to_thread.run_sync(process.receive) for process in started]
    assert [result for result in results if not isinstance(result, int)] == []
    async with folder.index() as index:
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert is_damaged or folder.index_problems() == []


async def test_processes_share_an_index(tmp_path: Path) -> None:
    """Four processes refresh, observe and search while logs are written: none meets an error."""
    await use_together(tmp_path, 4, 3.0)


async def test_processes_share_an_index_that_goes_bad(tmp_path: Path) -> None:
    """Nor does one, or anything wrong, where the file is damaged and deleted again and again."""
    await use_together(tmp_path, 3, 2.0, is_damaged=True)


@pytest.mark.slow
async def test_many_processes_share_an_index_for_long(tmp_path: Path) -> None:
    """The same for eight processes and a minute."""
    await use_together(tmp_path, 8, 60.0)


@pytest.mark.slow
async def test_many_processes_share_an_index_that_goes_bad(tmp_path: Path) -> None:
    """The same for six processes and half a minute."""
    await use_together(tmp_path, 6, 30.0, is_damaged=True)


async def test_a_second_index_costs_the_first_no_lock(tmp_path: Path) -> None:
    """A lock is kept while a second index of the same file is opened and closed beside it."""
    folder = IndexedFolder(tmp_path)
    folder.fill(3)
    async with folder.index() as first:
        await first.refresh()
        connections = first._file.connections
        assert connections is not None

        def use_second_and_try(_: apsw.Connection) -> list[bool]:
            trio.from_thread.run(use_second)
            with start(try_to_write, folder.path) as other:
                return [other.receive()]

        async def use_second() -> None:
            async with folder.index() as second:
                assert await folder.is_as_scanned(second)

        assert await connections.write(use_second_and_try) == [False]
    with start(try_to_write, folder.path) as other:
        assert other.receive() is True


async def test_two_indexes_of_one_process_take_turns(tmp_path: Path) -> None:
    """Two indexes of one file in one process refresh at the same time, and both are right."""
    folder = IndexedFolder(tmp_path)
    folder.fill(30)
    async with folder.index() as first, folder.index() as second:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first.refresh)
            nursery.start_soon(second.refresh)
        assert await folder.is_as_scanned(first)
        assert await folder.is_as_scanned(second)


async def test_a_sum_is_left_only_of_what_was_written_here(tmp_path: Path) -> None:
    """What others have written since is not added up: parts of it may be yet to come."""
    folder = IndexedFolder(tmp_path)
    folder.fill(3)
    async with folder.index() as first, folder.index() as second:
        await first.refresh()
        before = folder.sum.read_bytes()
        folder.fill(1, first=3)
        await first.observe("s3")
        connections = second._file.connections
        assert connections is not None
        await connections.write(lambda connection: connection.execute("SELECT 1").get)
        await first._file.seal()
        assert folder.sum.read_bytes() == before
        with folder.path.open("rb") as file:
            check_sum(folder.path, file.fileno(), lambda: None)
        await second._file.seal()
        assert folder.sum.read_bytes() != before


async def test_a_file_that_is_being_written_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another process writes between two looks at a file, its old sum says nothing."""
    folder = IndexedFolder(tmp_path)
    folder.fill(3)
    await folder.build()
    with folder.path.open("rb") as file:
        found = checksum.read_sum(file.fileno(), lambda: None)
        assert found is not None
        later = found._replace(version=found.version + 1, crc=found.crc + 1)
        monkeypatch.setattr(checksum, "read_sum", lambda *_: later)
        check_sum(folder.path, file.fileno(), lambda: None)
        monkeypatch.setattr(checksum, "read_sum", lambda *_: found._replace(crc=found.crc + 1))
        with pytest.raises(DamagedFileError):
            check_sum(folder.path, file.fileno(), lambda: None)
