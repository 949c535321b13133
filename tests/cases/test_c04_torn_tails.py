"""Logs that are being written: what is complete counts, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import trio
from asking import ask, context_of, sources_of
from logs import LogBuilder, json_line, to_lines, zstd_frame, zstd_log

from sessionref import Reference, SessionReferenceResolver, Target, open_resolver
from sessionref.errors import ReadFailedError

TARGET = Target(session_id="target")
END = {"turn": 1, "reason": {"kind": "completed"}}


def messages(count: int) -> LogBuilder:
    log = LogBuilder("s")
    for number in range(count):
        log.user(f"message {number}")
    return log


async def captured(resolver: SessionReferenceResolver) -> tuple[int | None, list[str]]:
    """Return up to which event the session was captured, and its texts."""
    prepared = await resolver.prepare(TARGET, "see", [Reference(session_id="s")])
    (source,) = sources_of(context_of(prepared))
    return source["capturedThroughSeq"], [message["text"] for message in source["conversation"]]


LAST = json_line({**messages(4).events[3], "seq": 3}).replace(b"message 3", "m漢".encode())


@pytest.mark.parametrize(
    "tail",
    [LAST[:40], LAST, LAST[: LAST.index("漢".encode()) + 2]],
    ids=["inside JSON", "complete", "inside a character"],
)
async def test_a_torn_line_does_not_count(tmp_path: Path, tail: bytes) -> None:
    """Everything before a last line without line feed is used, and the file stays as it is."""
    log = messages(3)
    path = log.write(tmp_path, log.to_bytes() + tail)
    before = path.read_bytes(), path.stat().st_mtime_ns
    async with open_resolver(tmp_path) as resolver:
        assert await captured(resolver) == (2, ["message 0", "message 1", "message 2"])
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize("cut", [1, 10, 30])
async def test_a_torn_frame_does_not_count(tmp_path: Path, cut: int) -> None:
    """Of a last frame that is not all there, what can be had counts by the same rules."""
    log = messages(4)
    lines = log.lines()
    data = zstd_log(lines[:4]) + zstd_frame(to_lines(lines[4:]))[:-cut]
    path = log.write(tmp_path, data, compressed=True)
    async with open_resolver(tmp_path) as resolver:
        last_seq, texts = await captured(resolver)
    assert last_seq in {2, 3}
    assert texts == [f"message {number}" for number in range((last_seq or 0) + 1)]
    assert path.read_bytes() == data


@pytest.mark.parametrize("is_ended", [True, False], ids=["turn end", "no turn end"])
async def test_a_repeated_seq(tmp_path: Path, is_ended: bool) -> None:
    """Seqs 0 to 9 and then 8 to 12 are damage if a turn ends later, else 0 to 9 are used."""
    log = messages(10)
    again = [json_line({**log.events[0], "seq": seq}) for seq in range(8, 13)]
    if is_ended:
        again.append(json_line({"type": "turn/end", "seq": 13, "time": 1, "data": END}))
    log.write(tmp_path, log.to_bytes() + to_lines(again))
    async with open_resolver(tmp_path) as resolver:
        if is_ended:
            with pytest.raises(ReadFailedError, match=r"line 12, byte \d+: damaged: seq 8"):
                await captured(resolver)
        else:
            assert await captured(resolver) == (9, [f"message {number}" for number in range(10)])


@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])
async def test_a_completed_line_appears(tmp_path: Path, compressed: bool) -> None:
    """When a writer completes what was torn, its text and its title are there."""
    log = messages(1)
    before = log.to_zstd() if compressed else log.to_bytes()
    log.user("torn text")
    log.title("torn title")
    batch = to_lines(log.lines()[2:])
    whole = before + (zstd_frame(batch) if compressed else batch)
    async with open_resolver(tmp_path) as resolver:
        log.write(tmp_path, whole[: len(before) + 15], compressed=compressed)
        assert await captured(resolver) == (0, ["message 0"])
        assert await resolver.list_candidates(TARGET, "torn title") == []
        log.write(tmp_path, whole, compressed=compressed)
        assert await captured(resolver) == (2, ["message 0", "torn text"])
        assert len(await resolver.list_candidates(TARGET, "torn title")) == 1


SNAPSHOTS, RECORDS = 50, 1_000


class Writer:
    """Appends records to a log, and rests in the middle of one now and then until told to go on."""

    def __init__(self, path: Path, *, compressed: bool) -> None:
        self.log = messages(RECORDS)
        lines = [line + b"\n" for line in self.log.lines()]
        self.pieces = list(map(zstd_frame, lines)) if compressed else lines
        self.file = path.open("ab", buffering=0)
        self.file.write(self.pieces[0])
        self.turns = threading.Semaphore(0)

    def run(self) -> None:
        with self.file:
            for place, piece in enumerate(self.pieces[1:]):
                self.file.write(piece[: len(piece) // 2])
                if place % (RECORDS // SNAPSHOTS) == 0:
                    self.turns.acquire()
                self.file.write(piece[len(piece) // 2 :])


@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])
async def test_a_log_that_grows_is_always_a_prefix(tmp_path: Path, compressed: bool) -> None:
    """While a writer appends, every snapshot is a prefix that ends at `capturedThroughSeq`."""
    path = LogBuilder("s").write(tmp_path, b"", compressed=compressed)
    writer = Writer(path, compressed=compressed)
    seen: list[int] = []
    async with open_resolver(tmp_path) as resolver, trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, writer.run)
        try:
            for _ in range(SNAPSHOTS):
                writer.turns.release()
                last_seq, texts = await captured(resolver)
                assert texts == [f"message {number}" for number in range(len(texts))]
                assert last_seq == (len(texts) - 1 if texts else None)
                seen.append(len(texts))
        finally:
            writer.turns.release(SNAPSHOTS)
    assert seen == sorted(seen)
    (source,) = sources_of(context_of(await ask(tmp_path, "s")))
    assert source["capturedThroughSeq"] == RECORDS - 1
