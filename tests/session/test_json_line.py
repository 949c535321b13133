"""One line of JSON to data: two parsers that must agree."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import json_line
from strategies import javascript_text, json_values

from sessionref.session.json_line import line_decoder

decode = line_decoder()

REFUSED = [
    b"",
    b" ",
    b"NaN",
    b"-Infinity",
    b"1e400",
    b"9" * 5_000,
    b"01",
    b"1.",
    b"+1",
    b"'a'",
    b"[1,]",
    b'{"a":1,}',
    b"{1:1}",
    b"[1] 2",
    b"tru",
    b'"\t"',
    b'"\\x41"',
    b'"\\u12"',
    b'"\xe6\x87"',
    b'"\xed\xa0\x80"',
    b'"\xff"',
    b"\xef\xbb\xbf1",
    b"[" * 1_025 + b"]" * 1_025,
    b"[" * 100_000,
    b"\x00",
]

NUMBERS = [
    b"0",
    b"-0",
    b"-0.0",
    b"1.5",
    b"1e3",
    b"1E-7",
    b"9007199254740993",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-9223372036854775808",
    b"-9223372036854775809",
    b"123456789012345678901234567890",
    b"9" * 300,
    b"5e-324",
    b"1.7976931348623157e308",
    b"0.1000000000000000055511151231257827021181583404541015625",
]


def outcome(line: bytes) -> tuple[str, Any]:
    """What a line gives, told so that 1, 1.0 and true differ; or that it is refused."""
    try:
        return "data", repr(decode(line))
    except ValueError:
        return "refused", None


def through_both(text: bytes) -> tuple[tuple[str, Any], tuple[str, Any]]:
    """Outcomes of JSON text by the fast parser and, beside a lone surrogate, by the other one."""
    fast = outcome(b'["?",' + text + b"]")
    slow = outcome(b'["\\ud800",' + text + b"]")
    kind, data = slow
    return fast, (kind, data and data.replace("\\ud800", "?", 1))


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:20]))
def test_what_is_no_json_is_refused(text: bytes) -> None:
    """What is not JSON, or beyond what a double can hold, raises `ValueError`."""
    assert outcome(text) == ("refused", None)


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:20]))
def test_both_parsers_refuse_the_same(text: bytes) -> None:
    """A lone surrogate in a line opens no door: what is refused without it is refused with it."""
    assert outcome(b'["\\ud800",' + text + b"]") == ("refused", None)


@pytest.mark.parametrize("text", NUMBERS, ids=lambda text: repr(text[:20]))
def test_both_parsers_give_the_same_numbers(text: bytes) -> None:
    """A number is an integer up to 64 bits and else a double, whatever else stands in the line."""
    fast, slow = through_both(text)
    assert fast == slow
    assert fast[0] == "data"


@given(json_values())
def test_both_parsers_give_the_same_data(value: object) -> None:
    """Data come out as they were written, with and without a lone surrogate beside them."""
    assert decode(json_line(value)) == value
    assert decode(b'["\\udfff",' + json_line(value) + b"]") == ["\udfff", value]


@given(st.binary(max_size=40) | st.text('{}[]",:\\u0dD8eE+-.1tnNa \t', max_size=40).map(str.encode))
def test_both_parsers_agree_on_any_bytes(text: bytes) -> None:
    """A lone surrogate in a line changes nothing but itself, whatever else the line holds."""
    fast, slow = through_both(text)
    assert fast == slow


@given(javascript_text())
def test_any_string_of_javascript_comes_through(text: str) -> None:
    """A string with lone surrogates is read as it is, and halves that stand together are joined."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert decode(json_line(text)) == joined


def test_an_escaped_backslash_is_no_surrogate() -> None:
    r"""In `\\ud800` the backslash is escaped: six characters and no surrogate."""
    assert decode(b'"\\\\ud800"') == "\\ud800"
    assert decode(b'["\\\\ud800","\\ud800"]') == ["\\ud800", "\ud800"]


def test_nesting_is_as_deep_as_any_log_needs() -> None:
    """500 levels are read on both ways."""
    text = b"[" * 500 + b"]" * 500
    fast, slow = through_both(text)
    assert fast == slow
    assert fast[0] == "data"


def test_the_deepest_line_breaks_neither_parser() -> None:
    """At the fast parser's own limit the other one gives data or `ValueError`, nothing else."""
    opened, closed = b"[" * 1_023, b"]" * 1_023
    assert type(decode(opened + b"0" + closed)) is list
    with suppress(ValueError):
        assert type(decode(opened + b'"\\ud800"' + closed)) is list


@pytest.mark.parametrize("space", [b" ", b"\t", b"\r"])
def test_white_space_between_tokens_means_nothing(space: bytes) -> None:
    """JSON's white space may stand around every token, a bare carriage return too."""
    assert decode(space.join([b"", b"[", b"1", b",", b'"a"', b"]", b""])) == [1, "a"]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x7f", "\xa0", "\ufeff"])
def test_odd_characters_are_kept(character: str) -> None:
    """What other programs take for a line end or for nothing is a character like any other."""
    assert decode(f'"a{character}b"'.encode()) == f"a{character}b"
