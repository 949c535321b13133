"""The versions of the log format that are read: one table, one line a version."""

from typing import Final

from sessionref.session.generations import v0, v1, v2, v3, v4
from sessionref.session.generations.generation import Generation

__all__ = ["NEWEST_VERSION", "Generation", "find_generation"]

_GENERATIONS: Final = {
    0: v0.RULES,  # DSH up to 0.1.2
    1: v1.RULES,  # source builds only
    2: v2.RULES,  # DSH 0.1.3
    3: v3.RULES,  # DSH 0.1.5
    4: v4.RULES,  # DSH 0.1.7 and 0.2
}

NEWEST_VERSION: Final = max(_GENERATIONS)
"""The newest version of the format that this library reads."""


def find_generation(version: int) -> Generation | None:
    """Return the rules of a version of the format, or None if that version is not read."""
    return _GENERATIONS.get(version)
