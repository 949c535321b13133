"""Any bytes under any names in the folder of a session, listed and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sessionref.errors import StorageError
from sessionref.storage.jsonl.listing import find_log, list_below
from sessionref.storage.jsonl.reader import LogRules, read_log_file

__all__ = ["read_folder", "write_folder"]

RULES = LogRules(max_bytes=2**22)


def write_folder(root: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder of session "s" below a root hold these files and no others."""
    folder = root / "_no-cwd" / "s"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def read_folder(root: Path) -> list[str]:
    """List and read all below a root as a store does; return what came of each session.

    Nothing but a `StorageError` may come out of a log: any other exception leaves this function.
    """
    outcomes = []
    for batch in list_below(str(root)):
        for session in batch:
            try:
                if session.error is not None:
                    raise session.error
                log = read_log_file(find_log(session), RULES, lambda: None)
            except StorageError as error:
                outcomes.append(type(error).__name__)
            else:
                outcomes.append(f"version {log.header.version}")
    return outcomes
