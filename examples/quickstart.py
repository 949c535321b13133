"""Find an earlier session, refer to it in a new message, and look at what the model gets."""

from __future__ import annotations

from importlib.resources import files

import trio

from sessionref import Target, open_resolver, parse_mentions
from sessionref.reference.visible import visible

ROOT = str(files("sessionref.cli") / "demo")  # eight sessions that come with the package


async def main() -> None:
    """Go the whole way from a query to the messages for the model."""
    target = Target(session_id="today", cwd="/home/ana/csv-tool")
    async with open_resolver(ROOT) as resolver:
        # 1. What could be mentioned?  Sessions of the same folder come first.
        for candidate in await resolver.list_candidates(target):
            note = "" if candidate.readable else "  (cannot be read)"
            print(f"{candidate.cwd or '-':20} {visible(candidate.label)}{note}")

        # 2. The person types a part of a title and picks the first hit.
        found = await resolver.list_candidates(target, "parser")
        typed = f"Write the changelog entry for {found[0].mention}, please."
        print(f"\ntyped: {typed}")

        # 3. The host sends the message: each mention becomes its label and a reference.
        text, references = parse_mentions(typed)
        ready = await resolver.prepare(target, text, references)

    # 4. The model gets the message itself, and one more that carries what was referred to.
    message = ready.to_wire()
    print(f"sent: {message['content'][0]['text']}\n")
    print(message["additionalContext"]["content"][0]["text"])


if __name__ == "__main__":
    trio.run(main)
