"""Whatever happens to the logs: after the next refresh, the index says what the scan says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from discovery.index.indexed_folder import IndexedFolder, settle
from discovery.index.processes import count_opened, start
from logs import LogBuilder, json_line, log_path

from sessionref import Target
from sessionref.discovery.sqlite import about, comparing, logs
from sessionref.storage.jsonl.titles import read_title
from sessionref.storage.protocol import Revision

HERE = Target(session_id="elsewhere")


@pytest.fixture
def folder(tmp_path: Path) -> IndexedFolder:
    folder = IndexedFolder(tmp_path)
    folder.fill(8)
    folder.add("known", "before", cwd="/w/app")
    return folder


def known_log(folder: IndexedFolder) -> Path:
    return log_path(folder.root, "known", "/w/app")


def log_with(title: str) -> LogBuilder:
    log = LogBuilder("known", cwd="/w/app")
    log.user("hello")
    log.title(title)
    return log


def append_title(path: Path, title: str) -> None:
    """Append a title to a log of `folder.add`, and put its time back."""
    before = path.stat()
    count = len(path.read_bytes().splitlines()) - 1
    log = LogBuilder("known")
    log.title(title)
    with path.open("ab") as file:
        file.write(json_line({**log.events[0], "seq": count}) + b"\n")
    put_time_back(path, before)


def put_time_back(path: Path, before: os.stat_result) -> None:
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def add(folder: IndexedFolder) -> None:
    folder.add("new", "after")


def delete(folder: IndexedFolder) -> None:
    known_log(folder).unlink()


def delete_folder(folder: IndexedFolder) -> None:
    shutil.rmtree(known_log(folder).parent)


def delete_all(folder: IndexedFolder) -> None:
    shutil.rmtree(folder.root)


def move(folder: IndexedFolder) -> None:
    place = folder.root / "--elsewhere--" / "known"
    place.parent.mkdir()
    known_log(folder).parent.rename(place)


def append(folder: IndexedFolder) -> None:
    append_title(known_log(folder), "after")


def rewrite_longer(folder: IndexedFolder) -> None:
    path = known_log(folder)
    before = path.stat()
    os.truncate(path, 0)
    path.write_bytes(log_with("after" * 100).to_bytes())
    put_time_back(path, before)


def replace(folder: IndexedFolder) -> None:
    path = known_log(folder)
    before = path.stat()
    data = path.read_bytes().replace(b'"before"', b'"behind"')
    path.with_name("part").write_bytes(data)
    path.with_name("part").replace(path)
    put_time_back(path, before)
    assert path.stat().st_size == before.st_size


def rewrite_in_place(folder: IndexedFolder) -> None:
    path = known_log(folder)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"before"', b'"behind"'))
    put_time_back(path, before)
    assert path.stat().st_size == before.st_size


def restore(folder: IndexedFolder) -> None:
    backup = folder.root.with_name("backup")
    folder.root.rename(backup)
    known = log_path(backup, "known", "/w/app")
    known.write_bytes(log_with("older").to_bytes())
    shutil.copytree(backup, folder.root)
    for path in folder.root.rglob("*"):
        os.utime(path, (10**9, 10**9))


def make_ambiguous(folder: IndexedFolder) -> None:
    path = known_log(folder)
    path.with_name("session.jsonl.zstd").write_bytes(log_with("other").to_zstd())


CHANGES = [
    *(add, delete, delete_folder, delete_all, move, append, rewrite_longer, replace),
    *(rewrite_in_place, restore, make_ambiguous),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_open", [True, False])
async def test_a_change_is_noticed(folder: IndexedFolder, change: Any, is_open: bool) -> None:
    """A refresh finds what has become of the logs, in the process that had read them and later."""
    await folder.build()
    before = await folder.scanned()
    if not is_open:
        change(folder)
    async with folder.index() as index:
        if is_open:
            change(folder)
        assert await folder.scanned() != before, "nothing has changed"
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.verify() == []


@pytest.mark.parametrize("change", [delete, delete_folder, move, append, replace, rewrite_longer])
async def test_an_observed_change_is_noticed(folder: IndexedFolder, change: Any) -> None:
    """Who is told whose log has changed needs no refresh."""
    await folder.build()
    async with folder.index() as index:
        change(folder)
        await index.observe("known")
        assert await folder.is_as_scanned(index)


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_change_while_a_log_is_read_is_noticed(
    folder: IndexedFolder, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A title that is appended while the index reads the log is found by the refresh after that."""
    await settle()

    def read_and_change(path: str, *args: Any) -> Any:
        is_known = Path(path).parent.name == "known"
        if is_known and moment == "before":
            append_title(Path(path), "after")
        state = read_title(path, *args)
        if is_known and moment == "after":
            append_title(Path(path), "after")
        return state

    async with folder.index() as index:
        with monkeypatch.context() as patch:
            patch.setattr(logs, "read_title", read_and_change)
            await index.refresh()
        await index.refresh()
        assert await folder.is_as_scanned(index)
        assert await index.list_candidates(HERE, "after", 5) != []


