"""The versions of the log format that are read: one table, one line a version."""

from typing import Final

from sessionref.session.generations import v0
from sessionref.session.generations.generation import Generation

__all__ = ["NEWEST_VERSION", "Generation", "find_generation"]

_GENERATIONS: Final = {rules.version: rules for rules in (v0.RULES,)}

NEWEST_VERSION: Final = max(_GENERATIONS)
"""The newest version of the format that this library reads."""


def find_generation(version: int) -> Generation | None:
    """Return the rules of a version of the format, or None if that version is not read."""
    return _GENERATIONS.get(version)
