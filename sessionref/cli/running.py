"""From what a command raises to what its caller sees: a line of text and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

import click

from sessionref.cli.text import one_line
from sessionref.errors import InvalidConfigError, SessionReferenceError

__all__ = ["ExitCode", "exit_codes", "make_printable"]


class ExitCode(IntEnum):
    """How the command ends; `sessionref --help` says the same."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what is raised inside into an exit code, with a line on stderr where that helps.

    A reader who closed the pipe wanted no more: that is no error.  What nobody expects is raised
    as it is.  trio hands on exceptions in groups; what counts is in them.
    """
    try:
        yield
    except (BaseExceptionGroup, KeyboardInterrupt, OSError, SessionReferenceError) as error:
        code = _report(list(_leaves(error)))
        if code is None:
            raise
        raise click.exceptions.Exit(code) from None


def make_printable() -> None:
    """Let a terminal that lacks a character show its number, in the place of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _leaves(member)
    else:
        yield error


def _report(errors: list[BaseException]) -> ExitCode | None:
    if any(isinstance(error, KeyboardInterrupt) for error in errors):
        _discard_output()
        return ExitCode.INTERRUPTED
    if not all(isinstance(error, (OSError, SessionReferenceError)) for error in errors):
        return None
    first = errors[0]
    if isinstance(first, OSError):
        _discard_output()
    if isinstance(first, BrokenPipeError):
        return ExitCode.OK
    click.echo(f"Error: {one_line(str(first))}", err=True)
    return ExitCode.USAGE if isinstance(first, InvalidConfigError) else ExitCode.FAILED


def _discard_output() -> None:
    """Send nowhere what is still to be written: Python would try, or wait, once more at its end."""
    with suppress(OSError):  # which a stream raises that is no file of the system
        descriptor = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