@pytest.mark.parametrize(
    ("written", "age", "is_old_enough"),
    [
        (1_700_000_000_123_456_789, 49_000_000, False),
        (1_700_000_000_123_456_789, 51_000_000, True),
        (1_700_000_000_000_000_000, 1_900_000_000, False),
        (1_700_000_000_000_000_000, 2_100_000_000, True),
    ],
)
def test_a_young_state_is_none_to_rely_on(written: int, age: int, is_old_enough: bool) -> None:
    """A change within a tick of the clock leaves no trace, and some clocks tick in seconds."""
    revision = Revision(1, 2, 3, written, written)
    assert comparing.is_settled(revision, written + age) is is_old_enough


async def test_what_is_too_young_is_read_again(
    folder: IndexedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log whose state does not tell it from what is written next is read by each refresh."""
    monkeypatch.setattr(logs, "is_settled", lambda _: False)
    async with folder.index() as index:
        assert (await index.refresh()).read == 9
        assert (await index.refresh()).read == 9
        assert await folder.is_as_scanned(index)


async def test_what_another_version_has_read_is_read_anew(
    folder: IndexedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where logs are read by other rules than those of the last refresh, none is taken as known."""

    def read_wrongly(path: str, *args: Any) -> Any:
        return read_title(path, *args)._replace(title=None)

    with monkeypatch.context() as patch:
        patch.setattr(logs, "read_title", read_wrongly)
        patch.setattr(about, "_READING", 0)
        await folder.build()
        async with folder.index() as index:
            assert not await folder.is_as_scanned(index)
    async with folder.index() as index:
        await index.refresh()
        assert await folder.is_as_scanned(index)


@pytest.mark.parametrize("refreshes", [False, True])
async def test_a_second_process_opens_no_log(folder: IndexedFolder, refreshes: bool) -> None:
    """Where nothing has changed, neither a lookup nor a refresh opens a log."""
    await folder.build()
    with start(count_opened, folder.root, folder.path, refreshes=refreshes) as process:
        assert process.receive() == []


async def test_only_what_has_changed_is_opened(folder: IndexedFolder) -> None:
    """A refresh opens the logs that are new or have changed, and no others."""
    await folder.build()
    append(folder)
    new = folder.add("new", "after")
    with start(count_opened, folder.root, folder.path, refreshes=True) as process:
        opened = process.receive()
    assert set(opened) == {str(known_log(folder)), str(new)}


async def test_the_same_index_opens_no_log_twice(folder: IndexedFolder) -> None:
    """A second refresh reads nothing, and says so."""
    await settle()
    async with folder.index() as index:
        assert (await index.refresh()).read == 9
        assert (await index.refresh()).read == 0


async def test_the_index_of_another_folder_is_refused(folder: IndexedFolder) -> None:
    """An index never answers for logs that it was not made from."""
    await folder.build()
    other = IndexedFolder(folder.root.parent)
    other.root = folder.root.with_name("other")
    other.add("other")
    async with other.index() as index:
        assert await other.is_as_scanned(index)
    assert len(other.index_problems()) == 1
    assert "index of another folder" in other.index_problems()[0]
