"""One line of JSON to data: the fast parser first, the standard one where that refuses.

orjson refuses lone surrogates, which JavaScript writes.  Only for those is the standard parser
asked, and only after orjson has accepted the same line with its surrogates replaced: so the two
cannot disagree on anything else (`NaN`, byte order marks, huge numbers, bad UTF-8), but for one
thing: the standard parser gives up somewhat earlier on what is nested hundreds of levels deep.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

__all__ = ["line_decoder"]

_ESCAPE: Final = re.compile(rb"\\(?:(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)


@cache
def line_decoder() -> Callable[[bytes], Any]:
    """Return the function that parses one line; it raises `ValueError` with the reason.

    orjson is imported by the first call, so that importing the library does not cost it.
    """
    import orjson

    fast = orjson.loads

    def decode(line: bytes) -> Any:
        try:
            return fast(line)
        except ValueError:
            replaced = _ESCAPE.sub(_replace_surrogate, line)
            if replaced == line:
                raise
        fast(replaced)
        try:
            return json.loads(line, parse_int=_parse_integer)
        except RecursionError:
            raise ValueError("nested too deeply") from None

    return decode


def _replace_surrogate(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape[1] else escape[0]


def _parse_integer(text: str) -> int | float:
    # orjson gives what is beyond 64 bits as a double, as JavaScript does.
    value = int(text)
    return value if -(2**63) <= value < 2**64 else float(text)
