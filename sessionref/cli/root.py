"""Where the logs lie that a command reads."""

from __future__ import annotations

import os
import shlex
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import click

from sessionref.cli.text import one_line
from sessionref.config import ResolverConfig
from sessionref.storage import JsonlSessionStore

__all__ = ["Root", "default_root", "demo_sessions", "open_store"]


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that logs lie below; `is_demo` if they are those of the demo."""

    folder: Path
    is_demo: bool = False

    def command(self, *words: str) -> str:
        """Return the command line that runs `sessionref` with these words on the same logs."""
        if self.is_demo:
            words += ("--demo",)
        elif self.folder != default_root():
            words += ("--root", str(self.folder))
        return one_line(shlex.join(["sessionref", *words]))

    def __str__(self) -> str:
        return one_line(str(self.folder))


def demo_sessions() -> AbstractContextManager[Path]:
    """Give the root folder of the sessions that come with the package, for a while."""
    return as_file(files("sessionref.cli") / "demo")


def default_root() -> Path | None:
    """Return the folder that DSH keeps its sessions in, or None where nobody knows a home."""
    home = os.environ.get("DSH_HOME")
    try:
        return (Path(home) if home else Path.home() / ".dsh") / "sessions"
    except RuntimeError:  # no HOME, and the system does not know the user
        return None


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
