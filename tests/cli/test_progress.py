"""What is seen while something takes long."""

from __future__ import annotations

import io

import pytest
import trio
from rich.console import Console
from trio.testing import MockClock

from sessionref.cli.progress import PATIENCE, progress, refresh_progress
from sessionref.discovery.sqlite import RefreshProgress


class Screen(io.StringIO):
    """What a terminal was told to show."""

    def isatty(self) -> bool:
        return True


async def test_long_work_is_shown(autojump_clock: MockClock) -> None:
    """On a terminal, work that takes long is named, with how much of it is done."""
    screen = Screen()
    async with progress("Reading logs", 3, console=Console(file=screen)) as advance:
        advance()
        await trio.sleep(2 * PATIENCE)
        assert "Reading logs" in screen.getvalue()
        assert "1 of 3" in screen.getvalue()


async def test_work_without_end_is_shown(autojump_clock: MockClock) -> None:
    """Where nobody knows how much there is to do, no number is made up."""
    screen = Screen()
    async with progress("Reading", console=Console(file=screen)):
        await trio.sleep(2 * PATIENCE)
    assert "Reading" in screen.getvalue()
    assert " of " not in screen.getvalue()


async def test_short_work_does_not_flicker(autojump_clock: MockClock) -> None:
    """What is done before anybody wonders is not shown at all."""
    screen = Screen()
    async with progress("Reading", console=Console(file=screen)):
        await trio.sleep(PATIENCE / 2)
    assert not screen.getvalue()


async def test_a_pipe_sees_nothing(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress is for people who watch, even where colours are forced upon a pipe."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    pipe = io.StringIO()
    async with progress("Reading", 3, console=Console(file=pipe)):
        await trio.sleep(2 * PATIENCE)
    assert not pipe.getvalue()


async def test_a_dumb_terminal_sees_nothing(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal that cannot move its cursor would be littered with lines."""
    monkeypatch.setenv("TERM", "dumb")
    screen = Screen()
    async with progress("Reading", 3, console=Console(file=screen)):
        await trio.sleep(2 * PATIENCE)
    assert not screen.getvalue()


async def test_the_cursor_comes_back(autojump_clock: MockClock) -> None:
    """Whatever ends the work, the terminal gets back the cursor that the bar has hidden."""
    screen = Screen()

    async def fail_late() -> None:
        async with progress("Reading", 3, console=Console(file=screen)):
            await trio.sleep(2 * PATIENCE)
            raise ValueError

    with pytest.raises(ExceptionGroup):
        await fail_late()
    assert "\x1b[?25l" in screen.getvalue()
    assert screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex("\x1b[?25l")


async def test_a_refresh_tells_how_far_it_is(autojump_clock: MockClock) -> None:
    """Who waits for a refresh sees how much is done, how fast, and how long the rest will take."""
    screen = Screen()
    async with refresh_progress(console=Console(file=screen, width=100)) as tell:
        tell(RefreshProgress(seen=1_000, total=4_000, read=10, seconds=2.0))
        await trio.sleep(2 * PATIENCE)
    assert "1,000 of 4,000, 500 a second, 6 s left" in screen.getvalue()


async def test_a_refresh_makes_no_rest_up(autojump_clock: MockClock) -> None:
    """Before anything is done nobody can tell how long the rest will take."""
    screen = Screen()
    async with refresh_progress(console=Console(file=screen, width=100)) as tell:
        tell(RefreshProgress(seen=0, total=4_000, read=0, seconds=0.0))
        await trio.sleep(2 * PATIENCE)
    assert "0 of 4,000" in screen.getvalue()
    assert "left" not in screen.getvalue()
