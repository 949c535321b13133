"""What the checks for stores and discoveries say where something is broken."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from logs import LogBuilder, store_of

from sessionref.discovery import ScanDiscovery
from sessionref.errors import SessionNotFoundError, StoreUnreadableError
from sessionref.model import Candidate, Target
from sessionref.storage import Corpus, MemorySessionStore, StoredSession, TitleReading
from sessionref.testing import check_discovery, check_store


def memory() -> MemorySessionStore:
    logs = [LogBuilder("one"), LogBuilder("two")]
    logs[0].title("Fix it")
    return store_of(*logs)


class OddStore:
    """A store that passes the check, for others to break; its methods may be of any kind."""

    def __init__(self) -> None:
        self.store = memory()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class ListsInCoroutine(OddStore):
    """Returns the listing, as an async method does."""

    async def list_sessions(self) -> Sequence[StoredSession]:
        return [session async for batch in self.store.list_sessions() for session in batch]


class ListsAtOnce(OddStore):
    """Returns the listing, as an ordinary method does."""

    def list_sessions(self) -> list[StoredSession]:
        return []


class ListsSessions(OddStore):
    """Yields sessions and not batches of them."""

    async def list_sessions(self) -> AsyncIterator[StoredSession]:
        async for batch in self.store.list_sessions():
            yield batch[0]


class ListsIds(OddStore):
    """Yields batches of ids."""

    async def list_sessions(self) -> AsyncIterator[Sequence[str]]:
        yield ["one", "two"]


class CannotList(OddStore):
    """Cannot be listed at all."""

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        raise StoreUnreadableError(path="/p", reason="locked")
        yield []


class FindsAtOnce(OddStore):
    """Finds without being awaited."""

    def find_session(self, session_id: str) -> StoredSession:
        return StoredSession("memory", session_id)


class FindsNone(OddStore):
    """Finds None in the place of an error."""

    async def find_session(self, session_id: str) -> StoredSession | None:
        try:
            return await self.store.find_session(session_id)
        except SessionNotFoundError:
            return None


class FindsAnything(OddStore):
    """Finds a session for every id."""

    async def find_session(self, session_id: str) -> StoredSession:
        try:
            return await self.store.find_session(session_id)
        except SessionNotFoundError:
            return await self.store.find_session("one")


class FindsWithKeyErrors(OddStore):
    """Raises what a dictionary raises."""

    async def find_session(self, session_id: str) -> StoredSession:
        try:
            return await self.store.find_session(session_id)
        except SessionNotFoundError:
            raise KeyError(session_id) from None


class IsUnreadable(OddStore):
    """Takes an unknown id for a broken store."""

    async def find_session(self, session_id: str) -> StoredSession:
        try:
            return await self.store.find_session(session_id)
        except SessionNotFoundError:
            raise StoreUnreadableError(path="/p", reason="no such row") from None


class ReadsText(OddStore):
    """Reads a log as text."""

    async def read_log(self, session: StoredSession) -> str:
        return f"the log of {session.session_id}"


class GivesOtherTitles(OddStore):
    """Gives titles that the logs do not have."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        return [TitleReading() for _ in sessions]


class GivesTitlesAsText(OddStore):
    """Gives a title as a string."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[Any]:
        return [TitleReading("Fix it") for _ in sessions]  # type: ignore[arg-type]  # the mistake


class GivesText(OddStore):
    """Gives strings in the place of readings."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[Any]:
        return ["Fix it" for _ in sessions]


class RaisesForTitles(OddStore):
    """Raises where it should tell the error of a session."""

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        raise SessionNotFoundError(session_id="one")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (ListsInCoroutine, "list_sessions is an async generator: .*, got <coroutine"),
        (ListsAtOnce, r"list_sessions is an async generator: .*, got \[\]"),
        (ListsIds, "list_sessions .*: expected a StoredSession, got 'one'"),
        (FindsAtOnce, "find_session.* is an async method: .*, got StoredSession"),
        (FindsNone, r"find_session\('absent'\).*: expected a StoredSession, got None"),
        (
            FindsAnything,
            r"find_session\('absent'\): expected SessionNotFoundError .*got StoredSession",
        ),
        (ReadsText, "read_log .*: expected a SessionLog, got 'the log of one'"),
        (GivesOtherTitles, "'one': a title is .* of the log: expected .*Fix it.*, got TitleRead"),
        (GivesTitlesAsText, "TitleReading.title .*: expected a SessionTitle, got 'Fix it'"),
        (GivesText, "read_titles .*: expected a TitleReading, got 'Fix it'"),
    ],
)
async def test_what_was_expected_and_what_came(broken: type[OddStore], said: str) -> None:
    """A broken promise is told with the method, what it should have given, and what it gave."""
    await check_store(OddStore())
    with pytest.raises(AssertionError, match=said):
        await check_store(broken())


@pytest.mark.parametrize(
    ("broken", "method", "cause"),
    [
        (ListsSessions, "list_sessions", TypeError),
        (CannotList, "list_sessions", StoreUnreadableError),
        (FindsWithKeyErrors, "find_session", KeyError),
        (IsUnreadable, "find_session", StoreUnreadableError),
        (RaisesForTitles, "read_titles", SessionNotFoundError),
    ],
)
async def test_errors_that_must_not_be_raised(
    broken: type[OddStore], method: str, cause: type[Exception]
) -> None:
    """An error that a method must not raise is told with the method, and chained."""
    with pytest.raises(
        AssertionError, match=f"{method}.*: expected .*got {cause.__name__}"
    ) as found:
        await check_store(broken())
    assert type(found.value.__cause__) is cause


async def test_long_values_are_shown_in_part() -> None:
    """What came may be as long as a log; what is said of it stays readable."""

    class ReadsMuch(OddStore):
        async def read_log(self, session: StoredSession) -> str:
            return f"{session.session_id} " * 10_000

    broken: Any = ReadsMuch()
    with pytest.raises(AssertionError) as found:
        await check_store(broken)
    assert str(found.value).endswith("…")
    assert len(str(found.value)) < 1_000


class ListsBackwards:
    """A discovery that lists the worst first."""

    def __init__(self, corpus: Corpus) -> None:
        self.scan = ScanDiscovery(corpus)

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        return (await self.scan.list_candidates(target, query, 10**9))[::-1][:limit]


class ForgetsLabels(ListsBackwards):
    """A discovery that lists the right sessions under other names."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        found = await self.scan.list_candidates(target, query, limit)
        return [candidate.model_copy(update={"label": "?"}) for candidate in found]


class Fails(ListsBackwards):
    """A discovery that fails."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        raise ZeroDivisionError(f"{target} {query} {limit}")


class ListsAsText(ListsBackwards):
    """A discovery that lists ids."""

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Any]:
        found = await self.scan.list_candidates(target, query, limit)
        return [candidate.session_id for candidate in found]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (ListsBackwards, r"those of the scan: expected \['\w+'.*\], got \['\w+'.*\]"),
        (ForgetsLabels, r"those of the scan: expected Candidate\(.*, got Candidate\(.*label='\?'"),
        (Fails, "list_candidates raises no .*got ZeroDivisionError"),
        (ListsAsText, "list_candidates lists candidates: expected a Candidate, got '(one|two)'"),
    ],
)
async def test_what_the_scan_says_and_what_came(broken: type[ListsBackwards], said: str) -> None:
    """A discovery that differs from the scan is told with both answers."""
    corpus = Corpus(memory())
    with pytest.raises(AssertionError, match=said):
        await check_discovery(broken(corpus), corpus)
