"""The file of a title index: where a command looks for it, and who may throw it away."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from sessionref.cli.root import Root
from sessionref.cli.text import one_line

__all__ = ["IndexFile"]


@dataclass(frozen=True, slots=True)
class IndexFile:
    """The index of a root: the file that was `named`, else the one that it has by default.

    `in_environment` if a variable named it, so that a further command need not.
    """

    root: Root
    named: Path | None = None
    in_environment: bool = False

    @property
    def path(self) -> Path:
        """Where the file lies, whether there is one or not."""
        if self.named is not None:
            return self.named
        from sessionref.discovery.sqlite.files import default_path

        return default_path(self.root.folder)

    def exists(self) -> bool:
        """Return whether there is something at that place, whatever it is."""
        return os.path.lexists(self.path)

    def command(self, *words: str) -> str:
        """Return the command line that runs `sessionref` with these words on the same index."""
        if self.named is not None and not self.in_environment:
            words += ("--index", str(self.named))
        return self.root.command(*words)

    def may_be_dropped(self) -> bool:
        """Return whether nothing is lost with the file: it is an index, or lies where only they do.

        Somebody who mistypes a name must not lose a photo album, which may be SQLite's as well.
        """
        return self.named is None or _is_index(self.named)

    def drop(self) -> bool:
        """Delete the index; return whether there was one.

        Raises `click.ClickException` for a file that is something else.
        """
        from sessionref.discovery.sqlite.files import remove_index

        if self.exists() and not self.may_be_dropped():
            raise click.ClickException(
                f"{self} is no title index, or too damaged to tell; it was left as it is."
            )
        return remove_index(self.path)

    def __str__(self) -> str:
        return one_line(str(self.path))


def _is_index(path: Path) -> bool:
    """Return whether a file says that it is an index of sessionref, or says nothing at all."""
    import sqlite3

    try:
        if path.stat().st_size == 0:
            return True
        with closing(sqlite3.connect(path.absolute().as_uri() + "?mode=rw", uri=True)) as db:
            query = "SELECT value FROM sessionref_index WHERE key = 'application'"
            return bool(db.execute(query).fetchone() == ("sessionref",))
    except (OSError, sqlite3.Error):
        return False
