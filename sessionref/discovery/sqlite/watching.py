"""Keep an index fresh by itself: the system tells which logs are written (extra `watch`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import aclosing
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from sessionref.storage.jsonl.layout import session_id_of

if TYPE_CHECKING:
    from sessionref.discovery.sqlite.index import SqliteTitleIndex

__all__ = ["watch"]

_MOST_OBSERVED: Final = 64
"""When more sessions than these have changed at once, a refresh finds them faster."""

_RETRY_SECONDS: Final = 2.0
_DEBOUNCE: Final = 200  # milliseconds that changes are gathered
_NEWS: Final = 500  # milliseconds after which it is news that nothing has changed


async def watch(index: SqliteTitleIndex, root: str) -> None:
    """Observe each session below a root whose folder changes, until cancelled.

    Refreshes first, and again when very much has changed or the root has come into being.
    """
    from watchfiles import awatch

    while True:
        while not await trio.Path(root).is_dir():  # noqa: ASYNC110 - no event tells of it
            await trio.sleep(_RETRY_SECONDS)
        await index.refresh()
        # Its first news, if only that there are none, comes when the system is being listened to.
        is_listening = False
        news = awatch(root, debounce=_DEBOUNCE, rust_timeout=_NEWS, yield_on_timeout=True)
        async with aclosing(news):
            async for changed in news:
                session_ids = _sessions_of(root, (path for _, path in changed))
                if not is_listening or session_ids is None or len(session_ids) > _MOST_OBSERVED:
                    is_listening = True
                    await index.refresh()
                else:
                    for session_id in session_ids:
                        await index.observe(session_id)


def _sessions_of(root: str, paths: Iterable[str]) -> set[str] | None:
    """Return the ids of the sessions that paths lie in; None if a project folder itself changed."""
    found = set()
    for path in paths:
        parts = Path(relpath(path, os.path.realpath(root))).parts
        session_id = session_id_of(parts[1]) if len(parts) > 1 else None
        if session_id is None:
            return None
        found.add(session_id)
    return found
