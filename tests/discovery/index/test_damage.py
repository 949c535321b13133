"""An index whose file has gone bad, in any way, costs a rebuild and nothing else."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from discovery.index.indexed_folder import IndexedFolder
from sqlite_utils import Database

from sessionref._migrations.migrations import steps
from sessionref.discovery.sqlite.checksum import read_sum, write_sum
from sessionref.discovery.sqlite.schema import STEPS
from sessionref.errors import TitleIndexError

PAGE = 4096


@pytest.fixture
async def folder(tmp_path: Path) -> IndexedFolder:
    folder = IndexedFolder(tmp_path)
    folder.fill(20)
    await folder.build()
    return folder


def garble(path: Path) -> None:
    path.write_bytes(Random(1).randbytes(3 * PAGE))


def keep_first_bytes(path: Path) -> None:
    os.truncate(path, 50)


def cut_second_page(path: Path) -> None:
    os.truncate(path, PAGE + 1000)


def flip_bytes(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(PAGE, len(data), 64):
        data[place] ^= 0xFF
    path.write_bytes(data)


def replace_by_garbage(path: Path) -> None:
    garble(path.with_name("other"))
    path.with_name("other").replace(path)


DAMAGES = [garble, keep_first_bytes, cut_second_page, flip_bytes, replace_by_garbage]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("has_sum", [True, False])
async def test_a_damaged_file_is_set_aside(
    folder: IndexedFolder, damage: Callable[[Path], None], has_sum: bool
) -> None:
    """What was damaged is kept under another name; lookups never say anything else than a scan."""
    damage(folder.path)
    if not has_sum:
        folder.sum.unlink()
    bad = folder.path.read_bytes()
    before = folder.tree()
    async with folder.index() as index:
        assert await folder.is_as_scanned(index)
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert [path.read_bytes() for path in folder.aside()] == [bad]
    assert len(folder.index_problems()) == 1
    assert folder.tree() == before


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_file_may_go_bad_while_it_is_open(
    folder: IndexedFolder, damage: Callable[[Path], None]
) -> None:
    """A file that goes bad between two lookups is noticed, by the next refresh at the latest."""
    async with folder.index() as index:
        assert await folder.is_as_scanned(index)
        damage(folder.path)
        await folder.is_as_scanned(index)  # pages that SQLite still remembers may answer
        await index.refresh()
        assert await folder.is_as_scanned(index)
    async with folder.index() as index:
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert len(folder.index_problems()) <= 1


async def test_an_empty_file_is_filled(folder: IndexedFolder) -> None:
    """Zero bytes are what an index begins as, and no damage."""
    folder.path.write_bytes(b"")
    async with folder.index() as index:
        assert await folder.is_as_scanned(index)
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert folder.aside() == []


async def test_a_folder_in_its_place_is_left_alone(folder: IndexedFolder) -> None:
    """Where a folder lies, lookups do without an index, which is told once."""
    folder.path.unlink()
    folder.path.mkdir()
    (folder.path / "mine").write_text("x")
    async with folder.index() as index:
        assert await folder.is_as_scanned(index)
        for _ in range(2):
            with pytest.raises(TitleIndexError, match="not a regular file"):
                await index.refresh()
        assert await folder.is_as_scanned(index)
    assert len(folder.index_problems()) == 1
    assert (folder.path / "mine").read_text() == "x"


async def test_a_copy_without_its_log_of_writes_is_used(folder: IndexedFolder) -> None:
    """A file that was copied while it was written to, without its -wal, is refreshed."""
    folder.fill(10, first=20)
    copy = IndexedFolder(folder.root.parent)
    copy.path = folder.path.with_name("copy.sqlite3")

    def take_copy(_: object) -> None:
        shutil.copy(folder.path, copy.path)

    async with folder.index() as index:
        await index.refresh(take_copy)
    async with copy.index() as index:
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert len(copy.index_problems()) <= 1


@pytest.mark.parametrize("setting", ["DELETE", "WAL"])
async def test_a_database_of_another_program_is_left_alone(
    folder: IndexedFolder, setting: str
) -> None:
    """A healthy file with somebody else's tables is refused in words, and keeps its bytes."""
    folder.path.unlink()
    with closing(sqlite3.connect(folder.path)) as db:
        db.execute(f"PRAGMA journal_mode = {setting}")
        db.execute("CREATE TABLE session (mine)")
        db.execute("INSERT INTO session VALUES ('precious')")
        db.commit()
    await _assert_refused(folder, "a database of another program")


async def test_a_file_of_a_newer_version_is_left_alone(folder: IndexedFolder) -> None:
    """What a newer version has written is refused in words, and keeps its bytes."""
    with closing(sqlite3.connect(folder.path)) as db:
        db.execute("INSERT INTO _sqlite_migrations VALUES (NULL, 'sessionref', 's999_later', '')")
        db.commit()
    await _assert_refused(folder, "newer version of sessionref")


async def _assert_refused(folder: IndexedFolder, reason: str) -> None:
    data = folder.path.read_bytes()
    async with folder.index() as index:
        assert await folder.is_as_scanned(index)
        for _ in range(2):
            with pytest.raises(TitleIndexError, match=reason):
                await index.refresh()
        assert await folder.is_as_scanned(index)
        assert folder.path.read_bytes() == data
    assert folder.path.read_bytes() == data
    assert folder.aside() == []
    assert len(folder.index_problems()) == 1


@pytest.mark.parametrize("last", STEPS[1:])
@pytest.mark.parametrize("has_sum", [True, False])
async def test_a_file_of_an_older_version_is_brought_up_to_date(
    folder: IndexedFolder, last: str, has_sum: bool
) -> None:
    """Steps that are missing are made up for, and the file goes on to be used."""
    folder.path.unlink()
    with closing(Database(str(folder.path))) as db:
        steps.apply(db, stop_before=last)
    folder.sum.unlink()
    if has_sum:
        with folder.path.open("rb") as file:
            found = read_sum(file.fileno(), lambda: None)
        assert found is not None
        write_sum(folder.path, found)
    inode = folder.path.stat().st_ino
    async with folder.index() as index:
        assert await folder.is_as_scanned(index)
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert folder.path.stat().st_ino == inode
    assert folder.index_problems() == []
