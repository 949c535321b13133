"""The block of a resolver: entered once, left with whatever was raised inside."""

from __future__ import annotations

import asyncio

import pytest
import trio
from logs import LogBuilder, store_of
from trio.testing import wait_all_tasks_blocked

from sessionref import (
    Reference,
    ResolverConfig,
    SessionReferenceResolver,
    Target,
    open_resolver,
)
from sessionref.discovery import ScanDiscovery
from sessionref.storage import Corpus
from sessionref.testing import ShieldingStore

TARGET = Target(session_id="target")


def make_resolver() -> SessionReferenceResolver:
    corpus = Corpus(store_of(LogBuilder("a")))
    return SessionReferenceResolver(corpus, ScanDiscovery(corpus), new_id=lambda: "fixed")


async def use(resolver: SessionReferenceResolver) -> None:
    await resolver.prepare(TARGET, "see", [Reference(session_id="a")])
    await resolver.list_candidates(TARGET)


async def enter() -> None:
    async with open_resolver(store_of()):
        raise AssertionError("the block was entered")


def test_outside_trio_a_resolver_says_so() -> None:
    """Under asyncio entering says that trio is needed, and which page tells how to get it."""
    with pytest.raises(RuntimeError, match=r"runs on trio; .* in a thread: see docs/hosts\.md"):
        asyncio.run(enter())


def test_without_any_loop_a_resolver_says_so() -> None:
    """The same is said where there is no event loop at all."""
    with pytest.raises(RuntimeError, match="runs on trio"):
        enter().send(None)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), KeyboardInterrupt()])
async def test_what_is_raised_inside_comes_out_plain(error: BaseException) -> None:
    """An exception of the block is not wrapped in a group."""
    with pytest.raises(type(error)) as caught:
        async with open_resolver(store_of()):
            raise error
    assert caught.value is error


async def test_cancelling_the_block_is_no_error() -> None:
    """A block inside a cancelled scope ends like any other code of trio."""
    with trio.CancelScope() as scope:
        async with open_resolver(store_of()):
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_an_exception_is_not_lost_when_the_block_is_cancelled() -> None:
    """While leaving waits for a store that shields itself, cancelling hides no exception."""
    store = ShieldingStore(store_of(LogBuilder("a")))
    scope = trio.CancelScope()

    async def fail() -> None:
        with scope:
            async with open_resolver(store) as resolver:
                with trio.move_on_after(0):
                    await resolver.list_candidates(TARGET)
                raise ValueError("inside")

    async def release() -> None:
        await wait_all_tasks_blocked()
        scope.cancel()
        await wait_all_tasks_blocked()
        store.release()

    with pytest.RaisesGroup(pytest.RaisesExc(ValueError, match="inside")):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            nursery.start_soon(release)


async def test_a_resolver_is_of_no_use_before_its_block() -> None:
    """Without a block nobody would end what a call starts."""
    with pytest.raises(RuntimeError, match="async with"):
        await make_resolver().prepare(TARGET, "see", [Reference(session_id="a")])
    with pytest.raises(RuntimeError, match="async with"):
        await make_resolver().list_candidates(TARGET)


async def test_a_resolver_is_of_no_use_after_its_block() -> None:
    """A resolver whose block was left does nothing any more."""
    async with make_resolver() as resolver:
        await use(resolver)
    with pytest.raises(RuntimeError, match="async with"):
        await resolver.prepare(TARGET, "see", [Reference(session_id="a")])
    with pytest.raises(RuntimeError, match="async with"):
        await resolver.list_candidates(TARGET)


async def test_a_resolver_is_entered_once() -> None:
    """A resolver can be used neither twice at once nor again."""
    async with make_resolver() as resolver:
        with pytest.raises(RuntimeError, match="only once"):
            await resolver.__aenter__()
        await use(resolver)
    with pytest.raises(RuntimeError, match="only once"):
        await resolver.__aenter__()


async def test_a_block_that_was_not_entered_is_left_for_nothing() -> None:
    """Leaving without having entered does nothing."""
    await make_resolver().__aexit__(None, None, None)


async def test_a_host_can_make_the_ids() -> None:
    """Context messages get their ids from the host, if it gives a function."""
    async with make_resolver() as resolver:
        prepared = await resolver.prepare(TARGET, "see", [Reference(session_id="a")])
    assert prepared.additional_context is not None
    assert prepared.additional_context.id == "fixed"


async def test_a_resolver_tells_its_limits() -> None:
    """A resolver has the configuration that it was given, or the default one."""
    async with open_resolver(store_of(), config=ResolverConfig(max_references=1)) as resolver:
        assert resolver.config.max_references == 1
    assert make_resolver().config == ResolverConfig()
