"""The sessions below a root.  Blocking: to be called in a thread.

Symbolic links below the root are not followed: nothing is listed twice, and nothing from outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os.path import basename, dirname, join
from typing import Final, NamedTuple

from sessionref.errors import (
    SessionDamagedError,
    SessionNotFoundError,
    SessionUnsupportedError,
    StorageError,
    StoreUnreadableError,
)
from sessionref.storage.jsonl.layout import (
    find_logs,
    is_retired_log,
    session_id_of,
    session_name,
)
from sessionref.storage.jsonl.reader import read_log_header, version_problem
from sessionref.storage.protocol import StoredSession

__all__ = [
    "FoundFolders",
    "Project",
    "Survey",
    "describe",
    "find_below",
    "find_folders",
    "find_log",
    "list_below",
    "look_into",
    "survey",
    "walk",
]

_BATCH: Final = 256


class FoundFolders(NamedTuple):
    """The folders of one name, which are one session; `logs` are the paths of its logs in them.

    More than one log is ambiguous; `error` says which folder cannot be read, and why.
    """

    folders: Sequence[str]
    logs: Sequence[str] = ()
    error: SessionDamagedError | None = None


class Project(NamedTuple):
    """A project folder: the names of the session folders in it, and what in it is no session's."""

    path: str
    names: Sequence[str]
    others: Sequence[StoredSession]


class Survey(NamedTuple):
    """The projects below a root; `repeated` has the paths of session folders of the same name."""

    projects: Sequence[Project]
    repeated: Mapping[str, Sequence[str]]


def list_below(root: str) -> Iterator[list[StoredSession]]:
    """Yield the sessions below a root in batches, each session once.

    A root that does not exist yet has no sessions.  Raises `StoreUnreadableError` if the root
    cannot be listed.
    """
    sessions = _list(root)
    while batch := list(islice(sessions, _BATCH)):
        yield batch


def find_below(root: str, session_id: str) -> StoredSession:
    """Return the one session of an id, as a listing would have it, else `SessionNotFoundError`."""
    found = find_folders(root, session_id)
    session = None if found is None else describe(found)
    if session is None:
        raise SessionNotFoundError(session_id=session_id)
    return session


def find_folders(root: str, session_id: str) -> FoundFolders | None:
    """Return the folders of a session id as a walk would find them, None if there are no logs."""
    name = session_name(session_id)
    if name is None:
        return None
    found = _look_into(_folders_named(name, _projects(root)))
    return found if found.logs or found.error is not None else None


def survey(root: str) -> Survey:
    """Return the names of all session folders below a root, none of them looked into.

    Raises `StoreUnreadableError` if the root cannot be listed.
    """
    projects = [_survey_project(path) for path in _projects(root)]
    seen: set[str] = set()
    repeated: dict[str, list[str]] = {}
    for project in projects:
        repeated.update((name, []) for name in seen.intersection(project.names))
        seen.update(project.names)
    for project in projects if repeated else []:
        for name in repeated.keys() & set(project.names):
            repeated[name].append(join(project.path, name))
    return Survey(projects, repeated)


def look_into(survey: Survey, project: Project, name: str) -> FoundFolders | None:
    """Return what is in a session's folders; None if there are no logs, or it is another project's.

    Folders of one name are one session, which is found in the first project that has it.
    """
    folders = survey.repeated.get(name) or [join(project.path, name)]
    if folders[0] != join(project.path, name):
        return None
    found = _look_into(folders)
    return found if found.logs or found.error is not None else None


def walk(root: str) -> Iterator[FoundFolders | StoredSession]:
    """Yield what lies below a root, no log opened: folders with logs, and what is no session's.

    Raises `StoreUnreadableError` if the root cannot be listed.
    """
    surveyed = survey(root)
    for project in surveyed.projects:
        yield from project.others
        for name in project.names:
            found = look_into(surveyed, project, name)
            if found is not None:
                yield found


