"""Older messages of version 0: wrapped where their shape is exact, near misses are damage."""

from __future__ import annotations

from typing import Any

import pytest
from logs import LogBuilder, text_block

from sessionref.errors import SessionDamagedError
from sessionref.session.fold import SessionFold, SessionLog
from sessionref.session.generations import find_generation
from sessionref.session.reading import read_log
from sessionref.session.surface import Surface, SurfaceNode

Record = dict[str, Any]

USER: Record = {"content": [text_block("hi")], "source": {"kind": "user"}}
ANSWER: Record = {
    "turn": 1,
    "step": 1,
    "content": [text_block("hello")],
    "provenance": {"provider": "p", "model": "m"},
}
RESULT: Record = {
    "turn": 1,
    "step": 1,
    "callId": "c",
    "content": [text_block("done")],
    "isError": False,
    "meta": {"n": 1},
}


def read(kind: str, data: object, **members: object) -> SessionLog:
    log = LogBuilder("s")
    log.append(kind, data, **members)
    return read_log(log.lines())


def nodes(kind: str, data: object) -> list[SurfaceNode]:
    return [node for _, node in read(kind, data, surfaceOp="append").surface]


def refused(kind: str, data: object, **members: object) -> str:
    with pytest.raises(SessionDamagedError) as caught:
        read(kind, data, **members)
    return caught.value.reason


def converted(kind: str, data: object) -> Record:
    """Return the record of today that an older one, the tenth of its log, stands for."""
    generation = find_generation(0)
    assert generation is not None
    record = {"type": kind, "seq": 9, "time": 1, "data": data}
    return generation.upgrades[kind](record, "s", Surface())


def test_an_older_user_message_is_wrapped() -> None:
    """A message without id and role gets both; its id names the session and the seq."""
    message = {"id": "legacy-message:s:9", "role": "user", **USER}
    assert converted("user/message", USER)["data"] == message
    assert nodes("user/message", USER) == [SurfaceNode("user", "hi")]


def test_an_older_checkpoint_is_a_checkpoint() -> None:
    """What an older compaction left is known by its source too."""
    data = {**USER, "source": {"kind": "plugin", "plugin": "compact"}}
    assert nodes("user/message", data) == [SurfaceNode("user", "hi", is_checkpoint=True)]


@pytest.mark.parametrize(
    "data",
    [
        {**USER, "id": "m"},
        {**USER, "role": "user"},
        {**USER, "message": {}},
        {"content": USER["content"]},
        {"source": USER["source"]},
        {**USER, "content": "hi"},
        {**USER, "source": "user"},
    ],
)
def test_a_near_miss_of_a_user_message_is_damage(data: Record) -> None:
    """A message with half of today's shape, or without content or source, is not guessed at."""
    assert refused("user/message", data, surfaceOp="append")


def test_an_older_answer_is_wrapped() -> None:
    """An answer's source is its provenance and the kind "model"; the rest of its data stays."""
    assert converted("assistant/message", {**ANSWER, "usage": {"n": 1}})["data"] == {
        "turn": 1,
        "step": 1,
        "usage": {"n": 1},
        "message": {
            "id": "legacy-message:s:9",
            "role": "assistant",
            "source": {"kind": "model", "provider": "p", "model": "m"},
            "content": ANSWER["content"],
        },
    }
    assert nodes("assistant/message", ANSWER) == [SurfaceNode("assistant", "hello")]


@pytest.mark.parametrize(
    "data",
    [
        {**ANSWER, "provenance": None},
        {**ANSWER, "provenance": {"provider": "p"}},
        {**ANSWER, "message": None},
        {**ANSWER, "content": "hello"},
        {**ANSWER, "step": None},
        {name: ANSWER[name] for name in ("turn", "step", "content")},
        {name: ANSWER[name] for name in ("turn", "step", "provenance")},
        None,
    ],
)
def test_a_near_miss_of_an_answer_is_damage(data: Record | None) -> None:
    """An answer without its model, or in both shapes at once, is not guessed at."""
    assert refused("assistant/message", data, surfaceOp="append")


