"""Errors: stable codes, facts in fields, and text that is made from them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial

import pytest

from sessionref import ErrorCode, SessionReferenceError, errors
from sessionref.errors import (
    BudgetExceededError,
    InvalidConfigError,
    InvalidReferenceError,
    ReadFailedError,
    SelfReferenceError,
    SessionConflictError,
    SessionDamagedError,
    SessionNotFoundError,
    SessionTooLargeError,
    SessionUnsupportedError,
    StorageError,
    StoreUnreadableError,
    TitleIndexError,
    TooManyReferencesError,
)

# One of each, with the text that people read before the code.
TEXTS: list[tuple[SessionReferenceError, str]] = [
    (
        InvalidConfigError(name="max_references", value=9, expected="an integer from 1 to 3"),
        "max_references is 9, but must be an integer from 1 to 3",
    ),
    (
        InvalidReferenceError(value="dsh-session:x", problem="the URI is cut short"),
        "'dsh-session:x': the URI is cut short",
    ),
    (SelfReferenceError(session_id="s"), "session 's' cannot be referenced from itself"),
    (
        TooManyReferencesError(count=4, limit=3),
        "4 sessions are referenced in one message; at most 3 may be",
    ),
    (
        ReadFailedError(session_id="s", reason="it is gone"),
        "session 's' could not be read: it is gone",
    ),
    (
        BudgetExceededError(session_id="s", budget=1_000, needed=1_234),
        (
            "session 's' needs 1,234 bytes without any text, more than max_reference_bytes "
            "(1,000); raise the limit or drop the reference"
        ),
    ),
    (SessionNotFoundError(session_id="s"), "there is no session 's'"),
    (SessionDamagedError(reason="no JSON"), "damaged: no JSON"),
    (
        SessionDamagedError(reason="no JSON", path="/w/session.jsonl", line=3, byte=99),
        "/w/session.jsonl, line 3, byte 99: damaged: no JSON",
    ),
    (
        SessionUnsupportedError(reason="version 99", direction="newer", path="/w/s", line=1),
        "/w/s, line 1: unsupported: version 99",
    ),
    (SessionTooLargeError(reason="a bomb", limit=5, byte=0), "byte 0: too large: a bomb"),
    (
        SessionConflictError(session_id="s", fields=("cwd", "version")),
        (
            "session 's' is live with another cwd, version than its stored log has; "
            "close one of the two"
        ),
    ),
    (
        StoreUnreadableError(path="/w", reason="permission denied"),
        "/w: the session folder cannot be read: permission denied",
    ),
    (
        TitleIndexError(path="/i", reason="it is full", advice="make room"),
        "/i: this title index cannot be used: it is full; make room",
    ),
]
ERRORS = [error for error, _ in TEXTS]


def pickle_copy(error: SessionReferenceError, protocol: int) -> SessionReferenceError:
    copied: SessionReferenceError = pickle.loads(pickle.dumps(error, protocol))  # noqa: S301 - it was pickled here
    return copied


COPIERS: dict[str, Callable[[SessionReferenceError], SessionReferenceError]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "first pickle": partial(pickle_copy, protocol=0),
    "last pickle": partial(pickle_copy, protocol=pickle.HIGHEST_PROTOCOL),
}


def facts(error: SessionReferenceError) -> dict[str, object]:
    return {field.name: getattr(error, field.name) for field in fields(error)}  # type: ignore[arg-type]  # all are dataclasses


def classes(kind: type[SessionReferenceError]) -> Iterator[type[SessionReferenceError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from classes(subclass)


def test_codes_are_stable() -> None:
    """Programs compare with these seven strings; they never change."""
    assert [str(code) for code in ErrorCode] == [
        "SESSION_REFERENCE_INVALID_CONFIG",
        "SESSION_REFERENCE_INVALID_REFERENCE",
        "SESSION_REFERENCE_SELF_REFERENCE",
        "SESSION_REFERENCE_TOO_MANY",
        "SESSION_REFERENCE_READ_FAILED",
        "SESSION_REFERENCE_BUDGET_EXCEEDED",
        "SESSION_REFERENCE_CANCELLED",
    ]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (InvalidConfigError, "SESSION_REFERENCE_INVALID_CONFIG"),
        (InvalidReferenceError, "SESSION_REFERENCE_INVALID_REFERENCE"),
        (SelfReferenceError, "SESSION_REFERENCE_SELF_REFERENCE"),
        (TooManyReferencesError, "SESSION_REFERENCE_TOO_MANY"),
        (ReadFailedError, "SESSION_REFERENCE_READ_FAILED"),
        (BudgetExceededError, "SESSION_REFERENCE_BUDGET_EXCEEDED"),
        (StorageError, "SESSION_REFERENCE_READ_FAILED"),
        (SessionDamagedError, "SESSION_REFERENCE_READ_FAILED"),
    ],
)
def test_each_class_has_its_code(kind: type[SessionReferenceError], code: str) -> None:
    """A class stands for one code, which is a plain string too."""
    assert kind.code == code
    assert isinstance(kind.code, str)


def test_every_class_is_tried_here() -> None:
    """No error class is added without a text and a copy being looked at."""
    concrete = {kind for kind in classes(SessionReferenceError) if not kind.__subclasses__()}
    assert concrete == {type(error) for error in ERRORS}


def test_every_class_is_public() -> None:
    """Whatever the library raises can be imported by name."""
    assert {type(error).__name__ for error in ERRORS} <= set(errors.__all__)


@pytest.mark.parametrize(("error", "text"), TEXTS, ids=lambda value: type(value).__name__)
def test_texts_name_place_and_reason(error: SessionReferenceError, text: str) -> None:
    """The text is made from the fields; behind it stands the code."""
    assert error.describe() == text
    assert str(error) == f"{text} [{error.code}]"


@pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_copies_are_alike(
    error: SessionReferenceError,
    copier: Callable[[SessionReferenceError], SessionReferenceError],
) -> None:
    """An error that is copied or pickled keeps type, code, fields and text."""
    copied = copier(error)
    assert copied is not error
    assert type(copied) is type(error)
    assert (copied.code, facts(copied), str(copied)) == (error.code, facts(error), str(error))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_compared_by_identity(error: SessionReferenceError) -> None:
    """Two errors with the same facts are two events, and each can be kept in a set."""
    assert copy.copy(error) != error
    assert len({error, copy.copy(error)}) == 2


def test_the_root_says_nothing_by_itself() -> None:
    """Only a subclass knows what happened: an error without one does not pass for an answer."""
    with pytest.raises(NotImplementedError):
        str(StorageError())


def test_a_located_error_keeps_its_facts() -> None:
    """The path is added by who knows it; line, byte and the rest stay."""
    error = SessionUnsupportedError(reason="r", direction="retired", line=2, byte=7)
    located = error.located("/w/session.jsonl")
    assert facts(located) == {**facts(error), "path": "/w/session.jsonl"}
    assert error.path is None


def test_a_long_value_is_shown_in_part() -> None:
    """A text that a whole prompt was pasted into does not fill the screen."""
    error = InvalidReferenceError(value="x" * 5_000, problem="is no URI")
    assert len(error.describe()) < 200
    assert "5,002 characters" in error.describe()
    assert error.describe().endswith(": is no URI")


def nested(depth: int) -> list[object]:
    """Return a list in a list, and so on."""
    outer: list[object] = []
    for _ in range(depth):
        outer = [outer]
    return outer


def about(value: object) -> list[SessionReferenceError]:
    """Return one of each error that is about any value that somebody passed in."""
    return [
        InvalidConfigError(name="max_references", value=value, expected="an integer"),
        InvalidReferenceError(value=value, problem="is no URI"),
    ]


class Mute:
    """A value of which not even a text can be had."""

    def __repr__(self) -> str:
        raise LookupError

    def __reduce__(self) -> str:
        raise LookupError


ODD_VALUES = {
    "deep": nested(100_000),
    "huge": 10**5_000,
    "function": lambda: 0,
    "functions": [lambda: 0] * 10_000,
    "mute": Mute(),
}


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
def test_any_value_can_be_told(value: object) -> None:
    """An error has a text, and a short one, whatever it is about."""
    for error in about(value):
        assert len(str(error)) < 250


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
@pytest.mark.parametrize("protocol", [0, pickle.HIGHEST_PROTOCOL])
def test_an_error_about_any_value_can_be_pickled(value: object, protocol: int) -> None:
    """An error comes through a pickle with its text and its other fields, whatever it is about."""
    for error in about(value):
        copied = pickle_copy(error, protocol)
        assert str(copied) == str(error)
        assert {**facts(copied), "value": None} == {**facts(error), "value": None}


def test_what_is_left_of_a_value_can_be_pickled_again() -> None:
    """The text of a value that could not be pickled is handed on from process to process."""
    [_, error] = about(lambda: 0)
    twice = pickle_copy(pickle_copy(error, 2), 2)
    assert str(twice) == str(error)


def test_a_text_can_be_printed_whatever_an_id_holds() -> None:
    """Controls and lone surrogates of an id are escaped in the text, and kept in the field."""
    error = SessionNotFoundError(session_id="\ud83d\x1b]0;\x07\n")
    assert str(error).isprintable()
    assert error.session_id == "\ud83d\x1b]0;\x07\n"
