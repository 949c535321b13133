"""Logs of version 0 rewritten as later versions have them, for tests only.

Each rewriting says the same in another form: stream chunks move into the messages that they made,
attempts, marks and instructions come in between, and the newer spellings and shapes are used.  The
seqs change; `Rewritten.seqs` tells what became of the old ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from logs import json_line, log_path, to_lines, zstd_log

from sessionref.session.header import SessionHeader

__all__ = ["Rewritten", "rewrite"]

Event = dict[str, Any]
Block = tuple[object, ...]

_RENAMED = {
    "tool/code-dispatch": "tool/ptc-dispatch",
    "tool/code-dispatch-start": "tool/ptc-dispatch-start",
}
_RUNS = {
    "text-delta": ("text-chunks", "text", "texts"),
    "reasoning-delta": ("reasoning-chunks", "text", "texts"),
    "tool-call-delta": ("tool-call-chunks", "argumentsDelta", "args"),
}


@dataclass(frozen=True)
class Rewritten:
    """A log in a later version: its header, its events, and the new seq of each old one.

    Stream chunks have no new seq from version 2 on.
    """

    header: SessionHeader
    events: list[Event]
    seqs: dict[int, int]

    def lines(self) -> list[bytes]:
        """Return the lines of the log, the header first, without line feeds."""
        header = {"type": "session", **self.header.to_wire()}
        return [json_line(header), *map(json_line, self.events)]

    def write(self, root: Path, *, compressed: bool = False) -> Path:
        """Write the log to where it belongs below a root, and return its path."""
        header = self.header
        path = log_path(root, header.id, header.cwd, version=header.version, compressed=compressed)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zstd_log(self.lines(), 7) if compressed else to_lines(self.lines()))
        return path


def rewrite(header: SessionHeader, events: Sequence[Event], version: int) -> Rewritten:
    """Return a log of version 0, in today's shapes and without packed runs, as another version."""
    pieces: list[tuple[int | None, Event]] = [(event["seq"], event) for event in events]
    if version >= 2:
        pieces = list(_embed_streams(pieces))
        pieces = _mark_seed(header, pieces)
        is_seeded = header.seed_length is not None
        header = replace(header, seed_length=None, is_seeded=is_seeded)
    if version >= 3:
        pieces = list(_insert_instructions(pieces, version))
    header = replace(header, version=version)
    seqs = {old: new for new, (old, _) in enumerate(pieces) if old is not None}
    surface: list[int] = []
    renumbered = [
        _renumber(_respell(event, version), seq, seqs, surface)
        for seq, (_, event) in enumerate(pieces)
    ]
    if version >= 3:
        renumbered = [_respell_replacement(event) for event in renumbered]
    return Rewritten(header, renumbered, seqs)


def _embed_streams(
    pieces: Iterable[tuple[int | None, Event]],
) -> Iterable[tuple[int | None, Event]]:
    """Yield events with the chunks before an answer inside it; those without one are an attempt."""
    waiting: list[Event] = []
    for old, event in pieces:
        if event["type"] == "assistant/chunk":
            waiting.append(event)
            continue
        if event["type"] == "assistant/message":
            data = {**event["data"], "stream": _stream(waiting)}
            yield old, {**_without(event, "sourceEventSeqs"), "data": data}
        else:
            if waiting:
                yield None, _attempt(waiting)
            yield old, event
        waiting = []
    if waiting:
        yield None, _attempt(waiting)


def _attempt(chunks: Sequence[Event]) -> Event:
    place = {"turn": chunks[0]["data"]["turn"], "step": chunks[0]["data"]["step"]}
    data = {**place, "stream": _stream(chunks)}
    return {"type": "assistant/attempt", "time": chunks[-1]["time"], "data": data}


def _stream(chunks: Sequence[Event]) -> list[Event]:
    return [_run(list(run)) for _, run in groupby(chunks, _block)]


def _block(event: Event) -> Block:
    chunk = event["data"]["chunk"]
    return tuple(chunk.get(name) for name in ("type", "index", "id", "name"))


def _run(events: Sequence[Event]) -> Event:
    chunk = events[0]["data"]["chunk"]
    if chunk["type"] not in _RUNS:
        return {"type": "chunk", "time": events[0]["time"], "chunk": chunk}
    kind, text, members = _RUNS[chunk["type"]]
    return {
        "type": kind,
        "time0": events[0]["time"],
        **{name: chunk[name] for name in ("index", "id", "name") if name in chunk},
        "dt": [after["time"] - before["time"] for before, after in pairwise(events)],
        members: [event["data"]["chunk"][text] for event in events],
    }


