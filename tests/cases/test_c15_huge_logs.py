"""Huge logs: right snapshots, and memory and reading bounded by what is asked for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import zstandard
from asking import ask, context_of, sources_of
from logs import LogBuilder, json_line, to_lines

from sessionref import Target, open_resolver
from sessionref.storage import JsonlSessionStore
from sessionref.testing import FailingStore

MEBIBYTE = 2**20
each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


@each_encoding
async def test_one_line_of_twelve_megabytes(tmp_path: Path, compressed: bool) -> None:
    """A 12 MB tool result among 14 messages leaves their snapshot as it is."""
    log = LogBuilder("s")
    for number in range(7):
        log.user(f"question {number}")
        if number == 3:
            log.tool_result("c", "output " * 1_700_000)
        log.assistant(f"answer {number}")
    assert len(log.to_bytes()) > 11 * MEBIBYTE
    log.write(tmp_path, compressed=compressed)
    (source,) = sources_of(context_of(await ask(tmp_path, "s")))
    assert [message["text"] for message in source["conversation"]] == [
        f"{kind} {number}" for number in range(7) for kind in ("question", "answer")
    ]


@each_encoding
async def test_twenty_thousand_messages(tmp_path: Path, compressed: bool) -> None:
    """Of a very long conversation the last messages are kept, and the rest is counted."""
    log = LogBuilder("s")
    for number in range(20_000):
        log.user(f"message {number:05}")
    log.write(tmp_path, compressed=compressed)
    message = context_of(await ask(tmp_path, "s"))
    (source,) = sources_of(message)
    (record,) = message.to_wire()["source"]["references"]
    texts = [message["text"] for message in source["conversation"]]
    assert texts == [f"message {number:05}" for number in range(20_000 - len(texts), 20_000)]
    assert 1_000 < len(texts) == record["retainedMessages"]
    assert record["omittedMessages"] == 20_000 - len(texts)
    assert record["omittedBytes"] == 13 * (20_000 - len(texts))


async def test_two_thousand_logs(tmp_path: Path) -> None:
    """A lookup without a query reads as many logs as it lists, whatever lies there."""
    for number in range(2_000):
        log = LogBuilder(f"{number:04}", cwd=f"/w/{number % 9}", created_at=number)
        log.title(f"title {number}")
        log.write(tmp_path, compressed=number % 2 == 0)
    store = FailingStore(JsonlSessionStore(tmp_path))
    async with open_resolver(store) as resolver:
        found = await resolver.list_candidates(Target(session_id="t"))
        assert store.title_reads == 50
        assert [candidate.label for candidate in found] == [
            f"title {number}" for number in range(1_999, 1_949, -1)
        ]
        (one,) = await resolver.list_candidates(Target(session_id="t"), "title 1234")
    assert one.session_id == "1234"


def stream_lines(size: int) -> Iterator[bytes]:
    """Yield the lines of a log of about so many bytes: streamed text between two messages."""
    log = LogBuilder("s")
    log.user("the first message")
    yield from log.lines()
    texts = ["word"] * 500
    seq = 1
    while size > 0:
        data = {"turn": 1, "step": 1, "index": 0, "dt": [0] * 499, "texts": texts}
        run = json_line({"type": "text-chunks", "seq0": seq, "time0": 1, "data": data})
        delta = {"type": "text-delta", "index": 0, "text": "x" * 100}
        chunk = {"turn": 1, "step": 1, "chunk": delta}
        one = json_line({"type": "assistant/chunk", "seq": seq + 500, "time": 1, "data": chunk})
        yield run
        yield one
        seq += 501
        size -= len(run) + len(one) + 2
    log.user("the last message")
    yield json_line({**log.events[-1], "seq": seq})


def write_stream(root: Path, size: int, *, compressed: bool) -> None:
    """Write such a log as a writer would, in batches that are never all in memory."""
    path = LogBuilder("s").write(root, b"", compressed=compressed)
    lines = stream_lines(size)
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    with path.open("wb") as file:
        batch = [next(lines)]
        while batch:
            data = to_lines(batch)
            file.write(compressor.compress(data) if compressed else data)
            batch = list(islice(lines, 200))


async def peak_of_reading(root: Path) -> int:
    """Return the most bytes that were in use while the one log below a root was prepared."""
    tracemalloc.start()
    try:
        message = context_of(await ask(root, "s"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    (source,) = sources_of(message)
    texts = [message["text"] for message in source["conversation"]]
    assert texts == ["the first message", "the last message"]
    return peak


@each_encoding
async def test_memory_is_that_of_the_surface(tmp_path: Path, compressed: bool) -> None:
    """Reading 30 MB of streamed text takes no more memory than a few pieces of the file."""
    write_stream(tmp_path, 30 * MEBIBYTE, compressed=compressed)
    assert await peak_of_reading(tmp_path) < 8 * MEBIBYTE


@pytest.mark.slow
@each_encoding
async def test_memory_does_not_grow_with_the_log(tmp_path: Path, compressed: bool) -> None:
    """Reading 100 MB takes as little."""
    write_stream(tmp_path, 100 * MEBIBYTE, compressed=compressed)
    assert await peak_of_reading(tmp_path) < 8 * MEBIBYTE


@pytest.mark.slow
async def test_memory_does_not_grow_with_one_frame(tmp_path: Path) -> None:
    """A batch of 100 MB in one frame is unpacked in pieces."""
    path = LogBuilder("s").write(tmp_path, b"", compressed=True)
    lines = stream_lines(100 * MEBIBYTE)
    with path.open("wb") as file:
        file.write(zstandard.ZstdCompressor().compress(next(lines) + b"\n"))
        with zstandard.ZstdCompressor(write_checksum=True).stream_writer(file) as writer:
            for line in lines:
                writer.write(line + b"\n")
    assert await peak_of_reading(tmp_path) < 8 * MEBIBYTE
