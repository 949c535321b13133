"""What goes wrong with single logs, told to the host once and not at every keystroke."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from sessionref.errors import StorageError
from sessionref.reference.visible import visible

__all__ = ["Diagnostic", "Reporter"]

_logger = logging.getLogger("sessionref")
# Where a host has set up no logging, nothing of a library's shall appear on its terminal.
_logger.addHandler(logging.NullHandler())


Fault = tuple[type[StorageError], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One log that cannot be read: where it lies, whose it is as far as known, and why."""

    place: str
    session_id: str | None
    error: StorageError


class Reporter:
    """Tells of each fault once: through logging, at level warning, and to a callback.

    A fault that changes, or that comes back after the log was readable, is told again.
    """

    def __init__(self, callback: Callable[[Diagnostic], None] | None = None) -> None:
        self._callback = callback
        self._told: dict[tuple[str, str | None], Fault] = {}

    def report(self, diagnostic: Diagnostic) -> None:
        """Tell of a fault, unless it is the one that was told last of this log.

        What the callback raises is logged: it does not disturb the lookup that met the fault.
        """
        log = (diagnostic.place, diagnostic.session_id)
        # Making the text takes longer than all else, and most faults have been told.
        fault = (type(diagnostic.error), tuple(vars(diagnostic.error).values()))
        if self._told.get(log) == fault:
            return
        self._told[log] = fault
        text = visible(str(diagnostic.error)).encode(errors="backslashreplace").decode()
        _logger.warning("%s", text)
        if self._callback is not None:
            try:
                self._callback(diagnostic)
            except Exception:
                _logger.exception("the callback for diagnostics raised")

    def clear(self, place: str, session_id: str | None) -> None:
        """Take note that a log is readable; several sessions may share a place."""
        self._told.pop((place, session_id), None)
