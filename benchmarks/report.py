"""Results as a table for people, as JSON for comparing, and as a picture for the documentation."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.fresh import Timing

__all__ = [
    "VERSIONS",
    "Check",
    "Report",
    "Row",
    "draw",
    "print_table",
    "to_version_0",
    "with_growth",
    "write_json",
]

VERSIONS: Final = (0, 4)
"""The versions of the log format that are measured: the oldest and the newest."""

_VERSION_RATIO: Final = 1.2

_LIBRARIES: Final = ("sessionref", "orjson", "pydantic", "trio", "zstandard")
_COLOURS: Final = ("#1b6ca8", "#c8553d", "#588157", "#8e6c8a")


@dataclass(frozen=True)
class Check:
    """A figure and the most that it should be."""

    name: str
    value: float
    target: float

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its target."""
        return self.value <= self.target


@dataclass(frozen=True)
class Row:
    """What was measured of one case: `size` of whatever the benchmark varies, in a `series`."""

    series: str
    size: int
    ours: Timing
    floor: Timing | None = None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class Report:
    """What one benchmark found: `unit` names its sizes, and `floor` what it is compared with."""

    benchmark: str
    unit: str
    floor: str
    rounds: int
    rows: tuple[Row, ...]


def with_growth(rows: Sequence[Row], target: float) -> tuple[Row, ...]:
    """Return the rows of one series, each larger one checked for its growth per doubling."""
    grown = list(rows[:1])
    for smaller, row in pairwise(rows):
        doublings = math.log2(row.size / smaller.size)
        growth = (row.ours.best / smaller.ours.best) ** (1 / doublings)
        check = Check("growth per doubling", growth, target)
        grown.append(replace(row, checks=(*row.checks, check)))
    return tuple(grown)


def to_version_0(seconds: float, size: int, row: Row, row_size: int) -> Check:
    """Return the check that a byte of a newer log costs little more than one of version 0.

    `row` is that of the same case in version 0; the sizes are bytes of logs.
    """
    value = (seconds / size) / (row.ours.best / row_size)
    return Check("per byte, to version 0", value, _VERSION_RATIO)


def print_table(report: Report) -> None:
    """Print a report, times in milliseconds."""
    table = Table(title=f"{report.benchmark}: best (median) of {report.rounds}, in milliseconds")
    table.add_column()
    targets = {check.name: check.target for row in report.rows for check in row.checks}
    headings = [f"{name} ≤ {target:g}" for name, target in targets.items()]
    for heading in (report.unit, "sessionref", report.floor, *headings):
        table.add_column(heading, justify="right")
    for row in report.rows:
        checks = {check.name: _verdict(check) for check in row.checks}
        floor = "" if row.floor is None else _milliseconds(row.floor)
        cells = [checks.get(name, "") for name in targets]
        table.add_row(row.series, f"{row.size:,}", _milliseconds(row.ours), floor, *cells)
    Console().print(table)


def write_json(report: Report, file: Path) -> None:
    """Write a report, times in seconds, with the versions of what it was measured with."""
    data = asdict(report) | {"rows": [_row_data(row) for row in report.rows]}
    data["environment"] = {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        **{name: version(name) for name in _LIBRARIES},
    }
    file.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def draw(report: Report, file: Path) -> None:
    """Draw what has a floor as an SVG: ours as lines, floors dashed, both axes logarithmic."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel=report.unit, ylabel="milliseconds")
    points: dict[str, list[tuple[int, float, float]]] = {}
    for row in report.rows:
        if row.floor is not None:
            times = (row.ours.best * 1000, row.floor.best * 1000)
            points.setdefault(row.series, []).append((row.size, *times))
    for series, colour in zip(points, cycle(_COLOURS), strict=False):
        sizes, ours, floors = zip(*points[series], strict=True)
        axes.plot(sizes, ours, "o-", color=colour, label=f"sessionref, {series}")
        axes.plot(sizes, floors, "s--", color=colour, label=f"{report.floor}, {series}")
    ticks = sorted({row.size for row in report.rows})
    axes.set_xticks(ticks, [f"{size:,}" for size in ticks], minor=False)
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    # Text stays text, and the same report gives the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": report.benchmark}):
        figure.savefig(file, format="svg", metadata={"Date": None})


def _row_data(row: Row) -> dict[str, Any]:
    checks = [asdict(check) | {"is_met": check.is_met} for check in row.checks]
    return asdict(row) | {"checks": checks}


def _verdict(check: Check) -> str:
    return (
        f"[green]{check.value:.2f} met[/]" if check.is_met else f"[red]{check.value:.2f} missed[/]"
    )


def _milliseconds(timing: Timing) -> str:
    return f"{timing.best * 1000:,.1f} ({timing.median * 1000:,.1f})"
