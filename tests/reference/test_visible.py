"""What a host shows of text that somebody else chose."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, store_of
from strategies import HOSTILE, javascript_text

from sessionref import Candidate, Target, open_resolver, parse_mentions
from sessionref.reference.visible import is_blank, visible

BIDIRECTIONAL = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070)}
ZERO_WIDTH = {0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFFF9, 0xFFFC)}
PWN = "x\x1b]0;pwn\x07\n\u202e\u200b\t"


def must_be_escaped(character: str) -> bool:
    """Return whether a character is a control, breaks a line, turns text around or has no width."""
    category = unicodedata.category(character)
    return category in {"Cc", "Zl", "Zp"} or ord(character) in BIDIRECTIONAL | ZERO_WIDTH


def hidden_text() -> st.SearchStrategy[str]:
    return st.text([character for character in HOSTILE if must_be_escaped(character)] + [" "])


async def offer(*logs: LogBuilder) -> list[Candidate]:
    async with open_resolver(store_of(*logs)) as resolver:
        return await resolver.list_candidates(Target(session_id="target"))


def test_every_hidden_character_is_escaped() -> None:
    """No character that a terminal or a reader would stumble over is shown as it is."""
    hidden = [chr(code) for code in range(0x110000) if must_be_escaped(chr(code))]
    assert [character for character in hidden if visible(character) == character] == []


def test_every_escape_names_its_character() -> None:
    r"""An escape is `\xNN` up to U+00FF and `\u{XXXX}` beyond, in lower-case hex."""
    for code in range(0x110000):
        if visible(chr(code)) != chr(code):
            expected = f"\\x{code:02x}" if code <= 0xFF else f"\\u{{{code:04x}}}"
            assert visible(chr(code)) == expected


def test_what_can_be_seen_stays() -> None:
    """Letters, marks, numbers, signs and spaces of every script are never escaped."""
    seen = "".join(chr(c) for c in range(0x110000) if unicodedata.category(chr(c))[0] in "LMNPS")
    assert visible(seen) == seen
    assert visible(" \u00a0\u3000") == " \u00a0\u3000"


@pytest.mark.parametrize("empty", "\u00ad\u034f\u115f\u1160\u2800\u3164")
def test_letters_without_ink_are_blank(empty: str) -> None:
    """A character that is drawn as a gap is no text to see, and is still shown as it is."""
    assert is_blank(f" {empty}\u200b")
    assert visible(empty) == empty


@given(javascript_text())
def test_shown_text_is_one_line_without_controls(text: str) -> None:
    """Whatever a text holds, it is shown on one line and no character of it acts."""
    shown = visible(text)
    assert len(shown.splitlines()) == (1 if text else 0)
    assert not any(map(must_be_escaped, shown))


@given(javascript_text(), javascript_text())
def test_characters_are_escaped_one_by_one(one: str, other: str) -> None:
    """What a character is shown as depends on no other character."""
    assert visible(one + other) == visible(one) + visible(other)


@given(javascript_text())
def test_showing_twice_changes_nothing(text: str) -> None:
    """What can be seen stays, an escape that was made before too."""
    assert visible(visible(text)) == visible(text)


@given(hidden_text())
def test_hidden_text_is_blank(text: str) -> None:
    """Text of white space and hidden characters says nothing to a person."""
    assert is_blank(text)


@given(hidden_text(), st.sampled_from("a漢😀-.\ud83d\ufffd"), hidden_text())
def test_text_with_one_visible_character_is_not_blank(before: str, seen: str, behind: str) -> None:
    """One character that can be seen is enough to say something."""
    assert not is_blank(before + seen + behind)


async def test_a_title_is_offered_on_one_visible_line() -> None:
    """A title that would write to a terminal is mentioned with escapes in its place."""
    log = LogBuilder("s")
    log.title(PWN)
    [found] = await offer(log)
    assert parse_mentions(found.mention).text == ("@x\\x1b]0;pwn\\x07\\x0a\\u{202e}\\u{200b}\\x09")
    assert len(found.mention.splitlines()) == 1
    assert not any(map(must_be_escaped, found.mention))


@pytest.mark.parametrize("title", ["", " ", "\x1b\x07\n\u202e\u200b\t", "\u200b\u2066\u3000"])
async def test_a_title_that_cannot_be_seen_gives_way_to_the_id(title: str) -> None:
    """Where nothing of a title could be seen, the id is the label."""
    log = LogBuilder("the-id")
    log.title(title)
    [found] = await offer(log)
    assert found.label == "the-id"


async def test_a_mention_keeps_the_original_id() -> None:
    """An id with control characters is shown with escapes, and is still the one referred to."""
    [found] = await offer(LogBuilder("evil\x1b\x07\x9b\ns"))
    parsed = parse_mentions(found.mention)
    assert parsed.text == "@evil\\x1b\\x07\\x9b\\x0as"
    assert [reference.session_id for reference in parsed.references] == ["evil\x1b\x07\x9b\ns"]
