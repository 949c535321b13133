"""The values that cross the border between a host and the library.

All are frozen pydantic models.  In Python their names are snake_case; `to_wire` gives, and
`from_wire` takes, the camelCase JSON of the contract.  Strings are JavaScript's: lone surrogates
are allowed, and a surrogate pair spelled as two halves is joined when a value is made.
"""

# Annotations are evaluated once and not kept as text, which pydantic would have to compile.
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    WrapSerializer,
    model_serializer,
    model_validator,
)
from pydantic.alias_generators import to_camel

from sessionref.detaching import detached
from sessionref.errors import InvalidReferenceError
from sessionref.javascript import MAX_SAFE_INTEGER, join_surrogates, remove_surrogates

__all__ = [
    "Block",
    "Candidate",
    "Content",
    "MessageSource",
    "PreparedMessage",
    "RecallSource",
    "Reference",
    "SourceRecord",
    "Target",
    "TextBlock",
    "UserMessage",
    "parse_content",
    "parse_references",
]


def _checked_string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")  # noqa: TRY004 - pydantic expects it
    return join_surrogates(str.__str__(value))  # not what a subclass makes of itself


# Pydantic's own `str` refuses lone surrogates.
_String = Annotated[str, PlainValidator(_checked_string)]
# What is a tuple here is a list in JSON data, where logs and their readers look for one.
_AS_LIST = WrapSerializer(lambda value, dump: list(dump(value)))
_Count = Annotated[int, Field(strict=True, ge=0, le=MAX_SAFE_INTEGER)]


def _omitted(default: None = None) -> Any:
    """Declare an optional member that the JSON leaves out where it is None."""
    return Field(default=default, exclude_if=lambda value: value is None)


class _Wire(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # a start need not pay for what it may not use
    )

    def to_wire(self) -> dict[str, Any]:
        """Return the value as JSON data with camelCase names, detached from this value."""
        return self.model_dump(by_alias=True)

    @classmethod
    def from_wire(cls, data: object) -> Self:
        """Return the value that JSON data with camelCase names describes.

        An optional member may be missing, never null.  Any mapping will do for an object.  Raises
        `InvalidReferenceError` with the member that is wrong; `data` is not kept.
        """
        copied = detached(data)
        for name, field in cls.model_fields.items():
            alias = to_camel(name)
            if field.exclude_if and isinstance(copied, dict) and copied.get(alias, "") is None:
                raise InvalidReferenceError(value=data, problem=f"{alias}: must not be null")
        try:
            return cls.model_validate(copied, by_alias=True, by_name=False)
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in detail["loc"]) or cls.__name__
            problem = f"{where}: {detail['msg'].removeprefix('Value error, ')}{cls._hint(copied)}"
            raise InvalidReferenceError(value=data, problem=problem) from error

    @classmethod
    def _hint(cls, data: object) -> str:
        """Return which member was probably meant, where one has the name of an attribute."""
        for name in cls.model_fields:
            if name != to_camel(name) and isinstance(data, dict) and name in data:
                return f"; did you mean {to_camel(name)}?"
        return ""


class _Open(_Wire):
    model_config = ConfigDict(extra="allow")

    # Pydantic can neither check nor write members whose names hold lone surrogates.
    _odd_members: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _set_odd_members_aside(cls, data: Any, check: ModelWrapValidatorHandler[Self]) -> Self:
        odd = {name: data[name] for name in data if _is_odd(name)} if type(data) is dict else {}
        if not odd:
            return check(data)
        value = check({name: data[name] for name in data if name not in odd})
        value._odd_members.update(odd)  # noqa: SLF001 - of this class
        return value

    @model_serializer(mode="wrap")
    def _write_odd_members(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**write(self), **self._odd_members}


def _is_odd(name: object) -> bool:
    return isinstance(name, str) and remove_surrogates(name) != name


class Target(_Wire):
    """The session that a message is written in: its id and, if it has one, its cwd."""

    session_id: _String
    cwd: _String | None = _omitted()


