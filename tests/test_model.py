"""The values that cross the border: their JSON, and what they share with whom."""

from __future__ import annotations

import json
import pickle
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from strategies import javascript_text, joined_text, json_values, safe_integers

from sessionref import (
    Candidate,
    ErrorCode,
    PreparedMessage,
    Reference,
    SessionReferenceError,
    Target,
    TextBlock,
    UserMessage,
)
from sessionref.errors import InvalidReferenceError
from sessionref.javascript import join_surrogates
from sessionref.model import (
    Block,
    MessageSource,
    RecallSource,
    SourceRecord,
    parse_content,
    parse_references,
)

HALF = "\ud83d"
STRING = javascript_text()
COUNT = safe_integers(0)
ODD_CONTENT: list[Any] = ["text", None, 7, ["type"], {}, {"type": 7}, {"text": "t"}]


def members_beside(*taken: str) -> st.SearchStrategy[dict[str, Any]]:
    """Further members of a block or a source, whatever they are called."""
    names = joined_text(max_size=4).filter(lambda name: name not in taken)
    return st.dictionaries(names, json_values(max_leaves=4), max_size=3)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """A block of text or of any other type."""
    text = draw(joined_text())
    if text == "text" or draw(st.booleans()):
        return TextBlock(text=text, **draw(members_beside("type", "text")))
    return Block(type=text, **draw(members_beside("type")))


@st.composite
def messages(draw: st.DrawFn) -> UserMessage:
    """A message of a person, of a program, or a context message."""
    records = [
        SourceRecord(
            session_id=draw(STRING),
            label=draw(STRING),
            captured_through_seq=draw(st.none() | COUNT),
            captured_format_version=draw(st.none() | COUNT),
            compacted=draw(st.booleans()),
            original_messages=draw(COUNT),
            retained_messages=draw(COUNT),
            omitted_messages=draw(COUNT),
            omitted_bytes=draw(COUNT),
            truncated=draw(st.booleans()),
            input_index=draw(COUNT),
        )
        for _ in range(draw(st.integers(0, 2)))
    ]
    source = RecallSource(references=tuple(records))
    other = MessageSource(kind=draw(joined_text()), **draw(members_beside("kind")))
    content = tuple(draw(st.lists(blocks(), max_size=3)))
    return UserMessage(id=draw(STRING), source=source if records else other, content=content)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """A session on offer."""
    return Candidate(
        session_id=draw(STRING),
        label=draw(STRING),
        mention=draw(STRING),
        created_at=draw(COUNT),
        updated_at=draw(st.none() | COUNT),
        cwd=draw(st.none() | STRING),
        parent_session=draw(st.none() | STRING),
        subagent=draw(st.booleans()),
        readable=draw(st.booleans()),
        problem=draw(st.none() | STRING),
    )


@st.composite
def prepared_messages(draw: st.DrawFn) -> PreparedMessage:
    """A message with or without a context message."""
    content = tuple(draw(st.lists(blocks(), max_size=3)))
    return PreparedMessage(content=content, additional_context=draw(st.none() | messages()))


@st.composite
def addresses(draw: st.DrawFn) -> Target | Reference:
    """A session, as the place of a message or as what it refers to."""
    if draw(st.booleans()):
        return Target(session_id=draw(STRING), cwd=draw(st.none() | STRING))
    return Reference(session_id=draw(STRING), label=draw(st.none() | STRING))


def values() -> st.SearchStrategy[Any]:
    """A value of any class that hosts exchange with the library."""
    return addresses() | candidates() | blocks() | messages() | prepared_messages()


@given(values())
def test_json_comes_back_as_the_same_value(value: Any) -> None:
    """`from_wire` takes what `to_wire` gives, whatever the strings and further members are."""
    assert type(value).from_wire(value.to_wire()) == value


@given(values())
def test_the_wire_is_json(value: Any) -> None:
    """What `to_wire` gives is JSON data: it comes through a JSON text unchanged."""
    assert json.loads(json.dumps(value.to_wire())) == value.to_wire()


