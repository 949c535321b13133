"""Options that several commands share: the root and the settings of the resolver."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

import click
import pytest
from cli.invoking import Invoke
from logs import LogBuilder

from sessionref.cli.application import application
from sessionref.config import ResolverConfig
from sessionref.errors import InvalidConfigError

READING = ["demo", "doctor", "list", "prepare", "show"]


def option_of(command: str, field: str) -> click.Option | None:
    for parameter in application.commands[command].params:
        if isinstance(parameter, click.Option) and parameter.name == field:
            return parameter
    return None


@pytest.mark.parametrize("field", ResolverConfig.model_fields)
def test_every_setting_is_an_option(field: str) -> None:
    """Each setting of a resolver can be set on the command line, and is explained there."""
    options = [option for name in READING if (option := option_of(name, field)) is not None]
    assert options
    for option in options:
        assert option.opts == [f"--{field.replace('_', '-')}"]
        assert option.envvar == f"SESSIONREF_{field.upper()}"
        assert option.help == ResolverConfig.model_fields[field].description


@pytest.mark.parametrize("field", ResolverConfig.model_fields)
def test_settings_have_the_defaults_of_the_library(field: str) -> None:
    """Without options a command works as a resolver does without settings."""
    for name in set(READING) - {"demo"}:
        option = option_of(name, field)
        if option is not None:
            expected = ResolverConfig.model_fields[field].default
            default = option.get_default(click.Context(application))
            assert type(expected)(default) == expected


WRONG = [
    ("max_references", "4"),
    ("max_references", "0"),
    ("max_reference_bytes", "many"),
    ("max_reference_bytes", "-1"),
    ("read_concurrency", "1.5"),
    ("max_log_bytes", "9007199254740992"),
    ("max_log_bytes", "9" * 5_000),
]


def refusal(name: str, value: str) -> str:
    parsed = int(value) if value.lstrip("-").isdigit() and len(value) < 100 else value
    with pytest.raises(InvalidConfigError) as caught:
        ResolverConfig(**{name: parsed})
    return str(caught.value)


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_option_is_refused(invoke: Invoke, name: str, value: str) -> None:
    """A setting outside its range is refused with its name, its value and the range."""
    option = f"--{name.replace('_', '-')}"
    result = invoke("prepare", "--text", "x", option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr
    assert refusal(name, value) in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_variable_is_refused(invoke: Invoke, name: str, value: str) -> None:
    """The environment is held to the same ranges, and the variable is named."""
    variable = f"SESSIONREF_{name.upper()}"
    result = invoke("prepare", "--text", "x", **{variable: value})
    assert result.exit_code == 2
    assert variable in result.stderr
    assert refusal(name, value) in result.stderr


def test_settings_come_from_the_environment(invoke: Invoke, root: Path) -> None:
    """A variable sets what its option sets."""
    result = invoke("list", SESSIONREF_ROOT=str(root), SESSIONREF_CANDIDATE_LIMIT="2")
    assert len(result.stdout.splitlines()) == 2


def test_an_option_wins_over_a_variable(invoke: Invoke, root: Path) -> None:
    """What is written last, on the command line, counts."""
    limit = ("--candidate-limit", "1")
    result = invoke("list", "--root", str(root), *limit, SESSIONREF_CANDIDATE_LIMIT="2")
    assert len(result.stdout.splitlines()) == 1


@pytest.fixture
def odd_root(tmp_path: Path) -> Path:
    """A root with one log that holds event types which only its host knows."""
    log = LogBuilder("odd")
    log.append("x/one", {})
    log.append("x/two", {})
    log.write(tmp_path)
    return tmp_path


def test_known_types_can_be_repeated(invoke: Invoke, odd_root: Path) -> None:
    """Each `--known-types` adds an event type that a log may hold."""
    types = ("--known-types", "x/one", "--known-types", "x/two")
    assert invoke("show", "odd", "--root", str(odd_root)).exit_code == 1
    assert invoke("show", "odd", "--root", str(odd_root), *types).exit_code == 0


def test_known_types_are_words_of_a_variable(invoke: Invoke, odd_root: Path) -> None:
    """In the environment event types stand with white space between them."""
    arguments = ("doctor", "--root", str(odd_root))
    assert invoke(*arguments, SESSIONREF_KNOWN_TYPES="x/one x/two").exit_code == 0


def test_an_empty_event_type_is_refused(invoke: Invoke) -> None:
    """No event type is the empty string."""
    result = invoke("demo", "--known-types", "")
    assert result.exit_code == 2
    assert "must be a set of non-empty event types" in result.stderr


@pytest.mark.parametrize("home", ["", "dsh"])
def test_the_default_root(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    """Logs are looked for where DSH keeps them: below DSH_HOME if that is set, else in `.dsh`."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / home if home else tmp_path / "home" / ".dsh"
    LogBuilder("found").write(folder / "sessions")
    result = invoke("list", "--json", DSH_HOME=home and str(folder))
    assert [candidate["sessionId"] for candidate in json.loads(result.stdout)] == ["found"]


