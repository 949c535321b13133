"""Tool results: their one block, and the only change that may be made to them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from logs import LogBuilder, text_block

from sessionref.errors import SessionDamagedError
from sessionref.session.reading import read_log

BLOCK = ["message", "content", 0]


def one_result() -> LogBuilder:
    log = LogBuilder()
    log.tool_result("c", "long output")
    log.events[0]["data"] |= {"meta": {"n": 1, "deep": [{"x": None}]}, "error": {"code": "E"}}
    return log


def replaced(log: LogBuilder, start: int = 0, end: int = 0) -> dict[str, Any]:
    """Append a result that replaces others and is the first one but for its text; return it."""
    event = deepcopy(log.events[0])
    seq = len(log.events)
    event |= {
        "seq": seq,
        "surfaceOp": {"op": "replace", "start": start, "end": end},
        "sourceEventSeqs": list(range(seq)),
    }
    event["data"]["message"]["content"][0]["content"] = [text_block("short")]
    log.events.append(event)
    return event


def put(data: Any, path: list[Any], value: object) -> None:
    for step in path[:-1]:
        data = data[step]
    data[path[-1]] = value


def test_a_result_may_be_shortened() -> None:
    """A result may replace itself with other content, and then again."""
    log = one_result()
    replaced(log)
    replaced(log, start=1, end=1)
    assert [seq for seq, _ in read_log(log.lines()).surface] == [2]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["turn"], 2),
        (["step"], 2),
        (["error"], {"code": "F"}),
        (["meta"], {"n": 1}),
        (["meta", "n"], 2),
        (["meta", "n"], True),
        (["meta", "n"], "1"),
        (["meta", "deep"], [{"x": 0}]),
        (["meta", "deep"], [{"x": None}, None]),
        (["meta", "deep"], {"x": None}),
        (["more"], None),
        (["message", "id"], "other"),
        (["message", "more"], 1),
        (["message", "source", "more"], 1),
        ([*BLOCK, "isError"], True),
        ([*BLOCK, "more"], 1),
    ],
)
def test_nothing_else_of_a_result_may_change(path: list[Any], value: object) -> None:
    """A result that replaces another equals it in everything but the content of its block."""
    log = one_result()
    event = replaced(log)
    assert read_log(log.lines()).last_seq == 1
    put(event["data"], path, value)
    with pytest.raises(SessionDamagedError, match="change only its content"):
        read_log(log.lines())


def test_no_result_of_another_call_takes_its_place() -> None:
    """The id of the call is part of what stays equal."""
    log = one_result()
    event = replaced(log)
    put(event["data"], ["message", "source", "callId"], "d")
    put(event["data"], [*BLOCK, "toolCallId"], "d")
    with pytest.raises(SessionDamagedError, match="change only its content"):
        read_log(log.lines())


def test_an_equal_number_is_no_change() -> None:
    """`1.0` is the number 1, as in JavaScript."""
    log = one_result()
    put(replaced(log)["data"], ["meta", "n"], 1.0)
    assert read_log(log.lines()).last_seq == 1


def test_a_result_replaces_no_message() -> None:
    """A result may not stand in the place of what somebody said."""
    log = one_result()
    log.user("hi")
    replaced(log, start=1, end=1)
    with pytest.raises(SessionDamagedError, match="only itself"):
        read_log(log.lines())


def test_a_result_replaces_one_result() -> None:
    """A result may not stand in the place of two, not even of two that are equal."""
    log = one_result()
    log.events.append({**deepcopy(log.events[0]), "seq": 1})
    replaced(log, start=0, end=1)
    with pytest.raises(SessionDamagedError, match="only itself"):
        read_log(log.lines())


def test_a_message_may_replace_results() -> None:
    """A compaction may take results away with the rest."""
    log = one_result()
    log.user("hi")
    log.checkpoint("summary", 0, 1)
    assert [node.text for _, node in read_log(log.lines()).surface] == ["summary"]


def test_members_may_nest_deeper_than_python_compares() -> None:
    """A result with a thousand levels of data is compared like any other."""
    log = one_result()
    replaced(log)
    lines = [
        line.replace(b'{"x":null}', b"[" * 1_000 + end + b"]" * 1_000)
        for line, end in zip(log.lines(), [b"", b"1", b"1"], strict=True)
    ]
    assert read_log(lines).last_seq == 1
    lines[2] = lines[2].replace(b"[1]", b"[2]")
    with pytest.raises(SessionDamagedError, match="change only its content"):
        read_log(lines)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (["message", "source", "kind"], "user", "source"),
        (["message", "source", "callId"], "", "callId"),
        (["message", "source", "callId"], None, "callId"),
        (["message", "source", "callId"], "d", "differ"),
        ([*BLOCK, "toolCallId"], "d", "differ"),
        ([*BLOCK, "toolCallId"], None, "differ"),
        ([*BLOCK, "isError"], None, "isError"),
        ([*BLOCK, "isError"], 0, "isError"),
        ([*BLOCK, "content"], "text", "content"),
        ([*BLOCK, "content"], None, "content"),
        ([*BLOCK, "content"], [{"type": "text"}], "text"),
        ([*BLOCK, "content"], [7], "block"),
        ([*BLOCK, "type"], "text", "text"),
        ([*BLOCK, "type"], "result", "exactly one"),
        (["message", "content"], [], "exactly one"),
    ],
)
def test_a_result_has_one_block_of_its_call(path: list[Any], value: object, reason: str) -> None:
    """A result holds one tool-result block, whose toolCallId is the callId of its source."""
    log = one_result()
    assert read_log(log.lines()).last_seq == 0
    put(log.events[0]["data"], path, value)
    with pytest.raises(SessionDamagedError, match=reason):
        read_log(log.lines())


def test_a_result_has_no_second_block() -> None:
    """Two blocks are one too many, even if both are results of the call."""
    log = one_result()
    content = log.events[0]["data"]["message"]["content"]
    content.append(content[0])
    with pytest.raises(SessionDamagedError, match="exactly one"):
        read_log(log.lines())


@pytest.mark.parametrize("member", ["content", "isError", "toolCallId"])
def test_a_block_is_complete(member: str) -> None:
    """Content, isError and toolCallId of the block are required."""
    log = one_result()
    del log.events[0]["data"]["message"]["content"][0][member]
    with pytest.raises(SessionDamagedError, match=member):
        read_log(log.lines())
