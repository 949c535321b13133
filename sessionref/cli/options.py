"""Options that several commands share, those of the resolver's settings among them."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, get_origin

import click
from click.core import ParameterSource
from pydantic.fields import FieldInfo

from sessionref.cli.index_file import IndexFile
from sessionref.cli.root import Root, default_root, demo_sessions
from sessionref.config import ResolverConfig
from sessionref.errors import InvalidConfigError

__all__ = ["config_options", "index_options", "json_option", "root_options", "target_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

json_option: Final = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for programs."
)

target_option: Final = click.option(
    "--target",
    "target_id",
    metavar="ID",
    default="",
    help="The session that the message is written in; it cannot be mentioned in itself.",
)


class _Place(click.Path):
    """A folder or file that need not exist; an empty name is nobody's wish for the current one."""

    def __init__(self, what: str) -> None:
        super().__init__(path_type=Path)
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail(f"a {self._what} must have a name", param, ctx)
        return super().convert(value, param, ctx)


_root_option: Final = click.option(
    "--root",
    type=_Place("folder"),
    metavar="FOLDER",
    envvar="SESSIONREF_ROOT",
    show_envvar=True,
    default=default_root,
    show_default="$DSH_HOME/sessions, else ~/.dsh/sessions",
    help="The folder that the session logs lie below.",
)

_demo_option: Final = click.option(
    "--demo", is_flag=True, help="Use the sessions that come with the package."
)


def root_options(command: _Command) -> Callable[..., Any]:
    """Give a command the options that say where the logs lie, and as `root` the `Root` they name.

    What `--demo` names is there until the command ends.
    """

    @wraps(command)
    def call(ctx: click.Context, *, root: Path | None, demo: bool, **values: Any) -> Any:
        if not demo:
            if root is None:
                raise click.UsageError(
                    "There is no home folder: say with --root where sessions lie."
                )
            return command(root=Root(root), **values)
        if ctx.get_parameter_source("root") is ParameterSource.COMMANDLINE:
            raise click.UsageError("Give --root or --demo, not both.")
        return command(root=Root(ctx.with_resource(demo_sessions()), is_demo=True), **values)

    decorated: Callable[..., Any] = call
    return _root_option(_demo_option(click.pass_context(decorated)))


_index_option: Final = click.option(
    "--index",
    "index_file",
    type=_Place("file"),
    metavar="FILE",
    envvar="SESSIONREF_INDEX",
    show_envvar=True,
    show_default="one for each folder of logs, in your cache folder",
    help="The file of the title index.",
)


def index_options(command: _Command) -> Callable[..., Any]:
    """Give a command that has `root_options` the option that names an index, and as `index` it.

    The environment names an index of sessions that somebody has: not that of the demo.
    """

    @wraps(command)
    def call(ctx: click.Context, *, root: Root, index_file: Path | None, **values: Any) -> Any:
        in_environment = ctx.get_parameter_source("index_file") is ParameterSource.ENVIRONMENT
        named = None if in_environment and root.is_demo else index_file
        return command(root=root, index=IndexFile(root, named, in_environment), **values)

    decorated: Callable[..., Any] = call
    return _index_option(click.pass_context(decorated))


def config_options(
    *, without: Container[str] = (), **defaults: object
) -> Callable[[_Command], Callable[..., Any]]:
    """Give a command the settings of `ResolverConfig` as options, and as `config` their value.

    Each can be set in the environment too, as `SESSIONREF_` and its name.  `without` names those
    that the command has no use for; `defaults` are other defaults than the library's.
    """
    fields = {
        name: field for name, field in ResolverConfig.model_fields.items() if name not in without
    }

    def decorate(command: _Command) -> Callable[..., Any]:
        @wraps(command)
        def call(**values: Any) -> Any:
            config = ResolverConfig(**{name: values.pop(name) for name in fields})
            return command(config=config, **values)

        decorated: Callable[..., Any] = call
        for name, field in reversed(fields.items()):
            decorated = _setting(name, field, defaults.get(name, field.default))(decorated)
        return decorated

    return decorate


def _number(value: str) -> int | str:
    """Return an integer; what is none is left to `ResolverConfig`, which says what it must be."""
    try:
        return int(value)
    except ValueError:
        return value


def _setting(name: str, field: FieldInfo, default: Any) -> Callable[[_Command], _Command]:
    is_set = get_origin(field.annotation) is frozenset
    return click.option(
        f"--{name.replace('_', '-')}",
        type=str if is_set else _number,
        metavar="TYPE" if is_set else "INTEGER",
        multiple=is_set,
        default=sorted(default) if is_set else default,
        show_default=True,
        envvar=f"SESSIONREF_{name.upper()}",
        show_envvar=True,
        callback=_check_setting,
        help=field.description,
    )


def _check_setting(ctx: click.Context, param: click.Parameter, value: object) -> object:
    try:
        ResolverConfig(**{str(param.name): value})
    except InvalidConfigError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return value
