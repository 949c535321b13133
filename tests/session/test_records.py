"""What is a record, and what no record is: the seven members, and packed runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from strategies import json_values

from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.records import RecordError, Span, check_record

Record = dict[str, Any]

EVENT: Record = {"type": "todo/write", "seq": 3, "time": 1_000, "data": {}}
TEXT_RUN: Record = {
    "type": "text-chunks",
    "seq0": 4,
    "time0": 1_000,
    "data": {"turn": 1, "step": 1, "index": 0, "dt": [3, 0], "texts": ["a", "b", "c"]},
}
CALL_DATA: Record = {"turn": 1, "step": 1, "index": 1, "id": "c", "dt": [1], "args": ["{", "}"]}
CALL_RUN: Record = {"type": "tool-call-chunks", "seq0": 9, "time0": 1_000, "data": CALL_DATA}

NO_INTEGERS: list[object] = [
    None,
    "1",
    True,
    0.5,
    [1],
    {},
    MAX_SAFE_INTEGER + 1,
    -MAX_SAFE_INTEGER - 1,
]


def without(record: Record, name: str) -> Record:
    return {key: value for key, value in record.items() if key != name}


def run_with(**data: object) -> Record:
    return {**TEXT_RUN, "data": {**TEXT_RUN["data"], **data}}


@pytest.mark.parametrize(
    "more", [{}, {"surfaceOp": 1}, {"sourceEventSeqs": 1}, {"ignorable": True}]
)
def test_an_event_takes_up_one_seq(more: Record) -> None:
    """A record has type, seq, time and data, and may have three members more."""
    assert check_record({**EVENT, **more}) == Span(3, 1, 1_000)


@given(json_values())
def test_data_may_be_anything(data: object) -> None:
    """What the data of a record means is judged by its type, not here."""
    assert check_record({**EVENT, "data": data}) == Span(3, 1, 1_000)


@pytest.mark.parametrize("time", [-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER])
def test_a_time_may_be_any_safe_integer(time: int) -> None:
    """A time is a safe integer and may be negative."""
    assert check_record({**EVENT, "time": time}).time == time


def test_a_seq_goes_up_to_the_greatest_safe_integer() -> None:
    """A seq is a safe integer from 0."""
    assert check_record({**EVENT, "seq": MAX_SAFE_INTEGER}).first_seq == MAX_SAFE_INTEGER


def test_a_seq_and_a_time_may_be_spelled_with_a_point() -> None:
    """`3.0` is the integer 3, as in JavaScript."""
    assert check_record({**EVENT, "seq": 3.0, "time": 1e3}) == Span(3, 1, 1_000)


@pytest.mark.parametrize("name", EVENT)
def test_a_required_member_may_not_be_missing(name: str) -> None:
    """Without type, seq, time or data it is no record."""
    with pytest.raises(RecordError, match=name):
        check_record(without(EVENT, name))


@pytest.mark.parametrize("value", [None, 1, True, "text", [EVENT]])
def test_a_record_is_an_object(value: object) -> None:
    """A line of JSON that is no object is no record."""
    with pytest.raises(RecordError, match="object"):
        check_record(value)


@pytest.mark.parametrize("kind", [None, 1, ["todo/write"]])
def test_a_type_is_a_string(kind: object) -> None:
    """A type is a string."""
    with pytest.raises(RecordError, match="type"):
        check_record({**EVENT, "type": kind})


@pytest.mark.parametrize("name", ["seq", "time"])
@pytest.mark.parametrize("value", NO_INTEGERS)
def test_seq_and_time_are_safe_integers(name: str, value: object) -> None:
    """A seq or time that is no safe integer makes it no record."""
    with pytest.raises(RecordError, match="seq"):
        check_record({**EVENT, name: value})


def test_a_seq_is_not_negative() -> None:
    """Seqs count from 0."""
    with pytest.raises(RecordError, match="seq"):
        check_record({**EVENT, "seq": -1})


@pytest.mark.parametrize("name", ["Seq", "id", "seq0", ""])
def test_no_other_member_is_allowed(name: str) -> None:
    """Only the seven members may be there."""
    with pytest.raises(RecordError, match=f"no member {name}"):
        check_record({**EVENT, name: 1})


@pytest.mark.parametrize("value", [False, None, 1, "true"])
def test_ignorable_is_only_ever_true(value: object) -> None:
    """A writer leaves ignorable out where it is not true."""
    with pytest.raises(RecordError, match="ignorable"):
        check_record({**EVENT, "ignorable": value})


@pytest.mark.parametrize(
    ("run", "span"),
    [
        (TEXT_RUN, Span(4, 3, 1_003)),
        ({**TEXT_RUN, "type": "reasoning-chunks"}, Span(4, 3, 1_003)),
        (CALL_RUN, Span(9, 2, 1_001)),
        ({**CALL_RUN, "data": {**CALL_DATA, "name": "bash"}}, Span(9, 2, 1_001)),
        (run_with(dt=[], texts=["a"]), Span(4, 1, 1_000)),
        (run_with(dt=[-5, -2_000], texts=["a", "", "c"]), Span(4, 3, -1_005)),
    ],
)
def test_a_run_takes_up_a_seq_for_each_member(run: Record, span: Span) -> None:
    """Member k of a run has seq `seq0 + k` and the time that its steps add up to."""
    assert check_record(run) == span


@pytest.mark.parametrize("run", [TEXT_RUN, CALL_RUN])
@pytest.mark.parametrize("name", ["seq0", "time0", "data"])
def test_a_run_has_all_its_members(run: Record, name: str) -> None:
    """A run has exactly type, seq0, time0 and data."""
    with pytest.raises(RecordError, match="exactly"):
        check_record(without(run, name))


@pytest.mark.parametrize("name", ["seq", "time", "surfaceOp", "sourceEventSeqs", "ignorable"])
def test_a_run_has_no_other_members(name: str) -> None:
    """What an event may carry, a run may not."""
    with pytest.raises(RecordError, match="exactly"):
        check_record({**TEXT_RUN, name: True})


@pytest.mark.parametrize("data", [None, [], "x"])
def test_the_data_of_a_run_are_an_object(data: object) -> None:
    """Data that are no object make it no run."""
    with pytest.raises(RecordError, match="exactly"):
        check_record({**TEXT_RUN, "data": data})


@pytest.mark.parametrize("name", ["seq0", "time0"])
@pytest.mark.parametrize("value", NO_INTEGERS)
def test_the_first_seq_and_time_are_safe_integers(name: str, value: object) -> None:
    """A first seq or time that is no safe integer makes it no run."""
    with pytest.raises(RecordError, match="seq0 and time0"):
        check_record({**TEXT_RUN, name: value})


def test_the_first_seq_is_not_negative() -> None:
    """Seqs count from 0 in runs too."""
    with pytest.raises(RecordError, match="seq0"):
        check_record({**TEXT_RUN, "seq0": -1})


@pytest.mark.parametrize("run", [TEXT_RUN, CALL_RUN])
def test_the_data_of_a_run_are_complete(run: Record) -> None:
    """Each member of the data of a run is required."""
    for name in run["data"]:
        with pytest.raises(RecordError, match=name):
            check_record({**run, "data": without(run["data"], name)})


@pytest.mark.parametrize("name", ["id", "name", "args", "text"])
def test_a_text_run_has_no_members_of_calls(name: str) -> None:
    """The data of a run hold what belongs to its type, and nothing else."""
    with pytest.raises(RecordError, match="the data of a packed run"):
        check_record(run_with(**{name: "x"}))


@pytest.mark.parametrize("name", ["turn", "step", "index"])
@pytest.mark.parametrize("value", NO_INTEGERS)
def test_the_place_of_a_run_is_in_safe_integers(name: str, value: object) -> None:
    """Turn, step and index of a run are safe integers."""
    with pytest.raises(RecordError, match=name):
        check_record(run_with(**{name: value}))


@pytest.mark.parametrize("name", ["id", "name"])
@pytest.mark.parametrize("value", [None, 1, ["c"]])
def test_the_call_of_a_run_is_in_strings(name: str, value: object) -> None:
    """Id and name of a run of calls are strings."""
    with pytest.raises(RecordError, match=name):
        check_record({**CALL_RUN, "data": {**CALL_DATA, name: value}})


@pytest.mark.parametrize("texts", [[], None, "abc", {}, ["a", "b", 1], [None] * 3, [["a"]] * 3])
def test_the_members_of_a_run_are_strings(texts: object) -> None:
    """A run has at least one member, and each is a string."""
    with pytest.raises(RecordError, match="texts"):
        check_record(run_with(texts=texts))


@pytest.mark.parametrize("dt", [[], [1], [1, 2, 3], None, "12", {}])
def test_a_run_has_a_step_between_members(dt: object) -> None:
    """There is one step less than there are members."""
    with pytest.raises(RecordError, match="dt"):
        check_record(run_with(dt=dt))


@pytest.mark.parametrize("step", NO_INTEGERS)
def test_each_step_of_a_run_is_a_safe_integer(step: object) -> None:
    """A step that is no safe integer makes it no run."""
    with pytest.raises(RecordError, match="step"):
        check_record(run_with(dt=[step, 0]))


@pytest.mark.parametrize("sign", [1, -1])
def test_no_time_of_a_run_leaves_the_safe_integers(sign: int) -> None:
    """Each time of a run is a safe integer, also where a later step leads back."""
    run = {**run_with(dt=[sign, -sign]), "time0": sign * MAX_SAFE_INTEGER}
    with pytest.raises(RecordError, match="range"):
        check_record(run)


def test_no_seq_of_a_run_leaves_the_safe_integers() -> None:
    """The last seq of a run is a safe integer."""
    assert check_record({**TEXT_RUN, "seq0": MAX_SAFE_INTEGER - 2}).length == 3
    with pytest.raises(RecordError, match="range"):
        check_record({**TEXT_RUN, "seq0": MAX_SAFE_INTEGER - 1})
