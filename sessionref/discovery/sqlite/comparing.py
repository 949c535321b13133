"""What is below a root, compared with what the index has: which logs must be read, and which not.

Most folders are as they were at the last refresh.  For these there is one row to look at and one
file to ask the system about, without making anything of either.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from os.path import basename, dirname
from typing import Final, NamedTuple

import apsw

from sessionref.discovery.sqlite.faults import Fault
from sessionref.discovery.sqlite.problems import write_problem
from sessionref.discovery.sqlite.reading import find_session
from sessionref.discovery.sqlite.rows import IndexedSession, pack_revision
from sessionref.discovery.sqlite.text import decode
from sessionref.storage.jsonl.layout import session_id_of
from sessionref.storage.jsonl.listing import FoundFolders, Project, Survey, look_into
from sessionref.storage.jsonl.logfile import revision_of
from sessionref.storage.protocol import Revision

__all__ = [
    "Change",
    "Comparison",
    "Row",
    "change_of",
    "compare",
    "faults_of",
    "is_settled",
    "list_projects",
    "places_of",
    "read_rows",
]

_ROWS: Final = """
    SELECT coalesce(session.folder, session.id), session.id, file.name, session.revision,
        session.problem
    FROM session JOIN name AS file ON file.key = session.file
    WHERE session.project = (SELECT key FROM name WHERE name = ?)"""

_SECOND: Final = 10**9
_FINE_GRAIN: Final = 50_000_000
"""Nanoseconds that a file's times may lag behind, where they are finer than seconds."""


class Row(NamedTuple):
    """What the index has of a session, as far as it takes to tell whether its log has changed."""

    session_id: bytes
    file: str
    revision: bytes | None
    problem: bytes | None


class Change(NamedTuple):
    """A session that must be read: its folders, and what the index has of it, if anything.

    Unless that `is_current`, a reading must not go on from there.
    """

    found: FoundFolders
    session_id: str | None
    known: IndexedSession | None = None
    is_current: bool = True


class Comparison(NamedTuple):
    """What became of some folders: what to read, and the faults and problems that still hold.

    A problem is that of an unchanged session: its place, its id and the text.  Missed are the ids
    of sessions that have no log there any more.
    """

    changes: list[Change]
    faults: list[Fault]
    problems: list[tuple[str, str, str]]
    missed: list[str]


def read_rows(connection: apsw.Connection, project: str) -> dict[str, Row]:
    """Return what the index has of the sessions of a project folder, by their folders' names."""
    rows = connection.execute(_ROWS, (os.fsencode(basename(project)),))
    return {
        os.fsdecode(folder): Row(session_id, os.fsdecode(file), revision, problem)
        for folder, session_id, file, revision, problem in rows
    }


def list_projects(connection: apsw.Connection) -> list[str]:
    """Return the names of the project folders that the index has sessions of."""
    rows = connection.execute("SELECT name FROM name WHERE key IN (SELECT project FROM session)")
    return [os.fsdecode(name) for (name,) in rows]


def compare(
    connection: apsw.Connection,
    survey: Survey,
    project: Project,
    names: Iterable[str],
    rows: Mapping[str, Row],
    faults: Mapping[str, Fault],
    *,
    is_current: bool,
) -> Comparison:
    """Return what of some folders of a project the index has already.

    `rows` and `faults` are those that it has; unless it `is_current`, everything is a change, for
    it was read by other rules.
    """
    result = Comparison([], [], [], [])
    repeated, path = survey.repeated, project.path
    for name in names:
        row = rows.get(name)
        if row is not None and is_current and name not in repeated and _is_same(path, name, row):
            if row.problem is not None:
                log = f"{path}{os.sep}{name}{os.sep}{row.file}"
                result.problems.append((log, decode(row.session_id), decode(row.problem)))
            continue
        found = look_into(survey, project, name)
        if found is None:
            if row is not None:
                result.missed.append(decode(row.session_id))
            continue
        fault = _known_fault(found, faults) if is_current and row is None else None
        if fault is not None:
            result.faults.append(fault)
        else:
            result.changes.append(change_of(connection, found, is_current=is_current))
    return result


def faults_of(project: Project) -> list[Fault]:
    """Return what in a project is no session's, each with what is the matter with it."""
    return [
        Fault(other.place, other.session_id, write_problem(other.error))
        for other in project.others
        if other.error is not None
    ]


def change_of(
    connection: apsw.Connection, found: FoundFolders, *, is_current: bool = True
) -> Change:
    """Return what must be read of some folders, with what the index has of their session."""
    session_id = session_id_of(basename(found.folders[0]))
    known = None if session_id is None else find_session(connection, session_id)
    return Change(found, session_id, known, is_current)


def is_settled(revision: Revision, now: int | None = None) -> bool:
    """Return whether a revision is old enough that a later change would have another one.

    A file's times come from a clock that ticks every few milliseconds, on some file systems every
    second or two: what is written within one tick looks the same.  `now` is in nanoseconds.
    """
    is_coarse = revision.ctime_ns % _SECOND == 0 and revision.mtime_ns % _SECOND == 0
    grain = 2 * _SECOND if is_coarse else _FINE_GRAIN
    return (time.time_ns() if now is None else now) - revision.ctime_ns > grain


def places_of(log: str) -> tuple[bytes, bytes, bytes]:
    """Return the names of the project, the folder and the file of a log."""
    place = dirname(log)
    names = basename(dirname(place)), basename(place), basename(log)
    project, folder, file = map(os.fsencode, names)
    return project, folder, file


def _is_same(project: str, name: str, row: Row) -> bool:
    """Return whether a session's folder holds the log that the index has read, unchanged."""
    folder = f"{project}{os.sep}{name}"
    try:
        if os.listdir(folder) != [row.file]:
            return False  # there is more, or another one: whoever is thorough must look
        found = os.lstat(f"{folder}{os.sep}{row.file}")
    except OSError:
        return False
    return row.revision is not None and pack_revision(revision_of(found)) == row.revision


def _known_fault(found: FoundFolders, faults: Mapping[str, Fault]) -> Fault | None:
    """Return the fault of a log that has not changed since it was met."""
    if len(found.logs) != 1 or found.error is not None:
        return None
    fault = faults.get(found.logs[0])
    try:
        revision = pack_revision(revision_of(os.lstat(found.logs[0])))
    except OSError:
        return None
    return fault if fault is not None and fault.revision == revision else None
