"""A title that is read from where reading stopped is the title that a whole reading finds."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import LogBuilder, json_line, log_path, to_lines, tool_call_block, zstd_frame
from rewriting import rewrite
from storage.title_readings import known_of, noting, outcome, read, try_to_read
from strategies import joined_text, log_builders
from turns import logs_in_turns

from sessionref.errors import SessionTooLargeError, StorageError
from sessionref.session.header import SessionHeader
from sessionref.storage.jsonl.reader import LogRules
from sessionref.storage.jsonl.titles import TitleState

VERSIONS = range(5)
AS_MANY_AS_ARE_PEEKED_AT = 2**18

each_version = pytest.mark.parametrize("version", VERSIONS)
each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])

NO_EVENTS = [b"{", b"[]", b'{"type":"turn/start"}', b"\xff", b"\xe6\xbc", b""]
REPLACE: dict[str, Any] = {"op": "replace", "start": 0, "end": 0}
EVENTS: list[dict[str, Any]] = [
    {"type": "no/such", "data": 1},
    {"type": "no/such", "data": 1, "ignorable": True},
    {"type": "session/title", "data": {"title": 7}},
    {"type": "session/title", "data": {"title": "T", "messageSeqs": [], "source": {}}},
    {"type": "session/end-seed", "data": {"inherited": True}},
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "bored"}}},
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "completed"}}},
    {"type": "user/message", "data": {}, "surfaceOp": REPLACE, "sourceEventSeqs": [0]},
    # Older spellings, one of which takes its id from the result that it replaces.
    {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "disposed"}}},
    {
        "type": "tool/result",
        "data": {"turn": 1, "step": 1, "callId": "c", "content": [], "isError": False},
        "surfaceOp": REPLACE,
        "sourceEventSeqs": [0],
    },
]
"""Events of all sorts, to be put in the place of others: many break a rule there, some do not."""


def lines_of(log: LogBuilder, version: int) -> tuple[SessionHeader, list[bytes]]:
    if version == 0:
        return log.header, log.lines(packed=True)
    rewritten = rewrite(log.header, log.events, version)
    return rewritten.header, rewritten.lines()


def altered(draw: DrawFn, lines: list[bytes]) -> list[bytes]:
    """Return lines of which one is another event, missing, there twice, or behind no event."""
    place = draw(st.integers(1, len(lines) - 1))
    before, line, after = lines[:place], lines[place], lines[place + 1 :]
    match draw(st.sampled_from(["behind", "other", "missing", "twice"])):
        case "behind":
            return [*before, draw(st.sampled_from(NO_EVENTS)), line, *after]
        case "other":
            seq = re.search(rb'"seq0?":(\d+)', line)
            members = {"seq": int(seq[1]) if seq else 0, "time": 1}
            return [*before, json_line({**draw(st.sampled_from(EVENTS)), **members}), *after]
        case "missing":
            return [*before, *after]
        case _:
            return [*before, line, line, *after]


def framed(draw: DrawFn, lines: list[bytes]) -> bytes:
    """Return lines in frames of any number of them; now and then a frame ends inside a line."""
    rest, data = to_lines(lines[1:]), zstd_frame(to_lines(lines[:1]))
    ends = [place + 1 for place, byte in enumerate(rest) if byte == ord("\n")]
    cuts = draw(st.sets(st.sampled_from(ends))) if ends else set()
    if rest and draw(st.sampled_from([False] * 9 + [True])):
        cuts |= {draw(st.integers(0, len(rest)))}
    for start, end in pairwise(sorted({0, *cuts, len(rest)})):
        data += zstd_frame(rest[start:end])
    return data


@st.composite
def growing_logs(draw: DrawFn) -> tuple[SessionHeader, bool, list[bytes]]:
    """The header of a log, whether it is compressed, and the pieces that it is appended in."""
    log = draw(logs_in_turns() | log_builders(max_events=20))
    for title in draw(st.lists(joined_text(max_size=12), max_size=3)):
        log.title(title)
    header, lines = lines_of(log, draw(st.sampled_from(VERSIONS)))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        if len(lines) > 1:
            lines = altered(draw, lines)
    compressed = draw(st.booleans())
    data = framed(draw, lines) if compressed else to_lines(lines)
    cuts = draw(st.lists(st.integers(0, len(data)), min_size=2, max_size=6))
    pieces = [data[start:end] for start, end in pairwise([0, *sorted(cuts), len(data)])]
    return header, compressed, pieces


@given(growing_logs())
def test_reading_on_finds_what_reading_all_finds(
    growing: tuple[SessionHeader, bool, list[bytes]],
) -> None:
    """Wherever a log was cut when it was read before, nothing is missed, nothing else is wrong."""
    header, compressed, pieces = growing
    with TemporaryDirectory() as folder:
        path = log_path(
            Path(folder), header.id, header.cwd, version=header.version, compressed=compressed
        )
        path.parent.mkdir(parents=True)
        known = None
        for piece in pieces:
            with path.open("ab") as file:
                file.write(piece)
            found = try_to_read(path, known)
            assert outcome(found) == outcome(try_to_read(path))
            if not isinstance(found, StorageError):
                known = known_of(found)
                # Only what stands in a torn frame can hinder the next reading from going on.
                assert known is not None or compressed


def log_before_a_crash(version: int) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of a log up to a step, and those of all that may follow but compactions."""
    log = LogBuilder("s", cwd="/w", seed_length=1)
    log.title("before")
    log.start_turn()
    log.user("question")
    log.checkpoint("a compaction that was read before", log.surface[0], log.surface[0])
    lines = len(lines_of(log, version)[1])
    log.start_step()
    for text in "abc":
        log.chunk(text)
    log.assistant("answer", blocks=(tool_call_block("c"),))
    log.tool_call("c")
    log.tool_result("c", "done")
    log.title("after 漢")
    log.end_step()
    log.end_turn()
    _, all_lines = lines_of(log, version)
    return all_lines[:lines], all_lines[lines:]


