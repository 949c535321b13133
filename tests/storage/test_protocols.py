"""Every store and discovery of the library is one: checked by the type checker."""

from __future__ import annotations

from pathlib import Path

from sessionref.discovery import Discovery, ScanDiscovery
from sessionref.storage import Corpus, JsonlSessionStore, MemorySessionStore, SessionStore
from sessionref.testing import BlockedStore, FailingStore, ParkedStore, ShieldingStore


async def test_adapters_have_the_type_of_their_protocol(tmp_path: Path) -> None:
    """Each adapter can be assigned to its protocol, though none inherits from it."""
    memory: SessionStore = MemorySessionStore()
    stores: list[SessionStore] = [
        JsonlSessionStore(tmp_path),
        BlockedStore(memory),
        FailingStore(memory),
        ParkedStore(memory),
        ShieldingStore(memory),
    ]
    discovery: Discovery = ScanDiscovery(Corpus(memory))
    for adapter in [memory, *stores, discovery]:
        assert not {SessionStore, Discovery} & set(type(adapter).mro())
