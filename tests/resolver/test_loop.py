"""The event loop is somebody's window: no step on it takes long, however large a session is."""

from __future__ import annotations

import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from asking import context_of
from logs import LogBuilder, store_of
from stepping import StepWatch

from sessionref import Reference, SessionReferenceResolver, Target, open_resolver
from sessionref.storage import LiveSession, LiveSessions

TARGET = Target(session_id="target")


@asynccontextmanager
async def no_long_step() -> AsyncIterator[None]:
    """Fail if one step on the loop takes more than a fifth of all the work inside."""
    watch = StepWatch()
    gc.disable()  # which thread pays for a collection is chance
    started = time.process_time()
    trio.lowlevel.add_instrument(watch)
    await trio.lowlevel.checkpoint()
    try:
        yield
        await trio.lowlevel.checkpoint()
    finally:
        trio.lowlevel.remove_instrument(watch)
        gc.enable()
    whole = time.process_time() - started
    assert watch.longest < whole / 5, f"{watch.longest:.3f} s of {whole:.3f} s in one step"


@pytest.fixture(scope="module")
def long_log() -> LogBuilder:
    """A conversation of 20,000 messages."""
    log = LogBuilder("long")
    for number in range(10_000):
        log.user(f"question {number} " * 5)
        log.assistant(f"answer {number} " * 10)
    return log


async def prepare(resolver: SessionReferenceResolver) -> None:
    prepared = await resolver.prepare(TARGET, "see", [Reference(session_id="long")])
    (record,) = context_of(prepared).to_wire()["source"]["references"]
    assert record["originalMessages"] == 20_000
    assert record["truncated"]


@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])
async def test_preparing_a_long_session(
    tmp_path: Path, long_log: LogBuilder, compressed: bool
) -> None:
    """Reading, projecting and fitting 20,000 messages happen in threads."""
    long_log.write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver, no_long_step():
        await prepare(resolver)


@pytest.mark.parametrize("is_live", [True, False], ids=["live", "memory"])
async def test_preparing_a_long_session_from_memory(long_log: LogBuilder, is_live: bool) -> None:
    """Events that are in memory already are folded in threads too."""
    live = LiveSessions()
    live.open(LiveSession(long_log.header, long_log.events))
    store = store_of() if is_live else store_of(long_log)
    async with open_resolver(store, live=live if is_live else None) as resolver, no_long_step():
        await prepare(resolver)


@pytest.mark.parametrize("query", ["", "title", "title 999"])
async def test_a_lookup_among_many_sessions(tmp_path: Path, query: str) -> None:
    """Listing, ranking and reading the titles of 1,000 sessions happen in threads or in pieces."""
    for number in range(1_000):
        log = LogBuilder(f"{number}", cwd=f"/w/{number % 7}")
        log.title(f"title {number}")
        log.write(tmp_path)
    async with open_resolver(tmp_path) as resolver, no_long_step():
        assert await resolver.list_candidates(TARGET, query)


@pytest.mark.parametrize("blocking", [True, False])
async def test_the_watch_sees_what_blocks(blocking: bool) -> None:
    """The watch itself tells work on the loop from work in a thread."""

    def work() -> None:
        sum(number * number for number in range(300_000))

    async def run() -> None:
        async with no_long_step():
            if blocking:
                work()
            else:
                await trio.to_thread.run_sync(work)

    if blocking:
        with pytest.raises(AssertionError, match="in one step"):
            await run()
    else:
        await run()
