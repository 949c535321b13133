"""The lines that most of a log consists of, parsed and checked in one go.

The fold holds every rule, and judges data whatever parsed it.  Going through that data member by
member takes Python longer than parsing took, and most lines have one of a few shapes.  Here these
shapes are types: msgspec checks them while it parses, and makes no objects of what nobody keeps.

A line of another shape is not wrong for that: the fold itself must judge it.  What has a shape
means the same here as it does there, but for two things: in members that are passed over, numbers
beyond a double and nesting beyond a thousand levels go unnoticed, as they do in JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec.json import Decoder

from sessionref.session.event_shapes import (
    CallRun,
    Plain,
    Shape,
    StepEnd,
    StepStart,
    TextRun,
    ToolCall,
    TurnEnd,
    TurnStart,
)
from sessionref.session.header import require_version
from sessionref.session.json_line import line_decoder
from sessionref.session.message_shapes import (
    Answer,
    AnyResult,
    Prompt,
    Result,
    StreamedAnswer,
)
from sessionref.session.messages import (
    any_tool_result_node,
    assistant_node,
    streamed_assistant_node,
    tool_result_node,
)

if TYPE_CHECKING:
    from sessionref.session.fold import SessionFold

__all__ = ["take_lines"]

_TYPE: Final = len(b'{"type":"')
_LONGEST_TYPE: Final = 64
_WHOLLY_DECODED: Final = frozenset({b"text-chunks", b"reasoning-chunks", b"tool-call-chunks"})

_SHAPES: Final[Mapping[object, type[Shape]]] = {
    assistant_node: Answer,
    streamed_assistant_node: StreamedAnswer,
    tool_result_node: Result,
    any_tool_result_node: AnyResult,
}
"""The shapes that go with what checks the data of a surface type."""


def take_lines(fold: SessionFold, lines: Iterable[bytes]) -> None:
    """Take the next lines of a log into its fold.

    Raises what parsing a line and `SessionFold.take` raise: `ValueError` or a `StorageError`; the
    line is then the last that was taken from `lines`.
    """
    find_decoder, decode_any = _decoders(fold.header.version).get, line_decoder()
    plain_types = fold.plain_types
    for line in lines:
        # Writers put the type first; where one does not, the line is only read more slowly.
        kind = line[_TYPE : line.find(b'"', _TYPE, _LONGEST_TYPE)]
        decode = find_decoder(kind)
        if decode is not None:
            try:
                # What is passed over is not decoded, and must be UTF-8 all the same.
                if not line.isascii() and kind not in _WHOLLY_DECODED:
                    line.decode()
                shape = decode(line)
            except (ValueError, RecursionError):
                pass
            else:
                if shape.seq == fold.next_seq:
                    if isinstance(shape, Plain):
                        # A member may stand in a line twice: the last one counts.
                        if shape.type in plain_types:
                            fold.next_seq += 1
                            fold.last_time = shape.time
                            continue
                    elif shape.enter(fold):
                        continue
        fold.take(decode_any(line))


@cache
def _decoders(version: int) -> Mapping[bytes, Callable[[bytes], Plain | Shape]]:
    """Return what parses a line, by its type."""
    generation = require_version(version)
    shapes: dict[str, type[Plain | Shape]] = {
        **dict.fromkeys(generation.plain_types, Plain),
        "turn/start": TurnStart,
        "turn/end": TurnEnd,
        "step/start": StepStart,
        "step/end": StepEnd,
        "tool/call": ToolCall,
        "user/message": Prompt,
    }
    for kind, node in generation.surface_types.items():
        if node in _SHAPES:
            shapes[kind] = _SHAPES[node]
    if generation.has_chunk_lines:
        shapes |= {"text-chunks": TextRun, "reasoning-chunks": TextRun}
        shapes |= {"tool-call-chunks": CallRun}
    return {kind.encode(): Decoder(shape).decode for kind, shape in shapes.items()}
