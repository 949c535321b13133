"""The shapes of the events that are no messages, as types that msgspec checks while it parses.

What `typed` says of shapes is said of all of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from msgspec import Meta, Raw, Struct, field

from sessionref.javascript import MAX_SAFE_INTEGER

if TYPE_CHECKING:
    from sessionref.session.fold import SessionFold

__all__ = [
    "CallRun",
    "Event",
    "Exactly",
    "Name",
    "Natural",
    "Plain",
    "Safe",
    "Shape",
    "Step",
    "StepEnd",
    "StepStart",
    "TextRun",
    "ToolCall",
    "TurnEnd",
    "TurnStart",
]

Safe = Annotated[int, Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
Natural = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
Name = Annotated[str, Meta(min_length=1)]
_Members = Annotated[list[str], Meta(min_length=1)]


class Shape(Protocol):
    """A line whose members are checked, but not yet where it stands in its log."""

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

    type: str
    data: Raw


class _Turn(Exactly):
    turn: Safe


class TurnStart(Event):
    """The beginning of a turn, in no older spelling."""

    type: Literal["turn/start"]
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

    type: Literal["turn/end"]
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

    type: Literal["step/start"]
    data: Step

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.start_step(self.data.step)
        return fold.pass_over(1, self.time)


class StepEnd(Event):
    """The end of a step."""

    type: Literal["step/end"]
    data: Step

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.end_step()
        return fold.pass_over(1, self.time)


class _StartedCall(Step, gc=False):
    call_id: Name = field(name="callId")


class ToolCall(Event):
    """The start of a tool."""

    type: Literal["tool/call"]
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


class _Run(Exactly):
    seq: Natural = field(name="seq0")
    time: Safe = field(name="time0")


class TextRun(_Run, kw_only=True):
    """A packed run of what the model said or thought, whose times do not fall."""

    type: Literal["text-chunks", "reasoning-chunks"]
    data: _TextDeltas

    def enter(self, fold: SessionFold) -> bool:
        return _enter_run(fold, self.time, self.data.dt, len(self.data.members))


class CallRun(_Run, kw_only=True):
    """A packed run of the arguments of a tool call, whose times do not fall."""

    type: Literal["tool-call-chunks"]
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
