"""Consecutive seqs as the text that a log has of them.

An answer of version 0 lists the chunks that it was streamed in: hundreds of numbers that rise by
one.  Comparing their text takes a tenth of the time that parsing them takes.
"""

from __future__ import annotations

from functools import cache
from typing import Final

__all__ = ["is_run_before"]

_END: Final = 100_000
"""Seqs from here on are parsed."""


def is_run_before(text: bytes, seq: int) -> bool:
    """Return whether a JSON array's text is that of consecutive seqs up to the one before `seq`.

    False says that it may be, too: it was not looked at closely enough.
    """
    first = text[1 : text.find(b",")]
    if seq > _END or not first.isdigit() or len(first) > 5:
        return False
    start = _place(int(first))
    # Each seq has a comma behind it, and the last one a bracket.
    end = _place(seq) - 1
    return len(text) == end - start + 2 and _numbers().startswith(text[1:-1], start)


def _place(number: int) -> int:
    """Return where a number starts in the text of all numbers."""
    digits = len(str(number))
    shorter: int = (10**digits - 1) // 9  # the places of what an equal width would have too much
    return number * (digits + 1) - shorter + 1


@cache
def _numbers() -> bytes:
    return ",".join(map(str, range(_END))).encode()
