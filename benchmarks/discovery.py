"""Lookups by the title index, beside three other ways to answer them."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

import apsw
from rich.console import Console
from rich.table import Table

from benchmarks.fresh import Timing
from benchmarks.report import Check, Report, Row
from benchmarks.rivals import (
    LIMIT,
    Question,
    build_rivals,
    time_instr,
    time_memory,
    time_trigrams,
)
from benchmarks.titles import TitledSession, draw_needles, titled_sessions
from sessionref._migrations import migrate
from sessionref.discovery.sqlite.counting import count_grams
from sessionref.discovery.sqlite.rows import IndexedSession
from sessionref.discovery.sqlite.search import search
from sessionref.discovery.sqlite.writing import merge_grams, put_sessions
from sessionref.storage.protocol import Revision

__all__ = ["SIZES", "draw", "print_table", "run"]

SIZES: Final = (10_000, 100_000, 1_000_000)

_MEMORY: Final = "one pass in memory"
_RIVALS: Final = {
    # How many of the needles each is asked: they take longer, and vary less.
    _MEMORY: (time_memory, 20),
    "FTS5 by hand": (time_trigrams, 10),
    "instr": (time_instr, 3),
}
_RATIOS: Final = (("p50, to memory", 0.05), ("p99, to memory", 0.25))
_LARGE: Final = 1_000_000
"""From so many sessions on, the ratios have targets: below, no way takes long."""
_GROWTH: Final = 3
_BYTES_EACH: Final = 900
_MEGABYTES: Final = 250
_BATCH: Final = 20_000
_CACHE: Final = "PRAGMA cache_size = -16000"


@dataclass(frozen=True)
class Lookups(Row):
    """The lookups of one class of needles: `ours` and the median of each rival, in seconds."""

    p99: float = 0.0
    rivals: dict[str, float] = field(default_factory=dict)


def run(sizes: Sequence[int], needles: int) -> Report:
    """Return what lookups cost, by class of needle, in corpora of some sizes."""
    rows: list[Row] = []
    for size in sorted(sizes):
        rows += _measure(size, needles, rows)
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


def _measure(size: int, needles: int, smaller: Sequence[Row]) -> list[Row]:
    sample = Random(size).sample(list(titled_sessions(size)), min(size, 3_000))
    classes = draw_needles(sample, needles)
    questions = {
        name: [(needle, *_target(sample, place)) for place, needle in enumerate(drawn)]
        for name, drawn in classes.items()
    }
    with TemporaryDirectory() as folder:
        index, plain = Path(folder, "index.db"), Path(folder, "plain.db")
        building = _in_fresh_process(partial(_build_index, index, size))
        _in_fresh_process(partial(build_rivals, plain, size))
        ours, memory = _in_fresh_process(partial(_time_index, index, questions))
        theirs = {
            rival: _in_fresh_process(partial(_time_rival, time, plain, questions, count))
            for rival, (time, count) in _RIVALS.items()
        }
        bytes_each = index.stat().st_size / size
    rows: list[Row] = []
    for name, times in ours.items():
        rivals = {rival: median(found[name]) for rival, found in theirs.items()}
        rows.append(_lookups(name, size, times, rivals))
    worst = max(row.p99 for row in rows if isinstance(row, Lookups))
    checks = [
        Check("bytes a session", bytes_each, _BYTES_EACH),
        Check("MB of memory", memory / 2**20, _MEGABYTES),
    ]
    tenth = [row.p99 for row in smaller if isinstance(row, Lookups) and row.size * 10 == size]
    if tenth:
        checks.append(Check("growth of the worst p99", worst / max(tenth), _GROWTH))
    return [*rows, Row("building", size, Timing(building, building), checks=tuple(checks))]


def _lookups(name: str, size: int, times: Sequence[float], rivals: dict[str, float]) -> Lookups:
    p99 = quantiles(times, n=100, method="inclusive")[98] if len(times) > 1 else times[0]
    ours = Timing(min(times), median(times))
    checks = tuple(
        Check(ratio, seconds / rivals[_MEMORY], target)
        for (ratio, target), seconds in zip(_RATIOS, (ours.median, p99), strict=True)
    )
    return Lookups(name, size, ours, None, checks if size >= _LARGE else (), p99, rivals)


def _target(sample: Sequence[TitledSession], place: int) -> tuple[str | None, str]:
    """Return the cwd and id of a session that asks: folders that are used often ask often."""
    asking = sample[place % len(sample)]
    return asking.cwd, asking.id


def _in_fresh_process(work: Callable[[], Any]) -> Any:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work).result()


def _build_index(path: Path, size: int) -> float:
    migrate(path)
    start = perf_counter()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -128000")
        sessions = map(_indexed, titled_sessions(size), map(Random, range(size)))
        while batch := list(islice(sessions, _BATCH)):
            put_sessions(connection, batch)
        for _ in merge_grams(connection):
            pass
        count_grams(connection)
    return perf_counter() - start


def _indexed(session: TitledSession, random: Random) -> IndexedSession:
    """Return a session with all that the index holds of an ordinary one."""
    time_ns = session.created_at * 1_000_000
    slug = "_no-cwd" if session.cwd is None else f"--{session.cwd[1:].replace('/', '-')}--"
    return IndexedSession(
        session.id,
        session.cwd,
        session.title,
        session.created_at,
        updated_at=session.created_at + random.randrange(10_000_000),
        parent_session=session.id if random.random() < 0.2 else None,
        version=4,
        is_seeded=False,
        project=slug.encode(),
        file=b"session.v4.jsonl.zstd",
        revision=Revision(
            66_304, random.randrange(10**7), random.randrange(10**6), time_ns + 7, time_ns + 77
        ),
        checkpoint=random.randbytes(60),
    )


def _time_index(
    path: Path, questions: dict[str, list[Question]]
) -> tuple[dict[str, list[float]], int]:
    """Return the seconds of each lookup, and the memory that the process took up, in bytes."""
    times = {}
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.execute(_CACHE)
        for name, asked in questions.items():
            times[name] = [_time_search(connection, question) for question in asked]
    return times, _peak_memory()


def _time_search(connection: apsw.Connection, question: Question) -> float:
    needle, cwd, session_id = question
    start = perf_counter()
    search(connection, cwd, session_id, needle, LIMIT)
    return perf_counter() - start


def _time_rival(
    time: Callable[[Path, Sequence[Question]], list[float]],
    path: Path,
    questions: dict[str, list[Question]],
    count: int,
) -> dict[str, list[float]]:
    asked = {name: drawn[:count] for name, drawn in questions.items()}
    times = iter(time(path, [question for drawn in asked.values() for question in drawn]))
    return {name: list(islice(times, len(drawn))) for name, drawn in asked.items()}


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
