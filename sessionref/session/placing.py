"""How an event comes onto the surface: at its end, or in the place of what it replaces."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from sessionref.errors import SessionDamagedError
from sessionref.javascript import safe_integer, same_json
from sessionref.session.generations import Generation
from sessionref.session.surface import Surface, SurfaceNode, parse_source_seqs

__all__ = ["place_event"]

Record = dict[str, Any]


def place_event(record: Record, surface: Surface, generation: Generation) -> SurfaceNode:
    """Put an event of a surface type where its `surfaceOp` says, and return its node.

    Raises `SessionDamagedError` if its data, its operation or its sources break a rule of the
    generation; the surface is of no use afterwards.
    """
    seq = record["seq"]
    operation = record.get("surfaceOp")
    node = generation.surface_types[record["type"]](record["data"])
    sources = _sources(record, generation) if "sourceEventSeqs" in record else ()
    if operation == "append":
        surface.append(seq, node)
        return node
    start, end = _replaced_range(operation, generation)
    old = surface.get(start)
    is_protected = generation.protects_head and start == surface.head and _is_system(old)
    removed = surface.replace(seq, node, start, end)
    missing = [gone for gone in removed if gone not in sources]
    if missing:
        raise SessionDamagedError(
            reason=f"the replacement removes {missing[0]}, which sourceEventSeqs does not list"
        )
    if is_protected and not (node.is_system and len(removed) == 1):
        raise SessionDamagedError(
            reason="only a system message may replace the system message at the head, and only it"
        )
    if node.result is not None and (
        len(removed) != 1 or old is None or not same_json(old.result, node.result)
    ):
        raise SessionDamagedError(
            reason="a tool result may replace only itself, and change only its content"
        )
    return node


def _sources(record: Record, generation: Generation) -> Container[int]:
    """Return the seqs that an event says it was made from."""
    kind, seqs = record["type"], record["sourceEventSeqs"]
    sources = parse_source_seqs(seqs, record["seq"])
    if kind != "assistant/message":
        if seqs == []:
            raise SessionDamagedError(reason=f"sourceEventSeqs of {kind} is empty")
    elif not generation.has_assistant_sources:
        raise SessionDamagedError(reason=f"{kind} may not carry sourceEventSeqs")
    return sources


def _replaced_range(operation: object, generation: Generation) -> tuple[int, int]:
    """Return the first and last seq that a replacement removes, in any spelling of them."""
    if type(operation) is dict and operation.get("op") == "replace":
        for first, last in generation.replace_members:
            if operation.keys() == {"op", first, last}:
                start, end = safe_integer(operation[first]), safe_integer(operation[last])
                if start is not None and end is not None:
                    return start, end
    raise SessionDamagedError(reason="surfaceOp is neither append nor a replacement")


def _is_system(node: SurfaceNode | None) -> bool:
    return node is not None and node.is_system
