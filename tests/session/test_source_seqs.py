"""sourceEventSeqs: the events that an event was made from, as a list or in pairs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, text_block

from sessionref.errors import SessionDamagedError
from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.reading import read_log
from sessionref.session.surface import parse_source_seqs


@pytest.mark.parametrize("value", [[], [0], [9], [2, 0, 1], [9, 0], list(range(10))])
def test_plain_seqs_come_in_any_order(value: list[int]) -> None:
    """A list of integers holds distinct seqs below the event's own, sorted or not."""
    listed = parse_source_seqs(value, 10)
    assert [seq for seq in range(-1, 11) if seq in listed] == sorted(value)


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ([[0, 2]], [0, 1, 2]),
        ([[3, 3]], [3]),
        ([0, [2, 4], 6], [0, 2, 3, 4, 6]),
        ([[0, 1], [2, 3]], [0, 1, 2, 3]),
        ([[0, 9]], list(range(10))),
    ],
)
def test_a_pair_lists_what_is_between(value: list[Any], expanded: list[int]) -> None:
    """A pair stands for all seqs from its start to its end, both included."""
    listed = parse_source_seqs(value, 10)
    assert [seq for seq in range(-1, 11) if seq in listed] == expanded


@pytest.mark.parametrize(
    "value",
    [[0, 0], [-1], [10], [0, 10], [MAX_SAFE_INTEGER], [True], [0.5], ["0"], [None], [{}]],
)
def test_wrong_plain_seqs_are_damage(value: list[object]) -> None:
    """A seq that is repeated, negative, no integer or not before the event is damage."""
    with pytest.raises(SessionDamagedError, match="sourceEventSeqs"):
        parse_source_seqs(value, 10)


@pytest.mark.parametrize(
    "value",
    [
        [[2, 1]],
        [[0, 10]],
        [[-1, 2]],
        [[0, 2], 2],
        [[0, 2], [2, 4]],
        [3, [0, 2]],
        [[3, 4], [0, 2]],
        [[0, 2], 1],
        [[0]],
        [[0, 1, 2]],
        [[]],
        [[0, "1"]],
        [[0, [1, 2]]],
        [[False, 2]],
        [[0, 2], None],
    ],
)
def test_wrong_pairs_are_damage(value: list[object]) -> None:
    """A list that holds any pair rises strictly, pair by pair and seq by seq, below the event."""
    with pytest.raises(SessionDamagedError, match="sourceEventSeqs"):
        parse_source_seqs(value, 10)


@pytest.mark.parametrize("value", [None, 0, "0", {}, True])
def test_what_is_no_list_is_damage(value: object) -> None:
    """sourceEventSeqs, when present, is a list."""
    with pytest.raises(SessionDamagedError, match="not a list"):
        parse_source_seqs(value, 10)


def test_the_first_event_has_no_sources() -> None:
    """No seq is smaller than 0."""
    with pytest.raises(SessionDamagedError, match="sourceEventSeqs"):
        parse_source_seqs([0], 0)


def test_a_pair_may_span_any_number_of_events() -> None:
    """A pair is never expanded: a small line cannot ask for memory without end."""
    listed = parse_source_seqs([[0, 10**15]], 10**15 + 1)
    assert 10**15 in listed
    assert 10**15 + 1 not in listed
    no_seq: Any = "0"
    assert no_seq not in listed


@given(st.sets(st.integers(0, 60)), st.data())
def test_pairs_and_plain_seqs_mean_the_same(seqs: set[int], data: st.DataObject) -> None:
    """Whichever runs a writer stores as pairs, the list holds the same seqs."""
    value: list[Any] = []
    for seq in sorted(seqs):
        last = value[-1] if value else None
        end = last[1] if type(last) is list else last
        if end is not None and end + 1 == seq and data.draw(st.booleans()):
            value[-1] = [last[0] if type(last) is list else last, seq]
        else:
            value.append(seq)
    listed = parse_source_seqs(value, 61)
    assert {seq for seq in range(-5, 70) if seq in listed} == seqs


def test_an_answer_may_be_made_from_nothing() -> None:
    """An empty list is allowed on an answer of the model."""
    log = LogBuilder()
    log.assistant("hello")
    log.events[-1]["sourceEventSeqs"] = []
    assert read_log(log.lines()).last_seq == 0


@pytest.mark.parametrize("kind", ["user/message", "tool/result"])
def test_anything_else_is_made_from_something(kind: str) -> None:
    """An empty list on a user message or a tool result is damage."""
    log = LogBuilder()
    log.user("a")
    log.tool_result("c", "done")
    for event in log.events:
        if event["type"] == kind:
            event["sourceEventSeqs"] = []
    with pytest.raises(SessionDamagedError, match=f"{kind} is empty"):
        read_log(log.lines())


@pytest.mark.parametrize("sources", [[0, 1], [[0, 1]], [0, [1, 1]]])
def test_a_replacement_may_list_in_pairs(sources: list[Any]) -> None:
    """A replacement is judged by the seqs that its pairs stand for."""
    log = LogBuilder()
    log.user("a")
    log.user("b")
    message = {"id": "m", "role": "user", "source": {"kind": "user"}, "content": [text_block("c")]}
    operation = {"op": "replace", "start": 0, "end": 1}
    log.append("user/message", message, surfaceOp=operation, sourceEventSeqs=sources)
    assert [seq for seq, _ in read_log(log.lines()).surface] == [2]


def test_an_appended_event_is_judged_too() -> None:
    """The list is checked wherever it stands, not only on replacements."""
    log = LogBuilder()
    log.user("a")
    log.assistant("b")
    log.events[-1]["sourceEventSeqs"] = [1]
    with pytest.raises(SessionDamagedError, match="sourceEventSeqs"):
        read_log(log.lines())
