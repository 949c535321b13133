"""Text as the index holds it: bytes that are compared, and grams that are looked up.  Pure.

A *gram* is a piece of a text: three characters from each place of it, or as many as are left.  In
scripts where a word may have one or two characters, those are grams of their own too; in ASCII,
they are looked up as the beginnings of longer ones.  A text that holds a needle also holds the
needle's grams; so grams find all that may match, and the text itself decides.  That is why grams
need not be exact, and text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise, zip_longest
from typing import Final

__all__ = [
    "GRAM_SIZE",
    "beginnings",
    "cwd_gram",
    "decode",
    "encode",
    "gram_text",
    "grams_of",
    "is_beginning",
    "lower",
    "match_all",
    "needle_grams",
]

GRAM_SIZE: Final = 3
_ENOUGH: Final = 64

_CWD_MARK: Final = "\U0010fffe"
"""Begins the gram of a cwd.  In a gram of text it is written as another character."""

# FTS5's tokenizer takes these for the ends of words, its query language takes some for syntax, and
# no UTF-8 has a surrogate.  What stands for them may occur in text too: such grams find too much.
_SUBSTITUTES: Final = {
    **{code: 0xE000 + code for code in range(0x80) if not chr(code).isalnum()},
    **dict.fromkeys((*range(0xD800, 0xE000), ord(_CWD_MARK)), 0xFFFD),
}

_ASCII: Final = re.compile("[\0-\x7f\ue000-\ue07f]*")  # what stands for some of it included


def encode(text: str) -> bytes:
    """Return a text in UTF-8, lone surrogates included: its bytes sort as its code points do."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """Return the text that `encode` was given."""
    return data.decode("utf-8", "surrogatepass")


def lower(data: bytes) -> bytes | None:
    """Return an encoded text lower-cased, or None if it is so already, as most ids are."""
    lowered = encode(decode(data).lower())
    return None if lowered == data else lowered


def gram_text(cwd: int | None, *fields: bytes) -> str:
    """Return what is indexed of a session: grams of its lower-cased fields, and one of its cwd."""
    grams = set(chain.from_iterable(grams_of(decode(field)) for field in fields))
    if cwd is not None:
        grams.add(cwd_gram(cwd))
    return " ".join(grams)


def cwd_gram(cwd: int) -> str:
    """Return the gram that exactly the sessions with a cwd have, by the number of the cwd."""
    return f"{_CWD_MARK}{cwd:02}"


def needle_grams(needle: str) -> list[str]:
    """Return the grams that are in every text that a needle is in.

    A needle shorter than that has itself, and an empty one has none.  Of a long one, the grams of
    its beginning are enough.
    """
    if len(needle) < GRAM_SIZE:
        return [_substitute(needle)] if needle else []
    grams = (gram for gram in grams_of(needle[:_ENOUGH]) if len(gram) == GRAM_SIZE)
    return list(dict.fromkeys(grams))


def is_beginning(gram: str) -> bool:
    """Return whether a needle's gram is to be looked up as the beginning of grams."""
    return len(gram) < GRAM_SIZE and _ASCII.fullmatch(gram) is not None


def beginnings(gram: str) -> tuple[str, str, str]:
    """Return a gram's first one, two and three characters: the needles that it is looked up for."""
    return gram[:1], gram[:2], gram


def match_all(grams: list[str]) -> str:
    """Return the FTS5 query for what has all the grams of a needle."""
    return " AND ".join(f'"{gram}"*' if is_beginning(gram) else f'"{gram}"' for gram in grams)


def grams_of(text: str) -> Iterator[str]:
    """Return the grams of a lower-cased text, some of them perhaps more than once."""
    text = _substitute(text)
    grams = map("".join, zip_longest(text, text[1:], text[2:], fillvalue=""))
    if _ASCII.fullmatch(text):
        return grams
    pairs = map("".join, pairwise(text))
    return chain(grams, (gram for gram in chain(text, pairs) if not is_beginning(gram)))


def _substitute(text: str) -> str:
    return text.translate(_SUBSTITUTES)
