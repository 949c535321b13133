"""A log to what the index keeps of it: the title, or why there is none.  Blocking."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from sessionref.discovery.sqlite.answers import header_of
from sessionref.discovery.sqlite.comparing import Change, is_settled, places_of
from sessionref.discovery.sqlite.faults import Fault
from sessionref.discovery.sqlite.problems import write_problem
from sessionref.discovery.sqlite.rows import IndexedSession, pack_revision
from sessionref.discovery.sqlite.text import encode
from sessionref.errors import StorageError
from sessionref.session.header import SessionHeader
from sessionref.storage.jsonl.listing import describe
from sessionref.storage.jsonl.logfile import revision_of
from sessionref.storage.jsonl.reader import LogRules
from sessionref.storage.jsonl.titles import KnownTitle, LogMark, read_title
from sessionref.storage.protocol import Revision, StoredSession

__all__ = ["Reading", "read_change"]

Check = Callable[[], object]


class Reading(NamedTuple):
    """What a changed session has become: a session, a fault, or neither if it has vanished.

    `error` is what keeps it from being read, if anything does.
    """

    change: Change
    session: IndexedSession | None = None
    fault: Fault | None = None
    error: StorageError | None = None


def read_change(change: Change, rules: LogRules, check: Check) -> Reading:
    """Return what a changed session has become.

    `check` is called between pieces, so that a caller can give up by raising.
    """
    error: StorageError | None = None
    before = None
    if len(change.found.logs) == 1 and change.found.error is None:
        log = change.found.logs[0]
        try:
            before = revision_of(os.lstat(log))
            state = read_title(log, rules, check, _known_title(change))
        except FileNotFoundError:
            pass
        except StorageError as raised:
            error = raised
        else:
            checkpoint = None if state.mark is None else state.mark.to_bytes()
            session = _session(state.header, log, state.revision, title=state.title)
            return Reading(change, session._replace(checkpoint=checkpoint))
    # The listing has the first word on what cannot be read, as it has for the scan.
    stored = describe(change.found)
    error = error if stored is None else stored.error or error
    if stored is None or error is None:
        return Reading(change)
    # What the system refuses may succeed at the next try, without a trace on the file.
    is_lasting = before is not None and not isinstance(error.__cause__, OSError)
    return _unreadable(change, stored, error, before if is_lasting else None)


def _known_title(change: Change) -> KnownTitle | None:
    known = change.known
    if known is None or known.checkpoint is None or not change.is_current:
        return None
    mark = LogMark.from_bytes(known.checkpoint)
    return None if mark is None else KnownTitle(header_of(known), known.title, mark)


def _unreadable(
    change: Change, stored: StoredSession, error: StorageError, revision: Revision | None
) -> Reading:
    problem = write_problem(error)
    if stored.header is None:
        settled = revision is not None and is_settled(revision)
        packed = pack_revision(revision) if revision is not None and settled else None
        return Reading(change, None, Fault(stored.place, stored.session_id, problem, packed), error)
    if revision != stored.revision:
        revision = None
    session = _session(stored.header, stored.place, revision, problem=problem)
    return Reading(change, session._replace(updated_at=stored.updated_at), None, error)


def _session(
    header: SessionHeader,
    log: str,
    revision: Revision | None,
    *,
    title: str | None = None,
    problem: str | None = None,
) -> IndexedSession:
    project, folder, file = places_of(log)
    return IndexedSession(
        id=header.id,
        cwd=header.cwd,
        title=title,
        created_at=header.created_at,
        updated_at=None if revision is None else revision.mtime_ns // 1_000_000,
        parent_session=header.parent_session,
        is_subagent=header.origin == "subagent",
        problem=problem,
        version=header.version,
        delegation_depth=header.delegation_depth,
        seed_length=header.seed_length,
        is_seeded=header.is_seeded,
        agent_preset=header.agent_preset,
        project=project,
        folder=None if encode(header.id) == folder else folder,
        file=file,
        # A state that a later change might not be told from is no state to rely on.
        revision=revision if revision is not None and is_settled(revision) else None,
    )
