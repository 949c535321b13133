"""The check for discoveries: the scan passes it, and broken ones do not."""

from __future__ import annotations

import pytest
from logs import LogBuilder, store_of

from sessionref.discovery import ScanDiscovery
from sessionref.model import Candidate, Target
from sessionref.storage import Corpus, LiveSession, LiveSessions, MemorySessionStore
from sessionref.testing import check_discovery


def some_logs() -> list[LogBuilder]:
    """Sessions with and without title and cwd, and one that cannot be read."""
    logs = [
        LogBuilder("first", cwd="/w/app", created_at=1),
        LogBuilder("Second", created_at=2),
        LogBuilder("absent", cwd="/w/App", created_at=2),
        LogBuilder("bad", cwd="/w/app", created_at=3),
    ]
    for log in logs:
        log.user("hi")
    logs[0].title("Fix the parser")
    logs[1].title("МИР 修复")
    logs[3].append("mode/set", {})
    return logs


def memory() -> MemorySessionStore:
    return store_of(*some_logs())


async def test_the_scan_keeps_its_promises() -> None:
    """`ScanDiscovery` passes the check, live sessions included, at any concurrency."""
    live = LiveSessions()
    log = some_logs()[0]
    log.title("Renamed")
    live.open(LiveSession(log.header, log.events))
    corpus = Corpus(memory(), live)
    await check_discovery(ScanDiscovery(corpus, concurrency=1), corpus, queries=["parser", "мир"])


class BrokenDiscovery:
    """A discovery that passes the check, for others to break."""

    def __init__(self, corpus: Corpus) -> None:
        self.scan = ScanDiscovery(corpus)

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return await self.scan.list_candidates(target, query, limit)


class MindsCase(BrokenDiscovery):
    """Takes upper and lower case for different."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        found = await super().list_candidates(target, query, limit)
        return [each for each in found if query in f"{each.session_id}\0{each.cwd}\0{each.label}"]


class IgnoresLimits(BrokenDiscovery):
    """Gives one session more than was asked for."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return await super().list_candidates(target, query, limit + 1)


class ListsTheTarget(BrokenDiscovery):
    """Lists the session that is asking."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return await super().list_candidates(Target(session_id="", cwd=target.cwd), query, limit)


class IgnoresCwds(BrokenDiscovery):
    """Does not put the target's folder first."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return await super().list_candidates(Target(session_id=target.session_id), query, limit)


class SortsBackwards(BrokenDiscovery):
    """Lists the worst first."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return (await super().list_candidates(target, query, 10**9))[::-1][:limit]


class HidesTheUnreadable(BrokenDiscovery):
    """Leaves out what cannot be read."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        found = await super().list_candidates(target, query, limit)
        return [candidate for candidate in found if candidate.readable]


class StripsQueries(BrokenDiscovery):
    """Leaves white space out of a query."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return await super().list_candidates(target, query.strip(), limit)


@pytest.mark.parametrize(
    "broken",
    [
        MindsCase,
        IgnoresLimits,
        ListsTheTarget,
        IgnoresCwds,
        SortsBackwards,
        HidesTheUnreadable,
        StripsQueries,
    ],
)
async def test_a_broken_discovery_is_found_out(broken: type[BrokenDiscovery]) -> None:
    """A discovery that answers otherwise than the scan fails the check."""
    corpus = Corpus(memory())
    await check_discovery(BrokenDiscovery(corpus), corpus, queries=["  "])
    with pytest.raises(AssertionError, match="are those of the scan"):
        await check_discovery(broken(corpus), corpus, queries=["  "])
