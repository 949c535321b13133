"""The sessions below a root.  Blocking: to be called in a thread.

Symbolic links below the root are not followed: nothing is listed twice, and nothing from outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from os.path import basename, dirname, join
from typing import Final

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

__all__ = ["find_below", "find_log", "list_below"]

_BATCH: Final = 256


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
    name = session_name(session_id)
    session = None if name is None else _describe(_folders_named(name, _projects(root)))
    if session is None:
        raise SessionNotFoundError(session_id=session_id)
    return session


def _list(root: str) -> Iterator[StoredSession]:
    projects = _projects(root)
    repeated = _repeated_folders(projects)
    for project in projects:
        try:
            with os.scandir(project) as entries:
                for entry in entries:
                    yield from _list_entry(entry, repeated.get(entry.name, []))
        except FileNotFoundError:
            continue
        except OSError as error:
            yield _unreadable_project(project, error)


def _list_entry(entry: os.DirEntry[str], repeated: list[str]) -> Iterator[StoredSession]:
    """Yield what an entry of a project folder is; `repeated` are all folders of its name, if many.

    Folders of one name are one session, which is listed where the first of them lies.
    """
    if entry.is_dir(follow_symlinks=False):
        folders = repeated or [entry.path]
        session = _describe(folders) if folders[0] == entry.path else None
        if session is not None:
            yield session
    elif is_retired_log(entry.name):
        yield _retired(entry.path)


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


def _repeated_folders(projects: list[str]) -> dict[str, list[str]]:
    """Return the folders whose name occurs in several projects: their sessions may be ambiguous."""
    seen: set[str] = set()
    repeated: dict[str, list[str]] = {}
    for project in projects:
        names = _names_in(project)
        repeated.update((name, []) for name in seen & names)
        seen |= names
    for project in projects if repeated else []:
        for name in _names_in(project) & repeated.keys():
            repeated[name] += _folders_named(name, [project])
    return repeated


def _names_in(project: str) -> set[str]:
    try:
        return set(os.listdir(project))
    except OSError:
        return set()


def _folders_named(name: str, projects: list[str]) -> list[str]:
    """Return the folders of a session in all projects, symbolic links left out."""
    folders = [join(project, name) for project in projects]
    return [folder for folder in folders if _is_folder(folder)]


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _describe(folders: list[str]) -> StoredSession | None:
    """Return the session whose logs lie in some folders, None if there are none."""
    logs: list[str] = []
    for folder in folders:
        try:
            logs += _logs_in(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            return _unreadable(folder, error)
    if not logs:
        return None
    if len(logs) > 1:
        return _ambiguous(logs)
    return _describe_log(logs[0])


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


def _ambiguous(logs: list[str]) -> StoredSession | None:
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


def _unreadable(folder: str, error: OSError) -> StoredSession:
    problem = _unreadable_error(folder, error)
    return StoredSession(folder, session_id_of(basename(folder)), error=problem)


def _unreadable_error(folder: str, error: OSError) -> SessionDamagedError:
    reason = f"the folder cannot be read ({error.strerror or error})"
    return SessionDamagedError(reason=reason, path=folder)


def _unreadable_project(project: str, error: OSError) -> StoredSession:
    return replace(_unreadable(project, error), session_id=None)
