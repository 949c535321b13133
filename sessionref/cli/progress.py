"""What a person sees while something takes long; a pipe sees nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from sessionref.cli.output import error_console

__all__ = ["PATIENCE", "progress"]

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
    console = console or error_console()
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("" if total is None else "{task.completed:,.0f} of {task.total:,.0f}"),
        console=console,
        transient=True,
    )
    task = bar.add_task(what, total=total)

    async def show() -> None:
        await trio.sleep(PATIENCE)
        bar.start()

    async with trio.open_nursery() as nursery:
        if console.file.isatty() and console.is_interactive:
            nursery.start_soon(show)
        try:
            yield lambda: bar.advance(task)
        finally:
            bar.live.stop()
            nursery.cancel_scope.cancel()
