"""Fitting as the contract words it: every size taken anew, every text serialized again.

Its work grows with the square of a conversation.  It shares no code with the package.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessionref.snapshot.projection import ConversationMessage

__all__ = ["PlainFit", "cost", "fit_plainly", "serialize", "utf8"]


@dataclass(frozen=True)
class PlainFit:
    """The (role, text) pairs that are left, and what is missing."""

    conversation: list[tuple[str, str]]
    omitted_messages: int
    omitted_bytes: int
    cut: int
    emptied: int


def serialize(value: object) -> bytes:
    r"""Return data as JSON.stringify and UTF-8 give it, with every `<` as `\u003c`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").encode("utf-8", "backslashreplace")


def cost(text: str) -> int:
    """Return the bytes of a text in a source, without the quotes."""
    return len(serialize(text)) - 2


def utf8(text: str) -> bytes:
    """Return the UTF-8 of a text, lone surrogates as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def fit_plainly(
    messages: Sequence[ConversationMessage],
    size_of: Callable[[list[tuple[str, str]]], int],
    budget: int,
) -> PlainFit | None:
    """Return what fits into the budget, or None if nothing does; `size_of` is that of a source."""
    kept, dropped = list(messages), []
    while size_of(pairs(kept)) > budget:
        droppable = [place for place, one in enumerate(kept[:-1]) if not one.is_checkpoint]
        if not droppable:
            break
        dropped.append(kept.pop(droppable[0]))
    dropped_bytes = sum(len(utf8(one.text)) for one in dropped)
    if size_of(pairs(kept)) <= budget:
        return PlainFit(pairs(kept), len(dropped), dropped_bytes, 0, 0)
    room = budget - size_of([(one.role, "") for one in kept])
    if room < 0:
        return None
    cap = highest(
        max(cost(one.text) for one in kept),
        lambda cap: sum(cost(cut_plainly(one.text, cap)[0]) for one in kept) <= room,
    )
    cuts = [cut_plainly(one.text, cap or 0) for one in kept]
    return PlainFit(
        [(one.role, text) for one, (text, _) in zip(kept, cuts, strict=True)],
        len(dropped),
        dropped_bytes + sum(omitted for _, omitted in cuts),
        sum(omitted > 0 for _, omitted in cuts),
        sum(not text for text, _ in cuts),
    )


def cut_plainly(text: str, most: int) -> tuple[str, int]:
    """Return a text cut to a cost, and the bytes of it that are missing."""
    if cost(text) <= most:
        return text, 0
    source = utf8(text)

    def candidate(count: int) -> tuple[str, int]:
        head = source[: (count + 1) // 2].decode("utf-8", "ignore")
        tail = source[len(source) - count // 2 :].decode("utf-8", "ignore")
        omitted = len(source) - len((head + tail).encode())
        return f"{head}{tail}\n[… omitted {omitted} UTF-8 bytes …]", omitted

    count = highest(len(source) - 1, lambda count: cost(candidate(count)[0]) <= most)
    return ("", len(source)) if count is None else candidate(count)


def highest(most: int, fits: Callable[[int], bool]) -> int | None:
    """Return the last of 0 to `most` that a binary search finds to fit, if any."""
    low, high, best = 0, most, None
    while low <= high:
        middle = (low + high) // 2
        if fits(middle):
            best, low = middle, middle + 1
        else:
            high = middle - 1
    return best


def pairs(messages: Sequence[ConversationMessage]) -> list[tuple[str, str]]:
    """Return what of messages is serialized."""
    return [(one.role, one.text) for one in messages]