def _mark_seed(
    header: SessionHeader, pieces: list[tuple[int | None, Event]]
) -> list[tuple[int | None, Event]]:
    """Return events with a mark that means nothing, and with the one that ends the seed, if any."""
    time = pieces[0][1]["time"] if pieces else header.created_at
    plain: Event = {"type": "session/end-seed", "time": time, "data": {}}
    if header.seed_length is None:
        return [(None, plain), *pieces]
    length = header.seed_length
    cut = next(
        (place for place, (old, _) in enumerate(pieces) if old is not None and old >= length),
        len(pieces),
    )
    inherited = {**plain, "data": {"inherited": True}}
    return [(None, plain), *pieces[:cut], (None, inherited), *pieces[cut:]]


def _insert_instructions(
    pieces: Iterable[tuple[int | None, Event]], version: int
) -> Iterable[tuple[int | None, Event]]:
    """Yield events behind a system message, with later instructions and foreign ones between."""
    for place, (old, event) in enumerate(pieces):
        if place == 0:
            yield None, _instructions("system", event["time"])
        yield old, event
        if place % 3 == 0:
            yield None, _foreign(event["time"])
            if version >= 4:
                yield None, _instructions("developer", event["time"])


def _instructions(role: str, time: int) -> Event:
    message = {
        "id": f"{role}-instructions",
        "role": role,
        "source": {"kind": "plugin", "plugin": "instructions"},
        "content": [{"type": "text", "text": f"what the {role} says is not conversation"}],
    }
    data = {"turn": 1, "step": 1, "message": message}
    return {"type": f"{role}/message", "time": time, "data": data, "surfaceOp": "append"}


def _foreign(time: int) -> Event:
    return {"type": "acme/note", "time": time, "data": 7, "ignorable": True, "surfaceOp": "append"}


def _respell(event: Event, version: int) -> Event:
    if version >= 3:
        event = {**event, "type": _RENAMED.get(event["type"], event["type"])}
    if version >= 4 and event["type"] == "tool/result":
        return _map_message(event, _plain_result)
    if version >= 4 and event["type"] == "user/message":
        return {**event, "data": _mark_checkpoint(event["data"])}
    return event


def _map_message(event: Event, change: Callable[[Mapping[str, Any]], Event]) -> Event:
    data = event["data"]
    return {**event, "data": {**data, "message": change(data["message"])}}


def _plain_result(message: Mapping[str, Any]) -> Event:
    block = message["content"][0]
    return {
        "id": message["id"],
        "role": "tool",
        "toolCallId": block["toolCallId"],
        "isError": block["isError"],
        "source": message["source"],
        "content": block["content"],
    }


def _mark_checkpoint(message: Mapping[str, Any]) -> Mapping[str, Any]:
    source = message["source"]
    if (source["kind"], source.get("plugin")) != ("plugin", "compact"):
        return message
    rest = {name: value for name, value in source.items() if name not in ("kind", "plugin")}
    return {**message, "source": {"kind": "compact-checkpoint", **rest}}


def _renumber(event: Event, seq: int, seqs: Mapping[int, int], surface: list[int]) -> Event:
    """Return an event with its new seq and those that it names; keep the surface up to date."""
    event = {**event, "seq": seq}
    operation = event.get("surfaceOp")
    sources = [seqs[old] for old in _plain(event.get("sourceEventSeqs", ())) if old in seqs]
    if isinstance(operation, dict):
        start, end = seqs[operation["start"]], seqs[operation["end"]]
        first, last = surface.index(start), surface.index(end)
        sources = sorted({*sources, *surface[first : last + 1]})
        surface[first : last + 1] = [seq]
        event["surfaceOp"] = {"op": "replace", "start": start, "end": end}
    elif operation == "append" and "ignorable" not in event:
        surface.append(seq)
    event.pop("sourceEventSeqs", None)
    return {**event, "sourceEventSeqs": sources} if sources else event


def _plain(sources: Iterable[Any]) -> Iterable[int]:
    """Yield the seqs of a list, pairs written out."""
    for source in sources:
        start, end = source if isinstance(source, list) else (source, source)
        yield from range(start, end + 1)


def _respell_replacement(event: Event) -> Event:
    operation = event.get("surfaceOp")
    if not isinstance(operation, dict):
        return event
    ends = {"startSeq": operation["start"], "endSeq": operation["end"]}
    return {**event, "surfaceOp": {"op": "replace", **ends}}


def _without(event: Event, member: str) -> Event:
    return {name: value for name, value in event.items() if name != member}
