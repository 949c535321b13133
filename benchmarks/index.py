"""Building and refreshing the title index, beside the least that any program must do for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import trio

from benchmarks.corpus import append_turn, write_logs
from benchmarks.fresh import take_turns
from benchmarks.report import VERSIONS, Check, Report, Row
from benchmarks.scan import time_parsing, walk_logs
from sessionref.discovery.sqlite import SqliteTitleIndex
from sessionref.storage import JsonlSessionStore

__all__ = ["SIZES", "run"]

SIZES: Final = (20_000,)

_BUILD_RATIO: Final = 1.5
_REFRESH_RATIO: Final = 2
_OBSERVE_MILLISECONDS: Final = 10
_SETTLING: Final = 0.1
"""Seconds after which a log's state is one to rely on."""


def run(sizes: Sequence[int], rounds: int) -> Report:
    """Return what an index costs, by the sessions that there are.

    Built from nothing, refreshed with nothing changed, and told of one log that has grown.
    """
    rows = [
        row
        for version, encoding, size in product(VERSIONS, ("raw", "zstd"), sorted(sizes))
        for row in _measure(version, encoding, size, rounds)
    ]
    return Report("index", "sessions", "reading alone", rounds, tuple(rows))


def _measure(version: int, encoding: str, size: int, rounds: int) -> Iterator[Row]:
    series = f"v{version} {encoding}"
    with TemporaryDirectory() as folder:
        root = Path(folder, "root")
        file = Path(folder, "index.sqlite3")
        write_logs(root, size, compressed=encoding == "zstd", version=version)
        time.sleep(_SETTLING)
        ours, floor = take_turns(
            rounds, partial(_time_build, root, file, size), partial(time_parsing, root, size)
        )
        ratio = Check("ratio", ours.best / floor.best, _BUILD_RATIO)
        yield Row(f"{series}: build", size, ours, floor, (ratio,))
        ours, floor = take_turns(
            rounds, partial(_time_refresh, root, file, size), partial(_time_walk, root, size)
        )
        ratio = Check("ratio", ours.best / floor.best, _REFRESH_RATIO)
        yield Row(f"{series}: refresh", size, ours, floor, (ratio,))
        ours, floor = take_turns(
            rounds, partial(_time_observe, root, file), partial(_time_tail, root)
        )
        extra = Check("ms above", (ours.best - floor.best) * 1_000, _OBSERVE_MILLISECONDS)
        yield Row(f"{series}: observe", size, ours, floor, (extra,))


def _time_build(root: Path, file: Path, size: int) -> float:
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()
    return trio.run(_refresh, root, file, size, size)


def _time_refresh(root: Path, file: Path, size: int) -> float:
    return trio.run(_refresh, root, file, size, 0)


async def _refresh(root: Path, file: Path, size: int, read: int) -> float:
    async with SqliteTitleIndex(JsonlSessionStore(root), file) as index:
        start = perf_counter()
        report = await index.refresh()
        seconds = perf_counter() - start
    if (report.sessions, report.read) != (size, read):
        raise ValueError(f"the refresh did not do what there was to do: {report}")
    return seconds


def _time_observe(root: Path, file: Path) -> float:
    return trio.run(_observe, root, file)


async def _observe(root: Path, file: Path) -> float:
    async with SqliteTitleIndex(JsonlSessionStore(root), file) as index:
        await index.observe("session-00000")  # what the first one imports
        _grow(root)
        start = perf_counter()
        await index.observe("session-00000")
        return perf_counter() - start


def _time_tail(root: Path) -> float:
    log, before = _grow(root)
    start = perf_counter()
    with log.open("rb") as file:
        file.seek(before)
        file.read()
    return perf_counter() - start


def _time_walk(root: Path, size: int) -> float:
    start = perf_counter()
    logs = sum(1 for log in walk_logs(root) if Path(log).stat().st_size)
    seconds = perf_counter() - start
    if logs != size:
        raise ValueError("the corpus does not have the logs that it was made with")
    return seconds


def _grow(root: Path) -> tuple[Path, int]:
    """Append a turn to the first session's log; return the log and where the new part begins."""
    (log,) = root.glob("*/session-00000/*")
    before = log.stat().st_size
    append_turn(log)
    return log, before
