"""`sessionref doctor`: which logs cannot be read, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import trio
from rich.text import Text

from sessionref.cli.options import config_options, json_option, root_options
from sessionref.cli.output import output_console, print_json
from sessionref.cli.progress import progress
from sessionref.cli.root import Root, open_store
from sessionref.cli.running import ExitCode
from sessionref.cli.text import counted, one_line
from sessionref.config import ResolverConfig
from sessionref.errors import (
    SessionNotFoundError,
    SessionTooLargeError,
    SessionUnsupportedError,
    StorageError,
)
from sessionref.storage import SessionStore, StoredSession
from sessionref.work import run_all

__all__ = ["Health", "Patient", "doctor_command", "examine"]


@dataclass(frozen=True, slots=True)
class Patient:
    """A log that cannot be read: where it lies, and why.

    Whose it is and the version of its format are None where not even that is known.
    """

    place: str
    session_id: str | None
    version: int | None
    error: StorageError

    @property
    def kind(self) -> str:
        """What is wrong in a word."""
        match self.error:
            case SessionUnsupportedError():
                return "unsupported"
            case SessionTooLargeError():
                return "too large"
            case _:
                return "damaged"

    def to_wire(self) -> dict[str, Any]:
        """Return this as JSON data with camelCase names."""
        return {
            "sessionId": self.session_id,
            "place": self.place,
            "formatVersion": self.version,
            "kind": self.kind,
            "problem": self.error.describe(),
        }


@dataclass(frozen=True, slots=True)
class Health:
    """How many logs of a store can be read, and which cannot, by place.

    `versions` tells how many of the readable ones are of each version of the format.
    """

    readable: int
    versions: Mapping[int, int]
    unreadable: list[Patient]

    def to_wire(self) -> dict[str, Any]:
        """Return this as JSON data with camelCase names."""
        return {
            "readable": self.readable,
            "formatVersions": {str(version): self.versions[version] for version in self.versions},
            "unreadable": [patient.to_wire() for patient in self.unreadable],
        }


@click.command(name="doctor")
@root_options
@config_options(without={"candidate_limit", "max_references", "max_reference_bytes"})
@json_option
@click.pass_context
def doctor_command(
    ctx: click.Context, *, root: Root, config: ResolverConfig, as_json: bool
) -> None:
    """Read every log, and say which cannot be read and why.

    Ends with exit code 1 if there is any. Nothing is repaired: logs are never changed.
    """
    health = trio.run(_examine_root, root, config)
    if as_json:
        print_json({"root": str(root.folder), **health.to_wire()})
    else:
        _print(health, root)
    if health.unreadable:
        ctx.exit(ExitCode.FAILED)


async def examine(store: SessionStore, *, at_once: int) -> Health:
    """Return which logs of a store can be read; `at_once` are read at a time.

    A log that vanishes meanwhile is neither.
    """
    listed = [session async for batch in store.list_sessions() for session in batch]
    async with progress("Reading logs", len(listed)) as advance:

        async def read(session: StoredSession) -> StorageError | None:
            [reading] = await store.read_titles([session])
            advance()
            return reading.error

        errors = await run_all([partial(read, session) for session in listed], at_once=at_once)
    read_all = list(zip(listed, map(_version_of, listed), errors, strict=True))
    versions = Counter(
        version for _, version, error in read_all if error is None and version is not None
    )
    unreadable = [
        Patient(session.place, session.session_id, version, error)
        for session, version, error in read_all
        if error is not None and not isinstance(error, SessionNotFoundError)
    ]
    unreadable.sort(key=lambda patient: patient.place)
    return Health(errors.count(None), dict(sorted(versions.items())), unreadable)


def _version_of(session: StoredSession) -> int | None:
    return None if session.header is None else session.header.version


async def _examine_root(root: Root, config: ResolverConfig) -> Health:
    return await examine(open_store(root.folder, config), at_once=config.read_concurrency)


def _print(health: Health, root: Root) -> None:
    console = output_console()
    if not (health.readable or health.unreadable):
        console.print(Text(f"No session logs below {root}."), soft_wrap=True)
        return
    are = "is" if health.readable == 1 else "are"
    versions = ", ".join(
        f"{count} of format version {version}" for version, count in health.versions.items()
    )
    fine = f"{counted(health.readable, 'log')} {are} fine{versions and f': {versions}'}."
    console.print(Text(fine, style="green"), soft_wrap=True)
    if not health.unreadable:
        return
    console.print(Text(f"{counted(len(health.unreadable), 'log')} cannot be read:", style="red"))
    for patient in health.unreadable:
        name = "unknown session" if patient.session_id is None else one_line(patient.session_id)
        heading = Text(f"\n  {name}", style="bold")
        if patient.version is not None:
            heading.append(f"  format version {patient.version}", style="not bold dim")
        console.print(heading)
        console.print(Text(f"  {one_line(patient.error.describe())}"), soft_wrap=True)
