"""The errors of the library: one family, each with a stable code and its facts as fields.

An error keeps what it knows in fields and makes its text from them, so that a host can translate
it, and it survives pickling and copying.  Nothing here knows files, databases or event loops.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import ClassVar, Literal, Self

__all__ = [
    "BudgetExceededError",
    "ErrorCode",
    "InvalidConfigError",
    "InvalidReferenceError",
    "ReadFailedError",
    "SelfReferenceError",
    "SessionConflictError",
    "SessionDamagedError",
    "SessionNotFoundError",
    "SessionReferenceError",
    "SessionTooLargeError",
    "SessionUnsupportedError",
    "StorageError",
    "StoreUnreadableError",
    "TitleIndexError",
    "TooManyReferencesError",
]


class ErrorCode(StrEnum):
    """The seven stable codes that hosts may switch on; their text is the same in every version."""

    INVALID_CONFIG = "SESSION_REFERENCE_INVALID_CONFIG"
    INVALID_REFERENCE = "SESSION_REFERENCE_INVALID_REFERENCE"
    SELF_REFERENCE = "SESSION_REFERENCE_SELF_REFERENCE"
    TOO_MANY = "SESSION_REFERENCE_TOO_MANY"
    READ_FAILED = "SESSION_REFERENCE_READ_FAILED"
    BUDGET_EXCEEDED = "SESSION_REFERENCE_BUDGET_EXCEEDED"
    CANCELLED = "SESSION_REFERENCE_CANCELLED"


class SessionReferenceError(Exception):
    """The root of every error that the library raises on purpose.

    `code` is one of `ErrorCode`; the other fields belong to the subclass.  Two copies of an error,
    pickled or copied, have the same type, fields and text; the chained cause is not part of them.
    Of a field that cannot be pickled only the text comes along.
    """

    code: ClassVar[ErrorCode]

    def __str__(self) -> str:
        return f"{self.describe()} [{self.code}]"

    def describe(self) -> str:
        """Return what happened, where and what to do, in words, without the code."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (
            type(self),
            {name: _pickled(getattr(self, name)) for name in _field_names(self)},
        )


def _field_names(error: SessionReferenceError) -> tuple[str, ...]:
    return tuple(field.name for field in fields(error))  # type: ignore[arg-type]  # all are dataclasses


def _rebuild(kind: type[SessionReferenceError], fields: dict[str, bytes]) -> SessionReferenceError:
    import pickle  # a start need not pay for it

    return kind(**{name: pickle.loads(value) for name, value in fields.items()})  # noqa: S301 - part of a pickle


class _Shown(str):
    """What is left of a value that could not be pickled: its text, as it is shown."""

    __slots__ = ()


def _pickled(value: object) -> bytes:
    import pickle  # a start need not pay for it

    # On its own, so that one that fails does not take the others along.
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001 - it depends on the value what is raised
        return pickle.dumps(_Shown(_shown(value)))


def _shown(value: object) -> str:
    """Return the text of any value, in part if it is long; it never fails."""
    if isinstance(value, _Shown):
        return str(value)
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 - nested too deep, too many digits, or a class of its own mind
        return f"<{type(value).__name__} that cannot be shown>"
    return shown if len(shown) <= 120 else f"{shown[:100]}… ({len(shown):,} characters)"


@dataclass(eq=False, kw_only=True)
class InvalidConfigError(SessionReferenceError):
    """A setting has a value outside its range; nothing was done."""

    code = ErrorCode.INVALID_CONFIG
    name: str
    value: object
    expected: str

    def describe(self) -> str:
        return f"{self.name} is {_shown(self.value)}, but must be {self.expected}"


@dataclass(eq=False, kw_only=True)
class InvalidReferenceError(SessionReferenceError):
    """A URI, mention, reference or query is malformed; `value` is the offending part."""

    code = ErrorCode.INVALID_REFERENCE
    value: object
    problem: str

    def describe(self) -> str:
        return f"{_shown(self.value)}: {self.problem}"


@dataclass(eq=False, kw_only=True)
class SelfReferenceError(SessionReferenceError):
    """A message refers to the very session that it is written in."""

    code = ErrorCode.SELF_REFERENCE
    session_id: str

    def describe(self) -> str:
        return f"session {self.session_id!r} cannot be referenced from itself"


