"""The command line of the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchmarks import discovery, imports, index, prepare, scan
from benchmarks.report import Report, draw, print_table, write_json

_File = click.Path(dir_okay=False, path_type=Path)


@click.group()
def main() -> None:
    """Measure sessionref beside the least that its work could cost."""


_rounds = click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often each measurement is repeated.",
)
_json = click.option("--json", "json_file", type=_File, help="Write the result to this file.")
_picture = click.option("--picture", type=_File, help="Draw the result into this SVG file.")


def _sizes(name: str, default: tuple[int, ...], help_text: str) -> Callable[..., Any]:
    return click.option(
        name,
        "sizes",
        type=click.IntRange(min=2),
        multiple=True,
        default=default,
        show_default=True,
        help=f"{help_text}; may be given several times.",
    )


def _split_sizes(_: click.Context, __: click.Parameter, value: str) -> list[int]:
    sizes = value.split(",")
    if not all(size.isdecimal() and int(size) > 1 for size in sizes):
        raise click.BadParameter("not whole numbers from 2 on with commas between")
    return [int(size) for size in sizes]


@main.command("prepare")
@_sizes("--messages", prepare.SIZES, "How many messages the session has")
@_rounds
@_json
@_picture
def prepare_command(
    sizes: tuple[int, ...], rounds: int, json_file: Path | None, picture: Path | None
) -> None:
    """Prepare a message that refers to one long session."""
    _publish(prepare.run(sizes, rounds), json_file, picture)


@main.command("scan")
@_sizes("--logs", scan.SIZES, "How many sessions there are")
@_rounds
@_json
@_picture
def scan_command(
    sizes: tuple[int, ...], rounds: int, json_file: Path | None, picture: Path | None
) -> None:
    """Look sessions up without an index."""
    _publish(scan.run(sizes, rounds), json_file, picture)


@main.command("discovery")
@click.option(
    "--sessions",
    "sizes",
    callback=_split_sizes,
    default=",".join(map(str, discovery.SIZES)),
    show_default=True,
    help="How many sessions the index has, several numbers with commas between.",
)
@click.option(
    "--needles",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="How many needles of each class are looked up.",
)
@_json
@_picture
def discovery_command(
    sizes: list[int], needles: int, json_file: Path | None, picture: Path | None
) -> None:
    """Look sessions up in the title index."""
    report = discovery.run(sizes, needles)
    discovery.print_table(report)
    if json_file is not None:
        write_json(report, json_file)
    if picture is not None:
        discovery.draw(report, picture)


@main.command("index")
@_sizes("--logs", index.SIZES, "How many sessions there are")
@_rounds
@_json
@_picture
def index_command(
    sizes: tuple[int, ...], rounds: int, json_file: Path | None, picture: Path | None
) -> None:
    """Build, refresh and bring up to date the title index."""
    _publish(index.run(sizes, rounds), json_file, picture)


@main.command("imports")
@_rounds
@_json
def imports_command(rounds: int, json_file: Path | None) -> None:
    """Import the library."""
    _publish(imports.run(rounds), json_file)


def _publish(report: Report, json_file: Path | None, picture: Path | None = None) -> None:
    print_table(report)
    if json_file is not None:
        write_json(report, json_file)
    if picture is not None:
        draw(report, picture)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
