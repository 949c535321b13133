"""Fitting a conversation into a budget: drop the oldest, then let the rest share the room.

The work is linear in the conversation.  Each size is a sum that is kept up to date, and no cut
looks at more of a text than the budget has room for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sessionref.javascript import replace_surrogates
from sessionref.snapshot.json_text import string_cost
from sessionref.snapshot.projection import ConversationMessage
from sessionref.snapshot.retention import EncodedText

__all__ = [
    "Check",
    "Cut",
    "FittedConversation",
    "FittedMessage",
    "RoomError",
    "carry_on",
    "cut_to_cost",
    "fit",
]

_LONGEST_CHARACTER: Final = 4

Check = Callable[[], object]


def carry_on() -> None:
    """The check of a caller who never gives the work up."""


class Cut(NamedTuple):
    """What is left of a text: it costs `cost`, and `omitted_bytes` of it are missing."""

    text: str
    omitted_bytes: int
    cost: int


class RoomError(ValueError):
    """The fixed fields of a source alone need `needed` bytes, more than the budget."""

    def __init__(self, needed: int) -> None:
        super().__init__(f"{needed} bytes are needed without any text")
        self.needed = needed


class FittedMessage(NamedTuple):
    """A message as it is carried over; `omitted_bytes` of its text are not, 0 if it is whole."""

    message: ConversationMessage
    omitted_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FittedConversation:
    """What of a conversation is carried over.  `omitted_bytes` are UTF-8 bytes of text."""

    messages: tuple[FittedMessage, ...]
    original_messages: int
    omitted_messages: int
    omitted_bytes: int

    @property
    def retained_messages(self) -> int:
        """How many messages are carried over, cut or whole."""
        return len(self.messages)

    @property
    def truncated(self) -> bool:
        """Whether anything of the conversation is missing."""
        return self.omitted_messages > 0 or self.omitted_bytes > 0


def fit(
    conversation: Sequence[ConversationMessage], fixed: int, budget: int, check: Check = carry_on
) -> FittedConversation:
    """Return the part of a conversation whose serialized source takes up at most `budget` bytes.

    `fixed` are the bytes of the source without any message.  While it is too large, the oldest
    message that is neither a checkpoint nor the last one is dropped; then the texts that are left
    share the room: each is cut to at most the greatest cost with which all of them fit.  `check`
    is called between pieces of the work, so that it can be given up by raising.

    Raises `RoomError` if what may not be dropped does not fit even without any text.
    """
    costs = []
    for message in conversation:
        check()
        costs.append(string_cost(message.text))
    shells = [_shell_cost(message) for message in conversation]
    kept, size = _drop_oldest(conversation, costs, shells, fixed, budget)
    messages = tuple(FittedMessage(conversation[place]) for place in kept)
    if size > budget:
        room = budget - (size - sum(costs[place] for place in kept))
        if room < 0:
            raise RoomError(budget - room)
        messages = _share(messages, [costs[place] for place in kept], room, check)
    still_there = set(kept)
    dropped = [message for place, message in enumerate(conversation) if place not in still_there]
    return FittedConversation(
        messages=messages,
        original_messages=len(conversation),
        omitted_messages=len(dropped),
        omitted_bytes=sum(_utf8_bytes(message.text) for message in dropped)
        + sum(message.omitted_bytes for message in messages),
    )


def cut_to_cost(text: str, cost: int) -> Cut:
    """Return a text cut in its middle to at most `cost`.

    A text that costs at most `cost` stays.  Where not even the note of what is missing has room,
    the text is empty.
    """
    return _SharedText(text, string_cost(text)).cut(cost)


def _shell_cost(message: ConversationMessage) -> int:
    """Return what a message adds to a source beside its text, the comma behind it included."""
    return len(',{"role":"","text":""}') + len(message.role)


def _drop_oldest(
    conversation: Sequence[ConversationMessage],
    costs: Sequence[int],
    shells: Sequence[int],
    fixed: int,
    budget: int,
) -> tuple[list[int], int]:
    """Return the places of the messages that are kept, and the size of the source with them."""
    commas = 1 if conversation else 0
    size = fixed + sum(costs) + sum(shells) - commas
    last = len(conversation) - 1
    kept = []
    for place, message in enumerate(conversation):
        if size > budget and place != last and not message.is_checkpoint:
            size -= costs[place] + shells[place]
        else:
            kept.append(place)
    return kept, size


def _share(
    messages: Sequence[FittedMessage], costs: Sequence[int], room: int, check: Check
) -> tuple[FittedMessage, ...]:
    """Return the messages with each text cut to the greatest cap with which all fit into `room`."""
    texts = [
        _SharedText(fitted.message.text, cost) for fitted, cost in zip(messages, costs, strict=True)
    ]
    low, high, cap = 0, max(costs), 0
    while low <= high:
        middle = (low + high) // 2
        if _fits(texts, middle, room, check):
            cap, low = middle, middle + 1
        else:
            high = middle - 1
    cuts = [text.cut(cap) for text in texts]
    return tuple(
        FittedMessage(fitted.message._replace(text=cut.text), cut.omitted_bytes)
        for fitted, cut in zip(messages, cuts, strict=True)
    )


def _fits(texts: Sequence[_SharedText], cap: int, room: int, check: Check) -> bool:
    for text in texts:
        check()
        room -= text.cut(cap).cost
        if room < 0:
            return False
    return True


class _SharedText:
    """A text that may have to be cut, encoded once and only if it is."""

    def __init__(self, text: str, cost: int) -> None:
        self._whole = Cut(text, 0, cost)
        self._encoded: EncodedText | None = None

    def cut(self, cap: int) -> Cut:
        if self._whole.cost <= cap:
            return self._whole
        if self._encoded is None:
            self._encoded = EncodedText(self._whole.text)
        return _cut(self._encoded, cap)


def _cut(text: EncodedText, cost: int) -> Cut:
    best = Cut("", text.length, 0)
    low, high = 0, text.length - 1
    while low <= high:
        count = (low + high) // 2
        candidate = _candidate(text, count, cost)
        if candidate is None:
            high = count - 1
        else:
            best, low = candidate, count + 1
    return best


def _candidate(text: EncodedText, count: int, cost: int) -> Cut | None:
    """Return a text with `count` bytes of it kept, or None if that costs more than `cost`."""
    # A byte costs at least one: what is surely too long is not even looked at.
    if count - 2 * (_LONGEST_CHARACTER - 1) > cost:
        return None
    head, tail = text.head((count + 1) // 2), text.tail(count // 2)
    omitted = text.length - len(head) - len(tail)
    shortened = f"{(head + tail).decode()}\n[… omitted {omitted} UTF-8 bytes …]"
    needed = string_cost(shortened)
    return Cut(shortened, omitted, needed) if needed <= cost else None


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(replace_surrogates(text).encode())
