"""Where the logs lie that a command reads."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sessionref.cli.text import one_line
from sessionref.config import ResolverConfig
from sessionref.storage import JsonlSessionStore

__all__ = ["default_root", "open_store"]


def default_root() -> Path:
    """Return the folder that DSH keeps its sessions in."""
    home = os.environ.get("DSH_HOME")
    return (Path(home) if home else Path.home() / ".dsh") / "sessions"


def open_store(root: Path, config: ResolverConfig) -> JsonlSessionStore:
    """Return the store of the logs below a root; say on stderr what to do if it does not exist."""
    if _is_missing(root):
        click.echo(
            f"There is no folder {one_line(str(root))} yet. Say with --root where sessions lie, or "
            f"run `sessionref demo`, which brings its own.",
            err=True,
        )
    return JsonlSessionStore(
        root,
        concurrency=config.read_concurrency,
        max_log_bytes=config.max_log_bytes,
        known_types=config.known_types,
    )


def _is_missing(root: Path) -> bool:
    try:
        root.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False
