"""`sessionref list`: the sessions that can be mentioned."""

from __future__ import annotations

from pathlib import Path

import click
import trio

from sessionref.cli.options import config_options, json_option, root_options, target_option
from sessionref.cli.output import output_console, print_json
from sessionref.cli.progress import progress
from sessionref.cli.root import Root, open_store
from sessionref.cli.text import counted, one_line
from sessionref.cli.views import candidate_row, print_candidates
from sessionref.config import ResolverConfig
from sessionref.discovery import Diagnostic
from sessionref.model import Candidate, Target
from sessionref.opening import open_resolver

__all__ = ["list_command"]


def _current_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was deleted since the shell went there
        return None


@click.command(name="list")
@click.argument("query", default="")
@click.option(
    "--cwd",
    metavar="FOLDER",
    default=_current_folder,
    show_default="the current folder",
    help="The folder that the message is written in; its sessions come first.",
)
@target_option
@root_options
@config_options(without={"max_references", "max_reference_bytes"})
@json_option
def list_command(
    *,
    query: str,
    cwd: str | None,
    target_id: str,
    root: Root,
    config: ResolverConfig,
    as_json: bool,
) -> None:
    """List the sessions that can be mentioned.

    With a QUERY these are the sessions whose title, folder or id holds it, upper and lower case
    alike. Those of the current folder come first, then those without a folder, then the others;
    the newest first. In a pipe each is one line, its parts between tabs: id, time, folder, title,
    remark.
    """
    target = Target(session_id=target_id, cwd=cwd)
    unreadable: list[Diagnostic] = []
    candidates = trio.run(_find, target, query, root, config, unreadable)
    if as_json:
        print_json([candidate.to_wire() for candidate in candidates])
        return
    console = output_console()
    if console.is_terminal:
        print_candidates(console, candidates, cwd)
    else:
        for candidate in candidates:
            click.echo(candidate_row(candidate))
    if not candidates:
        holding = f' holds "{one_line(query)}"' if query else ""
        click.echo(f"No session below {root}{holding}.", err=True)
    if unreadable:
        logs = counted(len(unreadable), "log")
        click.echo(f"{logs} cannot be read; `{root.command('doctor')}` says why.", err=True)


async def _find(
    target: Target, query: str, root: Root, config: ResolverConfig, unreadable: list[Diagnostic]
) -> list[Candidate]:
    store = open_store(root.folder, config)
    async with (
        open_resolver(store, config=config, on_diagnostic=unreadable.append) as resolver,
        progress("Reading titles"),
    ):
        return await resolver.list_candidates(target, query)
