"""The lines of a log after the header: events, and packed runs of stream chunks.

`check_record` tells whether a parsed line is a record at all; what its data means is judged later,
by the rules of the log's generation.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Final, NamedTuple

from sessionref.javascript import MAX_SAFE_INTEGER, safe_integer, shown

__all__ = ["RUN_TYPES", "RecordError", "Span", "check_record"]


class RecordError(ValueError):
    """A parsed line is no record; the text says why."""


class Span(NamedTuple):
    """What a record takes up in its log: `length` events from `first_seq`, the last at `time`."""

    first_seq: int
    length: int
    time: int


class _RunShape(NamedTuple):
    required: frozenset[str]
    optional: frozenset[str]
    members: str


_TEXT_RUN: Final = _RunShape(
    frozenset({"turn", "step", "index", "dt", "texts"}), frozenset(), "texts"
)
_CALL_RUN: Final = _RunShape(
    frozenset({"turn", "step", "index", "id", "dt", "args"}), frozenset({"name"}), "args"
)

RUN_TYPES: Final = {
    "text-chunks": _TEXT_RUN,
    "reasoning-chunks": _TEXT_RUN,
    "tool-call-chunks": _CALL_RUN,
}
"""The types of packed runs, and the members of their data."""

_RUN_MEMBERS: Final = frozenset({"type", "seq0", "time0", "data"})
_OPTIONAL_MEMBERS: Final = frozenset({"surfaceOp", "sourceEventSeqs", "ignorable"})
_EVENT_MEMBERS: Final = _OPTIONAL_MEMBERS | {"type", "seq", "time", "data"}

_ALL_INTEGERS: Final = frozenset({int}).issuperset


def check_record(value: Any) -> Span:
    """Return what a parsed line takes up in its log; raise `RecordError` if it is no record."""
    if type(value) is not dict:
        raise RecordError("a record is a JSON object")
    kind = value.get("type")
    if type(kind) is not str:
        raise RecordError("the record has no type")
    if kind in RUN_TYPES:
        return _check_run(value, RUN_TYPES[kind])
    seq = value.get("seq")
    time = value.get("time")
    if type(seq) is not int or type(time) is not int:
        seq, time = safe_integer(seq), safe_integer(time)
        if seq is None or time is None:
            raise RecordError("seq and time must be safe integers")
    if not (0 <= seq <= MAX_SAFE_INTEGER and -MAX_SAFE_INTEGER <= time <= MAX_SAFE_INTEGER):
        raise RecordError("seq or time is outside the range of safe integers")
    if "data" not in value:
        raise RecordError("the record has no data")
    if len(value) != 4:
        if not value.keys() <= _EVENT_MEMBERS:
            unknown = ", ".join(sorted(value.keys() - _EVENT_MEMBERS))
            raise RecordError(f"a record has no member {shown(unknown)}")
        if value.get("ignorable", True) is not True:
            raise RecordError("ignorable is only ever true")
    return Span(seq, 1, time)


def _check_run(value: dict[str, Any], shape: _RunShape) -> Span:
    data = value.get("data")
    if value.keys() != _RUN_MEMBERS or type(data) is not dict:
        raise RecordError("a packed run has exactly the members type, seq0, time0 and data")
    if data.keys() != shape.required and data.keys() - shape.optional != shape.required:
        raise RecordError(f"the data of a packed run are {', '.join(sorted(shape.required))}")
    seq, time = safe_integer(value["seq0"]), safe_integer(value["time0"])
    if seq is None or seq < 0 or time is None:
        raise RecordError("seq0 and time0 must be safe integers")
    _check_block(data)
    members, steps = data[shape.members], data["dt"]
    # Runs are most of the bytes of a log.  Joining looks at the types of strings the fastest.
    try:
        "".join(members)
    except TypeError:
        members = None
    if type(members) is not list or not members:
        raise RecordError(f"{shape.members} must be a non-empty list of strings")
    if type(steps) is not list or len(steps) != len(members) - 1:
        raise RecordError("dt of a packed run must hold one step less than there are members")
    if seq + len(steps) > MAX_SAFE_INTEGER:
        raise RecordError("the seqs of a packed run leave the range of safe integers")
    return Span(seq, len(members), _last_time(time, steps))


def _check_block(data: dict[str, Any]) -> None:
    for name in ("turn", "step", "index"):
        if safe_integer(data[name]) is None:
            raise RecordError(f"{name} of a packed run must be a safe integer")
    for name in ("id", "name"):
        if name in data and type(data[name]) is not str:
            raise RecordError(f"{name} of a packed run must be a string")


def _last_time(time: int, steps: list[Any]) -> int:
    if not _ALL_INTEGERS(map(type, steps)):
        raise RecordError("every step in dt must be an integer")
    last: int = time + sum(steps)
    # What only rises has its widest time at an end, and no step wider than all together.
    if steps and (min(steps) < 0 or max(last, last - time) > MAX_SAFE_INTEGER):
        _check_times(time, steps)
    return last


def _check_times(time: int, steps: list[int]) -> None:
    times = list(accumulate(steps, initial=time))
    if max(map(abs, (max(steps), min(steps), max(times), min(times)))) > MAX_SAFE_INTEGER:
        raise RecordError("a step or time of a packed run leaves the range of safe integers")
