"""Where the parts are put together: the one module that knows the resolver and the adapters."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from sessionref.config import ResolverConfig
from sessionref.errors import InvalidConfigError
from sessionref.resolver import SessionReferenceResolver
from sessionref.work import open_background

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
    index: str | os.PathLike[str] | None = None,
    config: ResolverConfig | None = None,
    on_diagnostic: Callable[[Diagnostic], None] | None = None,
) -> AsyncIterator[SessionReferenceResolver]:
    """Yield a resolver over a folder of session logs, or over a store of another kind.

    `live` are the sessions that the host holds open.  `on_diagnostic` is told once of each log that
    a lookup cannot read.

    With `index`, a title index over the folder answers lookups in the place of the scan that reads
    the logs: "auto" keeps it in the user's cache folder, a path names its file.  It is refreshed in
    the background, and answers meanwhile from what it has; `resolver.discovery` is the index, which
    tells how old that is (`status`) and can be told of a write (`observe`).  `discovery` takes the
    scan's place, too: whatever else a host looks sessions up in.  Neither touches anything else.

    The first call of a process imports what reads logs, some 20 ms that no start pays for.
    Leaving the block waits for reads that shield themselves: no task outlives the resolver.
    """
    # They bring all that lists and reads sessions, as much again as the rest of the library.
    from sessionref.discovery.scan import ScanDiscovery
    from sessionref.storage.corpus import Corpus

    config = config or ResolverConfig()
    store = source if not isinstance(source, (str, os.PathLike)) else _folder(source, config)
    corpus = Corpus(store, live, known_types=config.known_types)
    async with AsyncExitStack() as stack:
        if discovery is None and index is not None:
            discovery = await stack.enter_async_context(
                _open_index(store, index, live, on_diagnostic)
            )
        elif discovery is None:
            discovery = ScanDiscovery(
                corpus, concurrency=config.read_concurrency, on_diagnostic=on_diagnostic
            )
        resolver = SessionReferenceResolver(corpus, discovery, config=config)
        yield await stack.enter_async_context(resolver)


@asynccontextmanager
async def _open_index(
    store: SessionStore,
    place: str | os.PathLike[str],
    live: LiveSessions | None,
    on_diagnostic: Callable[[Diagnostic], None] | None,
) -> AsyncIterator[Discovery]:
    """Yield the title index of a folder, which is refreshed in the background."""
    from sessionref.discovery.sqlite.index import SqliteTitleIndex
    from sessionref.storage.jsonl.store import JsonlSessionStore

    if not isinstance(store, JsonlSessionStore):
        raise InvalidConfigError(
            name="index", value=place, expected="left out for a store that is no folder of logs"
        )
    path = None if place == "auto" else place
    async with (
        SqliteTitleIndex(store, path, live=live, on_diagnostic=on_diagnostic) as titles,
        open_background() as nursery,
    ):
        nursery.start_soon(titles.keep_fresh)
        yield titles


def _folder(root: str | os.PathLike[str], config: ResolverConfig) -> JsonlSessionStore:
    from sessionref.storage.jsonl.store import JsonlSessionStore

    return JsonlSessionStore(
        root,
        concurrency=config.read_concurrency,
        max_log_bytes=config.max_log_bytes,
        known_types=config.known_types,
    )
