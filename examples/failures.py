"""Meet every error that a host has to answer for, and print its code and what it says."""

from __future__ import annotations

from typing import Any

import trio

from sessionref import (
    ResolverConfig,
    SessionReferenceError,
    SessionReferenceResolver,
    Target,
    decode_uri,
    open_resolver,
)
from sessionref.storage import MemorySessionStore, SessionHeader


async def try_references(resolver: SessionReferenceResolver, *references: dict[str, Any]) -> None:
    """Prepare a message that is written in session a, and print why that does not work."""
    try:
        await resolver.prepare(Target(session_id="a"), "Hello", references)
    except SessionReferenceError as error:
        print(error)


async def main() -> None:
    """Make one mistake after the other."""
    store = MemorySessionStore()
    for name in "abcde":
        store.put(SessionHeader(version=0, id=name, created_at=0))

    async with open_resolver(store) as resolver:
        await try_references(resolver, {"session": "b"})
        await try_references(resolver, {"sessionId": "a"})
        await try_references(resolver, *({"sessionId": name} for name in "bcde"))
        await try_references(resolver, {"sessionId": "b"}, {"sessionId": "gone"})
    async with open_resolver(store, config=ResolverConfig(max_reference_bytes=50)) as resolver:
        await try_references(resolver, {"sessionId": "b"})
    try:
        decode_uri("dsh-session:b")
    except SessionReferenceError as error:
        print(error)
    try:
        ResolverConfig(max_references=4)
    except SessionReferenceError as error:
        print(error)


if __name__ == "__main__":
    trio.run(main)
