r"""Mentions in text: `@[label](dsh-session:…)` and bare `dsh-session:…`.

Parsing is one pass over the text, in time linear in its length whatever the text is: no mention
attempt looks again at what an earlier one has looked at.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sessionref.javascript import LINE_TERMINATORS, WHITE_SPACE, join_surrogates
from sessionref.model import Reference
from sessionref.reference.uri import SCHEME, decode_uri, encode_uri

__all__ = ["ParsedText", "format_mention", "parse_mentions"]

_ESCAPED_IN_LABEL: Final = re.compile(r"([\\\]])")
_UNESCAPE: Final = re.compile(rf"\\([^{LINE_TERMINATORS}])")
_OPENING: Final = re.compile(rf"@\[|{SCHEME}")
_LABEL_END: Final = re.compile(rf"\\[^{LINE_TERMINATORS}]|(\]|\\)")
_URI_END: Final = re.compile(rf"[{WHITE_SPACE})]")
_BARE: Final = re.compile(rf"{SCHEME}[A-Za-z0-9_-]+")
_LINK: Final = "](" + SCHEME


class ParsedText(NamedTuple):
    """A text with each mention shown as its label, and the references in order of appearance."""

    text: str
    references: tuple[Reference, ...]


def format_mention(session_id: str, label: str | None = None) -> str:
    r"""Return the mention of a session in its Markdown form.

    `\` and `]` are escaped in the label, nothing else is changed; a missing label is the id.
    """
    shown = join_surrogates(session_id if label is None else label)
    escaped = _ESCAPED_IN_LABEL.sub(r"\\\1", shown)
    return f"@[{escaped}]({encode_uri(session_id)})"


def parse_mentions(text: str) -> ParsedText:
    """Return a text with each mention replaced by `@label`, and the references it held.

    Duplicates are kept.  A bare URI is a mention whose label is the id.  Raises
    `InvalidReferenceError` if any mention's URI does not decode: no text is half parsed.
    """
    shown: list[str] = []
    references: list[Reference] = []
    done = 0
    for start, end, reference in _find_mentions(text):
        shown += text[done:start], "@", reference.label or ""
        references.append(reference)
        done = end
    shown.append(text[done:])
    # At the end: half a pair in a label may stand before the other half in the text.
    return ParsedText(join_surrogates("".join(shown)), tuple(references))


def _find_mentions(text: str) -> Iterator[tuple[int, int, Reference]]:
    links = _Links(text)
    done = 0
    for opening in _OPENING.finditer(text):
        start = opening.start()
        if start < done:
            continue
        if opening[0] == "@[":
            link = links.closing(opening.end())
            if link is None:
                continue
            label_end, done = link
            label = _UNESCAPE.sub(r"\1", text[opening.end() : label_end])
            uri = text[label_end + 2 : done - 1]
            yield start, done, Reference(session_id=decode_uri(uri), label=label)
        elif bare := _BARE.match(text, start):
            done = bare.end()
            session_id = decode_uri(bare[0])
            yield start, done, Reference(session_id=session_id, label=session_id)


class _Links:
    r"""Where the labels of a text end, asked for in ascending order.

    A label opens behind `[`, so never between a `\` and what it escapes: the escapes of the text
    are the same for every label, and one scan, which only moves on, finds all their ends.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = (match for match in _LABEL_END.finditer(text) if match[1])
        self._label_end = -1
        self._link_end: int | None = None
        self._uri_end = -1

    def closing(self, label_start: int) -> tuple[int, int] | None:
        """Return where a label and its whole mention end, or None if no mention starts here."""
        if self._label_end < label_start:
            self._label_end = next(
                (end.start() for end in self._ends if end.start() >= label_start), len(self._text)
            )
            self._link_end = self._find_link_end()
        return None if self._link_end is None else (self._label_end, self._link_end)

    def _find_link_end(self) -> int | None:
        if not self._text.startswith(_LINK, self._label_end):
            return None
        uri_start = self._label_end + len(_LINK)
        if self._uri_end < uri_start:
            end = _URI_END.search(self._text, uri_start)
            self._uri_end = len(self._text) if end is None else end.start()
        return self._uri_end + 1 if self._text.startswith(")", self._uri_end) else None
