"""Packed runs: consecutive stream deltas of one block as one line, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Any, Final

from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.records import RUN_TYPES, check_record

__all__ = ["pack_runs", "unpack_runs"]

SHORTEST_RUN: Final = 3
"""A writer packs runs of this many deltas or more; a reader takes any."""

_DELTAS: Final = {
    "text-delta": ("text-chunks", "text", frozenset({"type", "index", "text"})),
    "reasoning-delta": ("reasoning-chunks", "text", frozenset({"type", "index", "text"})),
    "tool-call-delta": (
        "tool-call-chunks",
        "argumentsDelta",
        frozenset({"type", "index", "id", "argumentsDelta"}),
    ),
}
_RUN_DELTAS: Final = {run: (delta, text) for delta, (run, text, _) in _DELTAS.items()}

Record = dict[str, Any]


def pack_runs(events: Iterable[Record]) -> Iterator[Record]:
    """Yield the records of a list of events, three or more deltas of one block as one record.

    Events that cannot be packed without loss are yielded as they are, the same objects.
    """
    run: list[Record] = []
    block: tuple[object, ...] | None = None
    for event in events:
        next_block = _block_of(event)
        if run and not (next_block == block and _follows(event, run[-1])):
            yield from _close(run)
            run = []
        block = next_block
        if block is None:
            yield event
        else:
            run.append(event)
    yield from _close(run)


def unpack_runs(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the events of a list of records, the members of packed runs one by one.

    Raises `RecordError` for what is no record.
    """
    for record in records:
        check_record(record)
        if record["type"] in RUN_TYPES:
            yield from _unpack(record)
        else:
            yield record


def _follows(event: Record, before: Record) -> bool:
    step: int = event["time"] - before["time"]
    return event["seq"] == before["seq"] + 1 and abs(step) <= MAX_SAFE_INTEGER


def _block_of(event: Record) -> tuple[object, ...] | None:
    """Return what a packable delta shares with its neighbours, or None if it is not packable."""
    data = event["data"]
    if event["type"] != "assistant/chunk" or len(event) != 4 or type(data) is not dict:
        return None
    chunk = data.get("chunk")
    if data.keys() != {"turn", "step", "chunk"} or type(chunk) is not dict:
        return None
    kind = chunk.get("type")
    if type(kind) is not str or kind not in _DELTAS:
        return None
    run_type, text, members = _DELTAS[kind]
    names = chunk.keys() - {"name"} if kind == "tool-call-delta" else chunk.keys()
    numbers = (data["turn"], data["step"], chunk.get("index"))
    strings = [chunk[name] for name in ("id", "name", text) if name in chunk]
    if names != members or set(map(type, numbers)) != {int} or set(map(type, strings)) != {str}:
        return None
    return run_type, *numbers, chunk.get("id"), chunk.get("name")


def _close(run: list[Record]) -> Iterator[Record]:
    if len(run) < SHORTEST_RUN:
        yield from run
        return
    first = run[0]
    chunk = first["data"]["chunk"]
    run_type, text, _ = _DELTAS[chunk["type"]]
    shared = {name: chunk[name] for name in ("index", "id", "name") if name in chunk}
    yield {
        "type": run_type,
        "seq0": first["seq"],
        "time0": first["time"],
        "data": {
            "turn": first["data"]["turn"],
            "step": first["data"]["step"],
            **shared,
            "dt": [after["time"] - before["time"] for before, after in pairwise(run)],
            RUN_TYPES[run_type].members: [event["data"]["chunk"][text] for event in run],
        },
    }


def _unpack(record: Record) -> Iterator[Record]:
    data = record["data"]
    delta, text = _RUN_DELTAS[record["type"]]
    shared = {name: data[name] for name in ("index", "id", "name") if name in data}
    members = data[RUN_TYPES[record["type"]].members]
    times = accumulate(data["dt"], initial=record["time0"])
    for offset, (time, member) in enumerate(zip(times, members, strict=True)):
        yield {
            "type": "assistant/chunk",
            "seq": record["seq0"] + offset,
            "time": time,
            "data": {
                "turn": data["turn"],
                "step": data["step"],
                "chunk": {"type": delta, **shared, text: member},
            },
        }
