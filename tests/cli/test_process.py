"""The installed command as a process of its own: pipes, signals, encodings, the environment."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from time import sleep
from typing import Any

import pytest
from cli.invoking import HERE
from filelock import FileLock
from logs import LogBuilder

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="pipes and signals are those of POSIX"
)

_MUCH = 1_000
"""So many sessions with long titles that no pipe holds what is listed of them."""


def script() -> str:
    """Return the console script of the environment that runs the tests."""
    found = shutil.which("sessionref", path=sysconfig.get_path("scripts"))
    assert found is not None
    return found


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script(), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([script(), *arguments], stderr=subprocess.PIPE, **options)


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Let commands get SIGINT also where these tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def _no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONREF_CANDIDATE_LIMIT", str(_MUCH))


@pytest.fixture(scope="module")
def large_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    for number in range(_MUCH):
        log = LogBuilder(f"session-{number}")
        log.title("long " * 100)
        log.write(root)
    return root


@pytest.mark.usefixtures("_no_limit")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_pipe_is_no_error(large_root: Path, form: list[str]) -> None:
    """`sessionref list | head -1` ends in silence, whether people or programs read."""
    with start("list", "--root", large_root, *form, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.usefixtures("_no_limit")
def test_ctrl_c_while_a_pipe_is_full(large_root: Path) -> None:
    """An interrupted command ends at once with 130, without traceback, also if nobody reads it."""
    with start("list", "--root", large_root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b""


def test_ctrl_c_while_an_index_is_refreshed(root: Path, tmp_path: Path) -> None:
    """An interrupted refresh ends with 130, without traceback, and the next one is not hindered."""
    index = tmp_path / "titles.sqlite3"
    arguments: list[str | Path] = ["index", "refresh", "--root", root, "--index", index]
    with (
        FileLock(f"{index}.lock"),  # as another process has it that refreshes
        start(*arguments, stdout=subprocess.PIPE) as process,
    ):
        assert process.stderr is not None
        while not index.exists() and process.poll() is None:
            sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b""
    assert run(*arguments).returncode == 0
    assert run("index", "status", "--index", index, "--root", root).returncode == 0


def test_a_full_disk_is_one_line(root: Path) -> None:
    """Output that cannot be written is an error in one line."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no full disk to write to")
    with full.open("wb") as stream, start("list", "--root", root, stdout=stream) as process:
        assert process.stderr is not None
        message = process.stderr.read().decode()
    assert process.returncode == 1
    assert message.startswith("Error: ")
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["uri", "encode", "a"], 0),
        (["show", "lost"], 1),
        (["doctor"], 1),
        (["index", "build"], 0),
        (["index", "status"], 1),
        (["list", "--candidate-limit", "0"], 2),
        (["nonsense"], 2),
    ],
)
def test_exit_codes(root: Path, arguments: list[str], code: int) -> None:
    """A shell sees the documented exit codes."""
    LogBuilder("damaged").write(root, b"")
    result = run(*arguments, SESSIONREF_ROOT=str(root))
    assert result.returncode == code
    assert "Traceback" not in result.stderr


def test_settings_of_the_environment(root: Path) -> None:
    """A variable that a shell exports sets what its option sets."""
    result = run("list", "--cwd", HERE, SESSIONREF_ROOT=str(root), SESSIONREF_CANDIDATE_LIMIT="1")
    assert result.stdout.startswith("here\t")
    assert len(result.stdout.splitlines()) == 1


def test_an_unreadable_log_is_told_once(root: Path) -> None:
    """What the command says about a log, logging does not say again."""
    LogBuilder("damaged").write(root, b"")
    result = run("list", "--root", root)
    assert (
        result.stderr
        == f"1 log cannot be read; `sessionref doctor --root {quote(str(root))}` says why.\n"
    )


@pytest.mark.parametrize("command", ["list", "show s"])
def test_a_terminal_without_the_characters(tmp_path: Path, command: str) -> None:
    """What an encoding lacks is shown by its number, in the place of an error."""
    log = LogBuilder("s")
    log.title("漢 \ud83d")
    log.write(tmp_path)
    result = run(*command.split(), "--root", tmp_path, PYTHONIOENCODING="latin-1")
    assert result.returncode == 0
    assert r"\u6f22 \ud83d" in result.stdout


def test_json_is_utf8_whatever_the_terminal(tmp_path: Path) -> None:
    """Programs get UTF-8, also where people get something else."""
    log = LogBuilder("s")
    log.title("漢")
    log.write(tmp_path)
    result = run("list", "--root", tmp_path, "--json", PYTHONIOENCODING="ascii")
    assert json.loads(result.stdout)[0]["label"] == "漢"


def on_terminal(*arguments: str | Path, **environment: str) -> bytes:
    """Return what the command writes to a terminal."""
    ours, theirs = os.openpty()
    with start(*arguments, stdout=theirs, env={**os.environ, **environment}) as process:
        os.close(theirs)
        output = b""
        try:
            while piece := os.read(ours, 4096):
                output += piece
        except OSError:
            pass  # Linux tells like this that the other end is closed
        os.close(ours)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0
    return output


def test_a_terminal_gets_colours(root: Path) -> None:
    """On a terminal headings and hints are told apart by more than their place."""
    assert b"\x1b[32m" in on_terminal("list", "--root", root, "--cwd", HERE)


def test_no_color_is_respected(root: Path) -> None:
    """NO_COLOR takes the colours away."""
    assert b"\x1b[32m" not in on_terminal("list", "--root", root, "--cwd", HERE, NO_COLOR="1")
