"""Keep sessions in memory: for tests, and to try things without a single log file."""

from __future__ import annotations

import trio

from sessionref import Reference, Target, open_resolver
from sessionref.storage import MemorySessionStore, SessionHeader

EVENTS = [
    {
        "type": "session/title",
        "seq": 0,  # counts the events, from 0
        "time": 1,  # milliseconds since the epoch
        "data": {"title": "Lunch", "messageSeqs": [], "source": {"kind": "user"}},
    },
    {
        "type": "user/message",
        "seq": 1,
        "time": 2,
        "surfaceOp": "append",
        "data": {
            "id": "m1",
            "role": "user",
            "source": {"kind": "user"},
            "content": [{"type": "text", "text": "What is for lunch?"}],
        },
    },
    {
        "type": "assistant/message",
        "seq": 2,
        "time": 3,
        "surfaceOp": "append",
        "data": {
            "turn": 1,
            "step": 1,
            "message": {
                "id": "m2",
                "role": "assistant",
                "source": {"kind": "model", "provider": "example", "model": "example"},
                "content": [{"type": "text", "text": "Soup."}],
            },
        },
    },
]


async def main() -> None:
    """Store a session, refer to it, and forget it."""
    store = MemorySessionStore()
    store.put(SessionHeader(version=0, id="a", created_at=1), EVENTS)
    target = Target(session_id="new")
    async with open_resolver(store) as resolver:
        print([candidate.label for candidate in await resolver.list_candidates(target)])
        ready = await resolver.prepare(target, "And today?", [Reference(session_id="a")])
        print(ready.to_wire()["additionalContext"]["content"][0]["text"].splitlines()[-2])
        store.remove("a")
        print(await resolver.list_candidates(target))


if __name__ == "__main__":
    trio.run(main)
