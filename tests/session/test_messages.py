"""The three types of the surface: their shapes, and what of them is conversation."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, text_block, tool_call_block
from strategies import joined_text

from sessionref.errors import SessionDamagedError
from sessionref.session.reading import read_log
from sessionref.session.surface import SurfaceNode

MISSING = object()

NO_NAMES: list[object] = ["", None, 7, ["x"], MISSING]
"""What a non-empty string is not."""


def one_of_each() -> LogBuilder:
    log = LogBuilder()
    log.user("ask")
    log.assistant("answer", blocks=(tool_call_block("c"),))
    log.tool_result("c", "done")
    return log


def nodes(log: LogBuilder) -> list[SurfaceNode]:
    return [node for _, node in read_log(log.lines()).surface]


def damage(log: LogBuilder, seq: int, path: list[Any], value: object) -> str:
    """Return the reason why a log is damaged once a member of an event's data has a value."""
    log.events[seq] = deepcopy(log.events[seq])
    *way, last = path
    inner = log.events[seq]["data"]
    for step in way:
        inner = inner[step]
    if value is MISSING:
        del inner[last]
    else:
        inner[last] = value
    with pytest.raises(SessionDamagedError) as caught:
        read_log(log.lines())
    assert caught.value.line == seq + 2
    return caught.value.reason


def test_what_people_and_models_say_is_conversation() -> None:
    """A prompt and an answer have a speaker and a text; a tool result has neither."""
    user, assistant, result = nodes(one_of_each())
    assert user == SurfaceNode("user", "ask")
    assert assistant == SurfaceNode("assistant", "answer")
    assert (result.speaker, result.text) == (None, "")


@pytest.mark.parametrize("kind", ["plugin", "session-reference", "hook", "User", "tool"])
def test_what_a_program_injects_is_no_conversation(kind: str) -> None:
    """A user message whose source is not the user is part of the surface and is not shown."""
    log = LogBuilder()
    log.user("injected", kind=kind, plugin="other")
    assert nodes(log) == [SurfaceNode()]


@pytest.mark.parametrize("more", [{}, {"compactionId": "c1"}, {"backend": "any", "x": 1}])
def test_a_checkpoint_is_what_a_compaction_left(more: dict[str, object]) -> None:
    """`plugin` and `compact` are the whole test of a checkpoint, whichever backend wrote it."""
    log = LogBuilder()
    log.user("summary", kind="plugin", plugin="compact", **more)
    assert nodes(log) == [SurfaceNode("user", "summary", is_checkpoint=True)]


@pytest.mark.parametrize("source", [{"kind": "compact"}, {"kind": "hook", "plugin": "compact"}])
def test_a_near_miss_is_no_checkpoint(source: dict[str, str]) -> None:
    """Both the kind and the plugin must fit."""
    log = LogBuilder()
    log.user("summary", **source)
    assert nodes(log) == [SurfaceNode()]


@given(st.lists(joined_text(max_size=8), max_size=4))
def test_the_text_of_a_message_is_its_text_blocks(texts: list[str]) -> None:
    """Text blocks are joined with line feeds; reasoning, calls, images and others carry none."""
    log = LogBuilder()
    hidden = [{"type": "reasoning", "text": "hm"}, {"type": "image", "data": "x"}, {"type": "new"}]
    log.assistant(blocks=(*hidden, *map(text_block, texts), tool_call_block("c"), *hidden))
    assert nodes(log) == [SurfaceNode("assistant", "\n".join(texts))]


@pytest.mark.parametrize("seq", [0, 1, 2])
def test_further_members_may_be_anything(seq: int) -> None:
    """A member that the format does not name says nothing, at any place."""
    log = one_of_each()
    log.events[seq]["data"]["more"] = {"x": [None]}
    message = log.events[seq]["data"].get("message", log.events[seq]["data"])
    message["source"]["more"] = message["content"][0]["more"] = message["more"] = 1
    assert len(nodes(log)) == 3


@pytest.mark.parametrize("seq", [0, 1, 2])
@pytest.mark.parametrize("data", [None, [], "x", 7, {}])
def test_data_are_an_object(seq: int, data: object) -> None:
    """The data of a surface event are an object with a message."""
    log = one_of_each()
    log.events[seq]["data"] = data
    with pytest.raises(SessionDamagedError, match=f"line {seq + 2}"):
        nodes(log)


