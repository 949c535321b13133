"""A crashed last turn: the events that close it, made in memory and never written.

A log may end inside a turn.  Its reader answers every open tool call with an error, ends the open
step and then the turn, so that the session reads like one that was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["OpenTurn", "lost_result", "plain_lost_result"]

Record = dict[str, Any]

_NOT_STARTED = "The session ended before this tool was started."
_OUTCOME_UNKNOWN = "The session ended while this tool was running; what it did is not known."


class OpenTurn:
    """What of the last turn is still open, as the events of a log go by."""

    def __init__(self) -> None:
        self._turn: int | None = None
        self._step: int | None = None
        self._pending: dict[str, int | None] = {}

    def start_turn(self, turn: int) -> None:
        """A turn begins."""
        self._turn, self._step = turn, None
        self._pending.clear()

    def end_turn(self) -> None:
        """The turn ends, and with it every call that was open."""
        self._turn = self._step = None
        self._pending.clear()

    def start_step(self, step: int) -> None:
        """A step begins."""
        self._step = step
        self._pending.clear()

    def end_step(self) -> None:
        """The step ends, and with it every call that was open."""
        self._step = None
        self._pending.clear()

    def ask(self, turn: int, step: int, call_ids: Iterable[str]) -> None:
        """The model answers; the tool calls of the open step's answers wait for results."""
        if self.is_open_step(turn, step):
            for call_id in call_ids:
                self._pending.setdefault(call_id, None)

    def call(self, call_id: str, seq: int) -> None:
        """A tool is started."""
        if call_id in self._pending:
            self._pending[call_id] = seq

    def settle(self, call_id: str) -> None:
        """A tool's result is recorded."""
        self._pending.pop(call_id, None)

    def is_open_step(self, turn: int, step: int) -> bool:
        """Return whether a turn and step are the ones that are open."""
        return (turn, step) == (self._turn, self._step)

    def closers(
        self, next_seq: int, time: int, lost_result: Callable[[str, str], Record]
    ) -> list[Record]:
        """Return the events that close the turn, none if no turn is open.

        `lost_result` makes the message that answers a call, from its id and a text.
        """
        if self._turn is None:
            return []
        place = {"turn": self._turn}
        events: list[Record] = []
        if self._step is not None:
            step = {**place, "step": self._step}
            for call_id, called_at in self._pending.items():
                events.append(_answer(step, call_id, called_at, lost_result))
            events.append({"type": "step/end", "data": step})
        events.append({"type": "turn/end", "data": {**place, "reason": {"kind": "interrupted"}}})
        for seq, event in enumerate(events, next_seq):
            event |= {"seq": seq, "time": time}
        return events


def _answer(
    step: dict[str, int],
    call_id: str,
    called_at: int | None,
    lost_result: Callable[[str, str], Record],
) -> Record:
    started = called_at is not None
    code = "TOOL_OUTCOME_UNKNOWN" if started else "TOOL_NOT_STARTED"
    message = lost_result(call_id, _OUTCOME_UNKNOWN if started else _NOT_STARTED)
    event: Record = {
        "type": "tool/result",
        "data": {**step, "message": message, "error": {"code": code}},
        "surfaceOp": "append",
    }
    return {**event, "sourceEventSeqs": [called_at]} if started else event


def lost_result(call_id: str, text: str) -> Record:
    """Return the message that says a call's result was lost, as versions 0 to 3 write it."""
    block = {
        "type": "tool-result",
        "toolCallId": call_id,
        "isError": True,
        "content": [{"type": "text", "text": text}],
    }
    return {
        "id": f"interrupted:{call_id}",
        "role": "user",
        "source": {"kind": "tool", "callId": call_id},
        "content": [block],
    }


def plain_lost_result(call_id: str, text: str) -> Record:
    """Return the message that says a call's result was lost, as version 4 writes it."""
    return {
        "id": f"interrupted:{call_id}",
        "role": "tool",
        "toolCallId": call_id,
        "isError": True,
        "source": {"kind": "tool", "callId": call_id},
        "content": [{"type": "text", "text": text}],
    }
