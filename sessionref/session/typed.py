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
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, defstruct
from msgspec.json import Decoder

from sessionref.session.event_shapes import (
    CallRun,
    Plain,
    RequestHeader,
    Run,
    Shape,
    StepEnd,
    StepStart,
    TextRun,
    Title,
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
    decode, decode_any = _decoder(fold.header.version), line_decoder()
    for line in lines:
        try:
            shape = decode(line)
            # What is passed over is not decoded, and must be UTF-8 all the same.
            if not (line.isascii() or isinstance(shape, Run)):
                line.decode()
        except (ValueError, RecursionError):
            pass
        else:
            if shape.seq == fold.next_seq and shape.enter(fold):
                continue
        fold.take(decode_any(line))


@cache
def _decoder(version: int) -> Callable[[bytes], Shape]:
    """Return what parses a line of one of the shapes of a version."""
    generation = require_version(version)
    shapes: dict[str, type[Shape]] = {
        **dict.fromkeys(generation.plain_types, Plain),
        "turn/start": TurnStart,
        "turn/end": TurnEnd,
        "step/start": StepStart,
        "step/end": StepEnd,
        "tool/call": ToolCall,
        "session/title": Title,
        "user/message": Prompt,
    }
    if "request/header" in generation.upgrades:
        shapes["request/header"] = RequestHeader
    for kind, node in generation.surface_types.items():
        if node in _SHAPES:
            shapes[kind] = _SHAPES[node]
    if generation.has_chunk_lines:
        shapes |= {"text-chunks": TextRun, "reasoning-chunks": TextRun}
        shapes |= {"tool-call-chunks": CallRun}
    any_shape: Any = reduce(or_, (_tagged(shape, kind) for kind, shape in shapes.items()))
    return Decoder(any_shape).decode


@cache
def _tagged(shape: type[Shape], kind: str) -> type[Struct]:
    """Return the shape of the lines of one type."""
    return defstruct(shape.__name__, (), bases=(shape,), tag_field="type", tag=kind)
