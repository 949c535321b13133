"""A process that is killed at any moment leaves an index that the next one can use."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
import trio
from discovery.index.indexed_folder import IndexedFolder
from discovery.index.processes import refresh, start
from sqlite_utils import Database

from sessionref._migrations.migrations import steps
from sessionref.discovery.sqlite.schema import STEPS


def change(folder: IndexedFolder, random: Random) -> None:
    """Let a tenth of the logs go, some change, and some be new."""
    logs = sorted(folder.root.rglob("session.jsonl"))
    for log in random.sample(logs, len(logs) // 10):
        shutil.rmtree(log.parent)
    for number in random.sample(range(len(logs)), len(logs) // 10):
        folder.add(f"s{number}", f"Renamed {random.random()}", cwd="/w/app")
    folder.fill(5, first=random.randrange(1000, 9000))


def make_older(path: Path) -> None:
    """Make an index that has yet to have its last steps."""
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(Database(str(path))) as db:
        db.enable_wal()
        steps.apply(db, stop_before=STEPS[1])


def time_refresh(folder: IndexedFolder) -> float:
    """Return how many seconds another process takes to make the index."""
    with start(refresh, folder.root, folder.path) as process:
        assert process.receive() == "begin"
        began = time.perf_counter()
        process.receive()
        return time.perf_counter() - began


def refresh_and_kill(folder: IndexedFolder, seconds: float) -> bool:
    """Refresh in another process and kill it after some time; return whether it was still at it."""
    with start(refresh, folder.root, folder.path) as process:
        assert process.receive() == "begin"
        time.sleep(seconds)
        process.kill()
        try:
            process.receive()
        except EOFError:
            return True
        return False


async def kill_and_compare(tmp_path: Path, rounds: int, seed: int) -> None:
    random = Random(seed)
    folder = IndexedFolder(tmp_path)
    folder.fill(60)
    whole = time_refresh(folder)
    killed = 0
    for number in range(rounds):
        if number % 4 == 0:
            await trio.to_thread.run_sync(folder.remove_index)
        elif number % 4 == 1:
            await trio.to_thread.run_sync(folder.remove_index)
            make_older(folder.path)
        else:
            change(folder, random)
        # What has changed since is read in less time than all.
        killed += refresh_and_kill(folder, random.uniform(0, whole / (1 + number % 4)))
        async with folder.index() as index:
            await folder.is_as_scanned(index)  # whatever it says, it can be asked
            await index.refresh()
            assert await folder.is_as_scanned(index), number
            assert await index.verify() == [], number
    assert folder.index_problems() == []
    assert killed, "they were all too fast to be killed at work"


async def test_a_killed_process_leaves_a_valid_index(tmp_path: Path) -> None:
    """After a kill during build, migration or refresh, a refresh makes index and logs agree."""
    await kill_and_compare(tmp_path, 8, seed=1)


@pytest.mark.slow
async def test_two_hundred_killed_processes_leave_a_valid_index(tmp_path: Path) -> None:
    """The same for two hundred moments."""
    await kill_and_compare(tmp_path, 200, seed=2)
