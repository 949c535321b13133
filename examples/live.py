"""Offer a session that is still open, and see when its snapshot is taken."""

from __future__ import annotations

from typing import Any

import trio

from sessionref import SessionReferenceError, Target, open_resolver
from sessionref.storage import LiveSession, LiveSessions, MemorySessionStore, SessionHeader


def prompt(seq: int, text: str) -> dict[str, Any]:
    """Return what a person wrote, as a log records it."""
    data: dict[str, Any] = {"id": f"m{seq}", "role": "user", "source": {"kind": "user"}}
    data |= {"content": [{"type": "text", "text": text}]}
    return {"type": "user/message", "seq": seq, "time": seq, "surfaceOp": "append", "data": data}


async def main() -> None:
    """Refer to a session before and after it grows, and once its stored log disagrees."""
    stored, live = MemorySessionStore(), LiveSessions()
    header = SessionHeader(version=0, id="menu", created_at=1, cwd="/home/me/cafe")
    session = LiveSession(header, [prompt(0, "What is on the menu?")])
    live.open(session)
    target = Target(session_id="new", cwd="/home/me/cafe")
    reference = {"sessionId": "menu"}

    async with open_resolver(stored, live=live) as resolver:
        before = await resolver.prepare(target, "Hello", [reference])
        session.events.append(prompt(1, "And for dessert?"))
        after = await resolver.prepare(target, "Hello", [reference])
        for ready in (before, after):
            record = ready.to_wire()["additionalContext"]["source"]["references"][0]
            print(f"captured through seq {record['capturedThroughSeq']}")

        stored.put(SessionHeader(version=0, id="menu", created_at=1, cwd="/home/me/bar"))
        for candidate in await resolver.list_candidates(target):
            print(f"{candidate.session_id}, readable: {candidate.readable}")
        try:
            await resolver.prepare(target, "Hello", [reference])
        except SessionReferenceError as error:
            print(error)

        live.close("menu")
        for candidate in await resolver.list_candidates(target):
            print(f"{candidate.session_id}, readable: {candidate.readable}")


if __name__ == "__main__":
    trio.run(main)