class Reference(_Wire):
    """One session that a message refers to; a missing label stands for the id.

    `Reference(session_id="a")` is, as JSON data, `{"sessionId": "a"}`.
    """

    session_id: _String
    label: _String | None = _omitted()


class Candidate(_Wire):
    """One session that a host can offer behind `@`.

    `label` is the latest title, or the id; it may hold control characters, `mention` has it in its
    visible form.  Times are milliseconds since the epoch; `updated_at` is when the log last grew.
    `readable` is False where the log cannot be read, and `problem` says why.
    """

    session_id: _String
    label: _String
    mention: _String
    created_at: int
    updated_at: int | None = _omitted()
    cwd: _String | None = _omitted()
    parent_session: _String | None = _omitted()
    subagent: bool = False
    readable: bool = True
    problem: _String | None = _omitted()


class Block(_Open):
    """One block of a message's content; what it holds beside its type is kept as it is."""

    type: _String


class TextBlock(Block):
    """A block of text that people see."""

    type: Literal["text"] = "text"
    text: _String


Content = Annotated[tuple[TextBlock | Block, ...], _AS_LIST]


def parse_content(content: str | Sequence[Block | Mapping[str, Any]]) -> Content:
    """Return a message's content as frozen blocks that share nothing mutable with the argument.

    A string is one text block; each item of a sequence is a block or its JSON data.  Raises
    `InvalidReferenceError` for anything else, and for an item that is no block.
    """
    if isinstance(content, str):
        return (TextBlock(text=content),)
    return tuple(map(_parse_block, _items(content, "content must be a string or a list of blocks")))


def parse_references(references: Sequence[Reference | Mapping[str, Any]]) -> list[Reference]:
    """Return references, each of which is given as a value or as its JSON data.

    Raises `InvalidReferenceError` for an item that is no reference, and for what is no sequence.
    """
    return [
        item if isinstance(item, Reference) else Reference.from_wire(item)
        for item in _items(references, "references must be a list")
    ]


def _items(values: object, problem: str) -> list[Any]:
    # All of these can be iterated over, and none of them is a list of blocks or references.
    if isinstance(values, str | bytes | Mapping | BaseModel) or not isinstance(values, Iterable):
        raise InvalidReferenceError(value=values, problem=problem)
    return list(values)


def _parse_block(block: Block | Mapping[str, Any]) -> TextBlock | Block:
    if isinstance(block, Block):
        copied: Block = detached(block)
        return copied
    if not isinstance(block, Mapping):
        raise InvalidReferenceError(value=block, problem="is no content block")
    data = detached(block)
    has_text = data.get("type") == "text" and isinstance(data.get("text"), str)
    return TextBlock.from_wire(data) if has_text else Block.from_wire(data)


class MessageSource(_Open):
    """Where a message comes from; `kind` is "user" for what a person wrote."""

    kind: _String


class SourceRecord(_Wire):
    """What one referenced session contributed to a context message.

    Counts are of messages and of UTF-8 bytes.  `captured_through_seq` is the last seq of the log
    that was read, None for an empty one; `captured_format_version` is set where that log was not
    of version 0.  `input_index` is the place of the session among those of the message.
    """

    session_id: _String
    label: _String
    captured_through_seq: _Count | None
    captured_format_version: _Count | None = _omitted()
    compacted: bool
    original_messages: _Count
    retained_messages: _Count
    omitted_messages: _Count
    omitted_bytes: _Count
    truncated: bool
    input_index: _Count


class RecallSource(_Wire):
    """The source of a context message: it recalls the sessions of `references`."""

    kind: Literal["session-reference"] = "session-reference"
    form: Literal["recall"] = "recall"
    version: Literal[1] = 1
    references: Annotated[tuple[SourceRecord, ...], _AS_LIST]


class UserMessage(_Wire):
    """One message of role user, as a host records it."""

    id: _String
    role: Literal["user"] = "user"
    source: RecallSource | MessageSource
    content: Content


class PreparedMessage(_Wire):
    """A message's content and, if it refers to sessions, the one context message to send with it.

    Both are detached from what was passed in and from the sessions: nothing that happens to either
    later changes them.
    """

    content: Content
    additional_context: UserMessage | None = _omitted()
