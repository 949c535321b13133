"""The command, run inside the tests, in an environment that says nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli.invoking import HERE, Invoke
from click import unstyle
from click.testing import CliRunner, Result
from logs import LogBuilder

from sessionref.cli.application import application


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Take away what a developer's environment, or a runner of tests, tells the command."""
    for name in list(os.environ):
        if name.startswith("SESSIONREF_"):
            monkeypatch.delenv(name)
    for name in (
        *("COLUMNS", "DSH_HOME", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONIOENCODING"),
        "XDG_CACHE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def invoke() -> Invoke:
    """Run the command as a pipe would see it."""

    def run(*args: str, **environment: str) -> Result:
        return CliRunner().invoke(application, args, env=environment)

    return run


@pytest.fixture
def invoke_on_terminal() -> Invoke:
    """Run the command as a terminal of a given width would see it; colours are taken away."""

    def run(*args: str, columns: int = 80) -> Result:
        environment = {"FORCE_COLOR": "1", "COLUMNS": str(columns)}
        result = CliRunner().invoke(application, args, env=environment)
        result.stdout_bytes = unstyle(result.stdout).encode()
        return result

    return run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with three sessions: one here, one elsewhere, and one without a folder."""
    here = LogBuilder("here", created_at=1_000, cwd=HERE)
    here.user("How do I parse this?")
    here.assistant("With a parser.")
    here.title("Write a parser")
    here.write(tmp_path / "sessions")
    elsewhere = LogBuilder("elsewhere", created_at=3_000, cwd="/home/ana/site")
    elsewhere.title("Design the site")
    elsewhere.write(tmp_path / "sessions", compressed=True)
    LogBuilder("nowhere", created_at=2_000).write(tmp_path / "sessions")
    return tmp_path / "sessions"
