"""`sessionref index`: the title index, from which lookups are answered without reading logs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click
import trio
from rich.text import Text

from sessionref.cli.index_file import IndexFile
from sessionref.cli.options import config_options, index_options, json_option, root_options
from sessionref.cli.output import output_console, print_json
from sessionref.cli.progress import progress, refresh_progress
from sessionref.cli.root import Root, open_store
from sessionref.cli.running import ExitCode
from sessionref.cli.text import ago, counted, moment, one_line
from sessionref.cli.views import print_problems, print_unreadable
from sessionref.config import ResolverConfig
from sessionref.discovery import Diagnostic
from sessionref.errors import TitleIndexError

if TYPE_CHECKING:
    # These bring SQLite and more, which a command pays for when it opens an index.
    from sessionref.discovery.sqlite import Difference, IndexStatus, RefreshReport

__all__ = ["index_commands"]

_UNUSED: Final = frozenset(
    {"candidate_limit", "max_references", "max_reference_bytes", "read_concurrency"}
)


@click.group(name="index")
def index_commands() -> None:
    """Look after the title index.

    It holds what sessions are listed by: ids, titles, folders, and never what was said. Where there
    is one, sessionref list answers from it without reading logs. It can be deleted at any time.
    """


@index_commands.command(name="build")
@root_options
@index_options
@config_options(without=_UNUSED)
@json_option
def build_command(*, root: Root, index: IndexFile, config: ResolverConfig, as_json: bool) -> None:
    """Delete the index, if there is one, and build it anew from all logs.

    If it is interrupted, sessionref index refresh goes on from there. A file that is no title index
    is never deleted.
    """
    if index.exists() and index.may_be_dropped():
        index.drop()
    _refresh(root, index, config, as_json=as_json)


@index_commands.command(name="refresh")
@root_options
@index_options
@config_options(without=_UNUSED)
@json_option
def refresh_command(*, root: Root, index: IndexFile, config: ResolverConfig, as_json: bool) -> None:
    """Bring the index up to date; make it if there is none.

    Only logs that have changed are read. While another process refreshes the same index, this waits
    for its turn.
    """
    _refresh(root, index, config, as_json=as_json)


@index_commands.command(name="status")
@root_options
@index_options
@json_option
@click.pass_context
def status_command(ctx: click.Context, *, root: Root, index: IndexFile, as_json: bool) -> None:
    """Say what is in the index, and how old it is.

    Ends with exit code 1 if lookups cannot use it: there is none, it was never refreshed to its
    end, or there is a problem.
    """
    status = trio.run(_status, root, index) if index.exists() else None
    is_usable = status is not None and status.refreshed_at is not None and status.problem is None
    if as_json:
        print_json(_status_to_wire(root, index, status, is_usable=is_usable))
    elif status is None:
        click.echo(_missing(index))
    else:
        _print_status(index, status)
    if not is_usable:
        ctx.exit(ExitCode.FAILED)


@index_commands.command(name="verify")
@root_options
@index_options
@config_options(without=_UNUSED - {"read_concurrency"})
@json_option
@click.pass_context
def verify_command(
    ctx: click.Context, *, root: Root, index: IndexFile, config: ResolverConfig, as_json: bool
) -> None:
    """Compare the index with the logs, all of which are read.

    Ends with exit code 1 if they differ. What has changed since the last refresh differs, too, and
    is no damage: refresh first.
    """
    if not index.exists():
        raise click.ClickException(_missing(index))
    met: list[Diagnostic] = []
    differences = trio.run(_verify, root, index, config, met)
    if as_json:
        wire = [
            {"sessionId": each.session_id, "place": each.place, "problem": each.problem}
            for each in differences
        ]
        print_json({"root": str(root.folder), "path": str(index.path), "differences": wire})
    else:
        _print_differences(differences)
    print_problems(diagnostic.error for diagnostic in met)
    if differences:
        ctx.exit(ExitCode.FAILED)


@index_commands.command(name="drop")
@root_options
@index_options
@json_option
def drop_command(*, root: Root, index: IndexFile, as_json: bool) -> None:
    """Delete the index.

    Nothing is lost but the time to build it again. A file that is no title index is not touched.
    """
    was_there = index.drop()
    if as_json:
        print_json({"root": str(root.folder), "path": str(index.path), "dropped": was_there})
    else:
        click.echo(f"Deleted {index}." if was_there else f"There was no index {index}.")


def _refresh(root: Root, index: IndexFile, config: ResolverConfig, *, as_json: bool) -> None:
    met: list[Diagnostic] = []
    report = trio.run(_run_refresh, root, index, config, met)
    errors = [diagnostic.error for diagnostic in met]
    unreadable = sum(not isinstance(error, TitleIndexError) for error in errors)
    if as_json:
        print_json(
            {
                "root": str(root.folder),
                "path": str(index.path),
                "sessions": report.sessions,
                "read": report.read,
                "removed": report.removed,
                "unreadable": unreadable,
                "seconds": report.seconds,
            }
        )
    else:
        held = f"The index has {counted(report.sessions, 'session')}"
        did = f"{counted(report.read, 'log')} read, {report.removed:,} removed"
        click.echo(f"{held}: {did}, in {report.seconds:.1f} s.")
    print_problems(errors)
    if not as_json:
        print_unreadable(unreadable, root)


async def _run_refresh(
    root: Root, index: IndexFile, config: ResolverConfig, met: list[Diagnostic]
) -> RefreshReport:
    from sessionref.discovery.sqlite import SqliteTitleIndex

    store = open_store(root.folder, config)
    async with (
        SqliteTitleIndex(store, index.path, on_diagnostic=met.append) as titles,
        refresh_progress() as tell,
    ):
        return await titles.refresh(tell)


async def _status(root: Root, index: IndexFile) -> IndexStatus:
    from sessionref.discovery.sqlite import SqliteTitleIndex

    store = open_store(root.folder, ResolverConfig())
    async with SqliteTitleIndex(store, index.path) as titles:
        return await titles.status()


async def _verify(
    root: Root, index: IndexFile, config: ResolverConfig, met: list[Diagnostic]
) -> list[Difference]:
    from sessionref.discovery.sqlite import SqliteTitleIndex

    store = open_store(root.folder, config)
    async with (
        SqliteTitleIndex(store, index.path, on_diagnostic=met.append) as titles,
        progress("Comparing the index with the logs"),
    ):
        return await titles.verify()


def _status_to_wire(
    root: Root, index: IndexFile, status: IndexStatus | None, *, is_usable: bool
) -> dict[str, Any]:
    problem = None if status is None else status.problem
    return {
        "root": str(root.folder),
        "path": str(index.path),
        "exists": status is not None,
        "usable": is_usable,
        "sessions": 0 if status is None else status.sessions,
        "unreadable": 0 if status is None else status.unreadable,
        "bytes": 0 if status is None else status.bytes,
        "refreshedAt": None if status is None else status.refreshed_at,
        "problem": None if problem is None else problem.describe(),
    }


def _print_status(index: IndexFile, status: IndexStatus) -> None:
    refreshed = "never"
    if status.refreshed_at is not None:
        age = ago(time.time() - status.refreshed_at / 1000)
        refreshed = f"{age} ({moment(status.refreshed_at)})"
    facts = {
        "file": str(index),
        "sessions": f"{status.sessions:,}",
        "unreadable": f"{status.unreadable:,}",
        "size": counted(status.bytes, "byte"),
        "refreshed": refreshed,
        "problem": "none" if status.problem is None else one_line(status.problem.describe()),
    }
    console = output_console()
    for name, fact in facts.items():
        console.print(Text.assemble((f"{name:<12}", "dim"), fact), soft_wrap=True)


def _print_differences(differences: list[Difference]) -> None:
    console = output_console()
    if not differences:
        console.print(Text("The index says what the logs say.", style="green"))
        return
    console.print(Text(f"{counted(len(differences), 'difference')}:", style="red"))
    for each in differences:
        name = "the index" if each.session_id is None else one_line(each.session_id)
        console.print(Text(f"\n  {name}", style="bold"))
        console.print(Text(f"  {one_line(each.place)}", style="dim"), soft_wrap=True)
        console.print(Text(f"  {one_line(each.problem)}"), soft_wrap=True)


def _missing(index: IndexFile) -> str:
    return f"There is no index {index} yet; `{index.command('index', 'build')}` makes one."
