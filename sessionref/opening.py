"""Where the parts are put together: the one module that knows the resolver and the adapters."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sessionref.config import ResolverConfig
from sessionref.resolver import SessionReferenceResolver

if TYPE_CHECKING:
    from sessionref.discovery.diagnostics import Diagnostic
    from sessionref.discovery.protocol import Discovery
    from sessionref.storage.jsonl.store import JsonlSessionStore
    from sessionref.storage.live import LiveSessions
    from sessionref.storage.protocol import SessionStore

__all__ = ["open_resolver"]


@asynccontextmanager
async def open_resolver(
    source: str | os.PathLike[str] | SessionStore,
    *,
    live: LiveSessions | None = None,
    discovery: Discovery | None = None,
    config: ResolverConfig | None = None,
    on_diagnostic: Callable[[Diagnostic], None] | None = None,
) -> AsyncIterator[SessionReferenceResolver]:
    """Yield a resolver over a folder of session logs, or over a store of another kind.

    `live` are the sessions that the host holds open.  `discovery` answers lookups in the place of
    the scan that reads the logs, and nothing else.  `on_diagnostic` is told once of each log that
    a lookup cannot read.

    The first call of a process imports what reads logs, some 20 ms that no start pays for.
    Leaving the block waits for reads that shield themselves: no task outlives the resolver.
    """
    # They bring all that lists and reads sessions, as much again as the rest of the library.
    from sessionref.discovery.scan import ScanDiscovery
    from sessionref.storage.corpus import Corpus

    config = config or ResolverConfig()
    store = source if not isinstance(source, (str, os.PathLike)) else _folder(source, config)
    corpus = Corpus(store, live, known_types=config.known_types)
    if discovery is None:
        discovery = ScanDiscovery(
            corpus, concurrency=config.read_concurrency, on_diagnostic=on_diagnostic
        )
    async with SessionReferenceResolver(corpus, discovery, config=config) as resolver:
        yield resolver


def _folder(root: str | os.PathLike[str], config: ResolverConfig) -> JsonlSessionStore:
    from sessionref.storage.jsonl.store import JsonlSessionStore

    return JsonlSessionStore(
        root,
        concurrency=config.read_concurrency,
        max_log_bytes=config.max_log_bytes,
        known_types=config.known_types,
    )
