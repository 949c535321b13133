"""A session of the index as the rest of the library knows sessions.  Pure."""

from __future__ import annotations

import os
from os.path import join

from sessionref.discovery.ranking import candidate, label_of
from sessionref.discovery.sqlite.problems import parse_problem
from sessionref.discovery.sqlite.rows import IndexedSession
from sessionref.model import Candidate
from sessionref.session.header import SessionHeader
from sessionref.storage.protocol import StoredSession

__all__ = ["candidate_of", "header_of", "stored_of"]


def header_of(session: IndexedSession) -> SessionHeader:
    """Return the header that a session's log was found to have."""
    return SessionHeader(
        version=session.version,
        id=session.id,
        created_at=session.created_at,
        delegation_depth=session.delegation_depth,
        cwd=session.cwd,
        parent_session=session.parent_session,
        seed_length=session.seed_length,
        origin="subagent" if session.is_subagent else None,
        agent_preset=session.agent_preset,
        is_seeded=session.is_seeded,
    )


def candidate_of(session: IndexedSession) -> Candidate:
    """Return a session as a host offers it."""
    problem = None if session.problem is None else parse_problem(session.problem).describe()
    label = label_of(session.id, session.title)
    return candidate(header_of(session), label, session.updated_at, problem)


def stored_of(session: IndexedSession, root: str) -> StoredSession:
    """Return a session as a listing of its store would have it."""
    folder = session.id if session.folder is None else os.fsdecode(session.folder)
    place = join(root, os.fsdecode(session.project), folder, os.fsdecode(session.file))
    return StoredSession(
        place=place,
        session_id=session.id,
        header=header_of(session),
        revision=session.revision,
        updated_at=session.updated_at,
        error=None if session.problem is None else parse_problem(session.problem),
    )