@pytest.mark.parametrize("seq", [1, 2])
@pytest.mark.parametrize("name", ["turn", "step"])
@pytest.mark.parametrize("value", [None, "1", True, 0.5, MISSING])
def test_answers_and_results_belong_to_a_step(seq: int, name: str, value: object) -> None:
    """Turn and step of an answer or a tool result are safe integers."""
    assert name in damage(one_of_each(), seq, [name], value)


@pytest.mark.parametrize("seq", [1, 2])
@pytest.mark.parametrize("message", [None, [], "x", MISSING])
def test_a_message_is_an_object(seq: int, message: object) -> None:
    """An answer or a tool result holds a message."""
    assert "message" in damage(one_of_each(), seq, ["message"], message)


@pytest.mark.parametrize("way", [(0,), (1, "message"), (2, "message")])
@pytest.mark.parametrize("value", NO_NAMES)
def test_a_message_has_an_id(way: tuple[Any, ...], value: object) -> None:
    """A message id is a non-empty string."""
    seq, *path = way
    assert "id" in damage(one_of_each(), seq, [*path, "id"], value)


@pytest.mark.parametrize("way", [(0,), (1, "message"), (2, "message")])
@pytest.mark.parametrize("role", ["system", "User", None, MISSING])
def test_a_message_has_its_role(way: tuple[Any, ...], role: object) -> None:
    """Each type of event holds a message of one role."""
    seq, *path = way
    assert "role" in damage(one_of_each(), seq, [*path, "role"], role)


@pytest.mark.parametrize("way", [(0,), (1, "message"), (2, "message")])
@pytest.mark.parametrize("source", [None, "user", [], {}, MISSING])
def test_a_message_has_a_source(way: tuple[Any, ...], source: object) -> None:
    """A message says where it comes from."""
    seq, *path = way
    assert damage(one_of_each(), seq, [*path, "source"], source)


@pytest.mark.parametrize("way", [(0,), (1, "message"), (2, "message")])
@pytest.mark.parametrize("kind", NO_NAMES)
def test_a_source_has_a_kind(way: tuple[Any, ...], kind: object) -> None:
    """A source kind is a non-empty string."""
    seq, *path = way
    assert "kind" in damage(one_of_each(), seq, [*path, "source", "kind"], kind)


@pytest.mark.parametrize("name", ["provider", "model"])
@pytest.mark.parametrize("value", NO_NAMES)
def test_an_answer_names_its_model(name: str, value: object) -> None:
    """Provider and model of an answer are non-empty strings."""
    assert name in damage(one_of_each(), 1, ["message", "source", name], value)


def test_an_answer_comes_from_a_model() -> None:
    """The source kind of an answer is "model"."""
    assert "model" in damage(one_of_each(), 1, ["message", "source", "kind"], "user")


@pytest.mark.parametrize("value", NO_NAMES)
def test_a_call_in_an_answer_has_an_id(value: object) -> None:
    """The id of a tool-call block is a non-empty string."""
    assert "id" in damage(one_of_each(), 1, ["message", "content", 1, "id"], value)


@pytest.mark.parametrize("way", [(0,), (1, "message"), (2, "message")])
@pytest.mark.parametrize("content", [None, "text", {}, 7, MISSING])
def test_a_content_is_a_list(way: tuple[Any, ...], content: object) -> None:
    """The content of a message is a list of blocks."""
    seq, *path = way
    assert "content" in damage(one_of_each(), seq, [*path, "content"], content)


@pytest.mark.parametrize("way", [(0,), (1, "message"), (2, "message")])
@pytest.mark.parametrize("block", [None, "text", [], {}, {"type": None}, {"type": ["text"]}])
def test_a_block_has_a_type(way: tuple[Any, ...], block: object) -> None:
    """A block is an object with a type."""
    seq, *path = way
    assert "block" in damage(one_of_each(), seq, [*path, "content", 0], block)


@pytest.mark.parametrize("way", [(0,), (1, "message")])
@pytest.mark.parametrize("text", [None, 7, ["x"], MISSING])
def test_a_text_block_has_a_text(way: tuple[Any, ...], text: object) -> None:
    """The text of a text block is a string."""
    seq, *path = way
    assert "text" in damage(one_of_each(), seq, [*path, "content", 0, "text"], text)
