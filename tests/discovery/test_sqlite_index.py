"""The title index, as a host meets it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from logs import LogBuilder, json_line, store_of

from sessionref import Target, open_resolver
from sessionref.discovery import Diagnostic
from sessionref.discovery.sqlite import SqliteTitleIndex
from sessionref.errors import InvalidConfigError, StoreUnreadableError
from sessionref.storage import Corpus, JsonlSessionStore, LiveSession, LiveSessions
from sessionref.testing import check_discovery

TARGET = Target(session_id="target", cwd="/w/app")
ODD_TITLES = [
    *("quick fix only", "quick ok", "修复 缓存", "МИР", "go", "go-lang", 'a"b', "don't", "100%"),
    *("a_b", "x*", "f(x)", "title:x", "^top", "NEAR(a b)", "c:\\tmp", "[br]"),
    *("100 done", "axb", "Straße", "\ufb01x", "ΑΣ", "ας", "x\0y", "\ud83d!"),
]
ODD_NEEDLES = [
    "ok",
    "quick ok",
    "修复",
    "МИ",
    "g",
    "复 缓",
    " ",
    "",
    "AND",
    '"',
    "''",
    "σ",
    "\ud83d",
]


def write_some(root: Path) -> None:
    """Sessions with and without title and cwd, and one that cannot be read."""
    for number, title in enumerate(["Fix the parser", "МИР 修复", None]):
        log = LogBuilder(f"id-{number}", cwd=[None, "/w/app", "/w/App"][number], created_at=number)
        log.user("hi")
        if title is not None:
            log.title(title)
        log.write(root, compressed=number == 1)
    bad = LogBuilder("bad", cwd="/w/app")
    bad.append("mode/set", {})
    bad.write(root)


async def labels(index: SqliteTitleIndex, query: str = "") -> list[str]:
    return [each.label for each in await index.list_candidates(TARGET, query, 50)]


async def has_been_refreshed(index: SqliteTitleIndex) -> bool:
    return (await index.status()).refreshed_at is not None


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what another task or the system will bring about."""
    with trio.fail_after(30):
        while not await holds():  # noqa: ASYNC110 - there is no event
            await trio.sleep(0.02)


async def test_the_index_keeps_the_promises_of_a_discovery(tmp_path: Path) -> None:
    """`SqliteTitleIndex` passes the check, live sessions included."""
    write_some(tmp_path / "root")
    live = LiveSessions()
    log = LogBuilder("id-0", created_at=0)
    log.title("Renamed")
    live.open(LiveSession(log.header, log.events))
    store = JsonlSessionStore(tmp_path / "root")
    async with SqliteTitleIndex(store, tmp_path / "index", live=live) as index:
        await index.refresh()
        await check_discovery(index, Corpus(store, live), queries=["parser", "мир", "renamed"])


async def test_odd_needles_find_exactly_what_holds_them(tmp_path: Path) -> None:
    """No needle is syntax, none is too short, and no letter is folded but to lower case."""
    root = tmp_path / "root"
    for number, title in enumerate(ODD_TITLES):
        log = LogBuilder(f"{number:03}", created_at=number)
        log.title(title)
        log.write(root)
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index:
        await index.refresh()
        for needle in [*ODD_NEEDLES, *ODD_TITLES]:
            expected = [title for title in ODD_TITLES if needle.lower() in title.lower()]
            found = [each for each in await labels(index, needle) if each in ODD_TITLES]
            assert sorted(found) == sorted(expected), needle


async def test_before_the_first_refresh_the_scan_answers(tmp_path: Path) -> None:
    """An index that knows nothing yet hides nothing."""
    write_some(tmp_path / "root")
    store = JsonlSessionStore(tmp_path / "root")
    async with SqliteTitleIndex(store, tmp_path / "index") as index:
        assert await labels(index, "parser") == ["Fix the parser"]
        assert (await index.status()).refreshed_at is None


async def test_what_is_not_observed_is_not_known(tmp_path: Path) -> None:
    """No log is read to answer: a new title is found once the index has been told of it."""
    root = tmp_path / "root"
    log = LogBuilder("s")
    log.title("before")
    path = log.write(root)
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index:
        await index.refresh()
        log.title("after")
        with path.open("ab") as file:
            file.write(json_line(log.events[-1]) + b"\n")
        assert await labels(index) == ["before"]
        await index.observe("s")
        assert await labels(index) == ["after"]
        path.unlink()
        await index.observe("s")
        assert await labels(index) == []


