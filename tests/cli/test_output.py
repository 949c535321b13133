"""Where output goes, and what it looks like there."""

from __future__ import annotations

import io

import pytest
from cli.invoking import Invoke
from rich.console import Console

from sessionref.cli.output import print_quoted


class CountingConsole(Console):
    """A console that knows how often it was asked to print."""

    calls = 0

    def print(self, *args: object, **options: object) -> None:
        self.calls += 1
        super().print(*args, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_many_lines_are_printed_at_once(is_terminal: bool) -> None:
    """A text of many lines costs no more than its lines: what is slow is done once."""
    console = CountingConsole(file=io.StringIO(), force_terminal=is_terminal, color_system=None)
    print_quoted(console, "\n" * 999)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "  │ \n" * 1_000
    assert console.calls == 1


def test_the_bar_is_told_from_the_text() -> None:
    """Only the bar is dim; the text has the style that it was given, or none."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard")
    print_quoted(console, "plain")
    print_quoted(console, "coloured", "cyan")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "\x1b[2m  │ \x1b[0mplain",
        "\x1b[2m  │ \x1b[0m\x1b[36mcoloured\x1b[0m",
    ]


@pytest.mark.parametrize(
    "command", ["demo", "list --demo", "doctor --demo", "prepare --text x --demo"]
)
def test_output_without_room_is_still_output(invoke: Invoke, command: str) -> None:
    """An environment that claims zero columns gets what one with a few gets."""
    output = invoke(*command.split(), COLUMNS="0").stdout
    assert output
    assert output == invoke(*command.split(), COLUMNS="16").stdout
