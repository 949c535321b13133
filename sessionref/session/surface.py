"""The surface: the ordered events that the model currently sees.

A linked list keyed by seq: appending is constant work and a replacement costs what it removes, so
that folding a log is linear whatever its compactions are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

from sessionref.errors import SessionDamagedError

__all__ = ["ForgottenError", "ForgottenSurface", "Surface", "SurfaceNode", "parse_source_seqs"]

_ENDS: Final = -1


class SurfaceNode(NamedTuple):
    """One event on the surface, reduced to what may be shown or must be compared.

    `speaker` and `text` are set where a person would read the event as conversation.  `result` is
    a tool result without its content, which a replacement must repeat; `is_system` marks the
    instructions of a host.
    """

    speaker: Literal["user", "assistant"] | None = None
    text: str = ""
    is_checkpoint: bool = False
    result: Mapping[str, Any] | None = None
    is_system: bool = False


class ForgottenError(Exception):
    """An event needs what came before the place where reading went on; all must be read again."""


class Surface:
    """An ordered list of seqs, each with its node, that appends and replacements build up."""

    def __init__(self) -> None:
        # As long as nothing was replaced, the nodes lie in the order of the surface.
        self._nodes: dict[int, SurfaceNode] = {}
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}

    def __iter__(self) -> Iterator[tuple[int, SurfaceNode]]:
        if not self._next:
            yield from self._nodes.items()
            return
        seq = self._next[_ENDS]
        while seq != _ENDS:
            yield seq, self._nodes[seq]
            seq = self._next[seq]

    def get(self, seq: object) -> SurfaceNode | None:
        """Return the node of a seq, or None if that seq is not on the surface."""
        return self._nodes.get(seq) if type(seq) is int else None

    @property
    def head(self) -> int | None:
        """The seq of the first event, None if there is none."""
        return next((seq for seq, _ in self), None)

    def append(self, seq: int, node: SurfaceNode) -> None:
        """Add an event at the end."""
        self._nodes[seq] = node
        if self._next:
            self._link(self._previous[_ENDS], seq, _ENDS)

    def replace(self, seq: int, node: SurfaceNode, start: int, end: int) -> list[int]:
        """Put an event in the place of those from `start` to `end` inclusive; return their seqs.

        Raises `SessionDamagedError`, the surface unchanged, if either is not on the surface or
        `start` stands after `end`.
        """
        if start not in self._nodes or end not in self._nodes:
            raise SessionDamagedError(
                reason=f"the replacement of {start} to {end} names an event not on the surface"
            )
        if not self._next:
            self._link_all()
        removed = [start]
        while removed[-1] != end:
            following = self._next[removed[-1]]
            if following == _ENDS:
                raise SessionDamagedError(
                    reason=f"the replacement of {start} to {end} runs backwards"
                )
            removed.append(following)
        before, after = self._previous[start], self._next[end]
        for gone in removed:
            del self._nodes[gone], self._next[gone], self._previous[gone]
        self._link(before, seq, after)
        self._nodes[seq] = node
        return removed

    def _link_all(self) -> None:
        order = [_ENDS, *self._nodes, _ENDS]
        self._next = dict(pairwise(order))
        self._previous = dict(pairwise(reversed(order)))

    def _link(self, before: int, seq: int, after: int) -> None:
        self._next[before] = self._previous[after] = seq
        self._previous[seq], self._next[seq] = before, after


class ForgottenSurface(Surface):
    """A surface of which only the end is known: one can append to it, and nothing else."""

    def get(self, _: object) -> SurfaceNode | None:
        raise ForgottenError

    def replace(self, *_: object) -> list[int]:
        raise ForgottenError


def parse_source_seqs(value: object, seq: int) -> Container[int]:
    """Return the set of seqs that `sourceEventSeqs` of the event `seq` lists.

    A list of integers may come in any order without repeats; one that holds a `[start, end]` pair
    must rise strictly.  Every seq is smaller than the event's own, else `SessionDamagedError`.
    """
    if type(value) is not list:
        raise SessionDamagedError(reason="sourceEventSeqs is not a list")
    if _is_one_run(value, seq):
        return range(value[0], seq)
    if set(map(type, value)) <= {int}:
        seqs = frozenset(value)
        if len(seqs) != len(value) or (seqs and not (min(seqs) >= 0 and max(seqs) < seq)):
            raise SessionDamagedError(
                reason=f"sourceEventSeqs must be distinct seqs from 0 to {seq - 1}"
            )
        return seqs
    return _Ranges(value, seq)


class _Ranges:
    """Strictly rising seqs and `[start, end]` pairs, never expanded: a pair may span millions."""

    def __init__(self, items: list[object], seq: int) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        last = -1
        for item in items:
            start, end = _pair(item)
            if not last < start <= end < seq:
                raise SessionDamagedError(
                    reason=f"sourceEventSeqs with pairs must rise strictly and stay below {seq}"
                )
            self._starts.append(start)
            self._ends.append(end)
            last = end

    def __contains__(self, seq: object) -> bool:
        if not isinstance(seq, int):
            return False
        place = bisect_right(self._starts, seq) - 1
        return place >= 0 and seq <= self._ends[place]


def _pair(item: object) -> tuple[int, int]:
    start, end = item if type(item) is list and len(item) == 2 else (item, item)
    if type(start) is not int or type(end) is not int:
        raise SessionDamagedError(reason="sourceEventSeqs holds what is no seq and no pair of seqs")
    return start, end


def _is_one_run(seqs: list[Any], seq: int) -> bool:
    """Return whether seqs are all those from the first one to the one before `seq`.

    An answer lists the chunks that it was streamed in, hundreds of seqs that lie right before it.
    """
    # A bool equals 0 or 1 and a float makes a sum a float, and both are seqs of no event.
    return (
        len(seqs) > 0
        and type(seqs[0]) is int
        and 1 < seqs[0] == seq - len(seqs)
        and seqs == list(range(seqs[0], seq))
        and type(sum(seqs)) is int
    )
