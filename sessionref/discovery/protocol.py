"""What discovery promises: the sessions that match a text, in rank order.

`sessionref.testing.check_discovery` holds any implementation to it.
"""

from __future__ import annotations

from typing import Protocol

from sessionref.model import Candidate, Target

__all__ = ["Discovery"]


class Discovery(Protocol):
    """Answers one question: which sessions match?  It opens no session for reading its messages."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        """Return the first `limit` sessions that match a query, best first, without the target.

        A session matches if the lower-cased query is a substring of its lower-cased id, cwd or
        label; an empty query matches all.  The order is that of `ranking.rank`.  A session that
        cannot be read is listed under its id.  For any two limits, the shorter answer is the
        beginning of the longer.

        Raises `StoreUnreadableError` if no true answer can be given.  A cancelled call stops at
        once and leaves nothing open.
        """
        ...  # pragma: no cover - a protocol has no body
