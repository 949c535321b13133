"""Put what logs have become into the index, and tell of what keeps them from being read."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from sessionref.discovery.diagnostics import Diagnostic, Reporter
from sessionref.discovery.sqlite.comparing import Change
from sessionref.discovery.sqlite.faults import put_faults, remove_faults
from sessionref.discovery.sqlite.logs import Reading
from sessionref.discovery.sqlite.reading import find_session
from sessionref.discovery.sqlite.writing import put_sessions, remove_sessions

__all__ = ["apply_readings", "report_reading"]


def apply_readings(connection: apsw.Connection, readings: Sequence[Reading]) -> None:
    """Put what logs have become into the index, as a part of the caller's transaction.

    What somebody else has put in since the index was asked is newer, and stays.
    """
    current = [reading for reading in readings if _is_as_compared(connection, reading.change)]
    put_sessions(connection, [each.session for each in current if each.session is not None])
    gone = [each.change.session_id for each in current if each.session is None]
    remove_sessions(connection, [session_id for session_id in gone if session_id is not None])
    remove_faults(connection, [log for each in current for log in each.change.found.logs])
    put_faults(connection, [each.fault for each in current if each.fault is not None])


def report_reading(reporter: Reporter, reading: Reading) -> None:
    """Tell of what keeps a log from being read, or take note that nothing does."""
    found, session_id = reading.change.found, reading.change.session_id
    place = found.logs[0] if found.logs else found.folders[0]
    if reading.error is not None:
        reporter.report(Diagnostic(place, session_id, reading.error))
    else:
        reporter.clear(place, session_id)


def _is_as_compared(connection: apsw.Connection, change: Change) -> bool:
    return change.session_id is None or find_session(connection, change.session_id) == change.known