@dataclass(eq=False, kw_only=True)
class TooManyReferencesError(SessionReferenceError):
    """One message refers to more distinct sessions than `max_references` allows."""

    code = ErrorCode.TOO_MANY
    count: int
    limit: int

    def describe(self) -> str:
        return f"{self.count} sessions are referenced in one message; at most {self.limit} may be"


@dataclass(eq=False, kw_only=True)
class ReadFailedError(SessionReferenceError):
    """A referenced session could not be read; the cause is chained, `reason` is its text."""

    code = ErrorCode.READ_FAILED
    session_id: str
    reason: str

    def describe(self) -> str:
        return f"session {self.session_id!r} could not be read: {self.reason}"


@dataclass(eq=False, kw_only=True)
class BudgetExceededError(SessionReferenceError):
    """The fixed fields of a source alone are larger than `max_reference_bytes`."""

    code = ErrorCode.BUDGET_EXCEEDED
    session_id: str
    budget: int
    needed: int

    def describe(self) -> str:
        return (
            f"session {self.session_id!r} needs {self.needed:,} bytes without any text, more than "
            f"max_reference_bytes ({self.budget:,}); raise the limit or drop the reference"
        )


class StorageError(SessionReferenceError):
    """The root of what a session store raises; `prepare` chains it behind `ReadFailedError`."""

    code = ErrorCode.READ_FAILED


@dataclass(eq=False, kw_only=True)
class SessionNotFoundError(StorageError):
    """No session of this id is stored or live."""

    session_id: str

    def describe(self) -> str:
        return f"there is no session {self.session_id!r}"


@dataclass(eq=False, kw_only=True)
class _LogError(StorageError):
    """One log cannot be read: `reason` says why, the other fields where, as far as it is known."""

    reason: str
    path: str | None = None
    line: int | None = None
    byte: int | None = None

    _kind: ClassVar[str]

    def located(self, path: str) -> Self:
        """Return this error with the path of its log, which a pure reader does not know."""
        return replace(self, path=path)

    def describe(self) -> str:
        where = [self.path] if self.path is not None else []
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.byte is not None:
            where.append(f"byte {self.byte}")
        prefix = ", ".join(where)
        return (
            f"{prefix}: {self._kind}: {self.reason}" if prefix else f"{self._kind}: {self.reason}"
        )


@dataclass(eq=False, kw_only=True)
class SessionDamagedError(_LogError):
    """A log breaks the rules of its format.

    `path` is the log, `line` counts from 1 (the header).  `byte` counts from 0 in the text of the
    log, or in the file itself where a compressed frame is at fault.
    """

    _kind = "damaged"


@dataclass(eq=False, kw_only=True)
class SessionUnsupportedError(_LogError):
    """A log may be sound, but this version of the library must not guess what it means.

    `direction` tells which way: "newer" than this library, "retired", or holding an "unknown"
    required event type, which a host may register through `ResolverConfig.known_types`.
    """

    _kind = "unsupported"
    direction: Literal["newer", "retired", "unknown"]


@dataclass(eq=False, kw_only=True)
class SessionTooLargeError(_LogError):
    """A compressed log claims or yields more bytes than `max_log_bytes`."""

    _kind = "too large"
    limit: int


@dataclass(eq=False, kw_only=True)
class SessionConflictError(StorageError):
    """A live session and its stored log disagree in the named header fields."""

    session_id: str
    fields: tuple[str, ...]

    def describe(self) -> str:
        return (
            f"session {self.session_id!r} is live with another {', '.join(self.fields)} than its "
            f"stored log has; close one of the two"
        )


@dataclass(eq=False, kw_only=True)
class StoreUnreadableError(StorageError):
    """The store as a whole cannot be listed, so that no answer about it would be true."""

    path: str
    reason: str

    def describe(self) -> str:
        return f"{self.path}: the session folder cannot be read: {self.reason}"


@dataclass(eq=False, kw_only=True)
class TitleIndexError(StorageError):
    """A title index cannot be used; lookups go on without it, and `advice` says what to do."""

    path: str
    reason: str
    advice: str

    def describe(self) -> str:
        return f"{self.path}: this title index cannot be used: {self.reason}; {self.advice}"
