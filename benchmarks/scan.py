"""A lookup without an index, beside reading and parsing the same logs one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import orjson
import trio
import zstandard

from benchmarks.corpus import write_logs
from benchmarks.fresh import take_turns
from benchmarks.report import VERSIONS, Check, Report, Row, to_version_0
from sessionref import Target, open_resolver

__all__ = ["SIZES", "run", "time_parsing", "walk_logs"]

SIZES: Final = (200, 1_000, 5_000)

_RATIO: Final = 2
_NOWHERE: Final = "no session has this in its title"
_TARGET: Final = Target(session_id="target", cwd="/home/dev/app")


def run(sizes: Sequence[int], rounds: int) -> Report:
    """Return what a lookup costs, by the sessions that there are.

    A query that matches nothing has every log read; an empty one has no more logs read than
    candidates are listed, and is shown without a floor.
    """
    rows: list[Row] = []
    for encoding, size in product(("raw", "zstd"), sorted(sizes)):
        rows += _measure(encoding, size, rounds)
    rows.sort(key=lambda row: row.series)
    return Report("scan", "sessions", "parsing alone", rounds, tuple(rows))


def _measure(encoding: str, size: int, rounds: int) -> Iterator[Row]:
    """Yield what lookups over one number of sessions cost, in each version of the format."""
    oldest: tuple[Row, int] | None = None
    for version in VERSIONS:
        with TemporaryDirectory() as folder:
            root = Path(folder)
            write_logs(root, size, compressed=encoding == "zstd", version=version)
            total = sum(Path(log).stat().st_size for log in walk_logs(root))
            ours, floor, empty = take_turns(
                rounds,
                partial(_time_lookup, root, _NOWHERE, 0),
                partial(time_parsing, root, size),
                partial(_time_lookup, root, "", min(size, 50)),
            )
        checks = [Check("ratio", ours.best / floor.best, _RATIO)]
        if oldest is not None:
            checks.append(to_version_0(ours.best, total, *oldest))
        row = Row(f"v{version} {encoding}", size, ours, floor, tuple(checks))
        oldest = oldest or (row, total)
        yield row
        yield Row(f"v{version} {encoding}, empty query", size, empty)


def _time_lookup(root: Path, query: str, expected: int) -> float:
    return trio.run(_look_up, root, query, expected)


async def _look_up(root: Path, query: str, expected: int) -> float:
    async with open_resolver(root) as resolver:
        await resolver.list_candidates(_TARGET, limit=1)  # what the first lookup imports
        start = perf_counter()
        found = await resolver.list_candidates(_TARGET, query)
        seconds = perf_counter() - start
    if len(found) != expected or not all(candidate.readable for candidate in found):
        raise ValueError("the lookup does not find what the corpus has")
    return seconds


def time_parsing(root: Path, expected: int) -> float:
    """Return the seconds that it takes to read, decompress and parse all logs below a root."""
    start = perf_counter()
    decompressor = zstandard.ZstdDecompressor()
    logs = 0
    for log in walk_logs(root):
        data = Path(log).read_bytes()
        if log.endswith(".zstd"):
            data = decompressor.stream_reader(data, read_across_frames=True).read()
        for line in data.split(b"\n")[:-1]:
            orjson.loads(line)
        logs += 1
    seconds = perf_counter() - start
    if logs != expected:
        raise ValueError("the corpus does not have the logs that it was made with")
    return seconds


def walk_logs(folder: str | Path) -> Iterator[str]:
    """Yield the paths of all files below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from walk_logs(entry.path)
            else:
                yield entry.path
