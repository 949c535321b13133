"""A byte of an index that has changed by itself never changes an answer."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import trio
from discovery.index.indexed_folder import IndexedFolder

from sessionref.errors import TitleIndexError


def flip(data: bytes, random: Random) -> bytes:
    """Return bytes of which one bit is another one."""
    flipped = bytearray(data)
    flipped[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(flipped)


async def open_flipped(folder: IndexedFolder, data: bytes) -> bool:
    """Put a file in the place of the index and use it; return whether it says what the scan says.

    A refusal is right, too: it may have become a newer version's, or one of another program.
    """
    folder.path.write_bytes(data)
    async with folder.index() as index:
        was_as_scanned = await folder.is_as_scanned(index)
        try:
            await index.refresh()
        except TitleIndexError as error:
            assert "another program" in str(error) or "newer version" in str(error)  # noqa: PT017 - it need not raise
        return await folder.is_as_scanned(index) and was_as_scanned


async def flip_and_compare(tmp_path: Path, count: int, seed: int) -> None:
    folder = IndexedFolder(tmp_path)
    folder.fill(12)
    await folder.build()
    good, good_sum = folder.path.read_bytes(), folder.sum.read_bytes()
    random = Random(seed)
    for number in range(count):
        await trio.to_thread.run_sync(folder.remove_index)
        folder.sum.write_bytes(good_sum)
        assert await open_flipped(folder, flip(good, random)), number


async def test_a_flipped_byte_changes_no_answer(tmp_path: Path) -> None:
    """Wherever a bit of a closed index flips, lookups say what the scan says."""
    await flip_and_compare(tmp_path, 25, seed=1)


@pytest.mark.slow
async def test_many_flipped_bytes_change_no_answer(tmp_path: Path) -> None:
    """The same for three hundred places."""
    await flip_and_compare(tmp_path, 300, seed=2)


@pytest.mark.slow
async def test_no_flipped_byte_lets_something_else_escape(tmp_path: Path) -> None:
    """Where no sum tells of it, a flipped byte may hide, but raises nothing but a refusal."""
    folder = IndexedFolder(tmp_path)
    folder.fill(12)
    await folder.build()
    good = folder.path.read_bytes()
    random = Random(3)
    for _ in range(300):
        await trio.to_thread.run_sync(folder.remove_index)
        await open_flipped(folder, flip(good, random))
