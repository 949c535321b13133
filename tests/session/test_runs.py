"""Packed runs: many deltas in one line, and back, without any change of meaning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder
from strategies import joined_text, json_values, safe_integers

from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.fold import fold_events
from sessionref.session.records import RUN_TYPES, RecordError
from sessionref.session.runs import pack_runs, unpack_runs

Record = dict[str, Any]


def delta(seq: int, text: str = "x", time: int = 0, **chunk: object) -> Record:
    whole = {"type": "text-delta", "index": 0, "text": text, **chunk}
    data = {"turn": 1, "step": 1, "chunk": whole}
    return {"type": "assistant/chunk", "seq": seq, "time": time, "data": data}


def call_delta(seq: int, arguments: str, **chunk: object) -> Record:
    whole = {"type": "tool-call-delta", "index": 1, "argumentsDelta": arguments, **chunk}
    data = {"turn": 1, "step": 1, "chunk": whole}
    return {"type": "assistant/chunk", "seq": seq, "time": seq, "data": data}


def chunks() -> st.SearchStrategy[Record]:
    """Deltas of few blocks, so that runs come to stand; now and then one that cannot be packed."""
    place = {"index": st.integers(0, 1)}
    text = joined_text(max_size=3)
    kinds = st.sampled_from(["text-delta", "reasoning-delta"])
    texts = st.fixed_dictionaries({"type": kinds, "text": text, **place})
    calls = st.fixed_dictionaries(
        {"type": st.just("tool-call-delta"), "id": st.just("c"), "argumentsDelta": text, **place},
        optional={"name": st.sampled_from(["bash", "sh"])},
    )
    odd = st.fixed_dictionaries({}, optional={"text": json_values(), "more": json_values()})
    return texts | texts | calls | st.tuples(texts | calls, odd).map(lambda two: two[0] | two[1])


@st.composite
def event_lists(draw: st.DrawFn) -> list[Record]:
    """Events as a log has them: seqs without gaps, most of them deltas."""
    events: list[Record] = []
    for seq, chunk in enumerate(draw(st.lists(chunks() | st.none(), max_size=30))):
        time = draw(st.integers(0, 5) | safe_integers())
        event: Record = {"type": "assistant/chunk", "seq": seq, "time": time}
        step = draw(st.sampled_from([1, 1, 1, 2]))
        events.append({**event, "data": {"turn": 1, "step": step, "chunk": chunk}})
    return events


def test_a_run_of_text_unpacks_to_its_deltas() -> None:
    """Member k is a text delta with its own seq, and the time that the steps add up to."""
    data = {"turn": 1, "step": 2, "index": 3, "dt": [3, 0], "texts": ["a", "b", "c"]}
    run = {"type": "text-chunks", "seq0": 4, "time0": 1_000, "data": data}
    for event, (seq, time, text) in zip(
        unpack_runs([run]), [(4, 1_000, "a"), (5, 1_003, "b"), (6, 1_003, "c")], strict=True
    ):
        chunk = {"type": "text-delta", "index": 3, "text": text}
        place = {"turn": 1, "step": 2, "chunk": chunk}
        assert event == {"type": "assistant/chunk", "seq": seq, "time": time, "data": place}


def test_a_run_of_reasoning_unpacks_to_reasoning() -> None:
    """What a model thinks stays apart from what it says."""
    data = {"turn": 1, "step": 1, "index": 0, "dt": [], "texts": ["hm"]}
    run = {"type": "reasoning-chunks", "seq0": 0, "time0": 0, "data": data}
    (event,) = unpack_runs([run])
    assert event["data"]["chunk"] == {"type": "reasoning-delta", "index": 0, "text": "hm"}


@pytest.mark.parametrize("name", [{}, {"name": "bash"}])
def test_a_run_of_a_call_unpacks_to_its_arguments(name: Record) -> None:
    """Every delta of a call carries its id, and its name if the run has one."""
    data = {"turn": 1, "step": 1, "index": 1, "id": "c1", **name, "dt": [1], "args": ["{", "}"]}
    run = {"type": "tool-call-chunks", "seq0": 9, "time0": 9, "data": data}
    assert list(unpack_runs([run])) == [
        call_delta(9, "{", id="c1", **name),
        call_delta(10, "}", id="c1", **name),
    ]


def test_unpacking_refuses_what_is_no_record() -> None:
    """A run with a step too few is no run: none of it is given out."""
    data = {"turn": 1, "step": 1, "index": 0, "dt": [], "texts": ["a", "b"]}
    with pytest.raises(RecordError, match="dt"):
        next(unpack_runs([{"type": "text-chunks", "seq0": 0, "time0": 0, "data": data}]))


def test_three_deltas_are_packed() -> None:
    """Three deltas of one block become one record with their texts and the steps between."""
    events = [delta(4, "a", time=10), delta(5, "b", time=13), delta(6, "c", time=12)]
    data = {"turn": 1, "step": 1, "index": 0, "dt": [3, -1], "texts": ["a", "b", "c"]}
    assert list(pack_runs(events)) == [
        {"type": "text-chunks", "seq0": 4, "time0": 10, "data": data}
    ]


def test_two_deltas_stay_as_they_are() -> None:
    """A run of two would not be shorter than its events."""
    events = [delta(0), delta(1)]
    assert list(pack_runs(events)) == events


@pytest.mark.parametrize(
    "other",
    [
        delta(3, type="reasoning-delta"),
        delta(3, index=1),
        delta(3) | {"data": {"turn": 2, "step": 1, "chunk": delta(3)["data"]["chunk"]}},
        delta(3) | {"data": {"turn": 1, "step": 2, "chunk": delta(3)["data"]["chunk"]}},
        delta(4),
        delta(3, time=-1),
        call_delta(3, "x", id="c"),
    ],
    ids=["kind", "index", "turn", "step", "seq", "time", "call"],
)
def test_a_run_is_of_one_block(other: Record) -> None:
    """A delta of another block, behind a gap or too far away in time does not join a run."""
    time = MAX_SAFE_INTEGER
    events = [delta(0, time=time), delta(1, time=time), delta(2, time=time)]
    assert [record["type"] for record in pack_runs([*events, other])] == [
        "text-chunks",
        "assistant/chunk",
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [({"id": "c"}, {"id": "d"}), ({"id": "c"}, {"id": "c", "name": "bash"})],
    ids=["id", "name"],
)
def test_a_run_is_of_one_call(first: Record, second: Record) -> None:
    """Deltas of two calls, or with and without a name, are two runs."""
    events = [call_delta(seq, "x", **(first if seq < 3 else second)) for seq in range(6)]
    assert [record["seq0"] for record in pack_runs(events)] == [0, 3]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "todo/write", "seq": 1, "time": 0, "data": {}},
        delta(1) | {"ignorable": True},
        delta(1) | {"data": None},
        delta(1) | {"data": {"turn": 1, "step": 1, "chunk": None}},
        delta(1) | {"data": {"turn": 1, "step": 1}},
        delta(1) | {"data": {**delta(1)["data"], "more": 1}},
        delta(1, index=None),
        delta(1, more="x"),
        delta(1, index=True),
        delta(1, type="image-delta"),
        delta(1, type=["text-delta"]),
        call_delta(1, "x"),
        call_delta(1, "x", id=1),
        call_delta(1, "x", id="c", name=None),
    ],
)
def test_what_would_lose_something_is_not_packed(event: Record) -> None:
    """An event with anything that a run has no place for stays as it is, the same object."""
    records = list(pack_runs([event] * 3))
    assert all(record is event for record in records)


@given(event_lists())
def test_unpacking_undoes_packing(events: list[Record]) -> None:
    """Packed and unpacked again, a log has the very same events."""
    assert list(unpack_runs(pack_runs(events))) == events


@given(event_lists())
def test_packing_leaves_no_run_unpacked(events: list[Record]) -> None:
    """Packing what is packed already changes nothing: no two records could have been one."""
    packed = list(pack_runs(events))
    unpackable = [record for record in packed if record["type"] not in RUN_TYPES]
    assert list(pack_runs(unpackable)) == unpackable
    assert all(
        len(record["data"][RUN_TYPES[record["type"]].members]) >= 3
        for record in packed
        if record["type"] in RUN_TYPES
    )


@given(event_lists(), joined_text(max_size=5))
def test_packing_changes_no_meaning(chunks: list[Record], text: str) -> None:
    """A log means the same packed and unpacked: its messages, its last seq and its last time."""
    log = LogBuilder()
    log.user(text)
    for chunk in chunks:
        log.append(chunk["type"], chunk["data"])
    log.assistant(text)
    assert fold_events(log.header, pack_runs(log.events)) == log.log()
