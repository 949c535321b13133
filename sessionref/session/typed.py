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
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.json import Decoder
from msgspec.json import decode as decode_json

from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.header import require_version
from sessionref.session.json_line import line_decoder
from sessionref.session.messages import (
    any_tool_result_node,
    assistant_node,
    streamed_assistant_node,
    tool_result_node,
)
from sessionref.session.seq_text import is_run_before
from sessionref.session.surface import SurfaceNode, parse_source_seqs

if TYPE_CHECKING:
    from sessionref.session.fold import SessionFold

__all__ = ["take_lines"]

_TYPE: Final = len(b'{"type":"')
_LONGEST_TYPE: Final = 64
_BRACKET, _QUOTE = b'["'

_Safe = Annotated[int, Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
_Natural = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
_Name = Annotated[str, Meta(min_length=1)]
_Members = Annotated[list[str], Meta(min_length=1)]


_WHOLLY_DECODED: Final = frozenset({b"text-chunks", b"reasoning-chunks", b"tool-call-chunks"})

_NO_SOURCES: Final = Raw(b"")


class _Shape(Protocol):
    """A line whose members are checked, but not yet where it stands in its log."""

    seq: int

    def enter(self, fold: SessionFold) -> bool:
        """Take the line into a fold whose next it is; False if the fold must judge it."""
        ...  # pragma: no cover - a protocol has no body


class _Exactly(Struct, gc=False, forbid_unknown_fields=True):
    """These members and no others."""


class _Event(_Exactly):
    seq: _Natural
    time: _Safe


class _Plain(_Event):
    """An event of which only the place in the log matters; its data may be anything."""

    type: str
    data: Raw


class _Turn(_Exactly):
    turn: _Safe


class _TurnStart(_Event):
    type: Literal["turn/start"]
    data: _Turn

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.start_turn(self.data.turn)
        return fold.pass_over(1, self.time)


class _Reason(Struct, gc=False):
    kind: Literal["blocked", "completed", "interrupted", "max-tokens"]


class _EndedTurn(Struct, gc=False):
    turn: _Safe
    reason: _Reason


class _TurnEnd(_Event):
    """The end of a turn, for a reason that has never been spelled otherwise."""

    type: Literal["turn/end"]
    data: _EndedTurn

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.end_turn()
        return fold.pass_over(1, self.time)


class _Step(Struct, gc=False):
    turn: _Safe
    step: _Safe


class _StepStart(_Event):
    type: Literal["step/start"]
    data: _Step

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.start_step(self.data.step)
        return fold.pass_over(1, self.time)


class _StepEnd(_Event):
    type: Literal["step/end"]
    data: _Step

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.end_step()
        return fold.pass_over(1, self.time)


class _StartedCall(_Step, gc=False):
    call_id: _Name = field(name="callId")


class _ToolCall(_Event):
    type: Literal["tool/call"]
    data: _StartedCall

    def enter(self, fold: SessionFold) -> bool:
        fold.open_turn.call(self.data.call_id, self.seq)
        return fold.pass_over(1, self.time)


class _Deltas(_Exactly):
    turn: _Safe
    step: _Safe
    index: _Safe
    dt: list[_Natural]


class _TextDeltas(_Deltas):
    members: _Members = field(name="texts")


class _CallDeltas(_Deltas, kw_only=True):
    id: str
    members: _Members = field(name="args")
    name: str = ""


class _Run(_Exactly):
    seq: _Natural = field(name="seq0")
    time: _Safe = field(name="time0")


class _TextRun(_Run, kw_only=True):
    """A packed run of what the model said or thought, whose times do not fall."""

    type: Literal["text-chunks", "reasoning-chunks"]
    data: _TextDeltas

    def enter(self, fold: SessionFold) -> bool:
        return _enter_run(fold, self.time, self.data.dt, len(self.data.members))


class _CallRun(_Run, kw_only=True):
    """A packed run of the arguments of a tool call, whose times do not fall."""

    type: Literal["tool-call-chunks"]
    data: _CallDeltas

    def enter(self, fold: SessionFold) -> bool:
        return _enter_run(fold, self.time, self.data.dt, len(self.data.members))


def _enter_run(fold: SessionFold, time: int, steps: list[int], length: int) -> bool:
    last = time + sum(steps)
    if (
        len(steps) != length - 1
        or last > MAX_SAFE_INTEGER
        or fold.next_seq + length - 1 > MAX_SAFE_INTEGER
    ):
        return False
    return fold.pass_over(length, last)


# msgspec lets a lone shape without its tag pass, and so these stand in unions only.
class _Text(Struct, gc=False, tag="text"):
    # Most texts are never looked at: only a string is made of those that are.
    text: Raw


class _Reasoning(Struct, gc=False, tag="reasoning"):
    """What the model thought, of which nothing is kept."""


class _Call(Struct, gc=False, tag="tool-call"):
    id: _Name


_Blocks = list[_Text | _Reasoning | _Call]

_decode_string: Final = Decoder(str).decode


def _read_text(blocks: _Blocks, *, is_wanted: bool) -> str | None:
    """Return the texts of some blocks, nothing if none is wanted; None if one is no string."""
    texts = [block.text for block in blocks if type(block) is _Text]
    for text in texts:
        if memoryview(text)[0] != _QUOTE:
            return None
    try:
        return "\n".join(map(_decode_string, texts)) if is_wanted else ""
    except ValueError:
        return None


class _Person(Struct, gc=False):
    kind: Literal["user"]


class _Words(Struct, gc=False):
    id: _Name
    role: Literal["user"]
    source: _Person
    content: _Blocks


class _Appended(_Event):
    """A message at the end of the surface."""

    operation: Literal["append"] = field(name="surfaceOp")


class _Prompt(_Appended, kw_only=True):
    """What a person wrote."""

    type: Literal["user/message"]
    data: _Words

    def enter(self, fold: SessionFold) -> bool:
        text = _read_text(self.data.content, is_wanted=fold.keeps_surface)
        if text is None:
            return False
        fold.surface.append(self.seq, SurfaceNode("user", text))
        return fold.pass_over(1, self.time)


class _Model(Struct, gc=False):
    kind: Literal["model"]
    provider: _Name
    model: _Name


class _Reply(Struct, gc=False):
    id: _Name
    role: Literal["assistant"]
    source: _Model
    content: _Blocks


class _Answered(_Step, gc=False):
    message: _Reply


class _Streamed(_Answered, gc=False):
    stream: Raw


class _Answer(_Appended, kw_only=True):
    """What the model answered, and maybe the chunks that it came in."""

    type: Literal["assistant/message"]
    data: _Answered
    sources: Raw = field(name="sourceEventSeqs", default=_NO_SOURCES)

    def enter(self, fold: SessionFold) -> bool:
        if self.sources is not _NO_SOURCES:
            text = bytes(self.sources)
            if not is_run_before(text, self.seq):
                parse_source_seqs(decode_json(text), self.seq)
        return _enter_answer(fold, self.time, self.data)


class _StreamedAnswer(_Appended, kw_only=True):
    """What the model answered, with the stream that it came in."""

    type: Literal["assistant/message"]
    data: _Streamed

    def enter(self, fold: SessionFold) -> bool:
        # Telling a list by its first byte spares making the chunks.
        if memoryview(self.data.stream)[0] != _BRACKET:
            return False
        return _enter_answer(fold, self.time, self.data)


def _enter_answer(fold: SessionFold, time: int, data: _Answered) -> bool:
    blocks = data.message.content
    text = _read_text(blocks, is_wanted=fold.keeps_surface)
    if text is None:
        return False
    calls = [block.id for block in blocks if type(block) is _Call]
    fold.surface.append(fold.next_seq, SurfaceNode("assistant", text))
    fold.open_turn.ask(data.turn, data.step, calls)
    return fold.pass_over(1, time)


class _Tool(_Exactly):
    kind: Literal["tool"]
    call_id: _Name = field(name="callId")


class _Output(_Exactly):
    type: Literal["tool-result"]
    call_id: str = field(name="toolCallId")
    is_error: bool = field(name="isError")
    content: _Blocks

    def bare(self) -> dict[str, Any]:
        """Return what a replacement must repeat."""
        return {"type": self.type, "toolCallId": self.call_id, "isError": self.is_error}


class _WrappedOutput(_Exactly, tag_field="role", tag="user"):
    id: _Name
    source: _Tool
    content: Annotated[list[_Output], Meta(min_length=1, max_length=1)]

    @property
    def answer(self) -> _Output:
        return self.content[0]

    def bare(self) -> dict[str, Any]:
        source = {"kind": "tool", "callId": self.source.call_id}
        content = [self.content[0].bare()]
        return {"id": self.id, "role": "user", "source": source, "content": content}


class _PlainOutput(_Exactly, tag_field="role", tag="tool"):
    id: _Name
    source: _Tool
    call_id: str = field(name="toolCallId")
    is_error: bool = field(name="isError")
    content: _Blocks

    @property
    def answer(self) -> _PlainOutput:
        return self

    def bare(self) -> dict[str, Any]:
        source = {"kind": "tool", "callId": self.source.call_id}
        answer = {"toolCallId": self.call_id, "isError": self.is_error}
        return {"id": self.id, "role": "tool", "source": source, **answer}


class _Returned(_Exactly):
    turn: _Safe
    step: _Safe
    message: _WrappedOutput | _PlainOutput


class _AnyResult(_Appended, kw_only=True):
    """What a tool returned, without a remark of the host on it."""

    type: Literal["tool/result"]
    data: _Returned
    sources: list[Any] | UnsetType = field(name="sourceEventSeqs", default=UNSET)

    def enter(self, fold: SessionFold) -> bool:
        data, message = self.data, self.data.message
        answer, call_id = message.answer, message.source.call_id
        if answer.call_id != call_id or self.sources == []:
            return False
        if _read_text(answer.content, is_wanted=False) is None:
            return False
        if self.sources is not UNSET:
            parse_source_seqs(self.sources, self.seq)
        result = {"turn": data.turn, "step": data.step, "message": message.bare()}
        fold.surface.append(self.seq, SurfaceNode(result=result))
        fold.settle(data.turn, data.step, call_id)
        return fold.pass_over(1, self.time)


class _Result(_AnyResult, kw_only=True):
    """What a tool returned, as the first versions had it."""

    def enter(self, fold: SessionFold) -> bool:
        return type(self.data.message) is _WrappedOutput and super().enter(fold)


_SHAPES: Final[Mapping[object, type[_Shape]]] = {
    assistant_node: _Answer,
    streamed_assistant_node: _StreamedAnswer,
    tool_result_node: _Result,
    any_tool_result_node: _AnyResult,
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
                    if isinstance(shape, _Plain):
                        # A member may stand in a line twice: the last one counts.
                        if shape.type in plain_types:
                            fold.next_seq += 1
                            fold.last_time = shape.time
                            continue
                    elif shape.enter(fold):
                        continue
        fold.take(decode_any(line))


@cache
def _decoders(version: int) -> Mapping[bytes, Callable[[bytes], _Plain | _Shape]]:
    """Return what parses a line, by its type."""
    generation = require_version(version)
    shapes: dict[str, type[_Plain | _Shape]] = {
        **dict.fromkeys(generation.plain_types, _Plain),
        "turn/start": _TurnStart,
        "turn/end": _TurnEnd,
        "step/start": _StepStart,
        "step/end": _StepEnd,
        "tool/call": _ToolCall,
        "user/message": _Prompt,
    }
    for kind, node in generation.surface_types.items():
        if node in _SHAPES:
            shapes[kind] = _SHAPES[node]
    if generation.has_chunk_lines:
        shapes |= {"text-chunks": _TextRun, "reasoning-chunks": _TextRun}
        shapes |= {"tool-call-chunks": _CallRun}
    return {kind.encode(): Decoder(shape).decode for kind, shape in shapes.items()}
