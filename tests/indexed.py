"""A resolver whose lookups a title index answers, brought up to date before each of them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sessionref import (
    Candidate,
    ResolverConfig,
    SessionReferenceResolver,
    Target,
    open_resolver,
)
from sessionref.discovery import Diagnostic
from sessionref.discovery.sqlite import SqliteTitleIndex
from sessionref.storage import JsonlSessionStore, LiveSessions, SessionStore

__all__ = ["FreshIndex", "open_indexed"]


class FreshIndex:
    """An index that is refreshed whenever it is asked, so that it knows what a scan would find."""

    def __init__(self, index: SqliteTitleIndex) -> None:
        self._index = index

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        await self._index.refresh()
        return await self._index.list_candidates(target, query, limit)


@asynccontextmanager
async def open_indexed(
    source: str | os.PathLike[str] | SessionStore,
    *,
    live: LiveSessions | None = None,
    config: ResolverConfig | None = None,
    on_diagnostic: Callable[[Diagnostic], None] | None = None,
) -> AsyncIterator[SessionReferenceResolver]:
    """Yield what `open_resolver` yields, with an index of its own if `source` is a folder."""
    if not isinstance(source, (str, os.PathLike)):
        async with open_resolver(
            source, live=live, config=config, on_diagnostic=on_diagnostic
        ) as resolver:
            yield resolver
        return
    rules = config or ResolverConfig()
    store = JsonlSessionStore(
        source, max_log_bytes=rules.max_log_bytes, known_types=rules.known_types
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "index.sqlite3")
        async with (
            SqliteTitleIndex(store, path, live=live, on_diagnostic=on_diagnostic) as index,
            open_resolver(
                source, live=live, discovery=FreshIndex(index), config=config
            ) as resolver,
        ):
            yield resolver
