r"""The JSON text of a source: JavaScript's, and without any `<`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from node import JavaScript, open_javascript
from strategies import (
    cwds,
    javascript_text,
    joined_text,
    json_values,
    labels,
    safe_integers,
    session_ids,
)

from sessionref.javascript import json_string
from sessionref.snapshot.json_text import source_text, string_cost, tag_safe, utf8_length

ROLES = st.sampled_from(["user", "assistant"])
MESSAGES = st.lists(st.tuples(ROLES, joined_text()), max_size=4)


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    with open_javascript() as engine:
        yield engine


def plain_source(
    session_id: str,
    label: str,
    cwd: str | None,
    last_seq: int | None,
    conversation: list[tuple[str, str]],
) -> dict[str, object]:
    """Return a source as data, its members in the order of the contract."""
    return {
        "sessionId": session_id,
        "label": label,
        "cwd": cwd,
        "capturedThroughSeq": last_seq,
        "conversation": [{"role": role, "text": text} for role, text in conversation],
    }


SOURCES = st.tuples(
    session_ids(), labels(), st.none() | cwds(), st.none() | safe_integers(0), MESSAGES
)


@given(json_values())
def test_tag_safe_text_is_the_same_data(data: object) -> None:
    """JSON without `<` parses back to equal data."""
    safe = tag_safe(json.dumps(data))
    assert "<" not in safe
    assert json.loads(safe) == data


@given(SOURCES)
def test_a_source_parses_back(
    parts: tuple[str, str, str | None, int | None, list[tuple[str, str]]],
) -> None:
    """The text of a source parses to the very values, holds no `<` and can be encoded."""
    text = source_text(*parts)
    assert json.loads(text) == plain_source(*parts)
    assert "<" not in text
    assert utf8_length(text) == len(text.encode())


@given(parts=SOURCES)
def test_a_source_is_written_as_javascript_writes_it(
    javascript: JavaScript,
    parts: tuple[str, str, str | None, int | None, list[tuple[str, str]]],
) -> None:
    r"""The text is that of JSON.stringify, members in order, with `<` as `\u003c`."""
    stringified = javascript.ask("stringify", plain_source(*parts))
    assert source_text(*parts) == stringified.replace("<", "\\u003c")


def test_an_empty_source() -> None:
    """A session without cwd and events has null in their place, and no white space anywhere."""
    assert source_text("s", "l", None, None, []) == (
        '{"sessionId":"s","label":"l","cwd":null,"capturedThroughSeq":null,"conversation":[]}'
    )


def test_messages_are_separated_by_commas() -> None:
    """Messages stand in order, role before text."""
    assert source_text("s", "l", "/w", 7, [("user", "<b>"), ("assistant", "é\ud83d\n")]) == (
        '{"sessionId":"s","label":"l","cwd":"/w","capturedThroughSeq":7,"conversation":'
        '[{"role":"user","text":"\\u003cb>"},{"role":"assistant","text":"é\\ud83d\\n"}]}'
    )


@given(javascript_text())
def test_the_cost_of_a_string_is_what_it_adds_to_a_source(text: str) -> None:
    """Cost counts the bytes of the serialized string, escapes included and quotes not."""
    assert string_cost(text) == len(tag_safe(json_string(text)).encode()) - len('""')
