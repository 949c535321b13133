"""From what a command raises to its exit code and its one line on stderr."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from sessionref.cli import main
from sessionref.cli.application import Application
from sessionref.cli.output import output_console
from sessionref.errors import InvalidConfigError, SessionNotFoundError

NOT_FOUND = SessionNotFoundError(session_id="s\x1b")
BAD_SETTING = InvalidConfigError(name="max_references", value=0, expected="more")


def command_that_raises(error: BaseException, output: str = "") -> Application:
    """Return the command with one subcommand, `fail`, that writes and raises an error."""

    @click.group(cls=Application)
    def group() -> None:
        """Stand in for the real group."""

    @group.command()
    def fail() -> None:
        sys.stdout.write(output)
        raise error

    return group


def run(error: BaseException) -> Result:
    return CliRunner().invoke(command_that_raises(error), ["fail"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NOT_FOUND, 1),
        (BAD_SETTING, 2),
        (OSError("the disk is full"), 1),
        (BrokenPipeError(), 0),
        (KeyboardInterrupt(), 130),
        (ExceptionGroup("", [NOT_FOUND]), 1),
        (ExceptionGroup("", [ExceptionGroup("", [BrokenPipeError()])]), 0),
        (BaseExceptionGroup("", [ValueError(), KeyboardInterrupt()]), 130),
    ],
)
def test_exit_codes(error: BaseException, code: int) -> None:
    """Each kind of error has its exit code, alone and in trio's groups."""
    assert run(error).exit_code == code


@pytest.mark.parametrize("error", [NOT_FOUND, BAD_SETTING, OSError("the disk\x1b is full")])
def test_an_error_is_one_line(error: Exception) -> None:
    """What went wrong is said on stderr in one harmless line, without a traceback."""
    text = str(error).replace("\x1b", r"\x1b")
    assert run(error).stderr == f"Error: {text}\n"


@pytest.mark.parametrize("error", [BrokenPipeError(), KeyboardInterrupt()])
def test_whoever_stops_the_command_knows_it(error: BaseException) -> None:
    """Nothing is said about a closed pipe, nor about Ctrl-C."""
    assert run(error).output == ""


@pytest.mark.parametrize("error", [ValueError("bug"), ExceptionGroup("", [ValueError("bug")])])
def test_a_bug_stays_visible(error: Exception) -> None:
    """What nobody expects is no session error: it is raised as it is."""
    assert run(error).exception is error


@pytest.mark.parametrize("error", [BrokenPipeError(), KeyboardInterrupt(), OSError("full")])
def test_what_is_still_to_be_written_is_dropped(tmp_path: Path, error: BaseException) -> None:
    """What a failed command has not written yet is not tried again: that could fail, or hang."""
    group = command_that_raises(error, "still in the buffer")
    with (tmp_path / "out").open("w") as stream:
        with contextlib.redirect_stdout(stream), pytest.raises(SystemExit):
            group.main(["fail"])
        stream.flush()
    assert not (tmp_path / "out").read_bytes()


def test_rich_hands_a_closed_pipe_on() -> None:
    """A pipe that closes while rich writes is handled like any other closed pipe."""

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with contextlib.redirect_stdout(Closed()), pytest.raises(BrokenPipeError):
        output_console().print("text")


def test_any_stream_will_do() -> None:
    """Output that goes to something else than a file of text is left as it is."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), pytest.raises(SystemExit):
        command_that_raises(NOT_FOUND).main(["--help"])
    assert "fail" in stream.getvalue()


def test_main_runs_the_arguments_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The console script takes the command line of its process and ends it."""
    monkeypatch.setattr(sys, "argv", ["sessionref", "uri", "encode", "a"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out == "dsh-session:ImEi\n"


def test_an_interrupt_during_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C leaves no traceback, not even while the command is still being imported."""

    class Interrupted:
        @property
        def application(self) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "sessionref.cli.application", Interrupted())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


def test_the_package_can_be_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m sessionref.cli` is the command too."""
    monkeypatch.setattr(sys, "argv", ["sessionref", "uri", "decode", "dsh-session:ImEi"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("sessionref.cli", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out == "a\n"
