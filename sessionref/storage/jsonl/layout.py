"""Where a log lies below its root: names of folders and files, and back to ids.  Pure.

ROOT/<project>/<session>/session.v4.jsonl.zstd
ROOT/<project>/<session>/session.v4.jsonl

Version 0 has no number in its name: `session.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from sessionref.javascript import join_surrogates, utf16_units

__all__ = [
    "COMPRESSED_SUFFIX",
    "find_logs",
    "is_retired_log",
    "log_version",
    "project_name",
    "session_id_of",
    "session_name",
]

COMPRESSED_SUFFIX: Final = ".zstd"

_NO_CWD: Final = "_no-cwd"
_LONGEST_SLUG: Final = 251
_LOG_NAME: Final = re.compile(r"session(?:\.v([1-9][0-9]*))?\.jsonl(?:\.zstd)?")
_RETIRED_SUFFIXES: Final = (".jsonl", ".jsonl.zstd")
_SEPARATORS: Final = re.compile(r"[/\\:]+")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_ESCAPE: Final = re.compile(r"~([0-9A-F]{4})")
_DOTS: Final = {".": "~002E", "..": "~002E~002E"}


@lru_cache(maxsize=1024)
def project_name(cwd: str | None) -> str:
    """Return the name of the folder of the sessions with a cwd.

    It is lossy: two cwds may share a folder.
    """
    if cwd is None:
        return _NO_CWD
    slug = _UNSAFE.sub(_escape, _SEPARATORS.sub("-", cwd)).lstrip("-") or "root"
    return f"--{slug[:_LONGEST_SLUG]}--"


def session_name(session_id: str) -> str | None:
    """Return the name of a session's folder, which tells its id; None for an empty id."""
    if not session_id:
        return None
    return _DOTS.get(session_id) or _UNSAFE.sub(_escape, session_id)


def session_id_of(name: str) -> str | None:
    """Return the session id that a folder's name stands for, or None if it stands for none."""
    session_id = join_surrogates(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), name))
    return session_id if session_name(session_id) == name else None


@lru_cache(maxsize=256)
def log_version(name: str) -> int | None:
    """Return the version of the format that a file's name tells, None if it is no log's name."""
    match = _LOG_NAME.fullmatch(name)
    return None if match is None else int(match[1] or 0)


def find_logs(names: Iterable[str]) -> list[str]:
    """Return those of a session folder's files that are its log: more than one is ambiguous.

    The highest version wins, by name alone; what it left behind is stale and never read.
    """
    versions = {name: version for name in names if (version := log_version(name)) is not None}
    newest = max(versions.values(), default=None)
    return sorted(name for name, version in versions.items() if version == newest)


def is_retired_log(name: str) -> bool:
    """Return whether a file in a project folder is a log of the retired flat layout."""
    return name.endswith(_RETIRED_SUFFIXES)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"~{unit:04X}" for unit in utf16_units(match[0]))
