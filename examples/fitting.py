"""Fit one conversation into ever smaller budgets, and print what is left of it."""

from __future__ import annotations

import json
from typing import Any

import trio

from sessionref import Reference, ResolverConfig, SessionReferenceError, Target, open_resolver
from sessionref.storage import MemorySessionStore, SessionHeader

LINES = [
    ("checkpoint", "Earlier, we agreed to bake on Tuesdays."),
    ("user", "Which flour do we need?"),
    ("assistant", "Type 550, twenty kilograms."),
    ("user", "Write the order."),
    (
        "assistant",
        "Dear mill, please send us twenty kilograms of flour, type 550, on Monday. Thank you!",
    ),
]


def event(seq: int, speaker: str, text: str) -> dict[str, Any]:
    """Return one message as a log records it."""
    message = {"id": f"m{seq}", "content": [{"type": "text", "text": text}]}
    if speaker == "assistant":
        source = {"kind": "model", "provider": "example", "model": "example"}
        answer = message | {"role": "assistant", "source": source}
        kind, data = "assistant/message", {"turn": 1, "step": 1, "message": answer}
    else:
        checkpoint = {"kind": "plugin", "plugin": "compact", "compactionId": "c1"}
        source = checkpoint if speaker == "checkpoint" else {"kind": "user"}
        kind, data = "user/message", message | {"role": "user", "source": source}
    return {"type": kind, "seq": seq, "time": 0, "surfaceOp": "append", "data": data}


async def show(store: MemorySessionStore, budget: int) -> None:
    """Print what a snapshot keeps of the conversation within a budget."""
    config = ResolverConfig(max_reference_bytes=budget)
    async with open_resolver(store, config=config) as resolver:
        reference = Reference(session_id="order", label="Flour")
        try:
            ready = await resolver.prepare(Target(session_id="new"), "And now?", [reference])
        except SessionReferenceError as error:
            print(f"Budget {budget:,} bytes: {error}")
            return
    context = ready.to_wire()["additionalContext"]
    source = context["content"][0]["text"].splitlines()[-2].removeprefix("[").removesuffix("]")
    record = context["source"]["references"][0]
    print(f"Budget {budget:,} bytes, used {len(source.encode())}:")
    print(f"  {record['retainedMessages']} of {record['originalMessages']} messages kept,", end=" ")
    print(f"{record['omittedBytes']} bytes omitted")
    for message in json.loads(source)["conversation"]:
        print(f"  {message['role']}: {message['text']!r}")
    print()


async def main() -> None:
    """Show the conversation with room for all of it, for some of it and for none of it."""
    store = MemorySessionStore()
    events = [event(seq, speaker, text) for seq, (speaker, text) in enumerate(LINES)]
    store.put(SessionHeader(version=0, id="order", created_at=0), events)
    for budget in (65_536, 320, 240, 140):
        await show(store, budget)


if __name__ == "__main__":
    trio.run(main)
