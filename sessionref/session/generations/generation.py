"""What the rules of one version of the format consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sessionref.session.surface import Surface, SurfaceNode

__all__ = ["Generation", "Record"]

Record = dict[str, Any]


@dataclass(frozen=True)
class Generation:
    """The rules in which versions of the format differ; the common ones are in the fold.

    `surface_types` maps each type of event that lies on the surface to the function that checks
    its data and gives its node.  `upgrades` maps a type to the function that turns older spellings
    of it into today's; it gets the record, the session's id and the surface before the event.
    `replace_members` are the names of the first and last seq in a replacement.
    """

    version: int
    surface_types: Mapping[str, Callable[[object], SurfaceNode]]
    upgrades: Mapping[str, Callable[[Record, str, Surface], Record]]
    refused_header_members: frozenset[str]
    replace_members: tuple[str, str]
    turn_end_reasons: frozenset[str]

    @cached_property
    def known_types(self) -> frozenset[str]:
        """The event types of this version: those of the data file beside its module."""
        return _load_types(f"v{self.version}.types.txt")

    @cached_property
    def log_only_types(self) -> frozenset[str]:
        """The known types that never lie on the surface."""
        return self.known_types - self.surface_types.keys()


def _load_types(name: str) -> frozenset[str]:
    """Return the event types of a data file: one a line, `#` starts a remark."""
    # Importing this costs more than the rest of the room, and only reading a log needs it.
    from importlib.resources import files

    text = files("sessionref.session.generations").joinpath(name).read_text(encoding="utf-8")
    lines = (line.partition("#")[0].strip() for line in text.split("\n"))
    return frozenset(line for line in lines if line)
