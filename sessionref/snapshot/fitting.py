"""Fitting a conversation into a budget: drop the oldest, then let the rest share the room.

The work is linear in the conversation: each size is a sum that is kept up to date.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from sessionref.snapshot.cutting import LEAST_SURE_COST, STEP_COST, CuttableText
from sessionref.snapshot.projection import ConversationMessage

__all__ = [
    "Check",
    "FittedConversation",
    "FittedMessage",
    "RoomError",
    "carry_on",
    "fit",
]


Check = Callable[[], object]


def carry_on() -> None:
    """The check of a caller who never gives the work up."""


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
    texts = []
    for message in conversation:
        check()
        texts.append(CuttableText(message.text))
    kept, size = _drop_oldest(conversation, texts, fixed, budget)
    messages = tuple(FittedMessage(conversation[place]) for place in kept)
    if size > budget:
        shared = [texts[place] for place in kept]
        room = budget - (size - sum(text.cost for text in shared))
        if room < 0:
            raise RoomError(budget - room)
        messages = _share(messages, shared, room, check)
    still_there = set(kept)
    dropped = [message for place, message in enumerate(conversation) if place not in still_there]
    return FittedConversation(
        messages=messages,
        original_messages=len(conversation),
        omitted_messages=len(dropped),
        omitted_bytes=sum(_utf8_bytes(message.text) for message in dropped)
        + sum(message.omitted_bytes for message in messages),
    )


def _shell_cost(message: ConversationMessage) -> int:
    """Return what a message adds to a source beside its text, the comma behind it included."""
    return len(',{"role":"","text":""}') + len(message.role)


def _drop_oldest(
    conversation: Sequence[ConversationMessage],
    texts: Sequence[CuttableText],
    fixed: int,
    budget: int,
) -> tuple[list[int], int]:
    """Return the places of the messages that are kept, and the size of the source with them."""
    sizes = [
        _shell_cost(message) + text.cost for message, text in zip(conversation, texts, strict=True)
    ]
    # The first message has no comma before it.
    size = fixed + sum(sizes) - (1 if sizes else 0)
    last = len(conversation) - 1
    kept = []
    for place, message in enumerate(conversation):
        if size > budget and place != last and not message.is_checkpoint:
            size -= sizes[place]
        else:
            kept.append(place)
    return kept, size


def _share(
    messages: Sequence[FittedMessage], texts: Sequence[CuttableText], room: int, check: Check
) -> tuple[FittedMessage, ...]:
    """Return the messages with each text cut to the greatest cap with which all fit into `room`."""
    fits = _Room(texts, room, check).fits
    low, high, cap = 0, max(text.cost for text in texts), 0
    while low <= high:
        middle = (low + high) // 2
        if fits(middle):
            cap, low = middle, middle + 1
        else:
            high = middle - 1
    shared = []
    for fitted, text in zip(messages, texts, strict=True):
        check()
        cut = text.cut(cap)
        shared.append(FittedMessage(fitted.message._replace(text=cut.text), cut.omitted_bytes))
    return tuple(shared)


class _Room:
    """Answers whether texts fit into a room together, for one cap after the other.

    What a cut costs is known but for a few bytes without making it, so that the cuts are made only
    for the few caps that those bytes decide.
    """

    def __init__(self, texts: Sequence[CuttableText], room: int, check: Check) -> None:
        self._by_cost = sorted(texts, key=lambda text: text.cost)
        self._costs = [text.cost for text in self._by_cost]
        self._sums = list(accumulate(self._costs, initial=0))
        self._are_sure = all(text.is_sure for text in texts)
        self._room = room
        self._check = check

    def fits(self, cap: int) -> bool:
        """Return whether the texts, each cut to at most `cap`, cost no more than the room."""
        whole = bisect_right(self._costs, cap)
        left = self._room - self._sums[whole]
        cut = len(self._costs) - whole
        if cut * cap <= left:
            return True
        is_sure = self._are_sure and cap >= LEAST_SURE_COST
        if left < 0 or (is_sure and cut * (cap - STEP_COST) > left):
            return False
        for text in self._by_cost[whole:]:
            self._check()
            left -= text.cut(cap).cost
            if left < 0:
                return False
        return True


def _utf8_bytes(text: str) -> int:
    # A lone surrogate counts as U+FFFD: three bytes, like its own.
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
