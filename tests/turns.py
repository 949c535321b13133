"""Logs as a model at work leaves them: turns, steps, streams, tools, compactions, crashes."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import LogBuilder, text_block, tool_call_block
from strategies import cwds, joined_text, session_ids

__all__ = ["logs_in_turns"]

_DELTAS = ["text-delta", "reasoning-delta", "tool-call-delta", "finish"]


@st.composite
def logs_in_turns(draw: DrawFn, *, max_turns: int = 3) -> LogBuilder:
    """A log of whole turns that may break off after any event, and may have started with a seed."""
    log = LogBuilder(draw(session_ids()), cwd=draw(st.none() | cwds()))
    author = _Author(draw, log)
    for turn in range(1, draw(st.integers(0, max_turns)) + 1):
        author.write_turn(turn)
    if draw(st.booleans()):
        del log.events[draw(st.integers(0, len(log.events))) :]
    seed_length = draw(st.none() | st.integers(0, len(log.events)))
    log.header = replace(log.header, seed_length=seed_length)
    return log


class _Author:
    """Writes turns into a log, as a draw has it."""

    def __init__(self, draw: DrawFn, log: LogBuilder) -> None:
        self._draw = draw
        self._log = log

    def write_turn(self, turn: int) -> None:
        """Append a turn of one to three steps."""
        self._log.start_turn(turn)
        self._log.user(self._text())
        for step in range(1, self._draw(st.integers(1, 3)) + 1):
            self._write_step({"turn": turn, "step": step})
        if self._chance():
            self._log.end_turn(turn, self._draw(st.sampled_from(["completed", "aborted"])))

    def _write_step(self, place: dict[str, int]) -> None:
        self._log.append("step/start", place)
        if self._chance():
            self._stream(place)
            self._log.append("llm/retry", place)
        chunks = self._stream(place)
        calls = [f"call-{len(self._log.events)}-{n}" for n in range(self._draw(st.integers(0, 2)))]
        self._here(self._log.assistant, place, self._text(), blocks=map(tool_call_block, calls))
        self._name_sources(chunks)
        for call_id in calls:
            self._run_tool(call_id, place)
        for write in (self._compact, self._inject, self._name):
            if self._chance():
                write()
        if self._chance():
            self._log.append("step/end", place)

    def _stream(self, place: dict[str, int]) -> list[int]:
        """Append chunks of a few blocks of every kind; return their seqs."""
        first = len(self._log.events)
        for index, kind in enumerate(self._draw(st.lists(st.sampled_from(_DELTAS), max_size=3))):
            for _ in range(self._draw(st.integers(1, 4))):
                self._log.append("assistant/chunk", {**place, "chunk": self._delta(kind, index)})
        return list(range(first, len(self._log.events)))

    def _delta(self, kind: str, index: int) -> dict[str, Any]:
        match kind:
            case "tool-call-delta":
                text = self._text()
                return {"type": kind, "index": index, "id": "c", "argumentsDelta": text}
            case "finish":
                return {"type": kind, "reason": "stop"}
            case _:
                return {"type": kind, "index": index, "text": self._text()}

    def _name_sources(self, chunks: list[int]) -> None:
        """Let the last event say that it was made from chunks, or not, in either spelling."""
        spellings = [None, chunks, [[chunks[0], chunks[-1]]] if chunks else []]
        sources = self._draw(st.sampled_from(spellings))
        if sources is not None:
            self._log.events[-1]["sourceEventSeqs"] = sources

    def _run_tool(self, call_id: str, place: dict[str, int]) -> None:
        started = self._here(self._log.tool_call, place, call_id) if self._chance() else None
        if not self._chance():
            return
        seq = self._here(self._log.tool_result, place, call_id, self._text())
        if started is not None:
            self._log.events[seq]["sourceEventSeqs"] = [started]
        if self._chance():
            self._replace_result(seq)

    def _replace_result(self, seq: int) -> None:
        data = deepcopy(self._log.events[seq]["data"])
        data["message"]["content"][0]["content"] = [text_block(self._text())]
        operation = {"op": "replace", "start": seq, "end": seq}
        again = self._log.append("tool/result", data, surfaceOp=operation, sourceEventSeqs=[seq])
        self._log.surface[self._log.surface.index(seq)] = again

    def _compact(self) -> None:
        surface = self._log.surface
        first = self._draw(st.integers(0, len(surface) - 1))
        last = self._draw(st.integers(first, len(surface) - 1))
        self._log.checkpoint(self._text(), surface[first], surface[last])

    def _inject(self) -> None:
        self._log.user(self._text(), kind="session-reference")

    def _name(self) -> None:
        self._log.title(self._text())

    def _here(self, write: Callable[..., int], place: dict[str, int], *args: Any, **kw: Any) -> int:
        """Append an event of a turn and step; return its seq."""
        seq = write(*args, **kw)
        self._log.events[seq]["data"] |= place
        return seq

    def _text(self) -> str:
        return self._draw(joined_text(max_size=12))

    def _chance(self) -> bool:
        return self._draw(st.booleans())
