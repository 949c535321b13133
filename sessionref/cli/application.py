"""The commands together: `sessionref` and what stands behind it on the command line."""

from __future__ import annotations

from typing import Any

import click

from sessionref.cli.commands.demo import demo_command
from sessionref.cli.commands.doctor import doctor_command
from sessionref.cli.commands.index import index_commands
from sessionref.cli.commands.list import list_command
from sessionref.cli.commands.prepare import prepare_command
from sessionref.cli.commands.show import show_command
from sessionref.cli.commands.uri import uri_commands
from sessionref.cli.running import exit_codes, make_printable

__all__ = ["Application", "application"]


class Application(click.Group):
    """A group of commands whose errors become exit codes."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        make_printable()
        with exit_codes():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with exit_codes():
            return super().invoke(ctx)


@click.group(
    name="sessionref",
    cls=Application,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
@click.version_option(package_name="sessionref")
def application() -> None:
    """Bring another conversation into one new message.

    sessionref finds earlier sessions, and turns those that a message mentions into one context
    message: what was said in them, cut to a budget, fenced off as background that gives no orders.
    Logs are only ever read. See it work, without any sessions of yours: sessionref demo

    \b
    Exit codes:
      0    done; also if nothing matches, and if the reader of a pipe has seen enough
      1    a reference is wrong, or its session cannot be found, read or fitted;
           doctor: there is a log that cannot be read;
           index: the index cannot be used; index verify: it differs from the logs
      2    the command line or a setting is wrong; nothing was done
      130  interrupted, as with Ctrl-C
    """  # noqa: D301 - click looks for the character that \b stands for


for command in (
    demo_command,
    list_command,
    show_command,
    prepare_command,
    uri_commands,
    doctor_command,
    index_commands,
):
    application.add_command(command)
