"""Cutting one text in its middle, down to what it may cost in a source."""

from __future__ import annotations

from itertools import accumulate
from typing import Final, NamedTuple

from sessionref.javascript import remove_surrogates
from sessionref.snapshot.json_text import string_cost, utf8_cost
from sessionref.snapshot.retention import EncodedText

__all__ = ["LEAST_SURE_COST", "STEP_COST", "Cut", "CuttableText"]

_BLOCK: Final = 4096
_NOTE: Final = "\n[… omitted {} UTF-8 bytes …]"
_LEAST_NOTE_COST: Final = string_cost(_NOTE.format(0))

STEP_COST: Final = 6
"""What one more byte of a text can add to the cost of a cut: an escape such as `\\u003c`."""

LEAST_SURE_COST: Final = _LEAST_NOTE_COST + 20
"""From this cost on the note of what is missing has room, so that a cut is never empty.

Such a cut costs more than what it may cost less `STEP_COST`: its search ends where one more byte
of the text would cost too much.  A text with lone surrogates may stay far below (`is_sure`).
"""


class Cut(NamedTuple):
    """What is left of a text: it costs `cost`, and `omitted_bytes` of its UTF-8 are missing."""

    text: str
    omitted_bytes: int
    cost: int


class CuttableText:
    """A text that may have to be cut, to one cost after the other.

    `cost` is that of the whole text, the bytes that it takes up in a source.
    """

    def __init__(self, text: str) -> None:
        self.cost = string_cost(text)
        self._text = text
        self._index: _CostIndex | None = None

    @property
    def is_sure(self) -> bool:
        """Whether what is said of `LEAST_SURE_COST` is true of this text.

        A lone surrogate costs six bytes in the whole text and three, as U+FFFD, in a cut one.
        """
        text = self._text
        return text.isascii() or len(remove_surrogates(text)) == len(text)

    def cut(self, cost: int) -> Cut:
        """Return the text cut to at most `cost`: the head and the tail, and a note between them.

        A text that costs no more stays whole.  Where not even the note has room, the text is empty.
        """
        if self.cost <= cost:
            return Cut(self._text, 0, self.cost)
        if self._index is None:
            self._index = _CostIndex(self._text)
        return self._index.cut(cost)


class _CostIndex:
    """The UTF-8 of a text, and what it costs up to each block: any part costs one look."""

    def __init__(self, text: str) -> None:
        self._encoded = EncodedText(text)
        self._length = self._encoded.length
        blocks = range(0, self._length, _BLOCK)
        costs = (utf8_cost(self._encoded.part(start, start + _BLOCK)) for start in blocks)
        self._costs = list(accumulate(costs, initial=0))

    def cut(self, cost: int) -> Cut:
        best = None
        low, high = 0, self._length - 1
        while low <= high and cost >= _LEAST_NOTE_COST:
            count = (low + high) // 2
            candidate = self._candidate(count)
            if candidate[2] <= cost:
                best, low = candidate, count + 1
            else:
                high = count - 1
        if best is None:
            return Cut("", self._length, 0)
        head_end, tail_start, found = best
        head, tail = self._encoded.part(0, head_end), self._encoded.part(tail_start, self._length)
        omitted = tail_start - head_end
        return Cut((head + tail).decode() + _NOTE.format(omitted), omitted, found)

    def _candidate(self, count: int) -> tuple[int, int, int]:
        """Return where head and tail end and start with `count` bytes kept, and their cost."""
        head_end = self._encoded.head_end((count + 1) // 2)
        tail_start = self._encoded.tail_start(count // 2)
        note_cost = _LEAST_NOTE_COST - 1 + len(str(tail_start - head_end))
        tail_cost = self._cost_before(self._length) - self._cost_before(tail_start)
        return head_end, tail_start, self._cost_before(head_end) + tail_cost + note_cost

    def _cost_before(self, byte: int) -> int:
        block = byte // _BLOCK
        return self._costs[block] + utf8_cost(self._encoded.part(block * _BLOCK, byte))
