r"""The JSON text of a source, as `JSON.stringify` writes it and with every `<` as `\u003c`.

So no text of a session can close the frame that it is shown in, and the text still parses back to
the very same data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sessionref.javascript import join_surrogates, json_string, remove_surrogates

__all__ = ["source_text", "string_cost", "tag_safe", "utf8_cost", "utf8_length"]

# Bytes that become two characters, such as `\\n`, and six, such as `\\u003c`.
_SHORT_ESCAPES: Final = b'"\\\b\t\n\f\r'
_LONG_ESCAPES: Final = bytes(set(range(0x20)) - set(_SHORT_ESCAPES)) + b"<"
# Three bytes where the encoding passes it on, six where JSON escapes it.
_LONE_SURROGATE_EXTRA: Final = 3

_MEMBER_ROLE: Final = '{"role":'
_MEMBER_TEXT: Final = ',"text":'


def tag_safe(json_text: str) -> str:
    r"""Return JSON text without any `<`: in JSON it stands only in strings, as `\u003c`."""
    return json_text.replace("<", "\\u003c")


def utf8_length(text: str) -> int:
    """Return the bytes that a text without lone surrogates takes up in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def string_cost(text: str) -> int:
    """Return the bytes that a string takes up in a source: escapes included, quotes not."""
    try:
        return utf8_cost(text.encode())
    except UnicodeEncodeError:
        text = join_surrogates(text)
        lone = len(text) - len(remove_surrogates(text))
        encoded = text.encode("utf-8", "surrogatepass")
        return utf8_cost(encoded) + lone * _LONE_SURROGATE_EXTRA


def utf8_cost(encoded: bytes) -> int:
    """Return what any part of a text in UTF-8 takes up in a source; costs of parts add up."""
    length = len(encoded)
    short = length - len(encoded.translate(None, _SHORT_ESCAPES))
    long = length - len(encoded.translate(None, _LONG_ESCAPES))
    return length + short + 5 * long


def source_text(
    session_id: str,
    label: str,
    cwd: str | None,
    last_seq: int | None,
    conversation: Iterable[tuple[str, str]],
) -> str:
    """Return the serialized source: who the session is, and its (role, text) pairs in order."""
    messages = ",".join(
        f"{_MEMBER_ROLE}{json_string(role)}{_MEMBER_TEXT}{json_string(text)}}}"
        for role, text in conversation
    )
    return tag_safe(
        f'{{"sessionId":{json_string(session_id)}'
        f',"label":{json_string(label)}'
        f',"cwd":{"null" if cwd is None else json_string(cwd)}'
        f',"capturedThroughSeq":{"null" if last_seq is None else last_seq}'
        f',"conversation":[{messages}]}}'
    )
