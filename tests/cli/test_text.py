"""Text is safe to show, whoever wrote it."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.cli.text import ago, counted, day, lasting, moment, one_line, text_lines

ANY_TEXT = st.text(st.characters())  # lone surrogates among it


def test_a_lone_surrogate_becomes_its_escape() -> None:
    """Half an emoji is shown as the number that it is."""
    assert one_line("plan \ud83d") == r"plan \ud83d"


@given(ANY_TEXT)
def test_one_line_can_be_printed(text: str) -> None:
    """Whatever a text holds, what is shown of it is UTF-8 without control characters."""
    shown = one_line(text)
    shown.encode()
    assert all(character >= " " and not "\x7f" <= character <= "\x9f" for character in shown)


@pytest.mark.parametrize("text", ["a\n\nb\n", "a\r\n\r\nb\r\n"])
def test_line_breaks_are_kept(text: str) -> None:
    """A message's text keeps its line breaks, however its writer's system spelled them."""
    assert text_lines(text) == ["a", "", "b", ""]


def test_other_control_characters_of_a_message_are_escaped() -> None:
    """A message cannot move the cursor, not even by a carriage return."""
    assert text_lines("a\rb\x1b[2J\u2028c") == [r"a\x0db\x1b[2J\u{2028}c"]


def test_tabs_of_a_message_become_spaces() -> None:
    """Code that is indented with tabs stays legible."""
    assert text_lines("\tif x:\n\t\treturn") == ["    if x:", "        return"]


def test_times_are_local() -> None:
    """A moment is told by the clock on the reader's wall, and a day by the calendar beside it."""
    noon = datetime(2026, 2, 3, 12, 0).astimezone()
    milliseconds = int(noon.timestamp() * 1000)
    assert moment(milliseconds) == "2026-02-03 12:00"
    assert day(milliseconds) == "2026-02-03"


def test_a_time_beyond_the_calendar_is_a_number() -> None:
    """A header may name any safe integer as its time; no calendar goes that far."""
    assert moment(2**53 - 1) == "9,007,199,254,740,991 ms after 1970"


@pytest.mark.parametrize(
    ("number", "phrase"), [(0, "0 logs"), (1, "1 log"), (2, "2 logs"), (1_000, "1,000 logs")]
)
def test_counted(number: int, phrase: str) -> None:
    """One log is a log, any other number of them are logs."""
    assert counted(number, "log") == phrase


@pytest.mark.parametrize(
    ("seconds", "phrase"),
    [
        (-5, "just now"),
        (59.9, "just now"),
        (60, "1 minute ago"),
        (7_199, "1 hour ago"),
        (86_400 * 2.5, "2 days ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, phrase: str) -> None:
    """An age is as exact as people want it, and a clock that was put back makes no negative one."""
    assert ago(seconds) == phrase


@pytest.mark.parametrize(
    ("seconds", "phrase"),
    [(0, "0 s"), (0.1, "1 s"), (59, "59 s"), (59.5, "1 min 0 s"), (3_725, "1 h 2 min")],
)
def test_what_is_left_is_told_in_few_characters(seconds: float, phrase: str) -> None:
    """What is left of a long wait is never said to be nothing."""
    assert lasting(seconds) == phrase
