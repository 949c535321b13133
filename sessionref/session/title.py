"""The title of a session: the last `session/title` of its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessionref.errors import SessionDamagedError

__all__ = ["SessionTitle", "parse_title"]


@dataclass(frozen=True, slots=True)
class SessionTitle:
    """A title, where it came from, and the event that set it.

    `updated_at` is that event's time, in milliseconds since the epoch.
    """

    title: str
    message_seqs: list[int]
    source: dict[str, Any]
    event_seq: int
    updated_at: int

    def to_wire(self) -> dict[str, Any]:
        """Return the title as JSON data with camelCase names."""
        return {
            "title": self.title,
            "messageSeqs": self.message_seqs,
            "source": self.source,
            "eventSeq": self.event_seq,
            "updatedAt": self.updated_at,
        }


def parse_title(data: object, seq: int, time: int) -> SessionTitle:
    """Return the title that the data of a `session/title` sets, else `SessionDamagedError`."""
    if type(data) is not dict or type(data.get("title")) is not str:
        raise SessionDamagedError(reason="the title is not a string")
    message_seqs, source = data.get("messageSeqs"), data.get("source")
    if type(message_seqs) is not list or type(source) is not dict:
        raise SessionDamagedError(reason="the title does not say what it was made from")
    return SessionTitle(data["title"], message_seqs, source, seq, time)
