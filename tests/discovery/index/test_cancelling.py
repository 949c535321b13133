"""Whoever leaves in the middle leaves a valid index, and nothing that goes on behind him."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest
import trio
from discovery.index.indexed_folder import IndexedFolder, open_files

from sessionref import Target
from sessionref.discovery.sqlite import index as index_module

ENDLESS = """
    WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number)
    SELECT max(n) FROM number"""


class EndlessSearch:
    """A search that SQLite never comes to the end of, with another statement under way."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.ended = threading.Event()
        self.error: Exception | None = None
        self.kept: list[apsw.Cursor] = []

    def __call__(self, connection: apsw.Connection, *_: Any) -> None:
        rows = connection.execute("SELECT rank FROM session")
        rows.fetchone()
        self.kept.append(rows)
        self.has_begun.set()
        try:
            connection.execute(ENDLESS).fetchall()
        except apsw.Error as error:
            self.error = error
            raise
        finally:
            self.ended.set()


@pytest.fixture
def folder(tmp_path: Path) -> IndexedFolder:
    folder = IndexedFolder(tmp_path)
    folder.fill(20)
    return folder


@pytest.mark.parametrize("call", range(1, 5))
async def test_a_refresh_may_be_cancelled_at_each_step(folder: IndexedFolder, call: int) -> None:
    """What a cancelled refresh leaves is valid, and the next one goes on from there."""
    await folder.build()
    folder.fill(10, first=15)
    calls = []

    async with folder.index() as index:
        with trio.CancelScope() as scope:

            def on_progress(progress: object) -> None:
                calls.append(progress)
                if len(calls) == call:
                    scope.cancel()

            await index.refresh(on_progress)
        assert scope.cancelled_caught
        await folder.is_as_scanned(index)
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert open_files(folder.path.parent) == []
    assert folder.index_problems() == []


async def test_a_refresh_may_be_cancelled_at_any_time(folder: IndexedFolder) -> None:
    """The same at some moments or other, whatever goes on then."""
    random = Random(1)
    for number in range(12):
        folder.add(f"s{number}", cwd="/w/app")
        async with folder.index() as index:
            with trio.move_on_after(random.uniform(0, 0.03)):
                await index.refresh()
            await index.list_candidates(Target(session_id="x"), "fix", 5)
        assert open_files(folder.path.parent) == []
    async with folder.index() as index:
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []
    assert folder.index_problems() == []


async def test_a_cancelled_search_is_interrupted(
    folder: IndexedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite stops working for a lookup that was cancelled, and the next ones do not suffer."""
    await folder.build()
    async with folder.index() as index:
        for _ in range(6):  # more than there are places for
            endless = EndlessSearch()
            with monkeypatch.context() as patch:
                patch.setattr(index_module, "search", endless)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(index.list_candidates, Target(session_id="x"), "fix", 5)
                    await trio.to_thread.run_sync(endless.has_begun.wait)
                    nursery.cancel_scope.cancel()
            # A lookup that takes its place does not wait for its end, nor is it interrupted too.
            assert await folder.is_as_scanned(index)
            assert await trio.to_thread.run_sync(endless.ended.wait, 30)
            assert isinstance(endless.error, apsw.InterruptError)
            assert await folder.is_as_scanned(index)
    assert folder.index_problems() == []


async def test_a_transaction_is_not_cancelled(folder: IndexedFolder) -> None:
    """Whoever is cancelled while he writes leaves when all is written, and no sooner."""
    await folder.build()
    async with folder.index() as index:
        connections = index._file.connections
        assert connections is not None

        def write(connection: apsw.Connection) -> None:
            trio.from_thread.run_sync(scope.cancel)
            connection.execute("INSERT INTO sessionref_index VALUES ('mine', 'written')")

        with trio.CancelScope() as scope:
            await connections.write(write)
        query = "SELECT value FROM sessionref_index WHERE key = 'mine'"
        value = await connections.read(lambda connection: connection.execute(query).get)
        assert value == "written"
