"""Who may read what: an index holds no message, is its owner's alone, and touches no log."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from discovery.index.indexed_folder import MARKER, IndexedFolder
from permissions import needs_permissions

from sessionref.discovery.sqlite.files import LOCK_SUFFIX


@pytest.fixture
def generous() -> Iterator[None]:
    """A umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@needs_permissions
@pytest.mark.usefixtures("generous")
async def test_only_its_owner_may_read_an_index(tmp_path: Path) -> None:
    """All files of an index are for their owner alone, and so is the folder that is made."""
    folder = IndexedFolder(tmp_path)
    folder.fill(3)
    seen: dict[str, int] = {}

    def look(_: object) -> None:
        seen.update({path.name: mode(path) for path in folder.path.parent.iterdir()})

    async with folder.index() as index:
        await index.refresh(look)
        look(None)
    name = folder.path.name
    suffixes = ["", "-shm", "-sum", "-wal", LOCK_SUFFIX]
    assert seen == {f"{name}{suffix}": 0o600 for suffix in suffixes}
    assert mode(folder.path.parent) == 0o700


@needs_permissions
async def test_what_was_set_aside_stays_private(tmp_path: Path) -> None:
    """A damaged file keeps its rights under its other name."""
    folder = IndexedFolder(tmp_path)
    folder.fill(3)
    await folder.build()
    folder.path.write_bytes(b"garbage")
    await folder.build()
    assert [mode(path) for path in folder.aside()] == [0o600]


@pytest.mark.parametrize("compressed", [False, True])
async def test_an_index_holds_no_message(tmp_path: Path, compressed: bool) -> None:
    """What was said in a session is in none of an index's files, in whatever encoding."""
    folder = IndexedFolder(tmp_path)
    for number in range(5):
        folder.add(f"s{number}", "Fix the parser", compressed=compressed)
    found: list[bytes] = []

    def look(_: object) -> None:
        found.extend(path.read_bytes() for path in folder.path.parent.iterdir())

    async with folder.index() as index:
        await index.refresh(look)
        look(None)
        assert await folder.is_as_scanned(index)
    look(None)
    assert any(b"parser" in data for data in found), "titles are in it, so it was looked at"
    for part in (MARKER, MARKER[:9], MARKER[-9:]):
        for encoding in ("utf-8", "utf-16-le"):
            assert not any(part.encode(encoding) in data for data in found)


async def test_an_index_leaves_the_logs_alone(tmp_path: Path) -> None:
    """Names, times and bytes below the root stay as they are, whatever happens to the index."""
    folder = IndexedFolder(tmp_path)
    log, *_ = folder.fill(10)
    log.write_bytes(log.read_bytes()[:-10])
    before = folder.tree()
    await folder.build()
    folder.path.write_bytes(b"garbage")
    async with folder.index() as index:
        await index.refresh()
        await index.observe("s1")
        assert await folder.is_as_scanned(index)
        await index.verify()
        await index.status()
    assert folder.tree() == before
