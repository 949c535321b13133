"""What the rules of one version of the format consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from sessionref.session.surface import Surface, SurfaceNode

__all__ = ["Generation", "Record", "load_known_types"]

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
    known_types: frozenset[str]
    surface_types: Mapping[str, Callable[[object], SurfaceNode]]
    upgrades: Mapping[str, Callable[[Record, str, Surface], Record]]
    refused_header_members: frozenset[str]
    replace_members: tuple[str, str]
    turn_end_reasons: frozenset[str]

    @cached_property
    def log_only_types(self) -> frozenset[str]:
        """The known types that never lie on the surface."""
        return self.known_types - self.surface_types.keys()


def load_known_types(name: str) -> frozenset[str]:
    """Return the event types of a data file beside this module: one a line, `#` starts a remark."""
    text = files("sessionref.session.generations").joinpath(name).read_text(encoding="utf-8")
    lines = (line.partition("#")[0].strip() for line in text.split("\n"))
    return frozenset(line for line in lines if line)
