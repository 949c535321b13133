"""The shapes of the events that are no messages, as types that msgspec checks while it parses.

What `typed` says of shapes is said of all of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from msgspec import Meta, Raw, Struct, field

from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.json_line import line_decoder
from sessionref.session.title import parse_title

if TYPE_CHECKING:
    from sessionref.session.fold import SessionFold

__all__ = [
    "CallRun",
    "Event",
    "Exactly",
    "Name",
    "Natural",
    "Plain",
    "RequestHeader",
    "Run",
    "Safe",
    "Shape",
    "Step",
    "StepEnd",
    "StepStart",
    "TextRun",
    "Title",
    "ToolCall",
    "TurnEnd",
    "TurnStart",
]

Safe = Annotated[int, Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
Natural = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
Name = Annotated[str, Meta(min_length=1)]
_Members = Annotated[list[str], Meta(min_length=1)]


class Shape(Protocol):
    """A line whose members are checked, but not yet where it stands in its log.

    What tells the type of a line is its tag, which `typed` adds.
    """

    seq: int

    def enter(self, fold: SessionFold) -> bool:
        """Take the line into a fold whose next it is; False if the fold must judge it."""
        ...  # pragma: no cover - a protocol has no body


class Exactly(Struct, gc=False, forbid_unknown_fields=True):
    """These members and no others."""


class Event(Exactly):
    """What every event has."""

    seq: Natural
    time: Safe


class Plain(Event):
    """An event of which only the place in the log matters; its data may be anything."""

    data: Raw

    def enter(self, fold: SessionFold) -> bool:
        fold.next_seq += 1
        fold.last_time = self.time
        return True


class _Turn(Exactly):
    turn: Safe


class TurnStart(Event):
    """The beginning of a turn, in no older spelling."""

    data: _Turn

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.start_turn(self.data.turn)
        return fold.pass_over(1, self.time)


class _Reason(Struct, gc=False):
    kind: Literal["blocked", "completed", "interrupted", "max-tokens"]


class _EndedTurn(Struct, gc=False):
    turn: Safe
    reason: _Reason


class TurnEnd(Event):
    """The end of a turn, for a reason that has never been spelled otherwise."""

    data: _EndedTurn

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.end_turn()
        return fold.pass_over(1, self.time)


class Step(Struct, gc=False):
    """The data of what belongs to a step."""

    turn: Safe
    step: Safe


class StepStart(Event):
    """The beginning of a step."""

    data: Step

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.start_step(self.data.step)
        return fold.pass_over(1, self.time)


class StepEnd(Event):
    """The end of a step."""

    data: Step

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.end_step()
        return fold.pass_over(1, self.time)


class _Reasoned(Struct, gc=False):
    reason: str


class RequestHeader(Event):
    """What a request to the model began with, in a version that judges why it is told."""

    data: _Reasoned

    def enter(self, fold: SessionFold) -> bool:
        return self.data.reason != "fallback" and fold.pass_over(1, self.time)


class Title(Event):
    """A title."""

    data: Raw

    def enter(self, fold: SessionFold) -> bool:
        try:
            data = line_decoder()(bytes(self.data))
        except ValueError:
            return False
        fold.title = parse_title(data, self.seq, self.time)
        return fold.pass_over(1, self.time)


class _StartedCall(Step, gc=False):
    call_id: Name = field(name="callId")


class ToolCall(Event):
    """The start of a tool."""

    data: _StartedCall

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.call(self.data.call_id, self.seq)
        return fold.pass_over(1, self.time)


class _Deltas(Exactly):
    turn: Safe
    step: Safe
    index: Safe
    dt: list[Natural]


class _TextDeltas(_Deltas):
    members: _Members = field(name="texts")


class _CallDeltas(_Deltas, kw_only=True):
    id: str
    members: _Members = field(name="args")
    name: str = ""


class Run(Exactly):
    """A packed run, of which every string is decoded."""

    seq: Natural = field(name="seq0")
    time: Safe = field(name="time0")


class TextRun(Run, kw_only=True):
    """A packed run of what the model said or thought, whose times do not fall."""

    data: _TextDeltas

    def enter(self, fold: SessionFold) -> bool:
        return _enter_run(fold, self.time, self.data.dt, len(self.data.members))


class CallRun(Run, kw_only=True):
    """A packed run of the arguments of a tool call, whose times do not fall."""

    data: _CallDeltas

    def enter(self, fold: SessionFold) -> bool:
        return _enter_run(fold, self.time, self.data.dt, len(self.data.members))


def _enter_run(fold: SessionFold, time: int, steps: list[int], length: int) -> bool:
    last = time + sum(steps)
    if (
        len(steps) != length - 1
        or last > MAX_SAFE_INTEGER
        or fold.next_seq + length - 1 > MAX_SAFE_INTEGER
    ):
        return False
    return fold.pass_over(length, last)
