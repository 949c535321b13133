r"""The form in which a host shows text that somebody else chose.

Control characters, line breaks, bidirectional controls and zero-width characters become visible
escapes, so that a title can neither move the cursor, nor break a line, nor read backwards.
"""

import re
from typing import Final

__all__ = ["is_blank", "visible"]

_C0_DEL_C1: Final = "\x00-\x1f\x7f-\x9f"
_SEPARATORS: Final = "\u2028\u2029"
_BIDIRECTIONAL: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_ZERO_WIDTH: Final = "\u180e\u200b-\u200d\u2060-\u2064\ufeff\ufff9-\ufffb"
# Letters and signs that belong to their scripts, and leave no ink.
_EMPTY: Final = "\u00ad\u034f\u115f\u1160\u2800\u3164"

_HIDDEN_CLASS: Final = f"{_C0_DEL_C1}{_SEPARATORS}{_BIDIRECTIONAL}{_ZERO_WIDTH}"
_HIDDEN: Final = re.compile(f"[{_HIDDEN_CLASS}]")
_BLANK: Final = re.compile(rf"[{_HIDDEN_CLASS}{_EMPTY}\s]*")


def visible(text: str) -> str:
    r"""Return `text` on one line, each hidden character as an escape.

    C0, DEL and C1 become `\xNN`; separators, bidirectional controls and zero-width characters
    become `\u{XXXX}`, in lower-case hex.  Text without any is returned as it is.
    """
    return _HIDDEN.sub(_escape, text)


def is_blank(text: str) -> bool:
    """Return whether a person would see nothing of `text` but gaps and escapes."""
    return _BLANK.fullmatch(text) is not None


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:04x}}}"
