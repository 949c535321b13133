"""The shapes of messages at the end of the surface, as types that msgspec checks while it parses.

What `typed` says of shapes is said of all of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.json import Decoder
from msgspec.json import decode as decode_json

from sessionref.session.event_shapes import Event, Exactly, Name, Safe, Step
from sessionref.session.seq_text import is_run_before
from sessionref.session.surface import SurfaceNode, parse_source_seqs

if TYPE_CHECKING:
    from sessionref.session.fold import SessionFold

__all__ = ["Answer", "AnyResult", "Prompt", "Result", "StreamedAnswer"]

_BRACKET, _QUOTE = b'["'
_NO_SOURCES: Final = Raw(b"")
_WITHOUT_TEXT: Final = {"user": SurfaceNode("user"), "assistant": SurfaceNode("assistant")}


# msgspec lets a lone shape without its tag pass, and so these stand in unions only.
class _Text(Struct, gc=False, tag="text"):
    # Most texts are never looked at: only a string is made of those that are.
    text: Raw


class _Reasoning(Struct, gc=False, tag="reasoning"):
    """What the model thought, of which nothing is kept."""


class _Call(Struct, gc=False, tag="tool-call"):
    id: Name


_Blocks = list[_Text | _Reasoning | _Call]

_decode_string: Final = Decoder(str).decode


def _has_strings(blocks: _Blocks) -> bool:
    """Return whether every text among some blocks is a string, none of them made."""
    for block in blocks:
        if type(block) is _Text and memoryview(block.text)[0] != _QUOTE:
            return False
    return True


def _read_node(
    speaker: Literal["user", "assistant"], blocks: _Blocks, *, is_wanted: bool
) -> SurfaceNode | None:
    """Return the node of what somebody says, its text left out unless wanted.

    None if a text is no string.
    """
    if not _has_strings(blocks):
        return None
    if not is_wanted:
        return _WITHOUT_TEXT[speaker]
    texts = [block.text for block in blocks if type(block) is _Text]
    try:
        return SurfaceNode(speaker, "\n".join(map(_decode_string, texts)))
    except ValueError:
        return None


class _Person(Struct, gc=False):
    kind: Literal["user"]


class _Words(Struct, gc=False):
    id: Name
    role: Literal["user"]
    source: _Person
    content: _Blocks


class _Appended(Event):
    """A message at the end of the surface."""

    operation: Literal["append"] = field(name="surfaceOp")


class Prompt(_Appended, kw_only=True):
    """What a person wrote."""

    data: _Words

    def enter(self, fold: SessionFold) -> bool:
        node = _read_node("user", self.data.content, is_wanted=fold.keeps_surface)
        if node is None:
            return False
        fold.surface.append(self.seq, node)
        return fold.pass_over(1, self.time)


class _Model(Struct, gc=False):
    kind: Literal["model"]
    provider: Name
    model: Name


class _Reply(Struct, gc=False):
    id: Name
    role: Literal["assistant"]
    source: _Model
    content: _Blocks


class _Answered(Step, gc=False):
    message: _Reply


class _Streamed(_Answered, gc=False):
    stream: Raw


class Answer(_Appended, kw_only=True):
    """What the model answered, and maybe the chunks that it came in."""

    data: _Answered
    sources: Raw = field(name="sourceEventSeqs", default=_NO_SOURCES)

    def enter(self, fold: SessionFold) -> bool:
        if self.sources is not _NO_SOURCES:
            text = bytes(self.sources)
            if not is_run_before(text, self.seq):
                try:
                    sources = decode_json(text)
                except ValueError:
                    return False
                parse_source_seqs(sources, self.seq)
        return _enter_answer(fold, self.time, self.data)


class StreamedAnswer(_Appended, kw_only=True):
    """What the model answered, with the stream that it came in."""

    data: _Streamed

    def enter(self, fold: SessionFold) -> bool:
        # Telling a list by its first byte spares making the chunks.
        if memoryview(self.data.stream)[0] != _BRACKET:
            return False
        return _enter_answer(fold, self.time, self.data)


def _enter_answer(fold: SessionFold, time: int, data: _Answered) -> bool:
    blocks = data.message.content
    node = _read_node("assistant", blocks, is_wanted=fold.keeps_surface)
    if node is None:
        return False
    calls = [block.id for block in blocks if type(block) is _Call]
    fold.surface.append(fold.next_seq, node)
    fold.open_turn.ask(data.turn, data.step, calls)
    return fold.pass_over(1, time)


class _Tool(Exactly):
    kind: Literal["tool"]
    call_id: Name = field(name="callId")


class _Output(Exactly):
    type: Literal["tool-result"]
    call_id: str = field(name="toolCallId")
    is_error: bool = field(name="isError")
    content: _Blocks

    def bare(self) -> dict[str, Any]:
        """Return what a replacement must repeat."""
        return {"type": self.type, "toolCallId": self.call_id, "isError": self.is_error}


class _WrappedOutput(Exactly, tag_field="role", tag="user"):
    id: Name
    source: _Tool
    content: Annotated[list[_Output], Meta(min_length=1, max_length=1)]

    @property
    def answer(self) -> _Output:
        return self.content[0]

    def bare(self) -> dict[str, Any]:
        source = {"kind": "tool", "callId": self.source.call_id}
        content = [self.content[0].bare()]
        return {"id": self.id, "role": "user", "source": source, "content": content}


class _PlainOutput(Exactly, tag_field="role", tag="tool"):
    id: Name
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


class _Returned(Exactly):
    turn: Safe
    step: Safe
    message: _WrappedOutput | _PlainOutput


class AnyResult(_Appended, kw_only=True):
    """What a tool returned, without a remark of the host on it."""

    data: _Returned
    sources: list[Any] | UnsetType = field(name="sourceEventSeqs", default=UNSET)

    def enter(self, fold: SessionFold) -> bool:
        data, message = self.data, self.data.message
        answer, call_id = message.answer, message.source.call_id
        if answer.call_id != call_id or self.sources == []:
            return False
        if not _has_strings(answer.content):
            return False
        if self.sources is not UNSET:
            parse_source_seqs(self.sources, self.seq)
        result = {"turn": data.turn, "step": data.step, "message": message.bare()}
        fold.surface.append(self.seq, SurfaceNode(result=result))
        fold.settle(data.turn, data.step, call_id)
        return fold.pass_over(1, self.time)


class Result(AnyResult, kw_only=True):
    """What a tool returned, as the first versions had it."""

    def enter(self, fold: SessionFold) -> bool:
        return type(self.data.message) is _WrappedOutput and super().enter(fold)
