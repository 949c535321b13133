"""Strings and numbers are those of JavaScript: by its rules, and by an engine if there is one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from node import JavaScript, open_javascript
from strategies import javascript_text, joined_text, json_values

from sessionref.javascript import (
    LINE_TERMINATORS,
    MAX_SAFE_INTEGER,
    WHITE_SPACE,
    join_surrogates,
    json_string,
    replace_surrogates,
    safe_integer,
    same_json,
    utf16_units,
)

SHORT_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    with open_javascript() as engine:
        yield engine


def is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def escape(character: str) -> str:
    """Return a character as the standard of JSON.stringify spells it."""
    if character in SHORT_ESCAPES:
        return SHORT_ESCAPES[character]
    if character < " " or is_surrogate(character):
        return f"\\u{ord(character):04x}"
    return character


@given(javascript_text())
def test_json_string_escapes_what_the_standard_says(text: str) -> None:
    """Quotes, backslashes, C0 and lone surrogates are escaped, all else is literal."""
    assert json_string(text) == '"' + "".join(map(escape, join_surrogates(text))) + '"'


@given(javascript_text())
def test_json_string_parses_back(text: str) -> None:
    """The JSON text of a string is the JSON text of that very JavaScript string."""
    assert json.loads(json_string(text)) == join_surrogates(text)


@given(javascript_text())
def test_json_string_has_a_utf8_form(text: str) -> None:
    """Whatever a string holds, its JSON text can be written to a file."""
    json_string(text).encode()


@given(text=joined_text())
def test_json_string_is_that_of_javascript(javascript: JavaScript, text: str) -> None:
    """The JSON text of a string is the one that a JavaScript engine gives."""
    assert json_string(text) == javascript.ask("stringify", text)


def test_json_string_of_every_character_is_that_of_javascript(javascript: JavaScript) -> None:
    """No single character is escaped otherwise than a JavaScript engine does."""
    characters = [chr(code) for code in range(0x11000)]
    stringified = javascript.ask("stringify", characters)
    assert "[" + ",".join(map(json_string, characters)) + "]" == stringified


@given(javascript_text())
@example("\ud83d\ude00")
@example("\ude00\ud83d\ud83d\ude00")
def test_joining_is_what_utf16_sees(text: str) -> None:
    """Joining leaves the UTF-16 units as they are, and no high surrogate before a low one."""
    joined = join_surrogates(text)
    assert utf16_units(joined).tolist() == utf16_units(text).tolist()
    assert not any(
        "\ud800" <= high <= "\udbff" and "\udc00" <= low <= "\udfff"
        for high, low in pairwise(joined)
    )


def test_utf16_units_of_an_astral_character() -> None:
    """A character beyond U+FFFF is two units, a lone surrogate is one."""
    assert utf16_units("a😀\ud83d").tolist() == [0x61, 0xD83D, 0xDE00, 0xD83D]


@given(joined_text())
def test_only_surrogates_are_replaced(text: str) -> None:
    """Each lone surrogate becomes U+FFFD, and no other character changes."""
    expected = ["\ufffd" if is_surrogate(character) else character for character in text]
    assert replace_surrogates(text) == "".join(expected)


@given(text=joined_text())
def test_replaced_surrogates_are_those_of_javascript(javascript: JavaScript, text: str) -> None:
    """A text becomes the UTF-8 that a JavaScript engine encodes it to."""
    assert list(replace_surrogates(text).encode()) == javascript.ask("utf8", text)


def test_white_space_is_that_of_javascript(javascript: JavaScript) -> None:
    r"""White space is what `\s` matches in a JavaScript engine."""
    assert sorted(WHITE_SPACE) == sorted(javascript.ask("whiteSpace"))


def test_line_terminators_are_those_of_javascript(javascript: JavaScript) -> None:
    """A line terminator is what `.` does not match in a JavaScript engine."""
    assert sorted(LINE_TERMINATORS) == sorted(javascript.ask("notDot"))


@given(st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER))
def test_a_safe_integer_is_itself(number: int) -> None:
    """An integer within 2^53 - 1 of zero is given back."""
    assert safe_integer(number) == number


@pytest.mark.parametrize(("number", "integer"), [(1.0, 1), (-0.0, 0), (2.0**53 - 1, 2**53 - 1)])
def test_a_whole_double_is_an_integer(number: float, integer: int) -> None:
    """JSON has one kind of number: a double without fraction is an integer, of Python's type."""
    found = safe_integer(number)
    assert (found, type(found)) == (integer, int)


@pytest.mark.parametrize(
    "value",
    [2**53, -(2**53), 2.0**53, 1.5, math.nan, math.inf, True, "1", None, [1]],
    ids=repr,
)
def test_other_values_are_no_safe_integer(value: object) -> None:
    """What JavaScript would not call a safe integer is none, a boolean neither."""
    assert safe_integer(value) is None


@given(
    number=st.integers(2**53 - 4, 2**53 + 4)
    | st.integers(-(2**53) - 4, -(2**53) + 4)
    | st.floats(-(2.0**54), 2.0**54)
)
def test_safe_integers_are_those_of_javascript(javascript: JavaScript, number: float) -> None:
    """A number is a safe integer where a JavaScript engine says so."""
    assert (safe_integer(number) is not None) == javascript.ask("isSafeInteger", repr(number))


def marked(value: object) -> object:
    """Return JSON data in which a boolean equals no number, as it does in Python."""
    match value:
        case bool():
            return ("boolean", value)
        case list():
            return [marked(item) for item in value]
        case dict():
            return {name: marked(item) for name, item in value.items()}
    return value


def nested(depth: int, core: object) -> Any:
    for level in range(depth):
        core = [core] if level % 2 else {"inner": core}
    return core


ALIKE: st.SearchStrategy[object] = st.sampled_from(
    [0, 0.0, 1, 1.0, True, False, None, "", "1", [], {}]
)


@given(json_values() | ALIKE, json_values() | ALIKE)
def test_the_same_json_is_equal_data_of_the_same_kinds(one: object, other: object) -> None:
    """Two values are the same where Python has them equal and no boolean stands for a number."""
    assert same_json(one, other) == (marked(one) == marked(other))


@given(json_values())
def test_a_copy_is_the_same_json(value: object) -> None:
    """What comes through a JSON text is the same, and so it is with its integers as doubles."""
    text = json.dumps(value)
    assert same_json(value, json.loads(text))
    assert same_json(value, json.loads(text, parse_int=float))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, [2]], [1, [3]]),
        ([1], [1, 1]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({"a": [True]}, {"a": [1]}),
        ([], {}),
        ([0], [None]),
    ],
)
def test_other_json_is_not_the_same(one: object, other: object) -> None:
    """A difference is seen at any depth, from either side."""
    assert not same_json(one, other)
    assert not same_json(other, one)


def test_deep_json_is_compared() -> None:
    """Values that nest deeper than Python's own comparison follows are compared all the same."""
    assert same_json(nested(100_000, 1), nested(100_000, 1))
    assert not same_json(nested(100_000, 1), nested(100_000, 2))