@each_encoding
@each_version
def test_only_what_is_new_is_read(tmp_path: Path, version: int, compressed: bool) -> None:
    """Whatever a turn appends is read without what stands before it, in every version."""
    before, after = log_before_a_crash(version)
    path = log_path(tmp_path, "s", "/w", version=version, compressed=compressed)
    path.parent.mkdir(parents=True)
    start, rest = to_lines(before), to_lines(after)
    if compressed:
        start, rest = (
            zstd_frame(to_lines(before[:1])) + zstd_frame(to_lines(before[1:])),
            b"".join(zstd_frame(line + b"\n") for line in after),
        )
    path.write_bytes(start)
    known = known_of(read(path))
    assert known is not None
    with path.open("ab") as file:
        file.write(rest)
    with noting() as taken:
        assert read(path, known).title == "after 漢"
    assert b"".join(taken.read) == rest


def test_looking_at_what_stands_before_is_bounded(tmp_path: Path) -> None:
    """The cost of a title that was appended does not grow with what was there before."""
    log = LogBuilder("s", cwd="/w")
    for number in range(3_000):
        log.user(f"question {number} " + "x" * 1_000)
    path = log.write(tmp_path)
    known = known_of(read(path))
    log.title("new")
    line = json_line(log.events[-1]) + b"\n"
    with path.open("ab") as file:
        file.write(line)
    with noting() as taken:
        assert read(path, known).title == "new"
    assert b"".join(taken.read) == line
    assert sum(map(len, taken.peeked)) <= 2 * AS_MANY_AS_ARE_PEEKED_AT


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
    error = try_to_read(path, known)
    assert isinstance(error, StorageError)
    assert outcome(error) == outcome(try_to_read(path))


def test_a_limit_counts_what_was_read_before(tmp_path: Path) -> None:
    """A compressed log may hold so many bytes in all, in however many readings it was read."""
    log = LogBuilder("s", cwd="/w")
    path = log.write(tmp_path, compressed=True)
    rules = LogRules(max_bytes=4_000)
    found: TitleState | StorageError = read(path, None, rules)
    while isinstance(found, TitleState):
        assert len(log.to_bytes()) <= rules.max_bytes
        log.title("x" * 1_000)
        with path.open("ab") as file:
            file.write(zstd_frame(json_line(log.events[-1]) + b"\n"))
        found = try_to_read(path, known_of(found), rules)
        assert outcome(found) == outcome(try_to_read(path, None, rules))
    assert isinstance(found, SessionTooLargeError)
    assert len(log.to_bytes()) > rules.max_bytes


def test_what_stands_behind_a_defect_stays_behind_it(tmp_path: Path) -> None:
    """A crash tail is looked at again, from its first line on, whatever is appended to it."""
    log = LogBuilder("s", cwd="/w")
    for title in ("before", "behind"):
        log.title(title)
    log.end_turn()
    header, before, *after = log.lines()
    path = log.write(tmp_path, to_lines([header, before, b"no event"]))
    state = read(path)
    for line, expected in zip(after, ("before", None), strict=True):
        with path.open("ab") as file:
            file.write(line + b"\n")
        found = try_to_read(path, known_of(state))
        assert outcome(found) == outcome(try_to_read(path))
        assert (found.title if isinstance(found, TitleState) else None) == expected
