"""What a person sees while something takes long; a pipe sees nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from sessionref.cli.output import error_console
from sessionref.cli.text import lasting

if TYPE_CHECKING:
    from sessionref.discovery.sqlite import RefreshProgress

__all__ = ["PATIENCE", "progress", "refresh_progress"]

PATIENCE: Final = 0.3
"""Seconds after which people like to be told what they wait for; before that it would flicker."""


@asynccontextmanager
async def progress(
    what: str, total: int | None = None, *, console: Console | None = None
) -> AsyncIterator[Callable[[], None]]:
    """Show what is being done if it takes long and stderr is a terminal; gone at the end.

    Yields a function to call after each of the `total` steps; without a total the bar swings.
    What is raised inside leaves the block in a group.
    """
    steps = "" if total is None else "{task.completed:,.0f} of {task.total:,.0f}"
    bar = _bar(steps, console)
    task = bar.add_task(what, total=total)
    async with _shown_later(bar):
        yield lambda: bar.advance(task)


@asynccontextmanager
async def refresh_progress(
    *, console: Console | None = None
) -> AsyncIterator[Callable[[RefreshProgress], None]]:
    """Show like `progress` how far a refresh of an index is, how fast, and how long it will take.

    Yields the function that is to be told.
    """
    bar = _bar("{task.fields[told]}", console)
    task = bar.add_task("Reading titles", total=None, told="")

    def tell(now: RefreshProgress) -> None:
        told = f"{now.seen:,} of {now.total:,}, {now.rate:,.0f} a second"
        if now.seconds_left is not None:
            told += f", {lasting(now.seconds_left)} left"
        bar.update(task, completed=now.seen, total=now.total, told=told)

    async with _shown_later(bar):
        yield tell


def _bar(told: str, console: Console | None) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(told),
        console=console or error_console(),
        transient=True,
    )


@asynccontextmanager
async def _shown_later(bar: Progress) -> AsyncIterator[None]:
    async def show() -> None:
        await trio.sleep(PATIENCE)
        bar.start()

    async with trio.open_nursery() as nursery:
        if bar.console.file.isatty() and bar.console.is_interactive:
            nursery.start_soon(show)
        try:
            yield
        finally:
            bar.live.stop()
            nursery.cancel_scope.cancel()
