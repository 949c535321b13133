"""Where output goes: to people through rich, to programs as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Final, TextIO

import click
from rich.console import Console
from rich.segment import Segment, Segments
from rich.text import Text

from sessionref.cli.text import text_lines

__all__ = ["error_console", "output_console", "print_json", "print_quoted"]

_NARROWEST: Final = 16
"""Columns that output and each text in it get at least, in a terminal that has next to none."""


class _Console(Console):
    """A console that leaves a closed pipe to whoever runs the command; rich would end it itself."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def output_console() -> Console:
    """Return the console of the answers."""
    return _console(sys.stdout)


def error_console() -> Console:
    """Return the console of everything else: progress, hints and errors."""
    return _console(sys.stderr)


def _console(file: TextIO) -> Console:
    # Brackets and :names: in a title mean nothing.
    console = _Console(file=file, markup=False, emoji=False, highlight=False)
    # Where there is no room at all, rich prints nothing.
    if console.width < _NARROWEST:  # noqa: PLR1730 - a width that is set follows no window
        console.width = _NARROWEST
    return console


def print_json(value: Any) -> None:
    r"""Print a value as one JSON text in UTF-8, whatever the encoding of the terminal.

    Lone surrogates, which UTF-8 does not have, are written as JSON's `\udxxx`.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(text.encode("utf-8", "backslashreplace"))


def print_quoted(console: Console, text: str, style: str = "", *, joint: int | None = None) -> None:
    """Print a message's text with its line breaks, behind a bar that says where it ends.

    A pipe gets each line whole, so that what is copied from it is what was said.  `joint` is the
    place in the text where something was cut out, which is marked.
    """
    bar = Text.assemble(("  │ ", "dim"))
    width = max(console.width - bar.cell_len, _NARROWEST)
    segments: list[Segment] = []
    for line in _lines([text] if joint is None else [text[:joint], text[joint:]], style):
        for piece in line.wrap(console, width) if console.is_terminal else [line]:
            piece.rstrip()
            segments += (bar + piece).render(console, end="\n")
    # All at once: rich takes its time for each thing that is printed.
    console.print(Segments(segments), soft_wrap=True)


def _lines(parts: Sequence[str], style: str) -> list[Text]:
    """Return the lines of a text whose parts do not belong side by side, and say so in between."""
    lines: list[Text] = []
    for part in parts:
        first, *others = [Text(line, style=style) for line in text_lines(part)]
        if lines:
            first = Text.assemble(lines.pop(), (" […] ", "dim"), first)
        lines += [first, *others]
    return lines
