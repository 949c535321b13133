"""How candidates, messages and what was kept look to a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessionref.cli.output import print_quoted
from sessionref.cli.root import Root
from sessionref.cli.text import counted, day, moment, one_line
from sessionref.errors import StorageError, TitleIndexError
from sessionref.model import (
    Block,
    Candidate,
    PreparedMessage,
    RecallSource,
    SourceRecord,
    TextBlock,
)

__all__ = [
    "candidate_row",
    "kept_records",
    "left_out",
    "print_candidates",
    "print_kept",
    "print_prepared",
    "print_problems",
    "print_unreadable",
    "share",
]

_INDENT: Final = "  "
_LEAST_TITLE: Final = 20
"""Columns that a title needs at least; where there are fewer, the id goes on a line of its own."""


def print_candidates(
    console: Console, candidates: Sequence[Candidate], target_cwd: str | None
) -> None:
    """Print candidates in their order, under a heading wherever the folder changes."""
    rows = [(found, _name(found), one_line(found.session_id)) for found in candidates]
    widest_id = max((cell_len(session_id) for _, _, session_id in rows), default=0)
    room = console.width - widest_id - len("YYYY-MM-DD") - 3 * len(_INDENT)
    width = min(room, max((name.cell_len for _, name, _ in rows), default=0))
    for cwd, group in groupby(rows, key=lambda row: row[0].cwd):
        console.print(_folder(cwd, target_cwd))
        for found, name, session_id in group:
            line = Text(_INDENT).append_text(name)
            if room >= _LEAST_TITLE:
                line.truncate(len(_INDENT) + width, overflow="ellipsis", pad=True)
            line.append(f"{_INDENT}{day(found.created_at)}", "dim")
            line.append(_INDENT if room >= _LEAST_TITLE else f"\n{_INDENT * 2}")
            console.print(line.append(session_id), soft_wrap=True)


def candidate_row(candidate: Candidate) -> str:
    """Return a candidate on one line, its parts between tabs: id, time, folder, title, remark."""
    parts = [
        candidate.session_id,
        moment(candidate.created_at),
        candidate.cwd or "",
        candidate.label if candidate.readable else "",
        candidate.problem or ("subagent" if candidate.subagent else ""),
    ]
    return "\t".join(map(one_line, parts)).rstrip("\t")


def print_prepared(console: Console, prepared: PreparedMessage) -> None:
    """Print the message as its reader gets it and, behind it, what goes with it."""
    console.print(Text("The message", "bold"))
    print_quoted(console, _text(prepared.content))
    context = prepared.additional_context
    if context is not None:
        console.print(Text("\nThe context message that goes with it", "bold"))
        print_quoted(console, _text(context.content), "cyan")


def kept_records(prepared: PreparedMessage) -> tuple[SourceRecord, ...]:
    """Return what a message carries of each session that it refers to."""
    context = prepared.additional_context
    if context is None or not isinstance(context.source, RecallSource):
        return ()
    return context.source.references


def print_kept(console: Console, records: Sequence[SourceRecord]) -> None:
    """Print what of each session was kept, and what had to stay behind."""
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    table.add_column("session", overflow="fold")
    table.add_column("kept")
    table.add_column("left out")
    for record in records:
        table.add_row(
            one_line(record.label),
            share(record.retained_messages, record.original_messages),
            left_out(record.omitted_messages, record.omitted_bytes),
        )
    console.print(table)


def print_problems(errors: Iterable[StorageError]) -> None:
    """Say on stderr what is the matter with a title index, as far as errors are about one."""
    for error in errors:
        if isinstance(error, TitleIndexError):
            click.echo(one_line(error.describe()), err=True)


def print_unreadable(logs: int, root: Root) -> None:
    """Say on stderr how many logs cannot be read, if any, and which command tells more."""
    if logs:
        counted_logs = counted(logs, "log")
        click.echo(f"{counted_logs} cannot be read; `{root.command('doctor')}` says why.", err=True)


def share(retained: int, original: int) -> str:
    """Return in words how many messages of a session are carried over."""
    return f"{retained:,} of {counted(original, 'message')}"


def left_out(messages: int, size: int) -> str:
    """Return in words what had no room: whole messages, bytes of text, or nothing."""
    if messages:
        return f"{counted(messages, 'message')}, {counted(size, 'byte')}"
    return counted(size, "byte") if size else "nothing"


def _folder(cwd: str | None, target_cwd: str | None) -> Text:
    heading = Text("no folder" if cwd is None else one_line(cwd), "bold")
    if cwd is not None and cwd == target_cwd:
        heading.append("  (this folder)", "not bold green")
    return heading


def _name(candidate: Candidate) -> Text:
    if not candidate.readable:
        return Text("cannot be read", style="red")
    name = Text(one_line(candidate.label))
    if candidate.subagent:
        name.append("  subagent", style="dim")
    return name


def _text(content: Sequence[Block]) -> str:
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))
