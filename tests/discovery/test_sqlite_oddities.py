"""What an index does when something about it is not as it should be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import apsw
import pytest
import trio
from logs import LogBuilder, json_line

from sessionref import Target
from sessionref.discovery import Diagnostic
from sessionref.discovery.sqlite import SqliteTitleIndex, opened
from sessionref.errors import TitleIndexError
from sessionref.storage import JsonlSessionStore

TARGET = Target(session_id="target")


def write(root: Path, session_id: str, title: str) -> LogBuilder:
    log = LogBuilder(session_id)
    log.title(title)
    log.write(root)
    return log


async def labels(index: SqliteTitleIndex) -> list[str]:
    return sorted(each.label for each in await index.list_candidates(TARGET, "", 50))


async def execute(index: SqliteTitleIndex, statement: str) -> None:
    """Do something to an index behind its back."""
    connections = index._file.connections
    assert connections is not None
    await connections.write(lambda db: db.execute(statement).fetchall())


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    with trio.fail_after(30):
        while not await holds():  # noqa: ASYNC110 - there is no event
            await trio.sleep(0.02)


async def test_verifying_tells_each_difference(tmp_path: Path) -> None:
    """A title that has changed, a session that is missing, one that has gone, one not found."""
    root = tmp_path / "root"
    log = write(root, "a", "before")
    write(root, "b", "gone")
    write(root, "c", "not found")
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index:
        await index.refresh()
        assert await index.verify() == []
        log.title("after")
        log.write(root)
        (root / "_no-cwd" / "b" / "session.jsonl").unlink()
        write(root, "d", "new")
        await execute(index, "INSERT INTO session_gram (session_gram) VALUES ('delete-all')")
        told = {(each.session_id, each.problem) for each in await index.verify()}
    assert ("a", "its label is 'before' in the index and 'after' in the log") in told
    assert ("b", "its log has gone") in told
    assert ("c", "lookups do not find all of it") in told
    assert ("d", "it is not in the index") in told


async def test_a_large_file_is_added_up_by_the_first_refresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes too long for an opening is not left out."""
    monkeypatch.setattr(opened, "_SMALL_BYTES", 0)
    root, path = tmp_path / "root", tmp_path / "index"
    write(root, "a", "needle in the file")
    told: list[Diagnostic] = []
    for flip in (False, True):
        if flip:
            data = path.read_bytes()
            path.write_bytes(data.replace(b"needle in the file", b"needlf in the file"))
        async with SqliteTitleIndex(
            JsonlSessionStore(root), path, on_diagnostic=told.append
        ) as index:
            await index.refresh()
            assert await labels(index) == ["needle in the file"]
        assert len(told) == flip


async def test_without_a_file_nothing_but_lookups_works(tmp_path: Path) -> None:
    """Where the index cannot be used, what needs it says so, and a host's news are ignored."""
    root = tmp_path / "root"
    write(root, "a", "title")
    (tmp_path / "index").mkdir()
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index:
        assert index.path == tmp_path / "index"
        await index.observe("a")
        assert (await index.status()).problem is not None
        with pytest.raises(TitleIndexError):
            await index.verify()
        assert await labels(index) == ["title"]


@pytest.mark.parametrize("use", ["observe", "status", "verify"])
async def test_whoever_meets_damage_has_a_new_file_made(tmp_path: Path, use: str) -> None:
    """It need not be a lookup that finds out."""
    root = tmp_path / "root"
    write(root, "a", "title")
    told: list[Diagnostic] = []
    async with SqliteTitleIndex(
        JsonlSessionStore(root), tmp_path / "index", on_diagnostic=told.append
    ) as index:
        await index.refresh()
        await execute(index, "ALTER TABLE session RENAME TO lost")
        match use:
            case "observe":
                await index.observe("a")
            case "status":
                assert (await index.status()).problem is not None
            case _:
                with pytest.raises(TitleIndexError):
                    await index.verify()
        assert len(told) == 1
        assert await labels(index) == ["title"]
        await index.refresh()
        assert (await index.status()).sessions == 1


async def test_a_writer_waits_for_another_one(tmp_path: Path) -> None:
    """However long somebody else writes, nobody hears of a locked database."""
    root = tmp_path / "root"
    write(root, "a", "title")
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index:
        other = apsw.Connection(str(tmp_path / "index"))
        other.execute("BEGIN IMMEDIATE")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(index.refresh)
            await trio.sleep(0.4)
            assert (await index.status()).refreshed_at is None
            other.execute("ROLLBACK")
        other.close()
        assert (await index.status()).refreshed_at is not None


async def test_watching_begins_when_there_is_something_to_watch(tmp_path: Path) -> None:
    """A folder that does not exist yet is waited for; what is put right into a project is met."""
    root = tmp_path / "root"

    async def has(index: SqliteTitleIndex, *expected: str) -> bool:
        return await labels(index) == list(expected)

    async with (
        SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(index.watch)
        await trio.sleep(0.1)
        log = write(root, "a", "first")
        await until(partial(has, index, "first"))
        (root / "_no-cwd" / "note.txt").write_text("no session")
        log.title("second")
        with log.path(root).open("ab") as file:
            file.write(json_line(log.events[-1]) + b"\n")
        await until(partial(has, index, "second"))
        nursery.cancel_scope.cancel()
