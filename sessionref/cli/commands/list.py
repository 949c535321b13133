"""`sessionref list`: the sessions that can be mentioned."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from sessionref.cli.index_file import IndexFile
from sessionref.cli.options import (
    config_options,
    index_options,
    json_option,
    root_options,
    target_option,
)
from sessionref.cli.output import output_console, print_json
from sessionref.cli.progress import progress
from sessionref.cli.root import Root, open_store
from sessionref.cli.text import ago, one_line
from sessionref.cli.views import (
    candidate_row,
    print_candidates,
    print_problems,
    print_unreadable,
)
from sessionref.config import ResolverConfig
from sessionref.discovery import Diagnostic
from sessionref.errors import StorageError, TitleIndexError
from sessionref.model import Candidate, Target
from sessionref.opening import open_resolver

if TYPE_CHECKING:
    from sessionref.discovery.sqlite import SqliteTitleIndex
    from sessionref.storage import JsonlSessionStore

__all__ = ["list_command"]


def _current_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was deleted since the shell went there
        return None


@dataclass(slots=True)
class _Answer:
    """The candidates, what was met on the way, and how old the index is that they come from."""

    candidates: list[Candidate] = field(default_factory=list)
    errors: list[StorageError] = field(default_factory=list)
    unreadable: int = 0
    refreshed_at: int | None = None

    def note(self, diagnostic: Diagnostic) -> None:
        self.errors.append(diagnostic.error)
        self.unreadable += not isinstance(diagnostic.error, TitleIndexError)


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
@index_options
@click.option("--no-index", is_flag=True, help="Read the logs, even if there is an index.")
@config_options(without={"max_references", "max_reference_bytes"})
@json_option
def list_command(
    *,
    query: str,
    cwd: str | None,
    target_id: str,
    root: Root,
    index: IndexFile,
    no_index: bool,
    config: ResolverConfig,
    as_json: bool,
) -> None:
    """List the sessions that can be mentioned.

    With a QUERY these are the sessions whose title, folder or id holds it, upper and lower case
    alike. Those of the current folder come first, then those without a folder, then the others;
    the newest first. In a pipe each is one line, its parts between tabs: id, time, folder, title,
    remark.

    If there is a title index of the folder, it answers as it is; see sessionref index.
    """
    target = Target(session_id=target_id, cwd=cwd)
    answer = trio.run(_find, target, query, root, None if no_index else index, config)
    console = output_console()
    if as_json:
        print_json([candidate.to_wire() for candidate in answer.candidates])
    elif console.is_terminal:
        print_candidates(console, answer.candidates, cwd)
    else:
        for candidate in answer.candidates:
            click.echo(candidate_row(candidate))
    print_problems(answer.errors)
    if as_json:
        return
    if not answer.candidates:
        holding = f' holds "{one_line(query)}"' if query else ""
        click.echo(f"No session below {root}{holding}.", err=True)
    print_unreadable(answer.unreadable, root)
    if answer.refreshed_at is not None and console.is_terminal:
        age = ago(time.time() - answer.refreshed_at / 1000)
        refresh = index.command("index", "refresh")
        click.echo(f"The index was refreshed {age}; `{refresh}` brings it up to date.", err=True)


async def _find(
    target: Target, query: str, root: Root, index: IndexFile | None, config: ResolverConfig
) -> _Answer:
    answer = _Answer()
    status = None
    store = open_store(root.folder, config)
    async with AsyncExitStack() as stack:
        titles = None
        if index is not None:
            titles = await _open_index(stack, store, index, answer)
        resolver = await stack.enter_async_context(
            open_resolver(store, discovery=titles, config=config, on_diagnostic=answer.note)
        )
        await stack.enter_async_context(progress("Reading titles"))
        answer.candidates = await resolver.list_candidates(target, query)
        status = None if titles is None else await titles.status()
    if status is not None and status.refreshed_at is not None and status.problem is None:
        answer.refreshed_at = status.refreshed_at
        answer.unreadable = status.unreadable
    return answer


async def _open_index(
    stack: AsyncExitStack, store: JsonlSessionStore, index: IndexFile, answer: _Answer
) -> SqliteTitleIndex | None:
    """Return the index, None if there is none; a lookup does not make one."""
    if not index.exists():
        if index.named is not None:
            click.echo(f"There is no index {index}; the logs are read instead.", err=True)
        return None
    from sessionref.discovery.sqlite import SqliteTitleIndex

    titles = SqliteTitleIndex(store, index.path, on_diagnostic=answer.note)
    return await stack.enter_async_context(titles)