@given(values())
def test_a_pickled_value_is_equal(value: Any) -> None:
    """Values can be sent to another process."""
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - it was pickled here


@given(values(), st.data())
def test_values_are_frozen(value: BaseModel, data: st.DataObject) -> None:
    """No member of a value can be assigned to."""
    name = data.draw(st.sampled_from(sorted(type(value).model_fields)))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(value, name, getattr(value, name))


@given(javascript_text(), javascript_text())
def test_strings_are_joined_when_a_value_is_made(session_id: str, label: str) -> None:
    """Both spellings of a surrogate pair make the same value."""
    reference = Reference(session_id=session_id, label=label)
    assert reference.session_id == join_surrogates(session_id)
    assert reference == Reference.from_wire(
        {"sessionId": join_surrogates(session_id), "label": join_surrogates(label)}
    )


def test_the_wire_is_in_camel_case() -> None:
    """JSON has the names of the contract, and no member for what is not there."""
    assert Target(session_id="s").to_wire() == {"sessionId": "s"}
    assert Target(session_id="s", cwd="/w").to_wire() == {"sessionId": "s", "cwd": "/w"}


def test_a_candidate_tells_all_of_a_session() -> None:
    """A host gets everything that it needs to show, sort, dim or hide a session."""
    candidate = Candidate(
        session_id="s", label="l", mention="m", created_at=1, updated_at=2, parent_session="p"
    )
    assert candidate.to_wire() == {
        "sessionId": "s",
        "label": "l",
        "mention": "m",
        "createdAt": 1,
        "updatedAt": 2,
        "parentSession": "p",
        "subagent": False,
        "readable": True,
    }


@pytest.mark.parametrize(
    ("data", "member"),
    [
        ({}, "sessionId"),
        ({"sessionId": 7}, "sessionId"),
        ({"sessionId": None}, "sessionId"),
        ({"session_id": "s"}, "sessionId"),
        ({"sessionId": "s", "label": 7}, "label"),
        ({"sessionId": "s", "label": None}, "label"),
        ({"sessionId": "s", "title": "t"}, "title"),
        ({"sessionId": "s", HALF: "t"}, "Reference"),
        ("s", "Reference"),
        (None, "Reference"),
        (["s"], "Reference"),
    ],
    ids=repr,
)
def test_other_data_is_refused(data: object, member: str) -> None:
    """A reference has exactly its members; the error names the wrong one and holds the data."""
    with pytest.raises(InvalidReferenceError) as caught:
        Reference.from_wire(data)
    assert caught.value.problem.startswith(f"{member}: ")
    assert caught.value.value == data


def test_what_is_wrong_inside_is_found() -> None:
    """The error names the way to the wrong member."""
    with pytest.raises(InvalidReferenceError, match=r"content\.0\..*type: "):
        UserMessage.from_wire({"id": "m", "source": {"kind": "user"}, "content": [{"type": 7}]})


def test_from_wire_keeps_nothing_of_its_data() -> None:
    """A value does not change with the data that it was made from."""
    data: dict[str, Any] = {"type": "image", "source": {"bytes": [1]}, HALF: [1]}
    block = Block.from_wire(data)
    for name in ("source", HALF):
        data[name] = None
    assert block.to_wire() == {"type": "image", "source": {"bytes": [1]}, HALF: [1]}


def test_nested_data_is_detached_both_ways() -> None:
    """Neither the data that a value was made from nor the data that it gives is part of it."""
    before: dict[str, Any] = {"type": "image", "source": {"bytes": [1]}, HALF: [1]}
    block = Block.from_wire(before)
    after = block.to_wire()
    for data in (before, after):
        data["source"]["bytes"].append(2)
        data[HALF].append(2)
    assert block.to_wire() == {"type": "image", "source": {"bytes": [1]}, HALF: [1]}


def test_odd_names_of_members_are_part_of_a_value() -> None:
    """Two blocks that differ in a member with half a character in its name are not equal."""
    assert Block(type="x", **{HALF: 1}) != Block(type="x", **{HALF: 2})
    assert Block(type="x", **{HALF: 1}) == Block.from_wire({"type": "x", HALF: 1})


