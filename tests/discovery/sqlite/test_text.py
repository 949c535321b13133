"""Text as the index holds it: what a needle is in has the needle's grams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import joined_text

from sessionref.discovery.sqlite.text import (
    GRAM_SIZE,
    beginnings,
    cwd_gram,
    decode,
    encode,
    gram_text,
    is_beginning,
    lower,
    match_all,
    needle_grams,
)


@given(joined_text(), joined_text(), joined_text())
def test_a_text_has_the_grams_of_its_needles(before: str, needle: str, after: str) -> None:
    """Each gram of a needle, or what begins with a short one, is among those of the text."""
    grams = gram_text(7, encode(before + needle + after)).split(" ")
    for gram in needle_grams(needle):
        if is_beginning(gram):
            assert any(each.startswith(gram) for each in grams)
        else:
            assert gram in grams


@given(joined_text())
def test_grams_are_words_to_fts5(text: str) -> None:
    """In a gram is nothing that FTS5 could take for the end of a word, a quote or no UTF-8."""
    for gram in gram_text(None, encode(text.lower())).split():
        assert all(each.isalnum() or ord(each) > 0x7F for each in gram)
        assert gram.encode()


@given(joined_text(), st.integers(1, 10**6))
def test_no_text_has_the_gram_of_a_cwd(text: str, key: int) -> None:
    """The gram of a cwd is that of no text, and no needle is its beginning."""
    assert cwd_gram(key) not in gram_text(None, encode(text + cwd_gram(key))).split(" ")
    assert not any(cwd_gram(key).startswith(gram) for gram in needle_grams(text))
    assert len(cwd_gram(key)) >= GRAM_SIZE


@given(joined_text(), joined_text())
def test_bytes_sort_as_text(one: str, other: str) -> None:
    """Encoded texts have the order of their code points, and decode to what they were."""
    assert (encode(one) < encode(other)) == (one < other)
    assert decode(encode(one)) == one


@pytest.mark.parametrize("text", ["İSTANBUL", "ΣΊΣΥΦΟΣ", "Ა", "Ꮳ", "A\ud800", "ẞ"])
def test_lower_case_is_pythons(text: str) -> None:
    """Text is lower-cased by `str.lower`, and None says that there was nothing to do."""
    lowered = lower(encode(text))
    assert lowered == encode(text.lower())
    assert lower(encode(text.lower())) is None


def test_a_long_needle_is_looked_up_by_its_beginning() -> None:
    """A needle as long as a page takes no more grams than FTS5 takes in one go."""
    assert 0 < len(needle_grams("".join(map(chr, range(0x4E00, 0x9000))))) < 100


def test_a_short_gram_is_a_beginning() -> None:
    """One or two characters of ASCII are looked up as a prefix, all else as it is."""
    grams = [
        gram for needle in ("abc", "d", "- ", "修", "修复", "d修") for gram in needle_grams(needle)
    ]
    assert [is_beginning(gram) for gram in grams] == [False, True, True, False, False, False]
    assert match_all(["abc", "d", "修"]) == '"abc" AND "d"* AND "修"'
    assert beginnings("abc") == ("a", "ab", "abc")
