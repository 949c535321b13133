"""Lookups by the title index, beside three other ways to answer them.

Each way has a process of its own for each size of corpus, and all of them take turns, class by
class, so that whatever else the machine does falls on all.  What is counted is the time of the
processor, for the same reason: all files are in memory by then.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.fresh import Timing
from benchmarks.report import Check, Report, Row
from benchmarks.rivals import (
    Instr,
    Memory,
    Question,
    Trigrams,
    build_rivals,
)
from benchmarks.title_index import Index, build_index
from benchmarks.titles import TitledSession, draw_needles, titled_sessions

__all__ = ["SIZES", "draw", "print_table", "run"]

SIZES: Final = (10_000, 100_000, 1_000_000)

_OURS: Final = "sessionref"
_MEMORY: Final = "one pass in memory"
_RIVALS: Final = (_MEMORY, "FTS5 by hand", "instr")
_RATIOS: Final = (("p50, to memory", 0.05), ("p99, to memory", 0.25))
_LARGE: Final = 1_000_000
"""From so many sessions on, the ratios have targets: below, no way takes long."""
_GROWTH: Final = 3
_BYTES_EACH: Final = 900
_MEGABYTES: Final = 250


@dataclass(frozen=True)
class Lookups(Row):
    """The lookups of one class of needles: `ours` and the median of each rival, in seconds."""

    p99: float = 0.0
    rivals: dict[str, float] = field(default_factory=dict)


def run(sizes: Sequence[int], needles: int) -> Report:
    """Return what lookups cost, by class of needle, in corpora of some sizes."""
    with TemporaryDirectory() as folder, ExitStack() as processes:
        corpora = [_Corpus(Path(folder), size, needles, processes) for size in sorted(sizes)]
        for name in corpora[0].questions:
            for corpus in corpora:
                corpus.measure(name)
        rows: list[Row] = []
        for corpus in corpora:
            rows += corpus.report(rows)
    return Report("discovery", "sessions", _MEMORY, needles, tuple(rows))


def print_table(report: Report) -> None:
    """Print a report, times in milliseconds."""
    title = f"discovery: {report.rounds} needles of each class, in milliseconds; rivals' p50"
    table = Table("needle", title=title)
    for heading in (
        "sessions",
        "p50",
        "p99",
        *_RIVALS,
        *(f"{name} ≤ {most}" for name, most in _RATIOS),
    ):
        table.add_column(heading, justify="right")
    for row in report.rows:
        if isinstance(row, Lookups):
            times = [row.ours.median, row.p99, *row.rivals.values()]
            cells = [f"{seconds * 1000:,.2f}" for seconds in times]
            checks = [_verdict(check) for check in row.checks]
            table.add_row(row.series, f"{row.size:,}", *cells, *checks)
    console = Console()
    console.print(table)
    for row in report.rows:
        if not isinstance(row, Lookups):
            console.print(f"{row.size:,} sessions, built in {row.ours.best:.0f} s")
            for check in row.checks:
                console.print(f"  {check.name} ≤ {check.target:g}: {_verdict(check)}")


def draw(report: Report, file: Path) -> None:
    """Draw the classes of the largest corpus into an SVG: ours from p50 to p99, and the rivals."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    largest = max(row.size for row in report.rows)
    rows = [row for row in report.rows if isinstance(row, Lookups) and row.size == largest][::-1]
    figure = Figure(figsize=(7, 6), layout="constrained")
    axes = figure.add_subplot(xscale="log", xlabel=f"milliseconds, among {largest:,} sessions")
    places = range(len(rows))
    axes.hlines(
        places,
        [row.ours.median * 1000 for row in rows],
        [row.p99 * 1000 for row in rows],
        color="#1b6ca8",
        linewidth=5,
        label="sessionref, p50 to p99",
    )
    marks = zip(_RIVALS, "sDx", ("#c8553d", "#588157", "#8e6c8a"), strict=True)
    for rival, mark, colour in marks:
        times = [row.rivals[rival] * 1000 for row in rows]
        axes.plot(times, places, mark, color=colour, label=f"{rival}, p50")
    axes.set_yticks(places, [row.series for row in rows])
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.grid(visible=True, axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": report.benchmark}):
        figure.savefig(file, format="svg", metadata={"Date": None})


class _Corpus:
    """The sessions of one size: their files, the processes that look into them, and times."""

    def __init__(self, folder: Path, size: int, needles: int, processes: ExitStack) -> None:
        self._size = size
        self._index = folder / f"index-{size}.db"
        plain = folder / f"plain-{size}.db"
        with _process() as building:
            self._building: float = building.submit(build_index, self._index, size).result()
            building.submit(build_rivals, plain, size).result()
        sample = Random(size).sample(list(titled_sessions(size)), min(size, 3_000))
        self.questions = {
            name: [(needle, *_target(sample, place)) for place, needle in enumerate(drawn)]
            for name, drawn in draw_needles(sample, needles).items()
        }
        self._processes = {
            way: processes.enter_context(_process(_prepare, way, path))
            for way, path in ((_OURS, self._index), *((rival, plain) for rival in _RIVALS))
        }
        self._times: dict[str, dict[str, list[float]]] = {}

    def measure(self, name: str) -> None:
        """Look up the needles of a class, in each way."""
        self._times[name] = {
            way: process.submit(_time, self.questions[name][: _MOST_ASKED.get(way)]).result()
            for way, process in self._processes.items()
        }

    def report(self, smaller: Sequence[Row]) -> list[Row]:
        """Return what was measured, given the rows of smaller corpora."""
        rows: list[Row] = [_lookups(name, self._size, times) for name, times in self._times.items()]
        memory = self._processes[_OURS].submit(_peak_memory).result()
        checks = [
            Check("bytes a session", self._index.stat().st_size / self._size, _BYTES_EACH),
            Check("MB of memory", memory / 2**20, _MEGABYTES),
        ]
        worst = max(row.p99 for row in rows if isinstance(row, Lookups))
        others = [row for row in smaller if isinstance(row, Lookups)]
        tenth = [row.p99 for row in others if row.size * 10 == self._size]
        if tenth:
            checks.append(Check("growth of the worst p99", worst / max(tenth), _GROWTH))
        timing = Timing(self._building, self._building)
        return [*rows, Row("building", self._size, timing, checks=tuple(checks))]


def _lookups(name: str, size: int, times: dict[str, list[float]]) -> Lookups:
    ours = times[_OURS]
    p99 = quantiles(ours, n=100, method="inclusive")[98] if len(ours) > 1 else ours[0]
    rivals = {rival: median(times[rival]) for rival in _RIVALS}
    checks = tuple(
        Check(ratio, seconds / rivals[_MEMORY], target)
        for (ratio, target), seconds in zip(_RATIOS, (median(ours), p99), strict=True)
    )
    timing = Timing(min(ours), median(ours))
    return Lookups(name, size, timing, None, checks if size >= _LARGE else (), p99, rivals)


def _target(sample: Sequence[TitledSession], place: int) -> tuple[str | None, str]:
    """Return the cwd and id of a session that asks: folders that are used often ask often."""
    asking = sample[place % len(sample)]
    return asking.cwd, asking.id


def _process(*prepare: Any) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        1,
        mp_context=get_context("spawn"),
        initializer=prepare[0] if prepare else None,
        initargs=prepare[1:],
    )


_WAYS: Final[dict[str, Callable[[Path], Index | Memory | Instr]]] = dict(
    zip((_OURS, *_RIVALS), (Index, Memory, Trigrams, Instr), strict=True)
)
_MOST_ASKED: Final = {_MEMORY: 20, "FTS5 by hand": 10, "instr": 3}
"""How many of the needles the rivals are asked: they take longer, and vary less."""

_prepared: list[Index | Memory | Instr] = []
"""The way that this process asks."""


def _prepare(way: str, path: Path) -> None:
    _prepared.append(_WAYS[way](path))


def _time(questions: Sequence[Question]) -> list[float]:
    (way,) = _prepared
    times = []
    for question in questions:
        start = process_time()
        way.ask(question)
        times.append(process_time() - start)
    return times


def _peak_memory() -> int:
    """Return the most memory that was resident; what started this process does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        kilobytes = re.search(r"VmHWM:\s*(\d+)", status.read_text(encoding="ascii"))
        if kilobytes is not None:
            return int(kilobytes[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _verdict(check: Check) -> str:
    colour, word = ("green", "met") if check.is_met else ("red", "missed")
    return f"[{colour}]{check.value:,.3g} {word}[/]"
