"""Lines that are parsed and checked in one go mean what they mean when the fold judges them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import LogBuilder, json_line, text_block, tool_call_block
from rewriting import rewrite
from strategies import json_values

from sessionref.errors import StorageError
from sessionref.session import typed
from sessionref.session.fold import SessionFold, SessionLog
from sessionref.session.header import read_header
from sessionref.session.json_line import line_decoder
from sessionref.session.runs import pack_runs
from sessionref.session.typed import take_lines

Take = Callable[[SessionFold, Iterable[bytes]], None]

DEEPER_THAN_ANY_PARSER_GOES = 200_000


def every_shape(version: int) -> list[bytes]:
    """The lines of a log that has each shape, and lines that have none."""
    log = LogBuilder("s", cwd="/w")
    log.start_turn()
    log.user("ask", "more")
    log.append("agent/inbox/spliced", {"target": "next-turn", "inserted": []})
    log.start_step()
    for text in ("a", "b\n", "é"):
        log.chunk(text)
    log.append("request/header", {"header": {}, "reason": "initial"})
    log.append("request/context", {"provider": "p"})
    log.assistant("answer", blocks=(text_block("漢 \U0001f600"), tool_call_block("c")))
    log.tool_call("c")
    log.tool_result("c", "done")
    log.title("T")
    log.end_step()
    log.end_turn()
    log.checkpoint("all of it", 1, log.surface[-1])
    log.start_turn(2)
    log.user("again")
    if version == 0:
        log.events[9]["sourceEventSeqs"] = [5, 6, 7, 8]
        records = [{"type": "session", **log.header.to_wire()}, *pack_runs(log.events)]
        return [json_line(record) for record in records]
    return rewrite(log.header, log.events, version).lines()


SHAPES = {version: every_shape(version) for version in (0, 4)}


def take_generally(fold: SessionFold, lines: Iterable[bytes]) -> None:
    for line in lines:
        fold.take(line_decoder()(line))


def read(take: Take, lines: list[bytes]) -> SessionLog | tuple[type[Exception], str, int]:
    """Return what lines mean, or why they mean nothing and how far they were taken."""
    fold = SessionFold(read_header(lines[0]))
    try:
        take(fold, iter(lines[1:]))
        return fold.close()
    except (ValueError, StorageError) as error:
        return type(error), str(error), fold.next_seq


def taken_at_once(lines: list[bytes], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the types of those lines that the fold did not have to judge."""
    judged: list[str] = []

    def take(_: SessionFold, value: Any) -> None:
        judged.append(value["type"])
        original(_, value)

    original = SessionFold.take
    monkeypatch.setattr(SessionFold, "take", take)
    fold = SessionFold(read_header(lines[0]))
    take_lines(fold, lines[1:])
    return {json.loads(line)["type"] for line in lines[1:]} - set(judged)


@st.composite
def changed_lines(draw: DrawFn) -> list[bytes]:
    """Lines of every shape, of which one or two have had a part changed, added or repeated."""
    lines = list(draw(st.sampled_from(list(SHAPES.values()))))
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(1, len(lines) - 1))
        lines[place] = draw(st.sampled_from([_with_other_part, _with_other_bytes]))(
            draw, lines[place]
        )
    return lines


def _with_other_part(draw: DrawFn, line: bytes) -> bytes:
    """Return a line with a value, a member or an element exchanged, or a member doubled."""
    starts = [place for place in range(len(line)) if line[place : place + 1] in b'"[{0123456789tf']
    start = draw(st.sampled_from(starts or [0]))
    end = _end_of_value(line, start)
    odd = [b"1.0", b"-1", b"1e400", b"9007199254740992", b"true", b"null", b'""', b"[]", b"{}"]
    odd += [b'"\\ud800"', b'"type":"turn/end","type"', b'"seq":0,"seq"', b'"a":1,"data"', b"[[0]]"]
    part = draw(st.sampled_from(odd) | json_values().map(json_line))
    return line[:start] + part + line[end:]


def _with_other_bytes(draw: DrawFn, line: bytes) -> bytes:
    start = draw(st.integers(0, len(line)))
    end = start + draw(st.integers(0, 3))
    other = st.sampled_from([b"", b" ", b"\r", b",", b"}", b"\\", b"\xff", b"\xed\xa0\x80", b"0"])
    return line[:start] + draw(other | st.binary(max_size=2)) + line[end:]


