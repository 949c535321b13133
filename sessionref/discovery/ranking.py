"""Matching and order: the same for every discovery.  Pure."""

from __future__ import annotations

from typing import NamedTuple

from sessionref.model import Candidate
from sessionref.reference.mentions import format_mention
from sessionref.reference.visible import is_blank, visible
from sessionref.session.header import SessionHeader

__all__ = ["Rank", "candidate", "label_of", "matches", "rank"]


class Rank(NamedTuple):
    """A key that sorts sessions: same cwd, no cwd, others; newest first; then by code point."""

    group: int
    age: int
    session_id: str


def rank(target_cwd: str | None, header: SessionHeader) -> Rank:
    """Return the place of a session in the list of a target with a cwd, or None."""
    match header.cwd:
        case None:
            group = 1
        case cwd:
            group = 0 if cwd == target_cwd else 2
    return Rank(group, -header.created_at, header.id)


def label_of(session_id: str, title: str | None) -> str:
    """Return the name that is shown and searched: the title, or the id if that says nothing."""
    return session_id if title is None or is_blank(title) else title


def matches(needle: str, header: SessionHeader, label: str) -> bool:
    """Return whether a lower-cased needle occurs in a session's id, cwd or label, lower-cased."""
    return (
        needle in label.lower()
        or needle in header.id.lower()
        or (header.cwd is not None and needle in header.cwd.lower())
    )


def candidate(
    header: SessionHeader, label: str, updated_at: int | None, problem: str | None
) -> Candidate:
    """Return a session as a host offers it; `problem` says why it cannot be read, if it cannot."""
    return Candidate(
        session_id=header.id,
        label=label,
        mention=format_mention(header.id, visible(label)),
        created_at=header.created_at,
        updated_at=updated_at,
        cwd=header.cwd,
        parent_session=header.parent_session,
        subagent=header.origin == "subagent",
        readable=problem is None,
        problem=problem,
    )
