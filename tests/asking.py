"""Messages prepared as a host prepares them, and what is inside of their context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sessionref import (
    PreparedMessage,
    Reference,
    ResolverConfig,
    Target,
    TextBlock,
    UserMessage,
    open_resolver,
)
from sessionref.storage import SessionStore

__all__ = ["ask", "context_of", "prompt_of", "sources_of"]

_OPENING = "\n<referenced-sessions>\n"
_CLOSING = "\n</referenced-sessions>"


async def ask(
    source: Path | SessionStore, *references: Reference | str, target: str = "target", **limits: int
) -> PreparedMessage:
    """Return a message of the target that refers to sessions, by id or with a label."""
    values = [
        Reference(session_id=reference) if isinstance(reference, str) else reference
        for reference in references
    ]
    async with open_resolver(source, config=ResolverConfig(**limits)) as resolver:
        return await resolver.prepare(Target(session_id=target), "see there", values)


def context_of(prepared: PreparedMessage) -> UserMessage:
    """Return the context message of a message that has one."""
    assert prepared.additional_context is not None
    return prepared.additional_context


def prompt_of(message: UserMessage) -> str:
    """Return the text of a context message."""
    [block] = message.content
    assert isinstance(block, TextBlock)
    return block.text


def sources_of(message: UserMessage) -> list[dict[str, Any]]:
    """Return the sources that a context message carries, parsed from between its tags."""
    prompt = prompt_of(message)
    assert prompt.endswith(_CLOSING)
    start = prompt.index(_OPENING) + len(_OPENING)
    sources: list[dict[str, Any]] = json.loads(prompt[start : -len(_CLOSING)])
    return sources
