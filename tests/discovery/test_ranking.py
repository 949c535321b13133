"""Matching and order: which sessions a query finds, and which comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cwds, joined_text, labels, safe_integers, session_ids

from sessionref.discovery.ranking import candidate, label_of, matches, rank
from sessionref.reference.mentions import parse_mentions
from sessionref.session.header import SessionHeader


def header(session_id: str = "s", created_at: int = 1, cwd: str | None = None) -> SessionHeader:
    return SessionHeader(0, session_id, created_at, cwd=cwd)


def in_order(target_cwd: str | None, *headers: SessionHeader) -> list[str]:
    return [each.id for each in sorted(headers, key=lambda each: rank(target_cwd, each))]


def test_the_same_folder_comes_first() -> None:
    """First the sessions with the target's cwd, then those without, then the others."""
    headers = [header("other", 9, "/b"), header("none", 5), header("same", 1, "/a")]
    assert in_order("/a", *headers) == ["same", "none", "other"]


def test_a_target_without_folder_has_no_first_group() -> None:
    """Without a cwd to compare, sessions without one come first."""
    headers = [header("other", 9, "/b"), header("none", 1), header("empty", 5, "")]
    assert in_order(None, *headers) == ["none", "other", "empty"]


def test_an_empty_cwd_is_a_cwd() -> None:
    """An empty cwd is not the same as none."""
    assert in_order("", header("none", 9), header("empty", 1, "")) == ["empty", "none"]


def test_the_newest_comes_first() -> None:
    """Within a group the later session stands before the earlier."""
    assert in_order(None, header("a", 1), header("b", 3), header("c", 2)) == ["b", "c", "a"]


def test_ties_are_sorted_by_code_point() -> None:
    """Of two sessions of one moment the smaller id comes first, code point by code point."""
    ids = ["b", "a", "B", "ä", "\uffff", "😀", "\ud83d", "10", "9", ""]
    assert in_order(None, *map(header, ids)) == sorted(ids, key=lambda text: [*map(ord, text)])


@pytest.mark.parametrize(
    ("title", "label"),
    [
        (None, "s"),
        ("", "s"),
        (" \t\n", "s"),
        ("\x1b\x07\u202e\u200b", "s"),
        ("T", "T"),
        (" T ", " T "),
        ("\x1bT", "\x1bT"),
    ],
)
def test_the_label_is_the_title_or_the_id(title: str | None, label: str) -> None:
    """Where a title is missing, or a person would see nothing of it, the id is shown."""
    assert label_of("s", title) == label


@pytest.mark.parametrize("needle", ["", "fix", "the parser", "app", "/w", "id-7", "7"])
def test_a_needle_is_sought_in_three_places(needle: str) -> None:
    """A session matches by its label, its cwd or its id, lower-cased."""
    assert matches(needle, header("ID-7", cwd="/W/App"), "Fix the Parser")


@pytest.mark.parametrize("needle", ["fix parser", "id-7/w", "appfix", "none", "Fix"])
def test_a_needle_is_one_substring(needle: str) -> None:
    """A needle is not split into words, and does not reach from one place into another."""
    assert not matches(needle, header("ID-7", cwd="/W/App"), "Fix the Parser")


def test_a_missing_cwd_holds_nothing() -> None:
    """A session without cwd is not found by the word for none."""
    assert not matches("none", header("s"), "label")
    assert matches("", header("s"), "label")


@pytest.mark.parametrize("text", ["МИР", "İstanbul", "ẞ", "Σίσυφοσ", "DŽ", "修复", "😀", "\ud83d"])
def test_case_is_that_of_unicode(text: str) -> None:
    """Any text, lower-cased by Unicode's rules, is found in itself."""
    assert matches(text.lower(), header(), f"a {text} b")


@given(session_ids(), st.none() | cwds(), labels(), joined_text())
def test_a_part_of_any_place_matches(
    session_id: str, cwd: str | None, label: str, query: str
) -> None:
    """A query matches exactly where its lower case is a substring of one of the three."""
    places = [place for place in (session_id, cwd, label) if place is not None]
    expected = any(query.lower() in place.lower() for place in places)
    assert matches(query.lower(), header(session_id, cwd=cwd), label) is expected


@given(session_ids(), labels(), safe_integers(0))
def test_a_candidate_carries_its_mention(session_id: str, label: str, time: int) -> None:
    """A candidate's mention names its id, whatever its label holds, and shows one line."""
    made = candidate(header(session_id, time), label, None, None)
    (reference,) = parse_mentions(made.mention).references
    assert reference.session_id == made.session_id == session_id
    assert (made.label, made.created_at) == (label, time)
    assert not set("\n\r\x1b\u202e\u200b") & set(made.mention)


def test_a_candidate_tells_what_a_host_can_show() -> None:
    """Times, folder, parent, kind and problem are those of the session."""
    child = SessionHeader(0, "s", 5, 1, "/w", "parent", None, "subagent", None)
    made = candidate(child, "T", 7, "it is broken")
    assert made.to_wire() == {
        "sessionId": "s",
        "label": "T",
        "mention": "@[T](dsh-session:InMi)",
        "createdAt": 5,
        "updatedAt": 7,
        "cwd": "/w",
        "parentSession": "parent",
        "subagent": True,
        "readable": False,
        "problem": "it is broken",
    }
    plain = candidate(header("s", 5), "s", None, None)
    assert (plain.subagent, plain.readable, plain.problem) == (False, True, None)
