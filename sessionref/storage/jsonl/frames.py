"""Concatenated zstd frames: where each ends, and what each holds.

Boundaries are found without decompressing, from the frame's own headers (RFC 8878, section 3.1).
What a frame yields is bounded: a small file may claim to hold any amount.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Frame", "FrameError", "FrameUnpacker", "TooMuchError", "read_frames"]

_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_READ_BYTES: Final = 2**20
_PIECE_BYTES: Final = 2**20
_SMALL: Final = 2**20
_DICTIONARY_BYTES: Final = (0, 1, 2, 4)
_RLE, _RESERVED = 1, 3
_LARGEST_BLOCK: Final = 2**17

_thread = threading.local()


class FrameError(ValueError):
    """Bytes that are no zstd frame, or a frame that is not what it must be.

    `byte` is where in the file the frame starts.
    """

    def __init__(self, reason: str, byte: int) -> None:
        super().__init__(reason)
        self.byte = byte


class TooMuchError(FrameError):
    """A frame claims or yields more bytes than it may."""


class Frame(NamedTuple):
    """The compressed bytes of a frame, where in the file they start, and whether they are all."""

    data: bytes
    byte: int
    is_complete: bool


def read_frames(read: Callable[[int], bytes]) -> Iterator[Frame]:
    """Yield the frames of a file in order; the last one may be incomplete.

    `read` gives the next bytes of the file, at most as many as asked for, and none at its end.
    Raises `FrameError` at bytes that start no frame.
    """
    buffer, start, at_end, offset = b"", 0, False, 0
    while True:
        length = _frame_length(buffer, start, offset)
        if length is not None:
            yield Frame(buffer[start : start + length], offset, is_complete=True)
            start += length
            offset += length
        elif at_end:
            if start < len(buffer):
                yield Frame(buffer[start:], offset, is_complete=False)
            return
        else:
            # Reading as much again as is waiting keeps a frame of any size linear.
            more = read(max(_READ_BYTES, len(buffer) - start))
            buffer, start, at_end = buffer[start:] + more, 0, not more


class FrameUnpacker:
    """Decompresses the frames of one file, which may hold at most `limit` bytes together."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._zstandard = _zstandard()

    def unpack(self, frame: Frame) -> Iterator[bytes]:
        """Yield what a frame holds, in pieces; of an incomplete one, what can be had.

        Raises `TooMuchError` as soon as it is known that there is too much, and `FrameError` if a
        complete frame is corrupt.
        """
        try:
            claimed = self._zstandard.frame_content_size(frame.data)
            if claimed > self._left:
                raise TooMuchError(f"a frame claims to hold {claimed:,} bytes", frame.byte)
            if frame.is_complete and 0 <= claimed <= _SMALL:
                self._left -= claimed
                yield _decompress(frame.data)
            else:
                yield from self._stream(frame)
        except self._zstandard.ZstdError as error:
            if frame.is_complete:
                raise FrameError(str(error), frame.byte) from error

    def _stream(self, frame: Frame) -> Iterator[bytes]:
        with self._zstandard.ZstdDecompressor().stream_reader(frame.data) as reader:
            while piece := reader.read(_PIECE_BYTES):
                self._left -= len(piece)
                if self._left < 0:
                    raise TooMuchError("a frame yields more bytes than it may", frame.byte)
                yield piece


def _decompress(data: bytes) -> bytes:
    """Return what a small frame holds.

    Making a decompressor takes longer than most frames do, and no two threads may share one.
    """
    if not hasattr(_thread, "decompress"):
        _thread.decompress = _zstandard().ZstdDecompressor().decompress
    content: bytes = _thread.decompress(data)
    return content


@cache
def _zstandard() -> ModuleType:
    """Return the zstandard library; the first call imports it, importing sessionref does not."""
    import zstandard

    return zstandard


def _frame_length(buffer: bytes, start: int, byte: int) -> int | None:
    """Return the length of the frame that starts at a byte, or None if it does not end in here."""
    magic = buffer[start : start + len(_MAGIC)]
    if magic != _MAGIC:
        if _MAGIC.startswith(magic):
            return None
        raise FrameError("these bytes do not start a zstd frame", byte)
    if start + 5 > len(buffer):
        return None
    descriptor = buffer[start + 4]
    place = start + 5 + _header_bytes(descriptor)
    while place + 3 <= len(buffer):
        block = int.from_bytes(buffer[place : place + 3], "little")
        is_last, kind, size = block & 1, block >> 1 & 3, block >> 3
        if kind == _RESERVED or size > _LARGEST_BLOCK:
            raise FrameError("a block of a zstd frame has no type or is too large", byte)
        place += 3 + (1 if kind == _RLE else size)
        if is_last:
            place += 4 if descriptor & 4 else 0
            return place - start if place <= len(buffer) else None
    return None


def _header_bytes(descriptor: int) -> int:
    """Return how many bytes of a frame's header follow its descriptor."""
    is_single_segment = bool(descriptor & 0x20)
    size_flag = descriptor >> 6
    size_bytes = 1 << size_flag if size_flag or is_single_segment else 0
    return (0 if is_single_segment else 1) + _DICTIONARY_BYTES[descriptor & 3] + size_bytes