NO_HOME = {"HOME": "~", "USERPROFILE": "~"}
"""What an unknown home looks like, as that of a user whom the system does not know."""


@pytest.mark.parametrize("arguments", [["list"], ["doctor"], ["show", "x"], ["prepare"]])
def test_nobody_knows_a_home(invoke: Invoke, arguments: list[str]) -> None:
    """Where there is no home folder to look in, a command asks for a root."""
    result = invoke(*arguments, **NO_HOME)
    assert result.exit_code == 2
    assert "say with --root where sessions lie" in result.stderr


def test_a_root_needs_no_home(invoke: Invoke, root: Path) -> None:
    """Who says where sessions lie needs no home folder, not even for a hint with a command."""
    LogBuilder("damaged").write(root, b"")
    assert invoke("list", "--demo", **NO_HOME).exit_code == 0
    result = invoke("list", "--root", str(root), **NO_HOME)
    assert result.exit_code == 0
    assert f"--root {quote(str(root))}" in result.stderr


@pytest.mark.parametrize("arguments", [["list"], ["doctor"], ["show", "x"]])
def test_a_missing_root_is_explained(invoke: Invoke, tmp_path: Path, arguments: list[str]) -> None:
    """A newcomer without sessions is told which folder was looked at, and about the demo."""
    result = invoke(*arguments, "--root", str(tmp_path / "none\x1b"))
    assert rf"no folder {tmp_path / 'none'}\x1b yet" in result.stderr
    assert "sessionref demo" in result.stderr


@pytest.mark.parametrize("command", [["list"], ["doctor"], ["show", "x"], ["prepare"]])
def test_a_root_without_name_is_refused(invoke: Invoke, command: list[str]) -> None:
    """An empty `--root`, as of an unset variable, does not mean the current folder."""
    result = invoke(*command, "--root", "")
    assert result.exit_code == 2
    assert "a folder must have a name" in result.stderr


DEMO_ID = "7d2f4c1e-53a8-4b06-9e1c-0f6a2d8b7c35"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["list", "parser"], 0),
        (["show", DEMO_ID], 0),
        (["prepare", "--session", DEMO_ID], 0),
        (["doctor"], 1),  # one of the demo's logs is damaged
    ],
)
def test_the_sessions_of_the_demo(invoke: Invoke, arguments: list[str], code: int) -> None:
    """With `--demo` a command works on the sessions of the package, wherever others lie."""
    result = invoke(*arguments, "--demo", SESSIONREF_ROOT="nowhere")
    assert result.exit_code == code
    assert "csv-tool" in result.stdout or "7 logs are fine" in result.stdout
    assert "no folder" not in result.stderr


def test_the_demo_has_no_other_root(invoke: Invoke, tmp_path: Path) -> None:
    """Who names a folder and the demo is asked which of both is meant."""
    result = invoke("list", "--demo", "--root", str(tmp_path))
    assert result.exit_code == 2
    assert "Give --root or --demo, not both." in result.stderr


def test_a_root_that_is_a_file_is_no_missing_root(invoke: Invoke, tmp_path: Path) -> None:
    """A root that is there and cannot be listed is an error, not an empty list."""
    (tmp_path / "file").touch()
    result = invoke("list", "--root", str(tmp_path / "file"))
    assert result.exit_code == 1
    assert "cannot be read" in result.stderr
    assert "no folder" not in result.stderr


def test_a_root_inside_a_file_is_no_missing_root(invoke: Invoke, tmp_path: Path) -> None:
    """Where the system says something else than "not found", the store tells what."""
    (tmp_path / "file").touch()
    result = invoke("list", "--root", str(tmp_path / "file" / "below"))
    assert result.exit_code == 1
    assert "no folder" not in result.stderr
