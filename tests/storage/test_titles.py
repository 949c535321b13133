"""A title that is read from where reading stopped is the title that a whole reading finds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import LogBuilder, json_line, to_lines, tool_call_block, zstd_frame
from rewriting import rewrite

from sessionref.errors import StorageError
from sessionref.storage.jsonl.logfile import BoundedFile
from sessionref.storage.jsonl.reader import LogRules
from sessionref.storage.jsonl.titles import KnownTitle, LogMark, TitleState, read_title

LONG = 2**18


def read(path: Path, known: KnownTitle | None = None) -> TitleState:
    return read_title(str(path), LogRules(), lambda: None, known)


def known_of(state: TitleState) -> KnownTitle | None:
    """Return what is kept of a reading, by way of the bytes that it is kept as."""
    if state.mark is None:
        return None
    mark = LogMark.from_bytes(state.mark.to_bytes())
    assert mark == state.mark
    return KnownTitle(state.header, state.title, mark)


def outcome(read_it: Callable[[], TitleState]) -> tuple[object, ...]:
    try:
        state = read_it()
    except StorageError as error:
        return type(error), str(error)
    return state.header, state.title


def some_log(version: int) -> tuple[LogBuilder, list[bytes]]:
    """A log with titles in several places, tool calls and a compaction, and its lines."""
    log = LogBuilder("s", cwd="/w")
    log.title("first")
    for turn in (1, 2, 3):
        log.start_turn(turn)
        log.user(f"question {turn}")
        log.start_step()
        for text in "abc":
            log.chunk(text)
        log.assistant("answer", blocks=(tool_call_block(f"c{turn}"),))
        log.tool_call(f"c{turn}")
        log.tool_result(f"c{turn}", "done")
        log.end_step()
        log.title(f"title {turn} \ud83d")
        log.end_turn(turn)
        if turn == 2:
            log.checkpoint("all of it", log.surface[0], log.surface[-1])
    lines = (
        log.lines(packed=True) if version == 0 else rewrite(log.header, log.events, version).lines()
    )
    return log, lines


@st.composite
def growing_files(draw: DrawFn) -> tuple[str, list[bytes]]:
    """The name of a log, and the pieces that it is appended in; now and then a line is wrong."""
    version = draw(st.sampled_from([0, 2, 4]))
    _, lines = some_log(version)
    if draw(st.booleans()):
        place = draw(st.integers(1, len(lines) - 1))
        lines[place] = draw(st.sampled_from([b"{", b"[]", lines[place - 1], lines[1]]))
    stem = f"session.v{version}" if version else "session"
    is_compressed = draw(st.booleans())
    if is_compressed:
        sizes = draw(st.lists(st.integers(1, 9), min_size=1))
        parts, rest = [lines[:1]], lines[1:]
        for size in sizes * len(lines):
            parts.append(rest[:size])
            rest = rest[size:]
        data = b"".join(zstd_frame(to_lines(part)) for part in parts if part)
    else:
        data = to_lines(lines)
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    bounds = [0, *cuts, len(data)]
    pieces = [data[start:end] for start, end in pairwise(bounds)]
    return f"{stem}.jsonl{'.zstd' if is_compressed else ''}", pieces


@given(growing_files())
def test_reading_on_finds_what_reading_all_finds(growing: tuple[str, list[bytes]]) -> None:
    """Wherever a log was cut when it was read before, nothing is missed, nothing else is wrong."""
    name, pieces = growing
    with TemporaryDirectory() as folder:
        path = Path(folder, "--w--", "s", name)
        path.parent.mkdir(parents=True)
        known = None
        for piece in pieces:
            with path.open("ab") as file:
                file.write(piece)
            from_mark = outcome(lambda known=known: read(path, known))  # type: ignore[misc]
            assert from_mark == outcome(lambda: read(path))
            if not isinstance(from_mark[0], type):
                known = known_of(read(path, known))


@pytest.mark.parametrize("place", ["start", "middle", "end"])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_that_was_rewritten_is_read_anew(
    tmp_path: Path, place: str, compressed: bool
) -> None:
    """A mark fits only what was read: the same file, grown, may hold something else."""
    log = LogBuilder("s", cwd="/w")
    for number in range(9):
        log.title(f"title {number}")
    path = log.write(tmp_path, compressed=compressed)
    known = known_of(read(path))
    assert known is not None
    other = LogBuilder("s", cwd="/w")
    changed = {"start": 0, "middle": 4, "end": 8}[place]
    for number in range(9):
        other.title("other" if number == changed else f"title {number}")
    other.append("turn/start", {"turn": 1})
    with path.open("r+b") as file:
        file.write(other.to_zstd() if compressed else other.to_bytes())
        file.truncate()
    assert read(path, known).title == ("other" if place == "end" else "title 8")
    assert known.mark.fingerprint != read(path).mark.fingerprint  # type: ignore[union-attr]


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of a title that was appended does not grow with what was there before."""
    log = LogBuilder("s", cwd="/w")
    for number in range(3_000):
        log.user(f"question {number} " + "x" * 1_000)
    path = log.write(tmp_path)
    known = known_of(read(path))
    assert known is not None
    log.title("new")
    line = json_line(log.events[-1]) + b"\n"
    with path.open("ab") as file:
        file.write(line)
    taken: list[bytes] = []
    peeked: list[bytes] = []
    note(monkeypatch, "read", taken)
    note(monkeypatch, "peek", peeked)
    assert read(path, known).title == "new"
    assert b"".join(taken) == line
    assert sum(map(len, peeked)) <= 2 * LONG


def note(monkeypatch: pytest.MonkeyPatch, name: str, into: list[bytes]) -> None:
    """Let what a method of a file returns be noted."""
    original = getattr(BoundedFile, name)

    def noting(self: BoundedFile, *args: Any) -> bytes:
        data: bytes = original(self, *args)
        into.append(data)
        return data

    monkeypatch.setattr(BoundedFile, name, noting)


def test_a_replacement_behind_a_mark_is_read_with_all_before_it(tmp_path: Path) -> None:
    """A compaction needs the surface, which no mark holds: the log is read from its beginning."""
    log = LogBuilder("s", cwd="/w")
    first, second = log.user("one"), log.user("two")
    path = log.write(tmp_path)
    known = known_of(read(path))
    log.checkpoint("both", first, second)
    log.title("compacted")
    with path.open("ab") as file:
        file.write(to_lines(map(json_line, log.events[2:])))
    assert read(path, known).title == "compacted"
    log.events[2]["surfaceOp"]["end"] = 1_000
    path.write_bytes(log.to_bytes())
    assert outcome(lambda: read(path, known)) == outcome(lambda: read(path))


def test_a_title_in_a_torn_frame_is_not_relied_on(tmp_path: Path) -> None:
    """What stands in an incomplete frame counts as long as it stands there."""
    log = LogBuilder("s", cwd="/w")
    log.title("whole")
    path = log.write(tmp_path, compressed=True)
    size = path.stat().st_size
    log.title("torn")
    torn = zstd_frame(json_line(log.events[1]) + b"\n" + b"x" * 200_000)
    with path.open("ab") as file:
        file.write(torn[:-4])
    state = read(path)
    assert (state.title, state.mark) == ("torn", None)
    with path.open("r+b") as file:
        file.truncate(size)
    assert read(path, known_of(state)).title == "whole"


@pytest.mark.parametrize("data", [b"", b"x", b"\x90", b"\xff" * 50, b"not a mark"])
def test_bytes_that_are_no_mark_are_none(data: bytes) -> None:
    """What another version has kept, or a flipped bit, only costs a whole reading."""
    assert LogMark.from_bytes(data) is None
