"""`sessionref prepare`: what a message that mentions sessions carries."""

from __future__ import annotations

from collections.abc import Sequence

import click
import trio
from rich.text import Text

from sessionref.cli.options import config_options, json_option, root_options, target_option
from sessionref.cli.output import output_console, print_json
from sessionref.cli.progress import progress
from sessionref.cli.root import Root, open_store
from sessionref.cli.views import kept_records, print_kept, print_prepared
from sessionref.config import ResolverConfig
from sessionref.discovery.ranking import label_of
from sessionref.errors import StorageError
from sessionref.model import PreparedMessage, Reference, Target
from sessionref.opening import open_resolver
from sessionref.reference.mentions import parse_mentions
from sessionref.reference.visible import visible
from sessionref.storage import SessionStore

__all__ = ["prepare_command"]


@click.command(name="prepare")
@click.option("--text", default="", help="The text of the message; it may hold mentions itself.")
@click.option(
    "--mention",
    "mentions",
    metavar="MENTION",
    multiple=True,
    help="A mention, @[label](dsh-session:…) or the URI alone, put behind the text. Repeatable.",
)
@click.option(
    "--session",
    "session_ids",
    metavar="ID",
    multiple=True,
    help="The id of a session to refer to without a mention in the text; it goes by its title. "
    "Repeatable.",
)
@target_option
@root_options
@config_options(without={"candidate_limit"})
@json_option
def prepare_command(
    *,
    text: str,
    mentions: Sequence[str],
    session_ids: Sequence[str],
    target_id: str,
    root: Root,
    config: ResolverConfig,
    as_json: bool,
) -> None:
    """Print a message and the context that goes with it.

    The context is one more message, which recalls all sessions that the first one refers to.

    \b
    sessionref prepare --text 'Do it as in @[the parser](dsh-session:…).'
    sessionref prepare --session ID --text 'Do it as there.' --json
    """  # noqa: D301 - click looks for the character that \b stands for
    if not (text or mentions or session_ids):
        raise click.UsageError("Give the message with --text, --mention or --session.")
    for mention in mentions:
        if not parse_mentions(mention).references:
            raise click.UsageError(f"--mention {mention!r} holds no mention of a session.")
    content, references = parse_mentions(" ".join([text, *mentions] if text else mentions))
    target = Target(session_id=target_id)
    prepared = trio.run(_prepare, target, content, references, session_ids, root, config)
    if as_json:
        print_json(prepared.to_wire())
        return
    console = output_console()
    print_prepared(console, prepared)
    records = kept_records(prepared)
    if records:
        console.print(Text("\nWhat was kept", "bold"))
        print_kept(console, records)


async def _prepare(
    target: Target,
    content: str,
    references: Sequence[Reference],
    session_ids: Sequence[str],
    root: Root,
    config: ResolverConfig,
) -> PreparedMessage:
    store = open_store(root.folder, config)
    async with (
        open_resolver(store, config=config) as resolver,
        progress("Reading sessions"),
    ):
        titled = [await _refer(store, session_id) for session_id in session_ids]
        return await resolver.prepare(target, content, [*references, *titled])


async def _refer(store: SessionStore, session_id: str) -> Reference:
    """Return a reference that goes by the title, as a mention would; by the id if there is none."""
    try:
        [reading] = await store.read_titles([await store.find_session(session_id)])
    except StorageError:  # which `prepare` meets again, and tells of
        return Reference(session_id=session_id)
    title = None if reading.title is None else reading.title.title
    return Reference(session_id=session_id, label=visible(label_of(session_id, title)))
