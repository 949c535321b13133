"""`sessionref show`: what of one session a message would carry."""

from __future__ import annotations

from typing import Any

import click
import trio
from rich.console import Console
from rich.text import Text

from sessionref.cli.options import config_options, json_option, root_options
from sessionref.cli.output import output_console, print_json, print_quoted
from sessionref.cli.progress import progress
from sessionref.cli.root import Root, open_store
from sessionref.cli.text import moment, one_line
from sessionref.cli.views import left_out, share
from sessionref.config import ResolverConfig
from sessionref.discovery.ranking import label_of
from sessionref.errors import SessionNotFoundError
from sessionref.javascript import replace_surrogates
from sessionref.session.fold import SessionLog
from sessionref.session.header import SessionHeader
from sessionref.snapshot.fitting import FittedMessage
from sessionref.snapshot.json_text import utf8_length
from sessionref.snapshot.projection import project
from sessionref.snapshot.render import Snapshot, take_snapshot
from sessionref.storage import Corpus

__all__ = ["show_command"]


@click.command(name="show")
@click.argument("session_id", metavar="ID")
@root_options
@config_options(without={"candidate_limit", "max_references", "read_concurrency"})
@json_option
def show_command(*, session_id: str, root: Root, config: ResolverConfig, as_json: bool) -> None:
    """Show the conversation of one session.

    It is shown as a message would carry it: what a person and the model said to each other, and
    the summaries of compactions, cut to --max-reference-bytes. Tools, reasoning and injected
    context are never carried.
    """
    log = trio.run(_read, session_id, root, config)
    label = label_of(session_id, None if log.title is None else log.title.title)
    snapshot = take_snapshot(log, label, config.max_reference_bytes)
    if as_json:
        print_json(_to_wire(log.header, snapshot, config.max_reference_bytes))
    else:
        _print(output_console(), log, snapshot, config.max_reference_bytes)


async def _read(session_id: str, root: Root, config: ResolverConfig) -> SessionLog:
    corpus = Corpus(open_store(root.folder, config))
    async with progress("Reading the session"):
        try:
            return await corpus.read_log(session_id)
        except SessionNotFoundError as error:
            missing = error
    hint = f"ids are given in full; try `{root.command('list', session_id)}`"
    raise click.ClickException(one_line(f"{missing.describe()}; {hint} [{missing.code}]"))


def _to_wire(header: SessionHeader, snapshot: Snapshot, budget: int) -> dict[str, Any]:
    """Return the header, what a context message says of the source, its size and conversation."""
    record = snapshot.record(0).to_wire()
    del record["inputIndex"]
    return {
        "header": header.to_wire(),
        **record,
        "bytes": utf8_length(snapshot.text),
        "maxReferenceBytes": budget,
        "conversation": [
            {
                "role": message.role,
                "checkpoint": message.is_checkpoint,
                "text": message.text,
                "omittedBytes": omitted_bytes,
            }
            for message, omitted_bytes in snapshot.conversation.messages
        ],
    }


def _print(console: Console, log: SessionLog, snapshot: Snapshot, budget: int) -> None:
    header, conversation = log.header, snapshot.conversation
    console.print(Text(one_line(snapshot.label), style="bold"))
    facts = {
        "id": one_line(header.id),
        "folder": "none" if header.cwd is None else one_line(header.cwd),
        "created": moment(header.created_at),
        "log": f"format version {header.version}",
        "kept": share(conversation.retained_messages, conversation.original_messages),
        "left out": left_out(conversation.omitted_messages, conversation.omitted_bytes),
        "size": f"{utf8_length(snapshot.text):,} of {budget:,} bytes",
    }
    if header.origin is not None:
        facts["subagent of"] = one_line(header.parent_session or "an unknown session")
    for name, fact in facts.items():
        console.print(Text.assemble((f"  {name:<12}", "dim"), fact), soft_wrap=True)
    whole = _whole_texts(log, conversation.omitted_messages)
    for fitted, text in zip(conversation.messages, whole, strict=True):
        console.print()
        console.print(_heading(fitted))
        joint = _joint(fitted.message.text, text) if fitted.omitted_bytes else None
        print_quoted(console, fitted.message.text, joint=joint)


def _whole_texts(log: SessionLog, dropped: int) -> list[str]:
    """Return the whole texts of what is kept: the oldest went first, and of checkpoints none."""
    texts = []
    for message in project(log):
        if message.is_checkpoint or dropped == 0:
            texts.append(message.text)
        else:
            dropped -= 1
    return texts


def _joint(cut: str, whole: str) -> int:
    """Return where in a cut text its head ends: as far as it is that of the whole one."""
    kept, _, _ = cut.rpartition("\n")  # its last line is the note of what is missing
    pairs = zip(kept, replace_surrogates(whole), strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(kept))


def _heading(fitted: FittedMessage) -> Text:
    message, omitted_bytes = fitted
    if message.is_checkpoint:
        heading = Text("  summary of what was said before", style="bold yellow")
    elif message.role == "user":
        heading = Text("  user", style="bold green")
    else:
        heading = Text("  model", style="bold blue")
    if omitted_bytes:
        heading.append(f"  {omitted_bytes:,} bytes left out", style="not bold dim")
    return heading
