"""Mentions in text, against the grammar written as one regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from growth import assert_linear
from hypothesis import example, given
from hypothesis import strategies as st
from node import JavaScript, open_javascript
from strategies import javascript_text, labels, mention_texts, session_ids

from sessionref import Reference, decode_uri, encode_uri, format_mention, parse_mentions
from sessionref.errors import InvalidReferenceError
from sessionref.javascript import join_surrogates

# JavaScript's, spelled out: Python's own \s and . mean other characters.
SPACE = r"\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NOT_A_LINE_END = r"[^\n\r\u2028\u2029]"
GRAMMAR = re.compile(
    rf"@\[((?:\\{NOT_A_LINE_END}|[^\]\\])*)\]\((dsh-session:[^{SPACE})]*)\)"
    r"|(dsh-session:[A-Za-z0-9_-]+)"
)
ESCAPE = re.compile(rf"\\({NOT_A_LINE_END})")
PLAIN = st.text("ab é漢😀.,!?(){}#*\n\t\u2028", max_size=12)

Piece = tuple[str, str | None, str]


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    with open_javascript() as engine:
        yield engine


def pieces_of(text: str) -> tuple[list[Piece], str]:
    """Return each mention as the text before it, its label if it has one, and its URI; the rest."""
    pieces: list[Piece] = []
    done = 0
    for match in GRAMMAR.finditer(text):
        label = None if match[1] is None else ESCAPE.sub(r"\1", match[1])
        pieces.append((text[done : match.start()], label, match[2] or match[3]))
        done = match.end()
    return pieces, text[done:]


def put_together(pieces: list[Piece], rest: str) -> tuple[str, tuple[Reference, ...]] | None:
    """Return what parsing must give, or None if it must fail."""
    shown, references = "", []
    for before, label, uri in pieces:
        try:
            session_id = decode_uri(uri)
        except InvalidReferenceError:
            return None
        shown_label = session_id if label is None else label
        shown += f"{before}@{shown_label}"
        references.append(Reference(session_id=session_id, label=shown_label))
    return join_surrogates(shown + rest), tuple(references)


def parse(text: str) -> tuple[str, tuple[Reference, ...]] | None:
    try:
        return parse_mentions(text)
    except InvalidReferenceError:
        return None


@given(session_ids() | javascript_text(), st.none() | labels() | javascript_text(), PLAIN, PLAIN)
def test_a_formatted_mention_parses_back(
    session_id: str, label: str | None, before: str, behind: str
) -> None:
    """Any id with any label survives: the text shows the label, the reference has both."""
    parsed = parse_mentions(before + format_mention(session_id, label) + behind)
    shown = join_surrogates(session_id if label is None else label)
    assert parsed.text == f"{before}@{shown}{behind}"
    assert parsed.references == (Reference(session_id=session_id, label=shown),)


@given(session_ids(), PLAIN)
def test_a_bare_uri_is_a_mention(session_id: str, before: str) -> None:
    """A URI by itself refers to its session, whose id is the label."""
    parsed = parse_mentions(f"{before}{encode_uri(session_id)} behind")
    assert parsed.text == f"{before}@{session_id} behind"
    assert parsed.references == (Reference(session_id=session_id, label=session_id),)


@given(mention_texts())
@example("@[\\](dsh-session:ImEi)")
@example("@[a\\\n](dsh-session:ImEi)")
@example("@[@[a](dsh-session:ImEi)](dsh-session:ImEi)")
@example("@[dsh-session:ImEi](dsh-session:ImEi)")
@example("@[a @[b] c](dsh-session:ImEi)")
@example("@[a](dsh-session:\x1c)")
@example("@[a](dsh-session:ImEi\ufeff)")
@example("@[a](dsh-session:@[b](dsh-session:ImEi)")
@example("@[\ud83d](dsh-session:ImEi)\ude00")
def test_parsing_agrees_with_the_grammar(text: str) -> None:
    """The one pass over a text finds what a backtracking regular expression finds."""
    assert parse(text) == put_together(*pieces_of(join_surrogates(text)))


@given(text=mention_texts())
def test_parsing_agrees_with_javascript(javascript: JavaScript, text: str) -> None:
    """A text is parsed as the same regular expression parses it in a JavaScript engine."""
    found, rest = javascript.ask("pieces", join_surrogates(text))
    assert parse(text) == put_together([(before, label, uri) for before, label, uri in found], rest)


@given(javascript_text().filter(lambda text: "dsh-session:" not in text))
def test_text_without_a_uri_stays(text: str) -> None:
    """What holds no URI holds no mention, and is shown as it is."""
    assert parse_mentions(text) == (join_surrogates(text), ())


def test_references_keep_their_order_and_duplicates() -> None:
    """References come as they appear, one for each mention."""
    a, b = encode_uri("a"), encode_uri("b")
    parsed = parse_mentions(f"{b} @[first]({a}) {b} @[second]({a})")
    assert [(reference.session_id, reference.label) for reference in parsed.references] == [
        ("b", "b"),
        ("a", "first"),
        ("b", "b"),
        ("a", "second"),
    ]
    assert parsed.text == "@b @first @b @second"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("@[a](dsh-session:)", id="link without payload"),
        pytest.param("@[a](dsh-session:ImEi.)", id="link with a dot"),
        pytest.param("@[a](dsh-session:ImE)", id="link cut short"),
        pytest.param("see dsh-session:ImE", id="bare URI cut short"),
        pytest.param("dsh-session:ImEiImEi", id="bare URI run together with another"),
        pytest.param("@[b](dsh-session:ImEi) and dsh-session:x", id="second of two"),
    ],
)
def test_one_bad_uri_fails_the_whole_text(text: str) -> None:
    """What is shaped like a mention and names no session is an error, never half a result."""
    with pytest.raises(InvalidReferenceError):
        parse_mentions(text)


@pytest.mark.parametrize(
    "text",
    [
        "dsh-session:",
        "dsh-session: ImEi",
        "dsh-session:.",
        "@[a](dsh-session: ImEi)",
        "@[a](dsh-session:",
        "@[a](https://example.org)",
        "@ [a]",
        "@[a\\](b)",
    ],
)
def test_near_misses_are_ordinary_text(text: str) -> None:
    """What does not have the shape of a mention is shown as it is."""
    assert parse_mentions(text) == (text, ())


@pytest.mark.parametrize(
    ("label", "mention"),
    [
        ("a]b", "@[a\\]b](dsh-session:ImEi)"),
        ("a\\b", "@[a\\\\b](dsh-session:ImEi)"),
        ("[(@)]\n", "@[[(@)\\]\n](dsh-session:ImEi)"),
        ("", "@[](dsh-session:ImEi)"),
        (None, "@[a](dsh-session:ImEi)"),
    ],
)
def test_a_mention_escapes_two_characters(label: str | None, mention: str) -> None:
    r"""In a label `\` and `]` are escaped and nothing else; a missing label is the id."""
    assert format_mention("a", label) == mention


@pytest.mark.parametrize(
    ("before", "repeated", "behind"),
    [
        ("", "@[", ""),
        ("", "@[", "](dsh-session:ImEi)"),
        ("", "[", ""),
        ("@[", "[", "](dsh-session:"),
        ("", "\\", ""),
        ("@[", "\\", "](dsh-session:ImEi)"),
        ("", "@[\\", ""),
        ("", "@[\\\n", ""),
        ("", "]", ""),
        ("", "](", ""),
        ("", "@[a]", ""),
        ("", "@[a](", ""),
        ("", "@[](dsh-session:", ""),
        ("", "@[](dsh-session: ", ""),
        ("", "](dsh-session:", ""),
        ("@[", "](dsh-session: @[", ""),
        ("", "dsh-session:", ""),
        ("", "dsh-session:@", ""),
        ("", "@dsh-session:(", ""),
        ("dsh-session:", "ImEi", "."),
        ("", "@[x](dsh-session:ImEi)", ""),
        ("", "dsh-session:ImEi ", ""),
        ("", "@[\ud83d", "\ude00"),
    ],
)
def test_parsing_is_linear(before: str, repeated: str, behind: str) -> None:
    """Four times the text takes about four times as long, whatever the text is."""

    def make(size: int) -> str:
        pairs = size // (2 * len(repeated))  # or else half of the sizes would end in an escape
        return before + 2 * repeated * pairs + behind

    assert_linear(make, parse)
