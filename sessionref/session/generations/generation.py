"""What the rules of one version of the format consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from sessionref.session.surface import Surface, SurfaceNode

__all__ = ["MEANINGFUL_TYPES", "Generation", "Record"]

Record = dict[str, Any]

MEANINGFUL_TYPES: Final = frozenset(
    {
        "session/end-seed",
        "session/title",
        "step/end",
        "step/start",
        "tool/call",
        "turn/end",
        "turn/start",
    }
)
"""The log-only types that say something of a session, in every version."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """The rules in which versions of the format differ; the fold has those that they share.

    `surface_types` maps each type of event that lies on the surface to the function that checks
    its data and gives its node.  `upgrades` maps a type to the function that turns older spellings
    of it into today's; it gets the record, the session's id and the surface before the event.
    `replace_members` are the spellings of the first and last seq in a replacement.
    `lost_result` makes the message that answers a tool call of a crashed turn, from the id of the
    call and a text.
    """

    version: int
    surface_types: Mapping[str, Callable[[object], SurfaceNode]]
    lost_result: Callable[[str, str], Record]
    turn_end_reasons: frozenset[str]
    replace_members: frozenset[tuple[str, str]]
    upgrades: Mapping[str, Callable[[Record, str, Surface], Record]] = field(default_factory=dict)

    # Whether the header says `isSeeded` and an event marks the cut, or the header has `seedLength`.
    has_seed_mark: bool
    # Whether stream chunks are lines of their own, alone or in packed runs.
    has_chunk_lines: bool
    # Whether `assistant/message` may name the events that it was made from.
    has_assistant_sources: bool
    # Whether a system message at the head of the surface can be removed only by another one.
    protects_head: bool
    # Whether an ignorable event of an unknown type may carry what only surface events carry.
    ignores_all_of_unknown: bool
    # Whether a tool call is settled only by an appended result of its own turn and step.
    settles_in_place: bool
    # What the types of events start with that may always be ignored.
    ignorable_prefix: str | None = None

    @cached_property
    def known_types(self) -> frozenset[str]:
        """The event types of this version: those of the data file beside its module."""
        return _load_types(f"v{self.version}.types.txt")

    @cached_property
    def log_only_types(self) -> frozenset[str]:
        """The known types that never lie on the surface."""
        return self.known_types - self.surface_types.keys()

    @cached_property
    def plain_types(self) -> frozenset[str]:
        """The log-only types of which nothing matters but their place in the log."""
        return self.log_only_types - self.upgrades.keys() - MEANINGFUL_TYPES


def _load_types(name: str) -> frozenset[str]:
    """Return the event types of a data file: one a line, `#` starts a remark."""
    # Importing this costs more than the rest of the room, and only reading a log needs it.
    from importlib.resources import files

    text = files("sessionref.session.generations").joinpath(name).read_text(encoding="utf-8")
    lines = (line.partition("#")[0].strip() for line in text.split("\n"))
    return frozenset(line for line in lines if line)
