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
    at its very beginning: it counts as a byte order mark, which decoding drops and nobody counts.
    Raises `ValueError` for a negative number of bytes.
    """
    if head_bytes < 0 or tail_bytes < 0:
        raise ValueError("head_bytes and tail_bytes must not be negative")
    encoded = EncodedText(text)
    if encoded.length <= head_bytes + tail_bytes:
        return RetainedText(_decode(encoded.head(encoded.length)), 0, truncated=False)
    head, tail = encoded.head(head_bytes), encoded.tail(tail_bytes)
    omitted = encoded.length - len(head) - len(tail)
    return RetainedText(_decode(head + tail), omitted, truncated=True)


class EncodedText:
    """A text in UTF-8, lone surrogates as U+FFFD, that can be cut from both sides."""

    def __init__(self, text: str) -> None:
        self._bytes = replace_surrogates(text).encode()
        self.length = len(self._bytes)

    def head(self, count: int) -> bytes:
        """Return the whole characters of the first `count` bytes."""
        end = min(count, self.length)
        while 0 < end < self.length and _is_continuation(self._bytes[end]):
            end -= 1
        return self._bytes[:end]

    def tail(self, count: int) -> bytes:
        """Return the whole characters of the last `count` bytes."""
        start = max(self.length - count, 0)
        while start < self.length and _is_continuation(self._bytes[start]):
            start += 1
        return self._bytes[start:]


def _decode(data: bytes) -> str:
    return data.decode().removeprefix("\ufeff")


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80
