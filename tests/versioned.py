"""Small logs of any version of the format, event by event, as their lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logs import json_line, text_block, tool_call_block

from sessionref.session.fold import SessionLog
from sessionref.session.reading import read_log

__all__ = [
    "PLACE",
    "Event",
    "assistant",
    "blocky_result",
    "checkpoint",
    "event",
    "header",
    "in_step",
    "instructions",
    "lines",
    "plain_result",
    "read",
    "replacing",
    "said",
    "seqs",
    "user",
]

Event = dict[str, Any]

PLACE = {"turn": 1, "step": 1}


def header(version: int, **members: object) -> Event:
    """Return the header of session "s" as a version has it."""
    seed = {"isSeeded": False} if version >= 2 else {}
    required = {"type": "session", "version": version, "id": "s", "createdAt": 1}
    return {**required, "delegationDepth": 0, **seed, **members}


def lines(version: int, *events: Event, **members: object) -> list[bytes]:
    """Return the lines of a log: a header with these members, and events, which get their seqs."""
    numbered = [{"seq": seq, "time": 1, **event} for seq, event in enumerate(events)]
    return [json_line(value) for value in (header(version, **members), *numbered)]


def read(version: int, *events: Event, **members: object) -> SessionLog:
    """Return what a log of these events means."""
    return read_log(lines(version, *events, **members))


def seqs(log: SessionLog) -> list[int]:
    """Return the seqs on the surface of a log."""
    return [seq for seq, _ in log.surface]


def said(log: SessionLog) -> list[str]:
    """Return who says what on the surface of a log, `+` before a checkpoint."""
    return [
        f"{'+' * node.is_checkpoint}{node.speaker}: {node.text}"
        for _, node in log.surface
        if node.speaker is not None
    ]


def event(kind: str, data: object = None, **members: object) -> Event:
    """Return an event without seq and time; it is about the first step, if nothing is given."""
    return {"type": kind, "data": PLACE if data is None else data, **members}


def in_step(*events: Event) -> Sequence[Event]:
    """Return events in an open step."""
    return [event("turn/start", {"turn": 1}), event("step/start"), *events]


def user(text: str = "hi", source: Event | None = None, **members: object) -> Event:
    """Return a message of a person, or of another source."""
    message = {"id": "u", "role": "user", "source": source or {"kind": "user"}}
    data = {**message, "content": [text_block(text)]}
    return event("user/message", data, **{"surfaceOp": "append", **members})


def checkpoint(version: int, text: str = "sum", **members: object) -> Event:
    """Return what a compaction leaves, marked as a version marks it."""
    if version >= 4:
        return user(text, {"kind": "compact-checkpoint", "compactionId": "k"}, **members)
    return user(text, {"kind": "plugin", "plugin": "compact", "compactionId": "k"}, **members)


def assistant(
    version: int, text: str = "ok", calls: Sequence[str] = (), **members: object
) -> Event:
    """Return an answer of the model that calls tools, with a stream where a version has it."""
    message = {
        "id": "a",
        "role": "assistant",
        "source": {"kind": "model", "provider": "p", "model": "m"},
        "content": [text_block(text), *map(tool_call_block, calls)],
    }
    stream: Event = {"stream": []} if version >= 2 else {}
    data = {**PLACE, **stream, "message": message}
    return event("assistant/message", data, **{"surfaceOp": "append", **members})


def blocky_result(call_id: str = "c", text: str = "done", **members: object) -> Event:
    """Return the result of a tool call as versions 0 to 3 have it: one block in a user message."""
    content = [text_block(text)]
    block = {"type": "tool-result", "toolCallId": call_id, "isError": False, "content": content}
    message = {"id": "t", "role": "user", "source": {"kind": "tool", "callId": call_id}}
    data = {**PLACE, "message": {**message, "content": [block]}}
    return event("tool/result", data, **{"surfaceOp": "append", **members})


def plain_result(call_id: str = "c", text: str = "done", **members: object) -> Event:
    """Return the result of a tool call as version 4 has it: a message of its own role."""
    message = {
        "id": "t",
        "role": "tool",
        "toolCallId": call_id,
        "source": {"kind": "tool", "callId": call_id},
        "content": [text_block(text)],
    }
    data = {**PLACE, "message": message}
    return event("tool/result", data, **{"surfaceOp": "append", **members})


def instructions(role: str, text: str = "be kind", **members: object) -> Event:
    """Return a system or developer message."""
    message = {"id": "i", "role": role, "source": {"kind": "plugin", "plugin": "x"}}
    data = {**PLACE, "message": {**message, "content": [text_block(text)]}}
    return event(f"{role}/message", data, **{"surfaceOp": "append", **members})


def replacing(version: int, start: int, end: int) -> Event:
    """Return the members of an event that replaces what lies from one seq to another."""
    first, last = ("startSeq", "endSeq") if version >= 3 else ("start", "end")
    operation = {"op": "replace", first: start, last: end}
    return {"surfaceOp": operation, "sourceEventSeqs": list(range(start, end + 1))}
