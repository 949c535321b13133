"""The title of a session: the last one that its log sets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from logs import LogBuilder
from strategies import joined_text

from sessionref.errors import SessionDamagedError
from sessionref.session.reading import read_log
from sessionref.session.title import SessionTitle

DATA: dict[str, Any] = {
    "title": "T",
    "messageSeqs": [0],
    "source": {"kind": "provider", "model": "m"},
}


def title_of(log: LogBuilder) -> SessionTitle | None:
    return read_log(log.lines()).title


def test_a_log_without_title_has_none() -> None:
    """A session has no title before its log sets one."""
    log = LogBuilder()
    log.user("hi")
    assert title_of(log) is None


def test_the_last_title_wins() -> None:
    """A later title takes the place of an earlier one, whoever set either."""
    log = LogBuilder()
    for kind in ["fallback", "user", "provider"]:
        log.title(f"by {kind}", kind)
    title = title_of(log)
    assert title is not None
    assert title.title == "by provider"


def test_a_title_tells_where_it_comes_from() -> None:
    """A title knows its event, its time, what it was made from, and by whom."""
    log = LogBuilder(created_at=1_000)
    log.user("hi")
    log.append("session/title", DATA)
    title = title_of(log)
    assert title is not None
    assert title.to_wire() == {**DATA, "eventSeq": 1, "updatedAt": 1_001}


@given(joined_text())
def test_a_title_is_any_string(text: str) -> None:
    """A title is kept as it is, an empty one and half an emoji too."""
    log = LogBuilder()
    log.title(text)
    title = title_of(log)
    assert title is not None
    assert title.title == text


@pytest.mark.parametrize("data", [None, [], "T"])
def test_data_of_a_title_are_an_object(data: object) -> None:
    """The data of a title are an object."""
    log = LogBuilder()
    log.append("session/title", data)
    with pytest.raises(SessionDamagedError, match="title"):
        title_of(log)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("value", [None, 7, True])
def test_a_title_is_complete(name: str, value: object) -> None:
    """Title, messageSeqs and source are required and have their types."""
    log = LogBuilder()
    log.append("session/title", {**DATA, name: value})
    with pytest.raises(SessionDamagedError, match="title"):
        title_of(log)
