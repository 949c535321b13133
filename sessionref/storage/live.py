"""Sessions that a host holds open: they win over what is stored of them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sessionref.javascript import safe_integer
from sessionref.session.fold import SessionLog, fold_events
from sessionref.session.header import SessionHeader
from sessionref.work import run_pure

__all__ = ["LiveSession", "LiveSessions"]

_STEPS_PER_EVENT: Final = 20


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A header and the events so far, a list that its host owns and only ever appends to.

    Events are the JSON data of log records without packed runs.  The host may append from any
    thread; the dictionaries themselves must not change.
    """

    header: SessionHeader
    events: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", self.header.joined())

    @property
    def updated_at(self) -> int | None:
        """The time of the last event, in milliseconds since the epoch."""
        last = self.events[-1] if self.events else None
        return safe_integer(last.get("time")) if isinstance(last, dict) else None

    async def read_log(self, known_types: Container[str] = ()) -> SessionLog:
        """Return what the events up to this moment mean.

        Raises `SessionDamagedError` or `SessionUnsupportedError` for the first event that breaks a
        rule of the log format.
        """
        captured = self.events.copy()
        return await run_pure(
            lambda check: fold_events(self.header, captured, known_types, check),
            len(captured) * _STEPS_PER_EVENT,
        )


class LiveSessions:
    """The sessions that a host holds open, by id."""

    def __init__(self) -> None:
        self._sessions: dict[str, LiveSession] = {}

    def __iter__(self) -> Iterator[LiveSession]:
        """Iterate over the sessions that are live at this moment."""
        return iter(list(self._sessions.values()))

    def get(self, session_id: str) -> LiveSession | None:
        """Return the live session of an id, or None."""
        return self._sessions.get(session_id)

    def open(self, session: LiveSession) -> None:
        """Make a session live; one of the same id is replaced."""
        self._sessions[session.header.id] = session

    def close(self, session_id: str) -> None:
        """Let a session be live no longer; unknown ids are ignored."""
        self._sessions.pop(session_id, None)
