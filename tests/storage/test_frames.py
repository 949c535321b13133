"""zstd frames: where each ends, what each holds, and how little of a hostile one is believed."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import accumulate

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import zstd_frame

from sessionref.storage.jsonl.frames import (
    Frame,
    FrameError,
    FrameUnpacker,
    TooMuchError,
    read_frames,
)

MAGIC = b"\x28\xb5\x2f\xfd"
NO_LIMIT = 2**40
PAYLOADS = [b"header\n", b"one\ntwo\n" * 20, b"three\n"]
FRAMES = [zstd_frame(payload) for payload in PAYLOADS]
FILE = b"".join(FRAMES)
ENDS = list(accumulate(map(len, FRAMES)))


def frames_of(data: bytes, most: int | None = None) -> list[Frame]:
    """Return the frames of a file whose every read gives at most so many bytes."""
    file = BytesIO(data)
    return list(read_frames(lambda count: file.read(min(count, most or count))))


def unpack(frames: Sequence[Frame], limit: int = NO_LIMIT) -> list[bytes]:
    unpacker = FrameUnpacker(limit)
    return [b"".join(unpacker.unpack(frame)) for frame in frames]


def unsized_frame(data: bytes, block: int = 1_000) -> bytes:
    """Return a frame that does not say how much it holds, in blocks of some bytes."""
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    pieces = [data[start : start + block] for start in range(0, len(data), block)]
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return (
        b"".join(compressor.compress(piece) + compressor.flush(flush) for piece in pieces)
        + compressor.flush()
    )


def run_length_frame(blocks: int) -> bytes:
    """Return a frame that yields 128 KiB of one byte for every four of its own."""
    block = (2**17 << 3 | 1 << 1).to_bytes(3, "little") + b"x"
    last = (2**17 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"x"
    return MAGIC + b"\x00\x38" + block * (blocks - 1) + last


@st.composite
def zstd_files(draw: DrawFn) -> list[tuple[bytes, bytes]]:
    """Payloads and their frames, as any writer may have made them."""
    payload = st.binary(max_size=300) | st.builds(bytes.__mul__, st.binary(), st.integers(0, 500))
    compressor = st.builds(
        zstandard.ZstdCompressor,
        level=st.sampled_from([-5, 1, 3, 19]),
        write_checksum=st.booleans(),
        write_content_size=st.booleans(),
    )
    compress: st.SearchStrategy[Callable[[bytes], bytes]] = compressor.map(
        lambda drawn: drawn.compress
    ) | st.just(unsized_frame)
    payloads = draw(st.lists(payload, max_size=4))
    return [(payload, draw(compress)(payload)) for payload in payloads]


@given(zstd_files(), st.none() | st.integers(1, 50))
def test_frames_are_found_as_they_were_written(
    file: list[tuple[bytes, bytes]], most: int | None
) -> None:
    """However a file is read, its frames start and end where a writer put them."""
    frames = frames_of(b"".join(frame for _, frame in file), most)
    starts = accumulate((len(frame) for _, frame in file), initial=0)
    assert frames == [
        Frame(frame, start, is_complete=True)
        for start, (_, frame) in zip(starts, file, strict=False)
    ]


@given(zstd_files())
def test_frames_hold_what_was_written(file: list[tuple[bytes, bytes]]) -> None:
    """A frame unpacks to its payload, whatever settings it was made with."""
    frames = frames_of(b"".join(frame for _, frame in file))
    assert unpack(frames) == [payload for payload, _ in file]


def test_a_frame_may_be_larger_than_one_read() -> None:
    """A frame of several mebibytes is put together, and streamed in pieces."""
    payload = random.Random(1).randbytes(3 * 2**20)
    (frame,) = frames_of(zstd_frame(payload))
    pieces = list(FrameUnpacker(NO_LIMIT).unpack(frame))
    assert b"".join(pieces) == payload
    assert max(map(len, pieces)) <= 2**20


def test_an_empty_file_has_no_frames() -> None:
    """No bytes, no frames."""
    assert frames_of(b"") == []


@pytest.mark.parametrize("cut", range(len(FILE)))
def test_a_cut_file_holds_a_true_prefix(cut: int) -> None:
    """Wherever a file is cut, the frames before are whole, and the last gives what can be had."""
    frames = frames_of(FILE[:cut])
    whole = sum(end <= cut for end in ENDS)
    assert [frame.is_complete for frame in frames] == [True] * whole + [False] * (
        cut not in {0, *ENDS}
    )
    unpacked = b"".join(unpack(frames))
    assert b"".join(PAYLOADS).startswith(unpacked)
    assert len(unpacked) >= sum(map(len, PAYLOADS[:whole]))


def test_a_flipped_bit_gives_no_other_data() -> None:
    """With any bit flipped a file is refused, or what it holds is the beginning of what it held."""
    for bit in range(8 * len(FILE)):
        flipped = bytearray(FILE)
        flipped[bit // 8] ^= 1 << bit % 8
        with suppress(FrameError):
            unpacked = b"".join(unpack(frames_of(bytes(flipped)), limit=2**20))
            assert b"".join(PAYLOADS).startswith(unpacked), f"bit {bit}"


@pytest.mark.parametrize("place", [len(FRAMES[0]) + len(FRAMES[1]) - 1, len(FRAMES[0]) + 20])
def test_a_corrupt_frame_says_where_it_starts(place: int) -> None:
    """A complete frame with another checksum than its data is refused, by its first byte."""
    flipped = bytearray(FILE)
    flipped[place] ^= 1
    with pytest.raises(FrameError) as caught:
        unpack(frames_of(bytes(flipped)))
    assert caught.value.byte == len(FRAMES[0])


def test_an_incomplete_frame_gives_its_first_blocks() -> None:
    """Of a frame that was cut, the blocks that are all there are given."""
    payload = random.Random(1).randbytes(5_000)
    frame = unsized_frame(payload)
    (cut,) = frames_of(frame[:-1_500])
    (unpacked,) = unpack([cut])
    assert len(unpacked) >= 3_000
    assert payload.startswith(unpacked)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00",
        b"{}\n",
        b"\x28\xb5\x2e",
        b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip",
        FRAMES[0][1:],
        b"\0" * 100,
    ],
    ids=["zero", "text", "other magic", "skippable", "shifted", "zeros"],
)
def test_other_bytes_are_no_frame(data: bytes) -> None:
    """Where a frame must start, anything else is refused, a skippable frame too."""
    with pytest.raises(FrameError, match="do not start a zstd frame") as caught:
        frames_of(FILE + data)
    assert caught.value.byte == len(FILE)


@pytest.mark.parametrize("block", [3 << 1 | 1 << 3, 2**17 + 1 << 3, 2**20 << 3 | 1 << 1])
def test_an_impossible_block_is_refused(block: int) -> None:
    """A block of the reserved type, or of more than 128 KiB, is corrupt and not merely cut."""
    data = MAGIC + b"\x00\x38" + block.to_bytes(3, "little") + b"x" * 10
    with pytest.raises(FrameError, match="block"):
        frames_of(data)


def test_a_frame_that_needs_a_dictionary_is_refused() -> None:
    """Frames are independent: one that names a dictionary cannot be unpacked."""
    dictionary = zstandard.train_dictionary(1_000, [bytes([n]) * 50 + b"abc" for n in range(200)])
    frame = zstandard.ZstdCompressor(dict_data=dictionary).compress(b"abc" * 100)
    (found,) = frames_of(frame)
    assert found.is_complete
    with pytest.raises(FrameError):
        unpack([found])


def test_what_a_frame_claims_is_bounded() -> None:
    """A frame that claims too much is refused before any of it is unpacked."""
    frame = zstd_frame(bytes(1_001))
    (found,) = frames_of(frame)
    with pytest.raises(TooMuchError, match="claims to hold 1,001 bytes"):
        next(FrameUnpacker(1_000).unpack(found))


@pytest.mark.parametrize("make", [zstd_frame, unsized_frame])
def test_the_limit_itself_may_be_reached(make: Callable[[bytes], bytes]) -> None:
    """As many bytes as the limit are unpacked, and not one more."""
    frames = frames_of(make(bytes(1_000)))
    assert unpack(frames, limit=1_000) == [bytes(1_000)]
    with pytest.raises(TooMuchError):
        unpack(frames, limit=999)


@pytest.mark.parametrize("make", [zstd_frame, unsized_frame])
def test_the_limit_is_for_all_frames_together(make: Callable[[bytes], bytes]) -> None:
    """Many small frames may not yield what one large one may not."""
    frames = frames_of(make(bytes(400)) * 3)
    assert len(unpack(frames, limit=1_200)) == 3
    with pytest.raises(TooMuchError) as caught:
        unpack(frames, limit=1_199)
    assert caught.value.byte == frames[2].byte


@pytest.mark.parametrize(
    "make", [run_length_frame, lambda blocks: unsized_frame(bytes(2**17 * blocks), 2**17)]
)
def test_a_bomb_takes_no_memory(make: Callable[[int], bytes]) -> None:
    """A small frame that yields a hundred times its limit is given up after the limit."""
    (bomb,) = frames_of(make(800))
    tracemalloc.start()
    try:
        with pytest.raises(TooMuchError, match="yields more bytes"):
            for _ in FrameUnpacker(2**20).unpack(bomb):
                pass
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()