async def test_a_live_title_wins_at_once(tmp_path: Path) -> None:
    """What a host holds open is found by its title of this moment, without any refresh."""
    root = tmp_path / "root"
    log = LogBuilder("s")
    log.title("stored")
    log.write(root)
    live = LiveSessions()
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index", live=live) as index:
        await index.refresh()
        log.title("live")
        live.open(LiveSession(log.header, log.events))
        assert (await labels(index, "live"), await labels(index, "stored")) == (["live"], [])
        live.close("s")
        assert (await labels(index, "live"), await labels(index, "stored")) == ([], ["stored"])


async def test_a_live_session_that_disagrees_is_in_conflict(tmp_path: Path) -> None:
    """The index knows enough of a stored header to tell."""
    root = tmp_path / "root"
    LogBuilder("s", cwd="/w").write(root)
    live = LiveSessions()
    live.open(LiveSession(LogBuilder("s", cwd="/other").header))
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index", live=live) as index:
        await index.refresh()
        (found,) = await index.list_candidates(TARGET, "", 5)
    assert not found.readable
    assert "cwd" in (found.problem or "")


async def test_a_damaged_log_is_told_of_once(tmp_path: Path) -> None:
    """However often an index is refreshed or asked, in one program each fault is told once."""
    write_some(tmp_path / "root")
    told: list[Diagnostic] = []
    store = JsonlSessionStore(tmp_path / "root")
    for expected in (1, 2):
        async with SqliteTitleIndex(store, tmp_path / "index", on_diagnostic=told.append) as index:
            for _ in range(3):
                await index.refresh()
                await labels(index)
        assert [each.session_id for each in told] == ["bad"] * expected


async def test_a_resolver_refreshes_its_index_in_the_background(tmp_path: Path) -> None:
    """With `index`, lookups are answered at once, and soon by the index."""
    write_some(tmp_path / "root")
    async with open_resolver(tmp_path / "root", index=tmp_path / "index") as resolver:
        assert len(await resolver.list_candidates(TARGET)) == 4
        index = resolver.discovery
        assert isinstance(index, SqliteTitleIndex)
        await until(lambda: has_been_refreshed(index))
        assert (await index.status()).sessions == 4
        assert len(await resolver.list_candidates(TARGET, "parser")) == 1
    assert (tmp_path / "index").exists()


async def test_an_index_is_of_a_folder_of_logs() -> None:
    """Where there are no files, there is nothing to index."""
    with pytest.raises(InvalidConfigError, match="index"):
        async with open_resolver(store_of(), index="auto"):
            pass


async def test_an_index_of_another_folder_is_not_used(tmp_path: Path) -> None:
    """Two folders that are given one file do not mix: the second does without, in words."""
    told: list[Diagnostic] = []
    for name in ("one", "two"):
        LogBuilder(name).write(tmp_path / name)
    async with SqliteTitleIndex(JsonlSessionStore(tmp_path / "one"), tmp_path / "index") as index:
        await index.refresh()
    store = JsonlSessionStore(tmp_path / "two")
    async with SqliteTitleIndex(store, tmp_path / "index", on_diagnostic=told.append) as index:
        assert await labels(index) == ["two"]
        assert "another folder" in str((await index.status()).problem)
    assert len(told) == 1


async def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    """Where no answer would be true, the index gives none either."""
    root = tmp_path / "root"
    write_some(root)
    async with SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index:
        await index.refresh()
        root.rename(tmp_path / "elsewhere")
        root.write_text("a file in its place")
        with pytest.raises(StoreUnreadableError):
            await index.refresh()
        with pytest.raises(StoreUnreadableError):
            await labels(index)
        root.unlink()
        (tmp_path / "elsewhere").rename(root)
        await index.refresh()
        assert len(await labels(index)) == 4


async def test_watching_keeps_an_index_fresh(tmp_path: Path) -> None:
    """A title that is appended, and a session that begins, are found without anybody telling."""
    root = tmp_path / "root"
    log = LogBuilder("s")
    log.title("first")
    path = log.write(root)

    async def has(*expected: str) -> bool:
        return await labels(index) == list(expected)

    async with (
        SqliteTitleIndex(JsonlSessionStore(root), tmp_path / "index") as index,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(index.watch)
        await until(lambda: has_been_refreshed(index))
        log.title("second")
        with path.open("ab") as file:
            file.write(json_line(log.events[-1]) + b"\n")
        other = LogBuilder("new", created_at=1)
        other.title("third")
        other.write(root)
        await until(lambda: has("second", "third"))
        nursery.cancel_scope.cancel()
