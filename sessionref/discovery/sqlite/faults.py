"""What is listed and is no session: a log without a readable header, an unreadable folder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import apsw

from sessionref.discovery.sqlite.text import decode, encode

__all__ = ["Fault", "list_faults", "put_faults", "remove_faults"]


class Fault(NamedTuple):
    """Where it lies, whose it is as far as known, why it cannot be read, and what was looked at.

    `problem` is text of `write_problem`; `revision` is None where nothing tells that the file has
    not changed since.
    """

    place: str
    session_id: str | None
    problem: str
    revision: bytes | None = None


def list_faults(connection: apsw.Connection) -> dict[str, Fault]:
    """Return all faults by their places."""
    rows = connection.execute("SELECT place, session_id, problem, revision FROM fault")
    faults = (
        Fault(decode(place), None if owner is None else decode(owner), decode(problem), revision)
        for place, owner, problem, revision in rows
    )
    return {fault.place: fault for fault in faults}


def put_faults(connection: apsw.Connection, faults: Iterable[Fault]) -> None:
    """Put faults in, each in the place of the one that lies where it does."""
    connection.executemany(
        "INSERT OR REPLACE INTO fault (place, session_id, problem, revision) VALUES (?, ?, ?, ?)",
        (
            (
                encode(fault.place),
                None if fault.session_id is None else encode(fault.session_id),
                encode(fault.problem),
                fault.revision,
            )
            for fault in faults
        ),
    )


def remove_faults(connection: apsw.Connection, places: Iterable[str]) -> None:
    """Take the faults at some places out."""
    connection.executemany("DELETE FROM fault WHERE place = ?", ((encode(p),) for p in places))
