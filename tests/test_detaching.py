"""Copies of what a host passes in."""

from __future__ import annotations

from threading import Lock
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from strategies import json_values

from sessionref.detaching import detached
from sessionref.errors import InvalidReferenceError
from sessionref.model import Block, Reference, TextBlock, parse_content, parse_references


def nested(depth: int) -> list[Any]:
    """Return a list in a list, and so on."""
    outer: list[Any] = []
    for _ in range(depth):
        outer = [outer]
    return outer


NO_DATA = {
    "deep": nested(100_000),
    "generator": (number for number in range(3)),
    "lock": Lock(),
}


@given(json_values())
def test_a_copy_is_equal(data: Any) -> None:
    """JSON data is the same after it was copied."""
    assert detached(data) == data


def test_any_mapping_is_an_object() -> None:
    """Data that a host keeps from being changed, as a view of a dict, is data too."""
    view = MappingProxyType({"sessionId": "s"})
    assert parse_references([view]) == [Reference(session_id="s")]
    [block] = parse_content([MappingProxyType({"type": "x", "more": [view]})])
    assert block.to_wire() == {"type": "x", "more": [{"sessionId": "s"}]}


def test_what_is_shared_inside_is_copied_once() -> None:
    """Data that holds the same list many times over does not grow when it is copied."""
    data: list[Any] = []
    for _ in range(100):
        data = [data, data]
    copied = detached(data)
    assert copied[0] is copied[1]
    assert copied[0] is not data[0]


@pytest.mark.parametrize("value", NO_DATA.values(), ids=NO_DATA)
def test_what_is_no_data_is_refused(value: object) -> None:
    """Whatever cannot be copied is an invalid reference, wherever it stands."""
    for content in ([{"type": "x", "more": value}], [Block(type="x", more=value)]):  # type: ignore[call-arg]
        with pytest.raises(InvalidReferenceError, match="cannot be copied"):
            parse_content(content)
    with pytest.raises(InvalidReferenceError, match="cannot be copied"):
        parse_references([{"sessionId": value}])


def test_data_without_end_is_refused() -> None:
    """A list that holds itself is no JSON data."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidReferenceError, match="cannot be copied"):
        Block.from_wire({"type": "x", "more": endless})


def test_a_text_block_stays_one() -> None:
    """A copy of a value is of the same class."""
    assert type(detached(TextBlock(text="t"))) is TextBlock
