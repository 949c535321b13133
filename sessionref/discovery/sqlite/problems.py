"""Why a log cannot be read, as the index keeps it: an error to text and back."""

from __future__ import annotations

import json
from typing import Any, Final

from sessionref.errors import (
    SessionDamagedError,
    SessionTooLargeError,
    SessionUnsupportedError,
    StorageError,
)

__all__ = ["parse_problem", "write_problem"]

_KINDS: Final[dict[str, type[StorageError]]] = {
    "damaged": SessionDamagedError,
    "unsupported": SessionUnsupportedError,
    "too-large": SessionTooLargeError,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}


def write_problem(error: StorageError) -> str:
    """Return the text of what a log's reader raised: its kind and its fields, as JSON."""
    fields = {name: value for name, value in vars(error).items() if value is not None}
    return json.dumps({"kind": _NAMES[type(error)], **fields}, separators=(",", ":"))


def parse_problem(text: str) -> StorageError:
    """Return the error that `write_problem` was given, without its cause."""
    fields: dict[str, Any] = json.loads(text)
    return _KINDS[fields.pop("kind")](**fields)
