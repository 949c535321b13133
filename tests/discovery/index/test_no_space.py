"""Where an index cannot be written, lookups do without it, and say so once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from discovery.index.indexed_folder import IndexedFolder
from permissions import needs_permissions, public_folder, unprivileged

from sessionref.discovery.sqlite import RefreshProgress, files
from sessionref.errors import TitleIndexError


@pytest.fixture
def small_folder(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)  # noqa: S607 - as in $PATH


def fill_up(place: Path, spare: int) -> Path:
    """Leave so many bytes of a file system; return what takes the others."""
    space = os.statvfs(place)
    ballast = place / "ballast"
    ballast.write_bytes(bytes(space.f_bavail * space.f_frsize - spare))
    return ballast


@pytest.mark.parametrize("spare", [0, 4_096, 65_536, 131_072, 196_608])
async def test_a_full_disk_costs_only_the_index(
    tmp_path: Path, small_folder: Path, spare: int
) -> None:
    """Without space to build it, lookups are right; once there is some, a refresh builds it."""
    folder = IndexedFolder(tmp_path)
    folder.path = small_folder / "index.sqlite3"
    folder.fill(30)
    ballast = fill_up(small_folder, spare)
    async with folder.index() as index:
        for _ in range(2):
            with pytest.raises(TitleIndexError):
                await index.refresh()
            assert await folder.is_as_scanned(index)
        assert (
            len(folder.index_problems()) <= 2
        )  # opening may have failed first, for a reason of its own
        ballast.unlink()
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert folder.aside() == []


async def test_a_disk_that_fills_up_costs_no_session(tmp_path: Path, small_folder: Path) -> None:
    """A refresh without space keeps what the index knew, and the next one goes on from there."""
    folder = IndexedFolder(tmp_path)
    folder.path = small_folder / "index.sqlite3"
    folder.fill(30)
    await folder.build()
    folder.fill(90, first=30)
    ballasts: list[Path] = []

    def fill_up_once(_: RefreshProgress) -> None:
        if not ballasts:
            ballasts.append(fill_up(small_folder, 0))

    async with folder.index() as index:
        with pytest.raises(TitleIndexError, match=r"full|I/O"):
            await index.refresh(fill_up_once)
        assert await folder.is_as_scanned(index)
        assert len(folder.index_problems()) == 1
        ballasts[0].unlink()
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert folder.aside() == []


async def test_a_sum_that_finds_no_space_is_no_failure(tmp_path: Path, small_folder: Path) -> None:
    """What only helps to notice damage costs no refresh."""
    folder = IndexedFolder(tmp_path)
    folder.path = small_folder / "index.sqlite3"
    folder.fill(3)
    folder.sum = small_folder / "index.sqlite3-sum"
    (small_folder / "index.sqlite3-sum.part").mkdir()
    assert (await folder.build()).sessions == 3
    assert not folder.sum.exists()
    assert folder.index_problems() == []


@needs_permissions
async def test_a_folder_that_may_not_be_written_costs_only_the_index() -> None:
    """A cache folder without write permission is told once, and no lookup suffers."""
    with public_folder() as place:
        folder = IndexedFolder(place)
        folder.fill(5)
        folder.path.parent.mkdir()
        with unprivileged():
            async with folder.index() as index:
                for _ in range(2):
                    with pytest.raises(TitleIndexError):
                        await index.refresh()
                    assert await folder.is_as_scanned(index)
        assert len(folder.index_problems()) == 1


@needs_permissions
async def test_a_folder_may_become_one_that_may_not_be_written() -> None:
    """A damaged index that cannot be set aside is done without."""
    with public_folder() as place:
        folder = IndexedFolder(place)
        folder.fill(5)
        folder.path.parent.mkdir()
        folder.path.parent.chmod(0o777)
        with unprivileged():
            await folder.build()
        folder.path.write_bytes(b"garbage")
        folder.path.parent.chmod(0o755)
        with unprivileged():
            async with folder.index() as index:
                for _ in range(2):
                    with pytest.raises(TitleIndexError):
                        await index.refresh()
                    assert await folder.is_as_scanned(index)
        assert folder.path.read_bytes() == b"garbage"
        assert len(folder.index_problems()) == 1


async def test_missing_folders_are_made(tmp_path: Path) -> None:
    """The folders above an index are made, also where they vanish while it is open."""
    folder = IndexedFolder(tmp_path)
    folder.path = tmp_path / "a" / "b" / "index.sqlite3"
    folder.fill(3)
    async with folder.index() as index:
        await index.refresh()
        folder.path.parent.rename(tmp_path / "moved")
        assert await folder.is_as_scanned(index)
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert folder.path.exists()
    assert folder.index_problems() == []


MOUNTS = b"""\
/dev/sda1 / ext4 rw 0 0
server:/home /home/\xff nfs4 rw 0 0
tmpfs %b/a\\040b tmpfs rw 0 0
server:/a %b/a\\040b/\xc3\xa9 %b rw 0 0
short
"""


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "ext4"])
async def test_a_network_file_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """An index is not put where locks do not reach; what the system lists is read byte by byte."""
    mounts = tmp_path / "mounts"
    place = os.fsencode(tmp_path)
    mounts.write_bytes(MOUNTS % (place, place, kind.encode()))
    monkeypatch.setattr(files, "_MOUNTS", mounts)
    folder = IndexedFolder(tmp_path)
    folder.fill(3)
    folder.path = tmp_path / "a b" / "é" / "cache" / "index.sqlite3"
    async with folder.index() as index:
        if kind == "ext4":
            await index.refresh()
        else:
            with pytest.raises(TitleIndexError, match=f"network file system.*{kind}"):
                await index.refresh()
        assert await folder.is_as_scanned(index)
    assert len(folder.index_problems()) == (kind != "ext4")
    assert folder.path.exists() == (kind == "ext4")
