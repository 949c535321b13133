"""Where a log lies below its root: names of folders and files, and back to ids.  Pure.

ROOT/<project>/<session>/session.jsonl.zstd
ROOT/<project>/<session>/session.jsonl
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sessionref.javascript import join_surrogates, utf16_units

__all__ = [
    "COMPRESSED_SUFFIX",
    "find_logs",
    "is_retired_log",
    "project_name",
    "session_id_of",
    "session_name",
]

COMPRESSED_SUFFIX: Final = ".zstd"

_NO_CWD: Final = "_no-cwd"
_LONGEST_SLUG: Final = 251
_LOG_NAMES: Final = frozenset({"session.jsonl", "session.jsonl.zstd"})
_RETIRED_SUFFIXES: Final = (".jsonl", ".jsonl.zstd")
_SEPARATORS: Final = re.compile(r"[/\\:]+")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_ESCAPE: Final = re.compile(r"~([0-9A-F]{4})")
_DOTS: Final = {".": "~002E", "..": "~002E~002E"}


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


def find_logs(names: Iterable[str]) -> list[str]:
    """Return those of a session folder's files that are its logs; more than one is ambiguous."""
    return sorted(_LOG_NAMES.intersection(names))


def is_retired_log(name: str) -> bool:
    """Return whether a file in a project folder is a log of the retired flat layout."""
    return name.endswith(_RETIRED_SUFFIXES)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"~{unit:04X}" for unit in utf16_units(match[0]))
