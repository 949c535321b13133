"""Strings and numbers as JavaScript has them, for text that both languages must agree on.

Session logs and references are written by JavaScript programs: their strings are UTF-16, lone
surrogates included, and their numbers are doubles.  This module knows nothing of sessions.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

__all__ = [
    "LINE_TERMINATORS",
    "MAX_SAFE_INTEGER",
    "WHITE_SPACE",
    "join_surrogates",
    "json_string",
    "remove_surrogates",
    "replace_surrogates",
    "safe_integer",
    "same_json",
    "shown",
    "utf16_units",
]

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The greatest integer that a JavaScript number holds exactly (`Number.MAX_SAFE_INTEGER`)."""

LINE_TERMINATORS: Final = "\n\r\u2028\u2029"
r"""What `.` does not match in a JavaScript regular expression."""

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
r"""What `\s` matches in a JavaScript regular expression; Python's `\s` is another set."""

_LONGEST_SHOWN: Final = 80
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def join_surrogates(text: str) -> str:
    """Return `text` with each high surrogate that a low one follows joined to one code point.

    A Python string can hold the two halves apart; in JavaScript both spellings are one string.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def remove_surrogates(text: str) -> str:
    """Return `text` without its lone surrogates."""
    return _SURROGATE.sub("", text)


def replace_surrogates(text: str) -> str:
    """Return `text` with each lone surrogate as U+FFFD, as JavaScript encodes it to UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def json_string(text: str) -> str:
    r"""Return the JSON text of a string as `JSON.stringify` writes it.

    Escaped are `"`, `\`, U+0000 to U+001F (short forms where JSON has them) and lone surrogates
    (`\udxxx`); everything else, U+007F and U+2028 included, stays literal.  The halves of a pair
    that are kept apart are one code point.  The result can always be encoded to UTF-8.
    """
    quoted = _string_encoder()(join_surrogates(text))
    if quoted.isascii():
        return quoted
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


@cache
def _string_encoder() -> Callable[[str], str]:
    from json import JSONEncoder  # a start need not pay for it

    return JSONEncoder(ensure_ascii=False).encode


def safe_integer(value: object) -> int | None:
    """Return a parsed JSON number as an integer, or None if it is not a safe integer.

    JSON has one kind of number: `1.0` and `1e0` are the integer 1, as in JavaScript.
    """
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return value
    return None


def same_json(one: object, other: object) -> bool:
    """Return whether two parsed JSON values are the same: 1 and 1.0 are, 1 and true are not."""
    # A stack of its own: a log may nest deeper than Python's comparison follows.
    waiting = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if type(left) is dict and type(right) is dict:
            if left.keys() != right.keys():
                return False
            waiting.extend((left[name], right[name]) for name in left)
        elif type(left) is list and type(right) is list:
            if len(left) != len(right):
                return False
            waiting.extend(zip(left, right, strict=True))
        elif left is not right and (bool in (type(left), type(right)) or left != right):
            return False
    return True


def shown(text: str) -> str:
    """Return somebody else's word as an error may show it: short, and in ASCII."""
    cut = ascii(text[:_LONGEST_SHOWN])[1:-1]
    return cut if len(text) <= _LONGEST_SHOWN else f"{cut}…"


def utf16_units(text: str) -> memoryview:
    """Return the UTF-16 code units of a string, lone surrogates included."""
    return memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