def test_an_older_result_is_wrapped() -> None:
    """A result's content becomes the one block of its message; the rest of its data stays."""
    block = {"type": "tool-result", "toolCallId": "c", "isError": False}
    assert converted("tool/result", RESULT)["data"] == {
        "turn": 1,
        "step": 1,
        "meta": {"n": 1},
        "message": {
            "id": "legacy-message:s:9",
            "role": "user",
            "source": {"kind": "tool", "callId": "c"},
            "content": [{**block, "content": RESULT["content"]}],
        },
    }
    assert len(nodes("tool/result", RESULT)) == 1


def replacing(data: Record, start: int = 0) -> SessionLog:
    """Read a log in which a result of today's shape is replaced by one of the older shape."""
    log = LogBuilder("s")
    log.tool_result("c", "long output")
    log.events[0]["data"]["meta"] = {"n": 1}
    log.user("hi")
    operation = {"op": "replace", "start": start, "end": start}
    log.append("tool/result", data, surfaceOp=operation, sourceEventSeqs=[start])
    return read_log(log.lines())


def test_an_older_result_that_replaces_keeps_the_id() -> None:
    """A replacing result of the older shape takes the id of the message that it replaces."""
    assert [seq for seq, _ in replacing(RESULT).surface] == [2, 1]


@pytest.mark.parametrize(
    ("data", "start"),
    [({**RESULT, "meta": {"n": 2}}, 0), ({**RESULT, "callId": "d"}, 0), (RESULT, 1), (RESULT, 5)],
)
def test_an_older_result_replaces_nothing_else(data: Record, start: int) -> None:
    """An older result may change no more than one of today may."""
    with pytest.raises(SessionDamagedError):
        replacing(data, start)


@pytest.mark.parametrize(
    "data",
    [
        {**RESULT, "message": None},
        {**RESULT, "isError": None},
        {**RESULT, "callId": ""},
        {**RESULT, "callId": 7},
        {**RESULT, "content": "done"},
        {name: RESULT[name] for name in ("turn", "step", "callId", "content")},
        None,
    ],
)
def test_a_near_miss_of_a_result_is_damage(data: Record | None) -> None:
    """A result without its call, or in both shapes at once, is not guessed at."""
    assert refused("tool/result", data, surfaceOp="append")


def test_steering_with_a_message_is_that_message() -> None:
    """A `steering/message` becomes the user message that it holds."""
    message = {"id": "m", "role": "user", **USER}
    assert converted("steering/message", {"turn": 1, "message": message}) == {
        "type": "user/message",
        "seq": 9,
        "time": 1,
        "data": message,
    }
    data = {"turn": 1, "message": message}
    assert nodes("steering/message", data) == [SurfaceNode("user", "hi")]


def test_steering_with_content_is_wrapped() -> None:
    """A `steering/message` without a message becomes one of its content and source."""
    record = converted("steering/message", {"turn": 1, **USER})
    assert record["data"] == {"id": "legacy-message:s:9", "role": "user", **USER}


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"turn": 1},
        {"message": {"id": "m", "role": "user", **USER}},
        {"turn": 1, "message": None},
        {"turn": 1, "message": USER},
        {"turn": 1, **USER, "more": 1},
        {"turn": 1, **USER, "message": {"id": "m", "role": "user", **USER}},
        {"turn": 1, "content": USER["content"]},
    ],
)
def test_a_near_miss_of_steering_is_damage(data: Record | None) -> None:
    """Steering has exactly one of two shapes."""
    assert refused("steering/message", data, surfaceOp="append")


def test_steering_stands_on_the_surface() -> None:
    """As a user message, steering says what it does to the surface."""
    assert "surfaceOp" in refused("steering/message", {"turn": 1, **USER})


def test_an_older_log_is_closed_like_any_other() -> None:
    """The calls of an older answer wait for results as those of today's do."""
    fold = SessionFold(LogBuilder("s").header)
    call = {"type": "tool-call", "id": "c"}
    for seq, (kind, data) in enumerate(
        [
            ("turn/start", {"turn": 1, "trigger": {}}),
            ("step/start", {"turn": 1, "step": 1}),
            ("assistant/message", {**ANSWER, "content": [call]}),
        ]
    ):
        surface = {"surfaceOp": "append"} if kind == "assistant/message" else {}
        fold.take({"type": kind, "seq": seq, "time": 1, "data": data, **surface})
    assert fold.close().last_seq == 5
