"""Listing candidates through a resolver: its arguments, its defaults and its errors."""

from __future__ import annotations

from typing import Any

import pytest
from logs import LogBuilder, store_of

from sessionref import Candidate, ErrorCode, ResolverConfig, Target, open_resolver
from sessionref.errors import InvalidReferenceError, StoreUnreadableError
from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.storage import MemorySessionStore, SessionStore
from sessionref.testing import FailingStore

TARGET = Target(session_id="target")


def many(count: int) -> MemorySessionStore:
    return store_of(*(LogBuilder(f"{number:03}") for number in range(count)))


async def find(store: SessionStore, *arguments: Any, **settings: Any) -> list[Candidate]:
    async with open_resolver(store, config=ResolverConfig(**settings)) as resolver:
        return await resolver.list_candidates(TARGET, *arguments)


async def test_fifty_are_listed_by_default() -> None:
    """Without a limit a lookup lists `candidate_limit` sessions, 50 if nobody says otherwise."""
    assert len(await find(many(60))) == 50
    assert len(await find(many(60), candidate_limit=7)) == 7


@pytest.mark.parametrize("limit", [1, 3, 60, MAX_SAFE_INTEGER])
async def test_a_limit_goes_before_the_setting(limit: int) -> None:
    """A lookup may ask for more or fewer than the setting says."""
    assert len(await find(many(60), "", limit, candidate_limit=7)) == min(limit, 60)


@pytest.mark.parametrize("limit", [0, -1, 1.0, "1", True, MAX_SAFE_INTEGER + 1])
async def test_a_limit_is_a_positive_integer(limit: object) -> None:
    """Any other limit is refused, with the value."""
    with pytest.raises(InvalidReferenceError, match="limit") as caught:
        await find(many(1), "", limit)
    assert caught.value.value == limit
    assert caught.value.code is ErrorCode.INVALID_REFERENCE


@pytest.mark.parametrize("query", [None, 7, b"a", ["a"]])
async def test_a_query_is_a_string(query: object) -> None:
    """Any other query is refused, with the value."""
    with pytest.raises(InvalidReferenceError, match="query"):
        await find(many(1), query)


async def test_halves_of_a_pair_are_one_character() -> None:
    """A query that spells a character as two surrogates finds that character."""
    log = LogBuilder("s")
    log.title("plan 😀")
    (candidate,) = await find(store_of(log), "\ud83d\ude00")
    assert candidate.session_id == "s"


async def test_a_target_need_not_be_stored() -> None:
    """A lookup is made from a session that may not have a log yet."""
    assert [candidate.session_id for candidate in await find(many(2))] == ["000", "001"]


async def test_a_store_that_cannot_be_listed_is_an_error() -> None:
    """The error of the store comes out as it is, with its own code."""
    error = StoreUnreadableError(path="/r", reason="gone")
    with pytest.raises(StoreUnreadableError) as caught:
        await find(FailingStore(many(1), listing_error=error))
    assert (caught.value.path, caught.value.code) == ("/r", ErrorCode.READ_FAILED)
