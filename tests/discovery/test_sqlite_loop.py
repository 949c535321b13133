"""A lookup in a large index leaves the event loop alone, and ends when nobody waits for it."""

from __future__ import annotations

import gc
import os
from functools import partial
from itertools import islice
from pathlib import Path

import apsw
import pytest
import trio
from stepping import StepWatch

from sessionref import Target
from sessionref.discovery.sqlite import SqliteTitleIndex
from sessionref.discovery.sqlite.about import REFRESHED_AT, write_about
from sessionref.discovery.sqlite.connections import Connections
from sessionref.discovery.sqlite.counting import count_grams
from sessionref.discovery.sqlite.rows import IndexedSession
from sessionref.discovery.sqlite.writing import put_sessions
from sessionref.storage import JsonlSessionStore

TARGET = Target(session_id="target", cwd="/w/3")
LONGEST_STEP = 0.005
NEEDLES = ("", "a", "修", "zq", "title 99", "缓存 7", "/w/3", "nowhere at all", "00000001")
ENDLESS = """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT max(n) FROM number"""


def session(number: int) -> IndexedSession:
    title = f"title {number}" if number % 3 else f"修复 缓存 {number}"
    return IndexedSession(
        f"{number:08x}", f"/w/{number % 5_000}", title, number * 1_000, project=b"p", file=b"f"
    )


@pytest.mark.parametrize(
    "count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)], ids=["20,000", "1,000,000"]
)
async def test_no_step_of_a_lookup_takes_long(tmp_path: Path, count: int) -> None:
    """Whatever is looked up among so many sessions, the window does not notice."""
    sessions = map(session, range(count))
    async with SqliteTitleIndex(JsonlSessionStore(tmp_path / "root"), tmp_path / "index") as index:
        connections = index._file.connections
        assert connections is not None
        while part := list(islice(sessions, 10_000)):
            await connections.write(partial(put_sessions, sessions=part))
        await connections.write(count_grams)
        await connections.write(partial(write_about, key=REFRESHED_AT, value="1"))
        await index.list_candidates(TARGET, "title", 50)  # what the first one imports
        watch = StepWatch()
        gc.disable()  # which thread pays for a collection is chance
        trio.lowlevel.add_instrument(watch)
        try:
            for needle in NEEDLES:
                await index.list_candidates(TARGET, needle, 50)
        finally:
            trio.lowlevel.remove_instrument(watch)
            gc.enable()
    assert watch.longest < LONGEST_STEP


async def test_an_abandoned_lookup_is_interrupted_inside_sqlite(tmp_path: Path) -> None:
    """A query that would never end does end when its caller is cancelled."""
    path = tmp_path / "index"
    path.touch()
    file = os.open(path, os.O_RDONLY)
    connections = Connections(path, file)
    raised: list[BaseException] = []

    def endless(connection: apsw.Connection) -> None:
        try:
            connection.execute(ENDLESS).fetchall()
        except apsw.InterruptError as error:
            raised.append(error)
            raise

    with trio.move_on_after(0.2) as scope:
        await connections.read(endless)
    assert scope.cancelled_caught
    with trio.fail_after(10):
        while not raised:  # noqa: ASYNC110 - it happens in a thread that nobody waits for
            await trio.sleep(0.01)
    assert await connections.read(lambda db: db.execute("SELECT 1").fetchall()) == [(1,)]
    connections.close()
    os.close(file)
