"""Whatever the bytes of a log are, reading it gives a session or a storage error."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import LogBuilder, json_line, text_block, tool_call_block
from strategies import json_values

from sessionref.errors import StorageError
from sessionref.session.fold import SessionLog
from sessionref.session.reading import read_log
from sessionref.session.runs import pack_runs


def full_log() -> LogBuilder:
    """A log with an event of every kind that is understood, the older spellings among them."""
    log = LogBuilder("s", cwd="/w", parent_session="p", seed_length=1, origin="subagent")
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "user"}})
    log.start_step()
    log.user("ask")
    log.append("user/message", {"content": [], "source": {"kind": "user"}}, surfaceOp="append")
    for text in "abc":
        log.chunk(text)
    log.assistant("answer", blocks=(tool_call_block("c"),))
    log.events[-1]["sourceEventSeqs"] = [[4, 6]]
    log.tool_call("c")
    log.tool_result("c", "done")
    result = deepcopy(log.events[-1]["data"])
    operation = {"op": "replace", "start": 9, "end": 9}
    log.append("tool/result", result, surfaceOp=operation, sourceEventSeqs=[9])
    log.title("T")
    log.append("acme/note", {"text": "x"}, ignorable=True)
    log.surface = [2, 3, 7, 10]
    log.checkpoint("summary", 2, 7)
    steering = {"turn": 1, "content": [text_block("on")], "source": {"kind": "user"}}
    log.append("steering/message", steering, surfaceOp="append")
    provenance = {"provider": "p", "model": "m"}
    answer = {"turn": 1, "step": 1, "content": [tool_call_block("d")], "provenance": provenance}
    log.append("assistant/message", answer, surfaceOp="append")
    result = {"turn": 1, "step": 1, "callId": "d", "content": [], "isError": True}
    log.append("tool/result", result, surfaceOp="append")
    log.append("turn/end", {"turn": 1, "reason": {"kind": "error", "message": "no"}})
    return log


HEADER, *RECORDS = [
    {"type": "session", **full_log().header.to_wire()},
    *pack_runs(full_log().events),
]
DELETED = "\0deleted"


def paths(value: Any) -> list[tuple[Any, ...]]:
    """Return the ways to all parts of JSON data."""
    if type(value) not in (dict, list):
        return [()]
    parts = value.items() if type(value) is dict else enumerate(value)
    return [(), *((name, *path) for name, part in parts for path in paths(part))]


def changed(value: Any, path: tuple[Any, ...], to: object) -> Any:
    """Return JSON data with one part of it changed, or taken away."""
    if not path:
        return to
    name, *rest = path
    copy = type(value)(value)
    if not rest and to == DELETED:
        del copy[name]
    else:
        copy[name] = changed(value[name], tuple(rest), to)
    return copy


@st.composite
def damaged_logs(draw: DrawFn) -> list[bytes]:
    """The lines of the full log with one to three parts of its records changed."""
    records = [HEADER, *RECORDS]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(records) - 1))
        path = draw(st.sampled_from(paths(records[place])))
        other = draw(st.sampled_from(records))
        parts = st.sampled_from([None, 0, 1.5, -1, True, "", "x", [], {}, DELETED, other])
        records[place] = changed(records[place], path, draw(parts | json_values()))
    return [json_line(record) for record in records]


def assert_read(lines: list[bytes]) -> None:
    with suppress(StorageError):
        assert isinstance(read_log(lines, {"acme/known"}), SessionLog)


def test_the_full_log_is_sound() -> None:
    """What the damaged logs are made from is itself a log."""
    read = read_log([json_line(record) for record in [HEADER, *RECORDS]])
    assert [seq for seq, _ in read.surface] == [13, 10, 14, 15, 16]


@given(st.lists(st.binary()))
def test_any_lines_give_a_session_or_a_storage_error(lines: list[bytes]) -> None:
    """No line of bytes makes reading raise anything else."""
    assert_read(lines)


@given(st.lists(json_values().map(json_line)))
def test_any_json_gives_a_session_or_a_storage_error(lines: list[bytes]) -> None:
    """No lines of JSON behind a good header make reading raise anything else."""
    assert_read([json_line(HEADER), *lines])


@given(damaged_logs())
def test_a_changed_log_gives_a_session_or_a_storage_error(lines: list[bytes]) -> None:
    """Wherever a part of a good log is another value, reading raises nothing else."""
    assert_read(lines)


@given(damaged_logs(), st.integers(0, 2_000))
def test_a_cut_log_gives_a_session_or_a_storage_error(lines: list[bytes], cut: int) -> None:
    """Wherever such a log is cut, reading its complete lines raises nothing else."""
    assert_read(b"\n".join(lines)[:cut].split(b"\n")[:-1])
