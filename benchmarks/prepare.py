"""One session of many messages to one context message, beside parsing its log and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import orjson
import trio

from benchmarks.corpus import write_session
from benchmarks.fresh import take_turns
from benchmarks.report import VERSIONS, Check, Report, Row, to_version_0, with_growth
from sessionref import Reference, ResolverConfig, Target, open_resolver
from sessionref.model import RecallSource

__all__ = ["SIZES", "run"]

SIZES: Final = (100, 1_000, 5_000, 10_000, 20_000, 50_000)

_BUDGETS: Final = {"64 KiB": 2**16, "1 GiB": 2**30}
_RATIO: Final = 4
_GROWTH: Final = 2.2
_TARGET: Final = Target(session_id="target")


def run(sizes: Sequence[int], rounds: int) -> Report:
    """Return what preparing a message costs, by the messages of the session that it refers to."""
    rows: dict[str, list[Row]] = {}
    for size in sorted(sizes):
        for row in _measure(size, rounds):
            rows.setdefault(row.series, []).append(row)
    grown = [row for series in rows.values() for row in with_growth(series, _GROWTH)]
    return Report("prepare", "messages", "orjson alone", rounds, tuple(grown))


def _measure(size: int, rounds: int) -> Iterator[Row]:
    """Yield what a session of one size costs at each budget, in each version of the format."""
    oldest: dict[str, tuple[Row, int]] = {}
    for version, (name, budget) in product(VERSIONS, _BUDGETS.items()):
        with TemporaryDirectory() as folder:
            root = Path(folder)
            write_session(root, "warm-up", 0, 2, version=version)
            log = write_session(root, "measured", 1, size, version=version)
            total = log.stat().st_size
            prepare = partial(_time_preparation, root, size, budget)
            ours, floor = take_turns(rounds, prepare, partial(_time_parsing, log))
        checks = [Check("ratio", ours.best / floor.best, _RATIO)]
        if name in oldest:
            checks.append(to_version_0(ours.best, total, *oldest[name]))
        row = Row(f"v{version}, budget {name}", size, ours, floor, tuple(checks))
        oldest.setdefault(name, (row, total))
        yield row


def _time_preparation(root: Path, messages: int, budget: int) -> float:
    return trio.run(_prepare, root, messages, ResolverConfig(max_reference_bytes=budget))


async def _prepare(root: Path, messages: int, config: ResolverConfig) -> float:
    async with open_resolver(root, config=config) as resolver:
        await resolver.prepare(_TARGET, "first", [Reference(session_id="warm-up")])
        start = perf_counter()
        ready = await resolver.prepare(_TARGET, "text", [Reference(session_id="measured")])
        seconds = perf_counter() - start
    context = ready.additional_context
    if context is None or not isinstance(context.source, RecallSource):
        raise TypeError("the message has no context")
    if context.source.references[0].original_messages != messages:
        raise ValueError("the session does not have the messages that it was made with")
    return seconds


def _time_parsing(log: Path) -> float:
    start = perf_counter()
    for line in log.read_bytes().split(b"\n")[:-1]:
        orjson.loads(line)
    return perf_counter() - start
