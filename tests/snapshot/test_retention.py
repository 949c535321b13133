"""The head and the tail of a text, against slices of its UTF-8."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import javascript_text

from sessionref.javascript import replace_surrogates
from sessionref.snapshot.retention import RetainedText, retain_head_tail

BYTE_ORDER_MARK = "\ufeff"


def encode(text: str) -> bytes:
    return replace_surrogates(text).encode()


def texts() -> st.SearchStrategy[str]:
    return javascript_text(max_size=30) | javascript_text(max_size=30).map(BYTE_ORDER_MARK.__add__)


def plain_head_tail(text: str, head: int, tail: int) -> RetainedText:
    """Return the same by slicing bytes, half characters being what does not decode."""
    source = encode(text)
    if len(source) <= head + tail:
        return RetainedText(source.decode().removeprefix(BYTE_ORDER_MARK), 0, truncated=False)
    first = source[:head].decode("utf-8", "ignore")
    last = source[len(source) - tail :].decode("utf-8", "ignore")
    omitted = len(source) - len((first + last).encode())
    return RetainedText((first + last).removeprefix(BYTE_ORDER_MARK), omitted, truncated=True)


@given(texts(), st.integers(0, 60), st.integers(0, 60))
def test_head_and_tail_are_those_of_a_plain_reading(text: str, head: int, tail: int) -> None:
    """What is kept is each slice of the bytes without the half characters at the cut."""
    assert retain_head_tail(text, head, tail) == plain_head_tail(text, head, tail)


@given(javascript_text(), st.integers(0, 60), st.integers(0, 60))
def test_kept_and_omitted_bytes_are_the_source(text: str, head: int, tail: int) -> None:
    """No byte is lost from the account, and no more is kept than was asked for."""
    retained = retain_head_tail(text, head, tail)
    kept = len(encode(retained.text))
    uncounted = len(encode(text)) - kept - retained.omitted_bytes
    assert uncounted in (0, len(encode(BYTE_ORDER_MARK)) if BYTE_ORDER_MARK in text else 0)
    assert kept <= head + tail
    assert retained.truncated == (len(encode(text)) > head + tail)


@given(javascript_text(), st.integers(0, 60), st.integers(0, 60))
def test_no_character_is_made_up(text: str, head: int, tail: int) -> None:
    """U+FFFD stands only where the text has it or a lone surrogate."""
    retained = retain_head_tail(text, head, tail)
    assert retained.text.count("\ufffd") <= replace_surrogates(text).count("\ufffd")


@given(texts())
def test_a_text_that_fits_is_whole(text: str) -> None:
    """A text of as many bytes as may be kept loses nothing but a byte order mark."""
    whole = replace_surrogates(text).removeprefix(BYTE_ORDER_MARK)
    assert retain_head_tail(text, len(encode(text)), 0) == (whole, 0, False)
    assert retain_head_tail(text, 0, len(encode(text))) == (whole, 0, False)


@pytest.mark.parametrize(
    ("text", "head", "tail", "expected"),
    [
        ("abcdef", 2, 2, ("abef", 2, True)),
        ("abcdef", 0, 0, ("", 6, True)),
        ("a😀b", 4, 1, ("ab", 4, True)),
        ("a😀b", 1, 4, ("ab", 4, True)),
        ("😀😀", 7, 0, ("😀", 4, True)),
        ("a\ud83db", 1, 1, ("ab", 3, True)),
        ("a\ud83db", 4, 0, ("a\ufffd", 1, True)),
        ("\ufeff\ufeffa", 6, 1, ("\ufeffa", 0, False)),
        ("", 0, 0, ("", 0, False)),
    ],
)
def test_cuts(text: str, head: int, tail: int, expected: tuple[str, int, bool]) -> None:
    """A character is kept whole or not at all; a lone surrogate counts three bytes."""
    assert retain_head_tail(text, head, tail) == expected


@pytest.mark.parametrize(("head", "tail"), [(-1, 5), (5, -1)])
def test_a_negative_number_of_bytes_is_refused(head: int, tail: int) -> None:
    """Less than nothing cannot be kept."""
    with pytest.raises(ValueError, match="must not be negative"):
        retain_head_tail("text", head, tail)
