"""Text that is safe to show, whoever wrote it.  Pure."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

from sessionref.reference.visible import visible

__all__ = ["ago", "counted", "day", "lasting", "moment", "one_line", "text_lines"]

_TAB: Final = 4

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNITS: Final = ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"))


def one_line(text: str) -> str:
    r"""Return a text on one line: no control characters, and lone surrogates as `\udxxx`."""
    return visible(text.encode("utf-8", "backslashreplace").decode())


def text_lines(text: str) -> list[str]:
    """Return the lines of a message's text, each as `one_line` has it and with tabs as spaces."""
    return [one_line(line.expandtabs(_TAB)) for line in text.replace("\r\n", "\n").split("\n")]


def day(milliseconds: int) -> str:
    """Return a time since the epoch as day of the local calendar."""
    return _formatted(milliseconds, "%Y-%m-%d")


def moment(milliseconds: int) -> str:
    """Return a time since the epoch as day and minute of the local clock."""
    return _formatted(milliseconds, "%Y-%m-%d %H:%M")


def ago(seconds: float) -> str:
    """Return in words how long something has been over, in the largest unit that fits."""
    for size, noun in _UNITS:
        if seconds >= size:
            return f"{counted(int(seconds // size), noun)} ago"
    return "just now"


def lasting(seconds: float) -> str:
    """Return in few characters how long something will take, rounded up to whole seconds."""
    whole = math.ceil(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR:,} h {whole % _HOUR // _MINUTE} min"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s unless there is one of it."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _formatted(milliseconds: int, form: str) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime(form)
    except (OSError, OverflowError, ValueError):  # later than the system or the calendar knows
        return f"{milliseconds:,} ms after 1970"
