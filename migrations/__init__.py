"""The schema of the title index: the one place that imports sqlite-utils.

The folder `migrations/` is installed as `sessionref._migrations`.  sqlite-utils and apsw bring
different SQLite libraries, and on POSIX a process that has one file open through both loses its
locks when either closes it.  So nothing else may have the index open while `migrate` runs.
"""

from __future__ import annotations

from contextlib import closing
from os import PathLike

from sqlite_utils import Database

from .migrations import steps

__all__ = ["migrate"]


def migrate(path: str | PathLike[str]) -> None:
    """Bring the title index at `path` to the schema of this version; a missing file is made.

    All pending steps are one transaction: an error leaves the file as it was.  Of several
    processes that call this at once, one applies the steps and the others find them applied.  The
    file is closed on return.  Raises `sqlite3.Error` if it is no database, cannot be written, or
    stays locked for 5 seconds.  Blocks: call it from a worker thread.
    """
    # No plugins: what else is installed beside sqlite-utils has no business in the index.
    with closing(Database(str(path), execute_plugins=False)) as db:
        if not steps.pending(db):
            return
        # Taking the write lock first makes the look at the pending steps and the steps one act.
        db.execute("BEGIN IMMEDIATE")
        with db.conn:
            steps.apply(db)
