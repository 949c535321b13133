"""Titles read whole and from a mark on, what came of it, and how much of the file it took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sessionref.errors import StorageError
from sessionref.storage.jsonl.logfile import BoundedFile
from sessionref.storage.jsonl.reader import LogRules
from sessionref.storage.jsonl.titles import KnownTitle, LogMark, TitleState, read_title

__all__ = ["Taken", "known_of", "noting", "outcome", "read", "try_to_read"]


def read(path: Path, known: KnownTitle | None = None, rules: LogRules | None = None) -> TitleState:
    """Return the title of a log, read from what is known on."""
    return read_title(str(path), rules or LogRules(), lambda: None, known)


def try_to_read(
    path: Path, known: KnownTitle | None = None, rules: LogRules | None = None
) -> TitleState | StorageError:
    """Return the title of a log, or why it has none."""
    try:
        return read(path, known, rules)
    except StorageError as error:
        return error


def outcome(found: TitleState | StorageError) -> tuple[object, ...]:
    """Return what must not depend on where reading began."""
    if isinstance(found, StorageError):
        return type(found), str(found)
    return found.header, found.title, found.revision


def known_of(state: TitleState) -> KnownTitle | None:
    """Return what is kept of a reading, by way of the bytes that it is kept as."""
    if state.mark is None:
        return None
    mark = LogMark.from_bytes(state.mark.to_bytes())
    assert mark == state.mark
    return KnownTitle(state.header, state.title, mark)


@dataclass
class Taken:
    """The pieces that were taken from files: read, and looked at beside reading."""

    read: list[bytes] = field(default_factory=list)
    peeked: list[bytes] = field(default_factory=list)


@contextmanager
def noting() -> Iterator[Taken]:
    """Note what is taken from files inside."""
    taken = Taken()
    with pytest.MonkeyPatch.context() as patch:
        _note(patch, "read", taken.read)
        _note(patch, "peek", taken.peeked)
        yield taken


def _note(patch: pytest.MonkeyPatch, name: str, into: list[bytes]) -> None:
    original = getattr(BoundedFile, name)

    def noted(self: BoundedFile, *args: Any) -> bytes:
        data: bytes = original(self, *args)
        into.append(data)
        return data

    patch.setattr(BoundedFile, name, noted)
