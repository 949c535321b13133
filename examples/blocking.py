"""Use sessionref in a program that has no event loop: each function blocks until it is done."""

from __future__ import annotations

from importlib.resources import files

import trio

from sessionref import (
    Candidate,
    PreparedMessage,
    SessionReferenceError,
    Target,
    open_resolver,
    parse_mentions,
)

ROOT = str(files("sessionref.cli") / "demo")  # eight sessions that come with the package


def find(target: Target, query: str) -> list[Candidate]:
    """Return the sessions that match a query."""

    async def work() -> list[Candidate]:
        async with open_resolver(ROOT) as resolver:
            return await resolver.list_candidates(target, query)

    return trio.run(work)


def prepare(target: Target, typed: str, seconds: float) -> PreparedMessage:
    """Return a message with what it refers to; `trio.TooSlowError` if that takes too long."""

    async def work() -> PreparedMessage:
        text, references = parse_mentions(typed)
        with trio.fail_after(seconds):
            async with open_resolver(ROOT) as resolver:
                return await resolver.prepare(target, text, references)

    return trio.run(work)


def main() -> None:
    """Answer two messages, one of which cannot be sent."""
    target = Target(session_id="today", cwd="/home/ana/csv-tool")
    for query in ("flaky", "c07a5e39"):
        candidate = find(target, query)[0]
        print(f"{candidate.label}:")
        try:
            ready = prepare(target, f"What about {candidate.mention}?", seconds=10)
        except SessionReferenceError as error:
            print(f"  not sent, {error.code}")
        else:
            record = ready.to_wire()["additionalContext"]["source"]["references"][0]
            print(f"  sent with {record['retainedMessages']} messages of that session")


if __name__ == "__main__":
    main()