def _survey_project(path: str) -> Project:
    names: list[str] = []
    others: list[StoredSession] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
                elif is_retired_log(entry.name):
                    others.append(_retired(entry.path))
    except FileNotFoundError:
        pass
    except OSError as error:
        others.append(_unreadable_project(path, error))
    return Project(path, names, others)


def _list(root: str) -> Iterator[StoredSession]:
    for found in walk(root):
        session = describe(found) if isinstance(found, FoundFolders) else found
        if session is not None:
            yield session


def _projects(root: str) -> list[str]:
    try:
        with os.scandir(root) as entries:
            found = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreUnreadableError(path=root, reason=error.strerror or str(error)) from error
    except ValueError as error:  # no path can hold NUL, nor half a character
        raise StoreUnreadableError(path=root, reason=str(error)) from error
    return sorted(found)


def _folders_named(name: str, projects: list[str]) -> list[str]:
    """Return the folders of a session in all projects, symbolic links left out."""
    folders = [join(project, name) for project in projects]
    return [folder for folder in folders if _is_folder(folder)]


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def describe(found: FoundFolders) -> StoredSession | None:
    """Return the session that some folders are, its header read; None if its logs have vanished."""
    if found.error is not None:
        folder = found.error.path or found.folders[0]
        return StoredSession(folder, session_id_of(basename(folder)), error=found.error)
    if len(found.logs) > 1:
        return _ambiguous(found.logs)
    return _describe_log(found.logs[0])


def _look_into(folders: Sequence[str]) -> FoundFolders:
    logs: list[str] = []
    for folder in folders:
        try:
            logs += _logs_in(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            return FoundFolders(folders, error=_unreadable_error(folder, error))
    return FoundFolders(folders, logs)


def _logs_in(folder: str) -> list[str]:
    """Return the log of a session folder, none, or the two encodings that make it ambiguous."""
    return [join(folder, name) for name in find_logs(os.listdir(folder))]


def find_log(session: StoredSession) -> str:
    """Return the log of a listed session as its folder is now: a newer version may have come.

    Raises `FileNotFoundError` if there is none any more, and `SessionDamagedError` if there are two
    or the folder cannot be read.
    """
    folder = dirname(session.place)
    try:
        logs = _logs_in(folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable_error(folder, error) from error
    if not logs:
        raise FileNotFoundError(session.place)
    if len(logs) > 1:
        raise _ambiguous_error(logs[0], logs[1:])
    return logs[0]


def _describe_log(log: str) -> StoredSession | None:
    try:
        header, revision = read_log_header(log)
    except FileNotFoundError:
        return None
    except StorageError as error:
        problem = version_problem(log, None) or error
        return StoredSession(log, session_id_of(basename(dirname(log))), error=problem)
    return StoredSession(
        place=log,
        session_id=header.id,
        header=header,
        revision=revision,
        updated_at=revision.mtime_ns // 1_000_000,
        error=version_problem(log, header),
    )


def _ambiguous(logs: Sequence[str]) -> StoredSession | None:
    found = [session for session in map(_describe_log, logs) if session is not None]
    if len(found) < 2:
        return found[0] if found else None
    first = next((session for session in found if session.header is not None), found[0])
    others = [session.place for session in found if session is not first]
    return replace(first, error=_ambiguous_error(first.place, others))


def _ambiguous_error(log: str, others: list[str]) -> SessionDamagedError:
    places = ", ".join(others)
    reason = f"the session is ambiguous: it lies in {places} too; keep one of them"
    return SessionDamagedError(reason=reason, path=log)


def _retired(path: str) -> StoredSession:
    reason = "logs of the retired flat layout are not read; open and save it with an older program"
    error = SessionUnsupportedError(reason=reason, direction="retired", path=path)
    return StoredSession(path, None, error=error)


def _unreadable_error(folder: str, error: OSError) -> SessionDamagedError:
    reason = f"the folder cannot be read ({error.strerror or error})"
    return SessionDamagedError(reason=reason, path=folder)


def _unreadable_project(project: str, error: OSError) -> StoredSession:
    return StoredSession(project, None, error=_unreadable_error(project, error))
