"""What the command can do stands in docs/cli.md, and nothing else does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli.invoking import Invoke

from sessionref.cli.application import application
from sessionref.cli.root import demo_sessions
from sessionref.cli.running import ExitCode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(commands(application, "sessionref"))


def section(path: str) -> str:
    """Return what the page says of a command: the text from its heading to the next one."""
    found = re.search(rf"^## `{path}\b.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/cli.md has no heading for {path}"
    return found[0]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_its_section(path: str) -> None:
    """Each command has a heading of its own, and an example."""
    assert re.search(rf"^\$ .*{path}", section(path), re.MULTILINE)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_is_explained(path: str) -> None:
    """Each option of a command stands in its section."""
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Option):
            assert f"`{parameter.opts[0]}" in section(path)


def test_every_variable_is_explained() -> None:
    """Each environment variable stands on the page."""
    for command in COMMANDS.values():
        for parameter in command.params:
            if parameter.envvar is not None:
                assert f"`{parameter.envvar}`" in PAGE


@pytest.mark.parametrize("path", COMMANDS)
def test_no_option_is_made_up(path: str) -> None:
    """What a section calls an option is one."""
    real = {option for parameter in COMMANDS[path].params for option in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", section(path))) <= real


def test_exit_codes_are_explained() -> None:
    """Each exit code stands on the page and in `sessionref --help`."""
    for code in ExitCode:
        assert f"| {code.value} |" in PAGE
        assert re.search(rf"^ *{code.value}  ", application.help or "", re.MULTILINE)


def examples() -> Iterator[tuple[str, str]]:
    """Yield each command line of the page with the output that stands below it, often none."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for example in block.removeprefix("$ ").split("\n$ "):
            line, _, output = example.partition("\n")
            yield line, output


@pytest.mark.parametrize(("line", "output"), list(examples()))
def test_examples_run(
    invoke: Invoke, line: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example is a command line that is understood, and prints what stands below it."""
    monkeypatch.chdir(tmp_path)
    with demo_sessions() as root:
        result = invoke(*shlex.split(line)[1:], SESSIONREF_ROOT=str(root))
    if output:
        assert result.output == output
    else:
        assert result.exit_code != ExitCode.USAGE


def five() -> list[str]:
    """Return the lines below the README's heading about the command, without their comments."""
    found = re.search(
        r"^## The command in five\n+```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL
    )
    assert found is not None
    variable, *lines = [line.partition("#")[0].strip() for line in found[1].splitlines()]
    name, _, value = variable.partition("=")
    return [line.replace(f"${name}", value) for line in lines]


@pytest.mark.parametrize("line", five())
def test_a_newcomer_can_run_the_five(invoke: Invoke, line: str) -> None:
    """Each command of the README shows something on a machine without a single session."""
    result = invoke(*shlex.split(line)[1:])
    assert result.stdout
    assert "Error" not in result.stderr


def test_there_are_five() -> None:
    """The README shows as many commands as its heading says, and no two alike."""
    assert len({line.split()[1] for line in five()}) == 5
