"""Processes that use an index at the same time as a test, or are killed at it."""

from __future__ import annotations

import multiprocessing
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, Concatenate, ParamSpec

import apsw
import trio

from sessionref import Candidate, Target
from sessionref.discovery import Diagnostic
from sessionref.discovery.sqlite import RefreshReport, SqliteTitleIndex
from sessionref.errors import TitleIndexError
from sessionref.storage import JsonlSessionStore

__all__ = ["Process", "churn", "count_opened", "refresh", "start", "try_to_write"]

_Arguments = ParamSpec("_Arguments")

# Each is forked from a process that has imported what they need, and has done nothing else.
_METHODS = multiprocessing.get_all_start_methods()
_context: Any = multiprocessing.get_context("forkserver" if "forkserver" in _METHODS else "spawn")
_context.set_forkserver_preload(["sessionref.discovery.sqlite.index", "sessionref._migrations"])


class Process:
    """A process that runs a function, and what that sends back."""

    def __init__(self, process: multiprocessing.process.BaseProcess, pipe: Connection) -> None:
        self._process = process
        self._pipe = pipe

    def receive(self) -> Any:
        """Return the next thing that it sends."""
        return self._pipe.recv()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()
        self._process.join()
        assert self._process.exitcode != 1, "an exception has ended it before"

    def close(self) -> None:
        self._pipe.close()
        self._process.join()
        self._process.close()


@contextmanager
def start(
    work: Callable[Concatenate[Connection, _Arguments], None],
    *args: _Arguments.args,
    **kwargs: _Arguments.kwargs,
) -> Iterator[Process]:
    """Run a function of this module in a process; leaving the block waits for its end."""
    ours, theirs = _context.Pipe()
    process = _context.Process(target=work, args=(theirs, *args), kwargs=kwargs, daemon=True)
    process.start()
    theirs.close()
    with closing(Process(process, ours)) as started:
        yield started


def refresh(pipe: Connection, root: Path, path: Path) -> None:
    """Say that it begins, refresh an index, and send the report."""

    async def run() -> RefreshReport:
        pipe.send("begin")
        async with SqliteTitleIndex(JsonlSessionStore(root), path) as index:
            return await index.refresh()

    pipe.send(trio.run(run))


def churn(
    pipe: Connection, root: Path, path: Path, seconds: float, seed: int, *, is_damaged: bool
) -> None:
    """Refresh, observe and search for some time; send how often, or what has gone wrong.

    Somebody else damages the file meanwhile, or nothing may be told of it.
    """

    async def run() -> int:
        random, end, count = Random(seed), time.monotonic() + seconds, 0
        problems: list[Diagnostic] = []
        async with SqliteTitleIndex(
            JsonlSessionStore(root), path, on_diagnostic=problems.append
        ) as index:
            while time.monotonic() < end:
                count += 1
                chance = random.random()
                if chance < 0.1:
                    with suppress(*([TitleIndexError] if is_damaged else [])):
                        await index.refresh()
                elif chance < 0.4:
                    await index.observe(f"s{random.randrange(60)}")
                else:
                    needle = random.choice(["", "fix", "s1", "修复", "absent"])
                    found = await index.list_candidates(Target(session_id="s0"), needle, 20)
                    _check(found, needle)
        assert is_damaged or [each for each in problems if each.place == str(path)] == []
        return count

    try:
        pipe.send(trio.run(run))
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to know of it
        pipe.send(traceback.format_exc())


def _check(found: list[Candidate], needle: str) -> None:
    ids = [each.session_id for each in found]
    assert "s0" not in ids
    assert len(ids) == len(set(ids))
    for each in found:
        text = f"{each.session_id}\0{each.label}\0{each.cwd or ''}".lower()
        assert needle in text
    times = [each.created_at for each in found if each.cwd is None]
    assert times == sorted(times, reverse=True)


def count_opened(pipe: Connection, root: Path, path: Path, *, refreshes: bool) -> None:
    """Send which logs are opened for a lookup, after a refresh or as the index is."""
    opened = []

    def note(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and str(args[0]).startswith(f"{root}/") and "jsonl" in str(args[0]):
            opened.append(str(args[0]))

    async def run() -> None:
        async with SqliteTitleIndex(JsonlSessionStore(root), path) as index:
            if refreshes:
                await index.refresh()
            await index.list_candidates(Target(session_id="elsewhere"), "s", 50)

    sys.addaudithook(note)
    trio.run(run)
    pipe.send(opened)


def try_to_write(pipe: Connection, path: Path) -> None:
    """Send whether this process could write into an index now."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            pipe.send(False)
        else:
            pipe.send(True)
