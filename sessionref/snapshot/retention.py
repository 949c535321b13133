"""The head and the tail of a text, cut at whole characters and counted in UTF-8 bytes."""

from __future__ import annotations

from typing import NamedTuple

from sessionref.javascript import replace_surrogates

__all__ = ["EncodedText", "RetainedText", "retain_head_tail"]


class RetainedText(NamedTuple):
    """What is kept of a text, and the UTF-8 bytes that are not."""

    text: str
    omitted_bytes: int
    truncated: bool


def retain_head_tail(text: str, head_bytes: int, tail_bytes: int) -> RetainedText:
    """Return the first `head_bytes` and the last `tail_bytes` of a text, without what is between.

    Both are cut back to whole characters; a text that fits is kept whole.  Lone surrogates count
    and are kept as U+FFFD.  Kept and omitted bytes add up to those of the text, but for one U+FEFF
    at the beginning of what is kept: it counts as a byte order mark, which decoding drops and
    nobody counts.
    Raises `ValueError` for a negative number of bytes.
    """
    if head_bytes < 0 or tail_bytes < 0:
        raise ValueError("head_bytes and tail_bytes must not be negative")
    encoded = EncodedText(text)
    if encoded.length <= head_bytes + tail_bytes:
        return RetainedText(_decode(encoded.part(0, encoded.length)), 0, truncated=False)
    head_end, tail_start = encoded.head_end(head_bytes), encoded.tail_start(tail_bytes)
    kept = encoded.part(0, head_end) + encoded.part(tail_start, encoded.length)
    return RetainedText(_decode(kept), tail_start - head_end, truncated=True)


class EncodedText:
    """A text in UTF-8, lone surrogates as U+FFFD, that can be cut at whole characters."""

    def __init__(self, text: str) -> None:
        self._bytes = replace_surrogates(text).encode()
        self.length = len(self._bytes)

    def part(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to before `end`."""
        return self._bytes[start:end]

    def head_end(self, count: int) -> int:
        """Return where the whole characters of the first `count` bytes end."""
        end = min(count, self.length)
        while 0 < end < self.length and _is_continuation(self._bytes[end]):
            end -= 1
        return end

    def tail_start(self, count: int) -> int:
        """Return where the whole characters of the last `count` bytes start."""
        start = max(self.length - count, 0)
        while start < self.length and _is_continuation(self._bytes[start]):
            start += 1
        return start


def _decode(data: bytes) -> str:
    return data.decode().removeprefix("\ufeff")


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80