def _end_of_value(line: bytes, start: int) -> int:
    """Return where the JSON value that starts at a byte ends; the byte after, if none does."""
    text = line[start:].decode(errors="surrogateescape")
    try:
        _, length = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return start + 1
    return start + len(text[:length].encode(errors="surrogateescape"))


@pytest.mark.parametrize("version", SHAPES)
def test_the_common_lines_are_taken_at_once(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What most lines are never comes to the fold as data."""
    common = {"turn/start", "turn/end", "step/start", "step/end", "tool/call", "tool/result"}
    common |= {"assistant/message", "agent/inbox/spliced", "request/context"}
    common |= {"request/header", "session/title"}
    common |= {"text-chunks"} if version == 0 else set()
    assert taken_at_once(SHAPES[version], monkeypatch) >= common


@pytest.mark.parametrize("version", SHAPES)
def test_sound_lines_mean_the_same(version: int) -> None:
    """A log whose lines have every shape reads like one whose lines were judged one by one."""
    log = read(take_lines, SHAPES[version])
    assert isinstance(log, SessionLog)
    assert log == read(take_generally, SHAPES[version])


@given(changed_lines())
@example([line.replace(b"[5,6,7,8]", b"[1e999]") for line in SHAPES[0]])
@example([line.replace(b'"initial"', b'"fallback"') for line in SHAPES[0]])
@example([line.replace(b'"initial"', b'"fallback"') for line in SHAPES[4]])
@example([line.replace(b'"title":"T"', b'"title":"\\ud800"') for line in SHAPES[0]])
@example([line.replace(b'"title":"T"', b'"title":1e400') for line in SHAPES[0]])
@example([*SHAPES[0][:3], b'{"type":"assistant/chunk","seq":2,"time":1,"data":"\xff"}'])
@example([*SHAPES[0][:3], b'{"type":"assistant/chunk","seq":2,"time":1,"data":"\\ud800"}'])
@example([*SHAPES[0][:3], b'{"type":"todo/write","seq":2,"time":1,"data":0,"type":"turn/end"}'])
@example([*SHAPES[0][:3], b'{"type":"todo/write","seq":2,"time":1,"data":0,"type":"x"}'])
def test_changed_lines_mean_the_same_or_fail_the_same(lines: list[bytes]) -> None:
    """Whatever a line holds, taking it at once gives the log or the error of judging it."""
    found, expected = read(take_lines, lines), read(take_generally, lines)
    if found != expected:
        assert any(b"1e400" in line for line in lines)


@given(changed_lines())
def test_a_log_without_its_surface_has_the_same_title(lines: list[bytes]) -> None:
    """Not wanting the messages changes nothing but that they are missing."""
    header = read_header(lines[0])
    whole, rest = (SessionFold(header, keeps_surface=keeps) for keeps in (True, False))
    outcomes: list[tuple[object, ...]] = []
    for fold in (whole, rest):
        try:
            take_lines(fold, lines[1:])
            log = fold.close()
        except (ValueError, StorageError) as error:
            outcomes.append((str(error), fold.next_seq))
        else:
            outcomes.append((log.title, log.last_time))
    assert outcomes[0] == outcomes[1]


def test_what_is_passed_over_may_nest_as_deep_as_it_likes() -> None:
    """Deep nesting raises nothing but what the general parser says of it."""
    deep = b"[" * DEEPER_THAN_ANY_PARSER_GOES + b"]" * DEEPER_THAN_ANY_PARSER_GOES
    line = b'{"type":"todo/write","seq":2,"time":1,"data":' + deep + b"}"
    assert read(take_lines, [*SHAPES[0][:3], line]) == read(take_generally, [*SHAPES[0][:3], line])


def test_a_number_beyond_a_double_may_be_passed_over() -> None:
    """JavaScript reads it as infinity, and nothing looks at what it stands for."""
    fold = SessionFold(read_header(SHAPES[0][0]))
    take_lines(fold, [b'{"type":"todo/write","seq":0,"time":1,"data":1e400}'])
    assert fold.next_seq == 1


def test_only_what_has_a_tag_is_in_a_union() -> None:
    """A block without a type is damage, though msgspec lets a lone shape go without its tag."""
    line = SHAPES[0][2].replace(b'"type":"text",', b"")
    assert read(take_lines, [*SHAPES[0][:2], line]) == read(take_generally, [*SHAPES[0][:2], line])
    assert typed.__all__ == ["take_lines"]
