"""Putting a resolver together: from a folder or a store, with what a host brings."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import context_of, sources_of
from logs import LogBuilder, store_of

from sessionref import Candidate, Reference, ResolverConfig, Target, open_resolver
from sessionref.discovery import Diagnostic
from sessionref.errors import ReadFailedError
from sessionref.storage import LiveSession, LiveSessions

TARGET = Target(session_id="target")


def ledger_log() -> LogBuilder:
    log = LogBuilder("s")
    log.user("stored")
    log.append("acme/ledger", {})
    return log


@pytest.mark.parametrize("as_text", [True, False])
async def test_a_folder_may_be_text_or_a_path(tmp_path: Path, as_text: bool) -> None:
    """A root is given in either form."""
    LogBuilder("s").write(tmp_path)
    async with open_resolver(str(tmp_path) if as_text else tmp_path) as resolver:
        assert [found.session_id for found in await resolver.list_candidates(TARGET)] == ["s"]


async def test_any_store_will_do() -> None:
    """A store of another kind is taken as it is."""
    async with open_resolver(store_of(LogBuilder("s"))) as resolver:
        assert [found.session_id for found in await resolver.list_candidates(TARGET)] == ["s"]


async def test_live_sessions_are_listed_and_read() -> None:
    """What the host holds open goes before what is stored."""
    live = LiveSessions()
    log = LogBuilder("s")
    log.user("live")
    log.title("Live title")
    live.open(LiveSession(log.header, log.events))
    async with open_resolver(store_of(LogBuilder("s")), live=live) as resolver:
        (found,) = await resolver.list_candidates(TARGET, "live title")
        prepared = await resolver.prepare(TARGET, "see", [Reference(session_id="s")])
    (source,) = sources_of(context_of(prepared))
    assert source["conversation"] == [{"role": "user", "text": "live"}]
    assert found.label == "Live title"


async def test_another_discovery_answers_lookups_only() -> None:
    """A host's own discovery answers lookups, and reading goes on as before."""

    class NoDiscovery:
        async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
            return []

    log = LogBuilder("s")
    log.user("stored")
    async with open_resolver(store_of(log), discovery=NoDiscovery()) as resolver:
        assert await resolver.list_candidates(TARGET) == []
        prepared = await resolver.prepare(TARGET, "see", [Reference(session_id="s")])
    assert prepared.additional_context is not None


async def test_diagnostics_reach_the_host(tmp_path: Path) -> None:
    """A host hears of each log that a lookup cannot read."""
    path = LogBuilder("s").write(tmp_path, b"")
    told: list[Diagnostic] = []
    async with open_resolver(tmp_path, on_diagnostic=told.append) as resolver:
        await resolver.list_candidates(TARGET)
    assert [diagnostic.place for diagnostic in told] == [str(path)]


@pytest.mark.parametrize("is_live", [True, False], ids=["live", "stored"])
async def test_known_types_hold_everywhere(tmp_path: Path, is_live: bool) -> None:
    """Types that the configuration makes known are known in files and in live sessions."""
    live = LiveSessions()
    log = ledger_log()
    if is_live:
        live.open(LiveSession(log.header, log.events))
    else:
        log.write(tmp_path)
    reference = [Reference(session_id="s")]
    async with open_resolver(tmp_path, live=live) as resolver:
        with pytest.raises(ReadFailedError, match="acme/ledger"):
            await resolver.prepare(TARGET, "see", reference)
    config = ResolverConfig(known_types=frozenset({"acme/ledger"}))
    async with open_resolver(tmp_path, live=live, config=config) as resolver:
        assert (await resolver.prepare(TARGET, "see", reference)).additional_context is not None


async def test_the_limit_of_logs_is_that_of_the_configuration(tmp_path: Path) -> None:
    """`max_log_bytes` bounds what the logs of a folder may decompress to."""
    log = LogBuilder("s")
    log.user("x" * 5_000)
    log.write(tmp_path, compressed=True)
    config = ResolverConfig(max_log_bytes=1_000)
    async with open_resolver(tmp_path, config=config) as resolver:
        with pytest.raises(ReadFailedError, match="max_log_bytes"):
            await resolver.prepare(TARGET, "see", [Reference(session_id="s")])
