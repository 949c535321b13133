"""`sessionref demo`: the main job, on sessions that come with the package."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import trio
from rich.console import Console
from rich.text import Text

from sessionref.cli.options import config_options, json_option
from sessionref.cli.output import output_console, print_json, print_quoted
from sessionref.cli.root import demo_sessions, open_store
from sessionref.cli.text import counted, one_line
from sessionref.cli.views import kept_records, print_candidates, print_kept, print_prepared
from sessionref.config import ResolverConfig
from sessionref.model import Candidate, PreparedMessage, Target
from sessionref.opening import open_resolver
from sessionref.reference.mentions import parse_mentions

__all__ = ["demo_command"]

_TARGET: Final = Target(session_id="the session that Ana writes in", cwd="/home/ana/csv-tool")
_QUERIES: Final = ("csv parser", "2.0")
_BUDGET: Final = 1_000


@dataclass(frozen=True, slots=True)
class Story:
    """What happens in the demo: what is offered, what is picked and sent, and what comes of it."""

    offered: list[Candidate]
    picked: list[Candidate]
    typed: str
    prepared: PreparedMessage

    def to_wire(self) -> dict[str, Any]:
        """Return this as JSON data with camelCase names."""
        return {
            "offered": [candidate.to_wire() for candidate in self.offered],
            "picked": [candidate.to_wire() for candidate in self.picked],
            "typed": self.typed,
            "prepared": self.prepared.to_wire(),
        }


@click.command(name="demo")
@config_options(max_reference_bytes=_BUDGET)
@json_option
def demo_command(*, config: ResolverConfig, as_json: bool) -> None:
    """Show the main job on a few sessions that come with the package.

    Somebody writes a message, mentions two earlier sessions in it, and the model gets what was said
    there. Nothing is written, and no session of yours is read.
    """
    with demo_sessions() as root:
        story = trio.run(_play, root, config)
        if as_json:
            print_json(story.to_wire())
        else:
            _print(output_console(), story, root, config.max_reference_bytes)


async def _play(root: Path, config: ResolverConfig) -> Story:
    async with open_resolver(open_store(root, config), config=config) as resolver:
        offered = await resolver.list_candidates(_TARGET)
        found = [await resolver.list_candidates(_TARGET, query, limit=1) for query in _QUERIES]
        if not all(found):
            raise click.UsageError("With these settings too few of the demo's logs can be read.")
        picked = [candidates[0] for candidates in found]
        parser, plan = picked
        typed = (
            f"Write the export of the CSV tool the way you proposed in {parser.mention}, and keep "
            f"to what {plan.mention} decided."
        )
        content, references = parse_mentions(typed)
        prepared = await resolver.prepare(_TARGET, content, references)
    return Story(offered, picked, typed, prepared)


def _print(console: Console, story: Story, root: Path, budget: int) -> None:
    console.print(
        Text(
            "Ana has worked with a model on several things; each conversation is a session, and a "
            "few of hers come with this package. Now she starts a new one, and wants the model to "
            "know what was said in two of the others."
        )
    )
    offered = counted(len(story.offered), "session")
    _step(console, 1, f"She types @ in {_TARGET.cwd} and is offered {offered}.")
    print_candidates(console, story.offered, _TARGET.cwd)
    for candidate in story.offered:
        if candidate.problem is not None:
            problem = one_line(candidate.problem.replace(f"{root}{os.sep}", ""))
            console.print(Text(f"\nOne log is broken and costs only itself: {problem}", "dim"))
    queries = " and ".join(f'"{query}"' for query in _QUERIES)
    _step(console, 2, f"She types {queries} and picks what is found: two mentions.")
    print_quoted(console, story.typed)
    _step(console, 3, "The model gets two messages: hers, and one that recalls both sessions.")
    print_prepared(console, story.prepared)
    _step(console, 4, f"Each session had {budget:,} bytes; what did not fit was left out.")
    print_kept(console, kept_records(story.prepared))
    console.print(
        Text(
            "\nTools and their results stay behind; the newest words and the summary of a "
            "compacted session come along. No text can close the frame: each < in it is written "
            "\\u003c.\n\n"
            "The same sessions once more:    sessionref list --demo parser\n"
            "Now with sessions of your own:  sessionref list"
        )
    )


def _step(console: Console, number: int, what: str) -> None:
    console.print()
    console.print(Text.assemble((f" {number} ", "reverse"), (f" {what}", "bold")))
    console.print()