def test_a_string_is_one_text_block() -> None:
    """A message of text alone needs no list around it."""
    assert parse_content("hello") == (TextBlock(text="hello"),)


@given(st.lists(blocks(), max_size=4))
def test_content_of_values_and_of_data_is_the_same(content: list[Block]) -> None:
    """Blocks may come as values or as their JSON data."""
    parsed = parse_content(content)
    assert parsed == tuple(content)
    assert parse_content([block.to_wire() for block in content]) == parsed


def test_content_is_detached_from_blocks() -> None:
    """A block that is passed in as a value shares nothing that can change."""
    block = Block.from_wire({"type": "image", "source": {"bytes": [1]}})
    [parsed] = parse_content([block])
    extra = block.model_extra
    assert extra is not None
    extra["source"]["bytes"].append(2)
    assert parsed.to_wire() == {"type": "image", "source": {"bytes": [1]}}


def test_a_text_block_without_text_is_kept_as_it_is() -> None:
    """What only looks like a text block is a block of some kind, and none of our business."""
    [parsed] = parse_content([{"type": "text", "text": 7, "more": HALF}])
    assert type(parsed) is Block
    assert parsed.to_wire() == {"type": "text", "text": 7, "more": HALF}


@pytest.mark.parametrize(
    "item", ["text", None, 7, ["type"], {}, {"type": 7}, {"text": "t"}], ids=repr
)
def test_an_item_that_is_no_block_is_refused(item: Any) -> None:
    """Content is blocks, and a block has a type."""
    with pytest.raises(SessionReferenceError) as caught:
        parse_content([{"type": "text", "text": "fine"}, item])
    assert caught.value.code == ErrorCode.INVALID_REFERENCE


@pytest.mark.parametrize(
    "content", [None, 7, b"text", {"type": "text", "text": "t"}, TextBlock(text="t")], ids=repr
)
def test_content_that_is_no_list_is_refused(content: Any) -> None:
    """One block without a list around it is as wrong as nothing at all."""
    with pytest.raises(InvalidReferenceError, match="must be a string or a list of blocks"):
        parse_content(content)


@pytest.mark.parametrize(
    "references",
    [None, 7, "id", b"id", {"sessionId": "id"}, Reference(session_id="id")],
    ids=repr,
)
def test_references_that_are_no_list_are_refused(references: Any) -> None:
    """One reference without a list around it is as wrong as nothing at all."""
    with pytest.raises(InvalidReferenceError, match="references must be a list"):
        parse_references(references)


def test_references_are_values_or_data() -> None:
    """A list may hold references of both kinds, and keeps their order."""
    value = Reference(session_id="b", label="B")
    assert parse_references([{"sessionId": "a"}, value]) == [Reference(session_id="a"), value]


class Word(StrEnum):
    """A string that is not only a string."""

    TEXT = "text"

    def isascii(self) -> bool:
        raise AssertionError("a subclass was asked about itself")


def test_a_string_may_be_of_a_subclass() -> None:
    """What is a string to Python is one here, and plain from then on."""
    reference = Reference.from_wire({"sessionId": Word.TEXT, "label": Word.TEXT})
    assert [type(reference.session_id), type(reference.label)] == [str, str]
    for content in (Word.TEXT, [{"type": Word.TEXT, "text": Word.TEXT}]):
        [block] = parse_content(content)
        assert block == TextBlock(text="text")
        assert isinstance(block, TextBlock)
        assert [type(block.type), type(block.text)] == [str, str]


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        ({"session_id": "a"}, "did you mean sessionId?"),
        ({"sessionId": "a", "session_id": "a"}, "did you mean sessionId?"),
        ({"sessionid": "a"}, ""),
        ("session_id", ""),
    ],
)
def test_the_name_of_an_attribute_is_understood(data: object, hint: str) -> None:
    """Who writes JSON data with the name of an attribute is told the name that it has there."""
    with pytest.raises(InvalidReferenceError) as caught:
        Reference.from_wire(data)
    assert caught.value.problem.partition("; ")[2] == hint
