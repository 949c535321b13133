"""Discovery by reading logs: what it lists, how many logs it reads, and what it reports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, store_of
from strategies import log_builders
from trio.testing import wait_all_tasks_blocked

from sessionref.discovery import Diagnostic, ScanDiscovery
from sessionref.errors import (
    SessionConflictError,
    SessionDamagedError,
    SessionNotFoundError,
    StoreUnreadableError,
)
from sessionref.model import Candidate, Target
from sessionref.storage import (
    Corpus,
    JsonlSessionStore,
    LiveSession,
    LiveSessions,
    SessionStore,
    StoredSession,
)
from sessionref.testing import FailingStore, ParkedStore

TARGET = Target(session_id="target", cwd="/w")


def titled(session_id: str, title: str, **header: Any) -> LogBuilder:
    log = LogBuilder(session_id, **header)
    log.title(title)
    return log


async def find(
    store: SessionStore, query: str = "", limit: int = 50, target: Target = TARGET
) -> list[Candidate]:
    return await ScanDiscovery(Corpus(store)).list_candidates(target, query, limit)


async def labels(store: SessionStore, query: str = "", limit: int = 50) -> list[str]:
    return [candidate.label for candidate in await find(store, query, limit)]


async def test_an_empty_query_lists_all_but_the_target() -> None:
    """Every session matches nothing, the one that is asking excepted."""
    store = store_of(titled("a", "A"), titled("b", "B"), titled("target", "T", cwd="/w"))
    assert await labels(store) == ["A", "B"]


async def test_an_empty_store_has_no_candidates() -> None:
    """Nothing is listed where there is nothing."""
    assert await find(store_of()) == []


async def test_a_query_is_lower_cased() -> None:
    """Case does not count, neither in the query nor in the title."""
    store = store_of(titled("a", "Fix the PARSER"), titled("b", "other"))
    assert await labels(store, "THE parser") == ["Fix the PARSER"]


async def test_the_best_come_first() -> None:
    """The order is that of ranking: folder, then age, then id."""
    store = store_of(
        titled("a", "other folder", cwd="/v", created_at=9),
        titled("b", "no folder", created_at=8),
        titled("c", "older", cwd="/w", created_at=1),
        titled("d", "newer", cwd="/w", created_at=2),
        titled("0", "as new", cwd="/w", created_at=2),
    )
    assert await labels(store) == ["as new", "newer", "older", "no folder", "other folder"]


@pytest.mark.parametrize("limit", [1, 7, 50, 100])
async def test_an_empty_query_reads_no_more_than_it_lists(limit: int) -> None:
    """Without a query the logs of at most `limit` sessions are read."""
    logs = [LogBuilder(f"{number:03}", created_at=number) for number in range(200)]
    store = FailingStore(store_of(*logs))
    assert len(await find(store, limit=limit)) == limit
    assert store.title_reads == limit
    assert store.log_reads == 0


async def test_a_query_reads_until_it_has_enough() -> None:
    """A search ends soon after it has found as many as were asked for."""
    logs = [titled(f"{number:03}", "x", created_at=-number) for number in range(1_000)]
    store = FailingStore(store_of(*logs))
    assert len(await find(store, "x", limit=1)) == 1
    assert store.title_reads <= 64


async def test_a_query_that_finds_nothing_reads_all() -> None:
    """A search may have to read every title, each once."""
    logs = [titled(f"{number:03}", "x") for number in range(100)]
    store = FailingStore(store_of(*logs))
    assert await find(store, "y") == []
    assert store.title_reads == 100


@given(st.lists(log_builders(max_events=3), unique_by=lambda log: log.header.id), st.data())
def test_a_shorter_answer_is_the_beginning_of_a_longer(
    logs: list[LogBuilder], data: st.DataObject
) -> None:
    """For any query and two limits, the answers begin alike."""
    texts = [text for log in logs for text in (log.header.id, log.header.cwd or "", "a")]
    query = data.draw(st.sampled_from(["", *texts]))
    store = store_of(*logs)
    everything = trio.run(find, store, query, 10**9)
    limit = data.draw(st.integers(1, len(logs) + 1))
    assert trio.run(find, store, query, limit) == everything[:limit]


class ParkedTitles(ParkedStore):
    """A store that lists at once, and reads titles when it is released."""

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        async for batch in self._store.list_sessions():
            yield batch


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_titles_are_read_in_batches_at_the_same_time(concurrency: int) -> None:
    """No more than `concurrency` batches of titles are read at a time, and no fewer."""
    store = ParkedTitles(store_of(*(titled(f"{number}", "x") for number in range(200))))
    discovery = ScanDiscovery(Corpus(store), concurrency=concurrency)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(discovery.list_candidates, TARGET, "x", 200)
        await wait_all_tasks_blocked()
        assert store.waiting == concurrency
        nursery.cancel_scope.cancel()
    assert store.waiting == 0


async def test_what_cannot_be_read_is_listed_under_its_id() -> None:
    """A damaged log costs its own label only, and its candidate says why."""
    damage = SessionDamagedError(reason="broken", path="/p")
    store = FailingStore(store_of(titled("a", "A"), titled("b", "B")), {"b": damage})
    first, second = await find(store)
    assert (first.label, first.readable, first.problem) == ("A", True, None)
    assert (second.label, second.readable) == ("b", False)
    assert second.problem == "/p: damaged: broken"


async def test_what_cannot_be_read_is_found_by_its_id() -> None:
    """Where no title can be read, id and cwd can still be searched."""
    damage = SessionDamagedError(reason="broken")
    store = FailingStore(store_of(titled("abc", "A", cwd="/w")), {"abc": damage})
    assert await labels(store, "BC") == ["abc"]
    assert await labels(store, "/w") == ["abc"]
    assert await labels(store, "a title") == []


async def test_what_vanishes_is_listed_under_its_id() -> None:
    """A log that is gone when its title is to be read is listed as unreadable."""
    gone = SessionNotFoundError(session_id="a")
    (candidate,) = await find(FailingStore(store_of(titled("a", "A")), {"a": gone}))
    assert (candidate.label, candidate.problem) == ("a", "there is no session 'a'")


async def test_a_session_without_header_is_not_listed(tmp_path: Path) -> None:
    """Of a log whose header cannot be read nobody knows whose it is: it is reported only."""
    LogBuilder("a").write(tmp_path, b"[]\n")
    titled("b", "B").write(tmp_path)
    told: list[Diagnostic] = []
    discovery = ScanDiscovery(Corpus(JsonlSessionStore(tmp_path)), on_diagnostic=told.append)
    found = await discovery.list_candidates(TARGET, "", 50)
    assert [candidate.session_id for candidate in found] == ["b"]
    assert [diagnostic.session_id for diagnostic in told] == ["a"]


async def test_a_conflict_is_listed_as_unreadable() -> None:
    """A live session that disagrees with its log has no title that anybody could trust."""
    live = LiveSessions()
    live.open(LiveSession(LogBuilder("a", cwd="/v").header))
    told: list[Diagnostic] = []
    corpus = Corpus(store_of(titled("a", "A")), live)
    discovery = ScanDiscovery(corpus, on_diagnostic=told.append)
    (candidate,) = await discovery.list_candidates(TARGET, "", 50)
    assert (candidate.label, candidate.readable, candidate.cwd) == ("a", False, "/v")
    assert isinstance(told[0].error, SessionConflictError)


async def test_a_store_that_cannot_be_listed_is_an_error() -> None:
    """There is no true answer, and an empty one would be a lie."""
    error = StoreUnreadableError(path="/r", reason="gone")
    with pytest.raises(StoreUnreadableError, match="/r"):
        await find(FailingStore(store_of(), listing_error=error))


async def test_another_failure_of_a_store_comes_out_plain() -> None:
    """What a store raises beside its contract is not hidden, and not wrapped in a group."""
    store = FailingStore(store_of(titled("a", "A"), titled("b", "B")), {"a": ZeroDivisionError()})
    with pytest.raises(ZeroDivisionError):
        await find(store)


async def test_a_fault_is_reported_once(tmp_path: Path) -> None:
    """Each damaged log is told of once, with place and reason, however often one asks."""
    broken = titled("a", "A")
    broken.append("mode/set", {})
    path = broken.write(tmp_path)
    headless = LogBuilder("b").write(tmp_path, b"")
    told: list[Diagnostic] = []
    discovery = ScanDiscovery(Corpus(JsonlSessionStore(tmp_path)), on_diagnostic=told.append)
    for query in ["", "", "x", "a"]:
        await discovery.list_candidates(TARGET, query, 50)
    assert sorted(diagnostic.place for diagnostic in told) == [str(path), str(headless)]
    assert all(diagnostic.place in str(diagnostic.error) for diagnostic in told)


async def test_a_fault_that_comes_back_is_reported_again(tmp_path: Path) -> None:
    """A log that was mended and broke again is told of twice."""
    log = titled("a", "A")
    told: list[Diagnostic] = []
    discovery = ScanDiscovery(Corpus(JsonlSessionStore(tmp_path)), on_diagnostic=told.append)
    for data in [b"", None, b"", b""]:
        log.write(tmp_path, data)
        await discovery.list_candidates(TARGET, "", 50)
    assert len(told) == 2


async def test_faults_beyond_the_limit_are_reported(tmp_path: Path) -> None:
    """What a listing already knows to be broken is told, though nobody asked for so many."""
    titled("a", "A").write(tmp_path)
    LogBuilder("b").write(tmp_path, b"")
    told: list[Diagnostic] = []
    discovery = ScanDiscovery(Corpus(JsonlSessionStore(tmp_path)), on_diagnostic=told.append)
    await discovery.list_candidates(TARGET, "", 1)
    assert len(told) == 1
