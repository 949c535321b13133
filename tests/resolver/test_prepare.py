"""Preparing a message: what is checked first, what comes back, and that it is all or nothing."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import trio
from asking import ask, context_of, prompt_of, sources_of
from logs import LogBuilder, store_of
from trio.testing import wait_all_tasks_blocked

from sessionref import (
    ErrorCode,
    PreparedMessage,
    Reference,
    ResolverConfig,
    SessionReferenceError,
    Target,
    TextBlock,
    UserMessage,
    format_mention,
    open_resolver,
)
from sessionref.errors import (
    BudgetExceededError,
    InvalidReferenceError,
    ReadFailedError,
    SelfReferenceError,
    SessionDamagedError,
    SessionNotFoundError,
    TooManyReferencesError,
)
from sessionref.storage import MemorySessionStore, SessionStore
from sessionref.testing import FailingStore, ParkedStore

TARGET = Target(session_id="target")


def talk(session_id: str, *texts: str) -> LogBuilder:
    log = LogBuilder(session_id, cwd="/w")
    for text in texts or (f"hello from {session_id}",):
        log.user(text)
    return log


def some_store() -> MemorySessionStore:
    return store_of(*map(talk, ["a", "b", "c", "d", "target"]))


async def prepare(
    store: SessionStore, content: Any, references: Any, **settings: Any
) -> PreparedMessage:
    async with open_resolver(store, config=ResolverConfig(**settings)) as resolver:
        return await resolver.prepare(TARGET, content, references)


async def code_of(store: SessionStore, *references: object, content: Any = "see") -> ErrorCode:
    with pytest.raises(SessionReferenceError) as caught:
        await prepare(store, content, references)
    return caught.value.code


async def test_without_references_the_content_comes_alone() -> None:
    """A message that refers to nothing has no context, and nothing is read for it."""
    store = FailingStore(some_store(), listing_error=AssertionError())
    prepared = await prepare(store, "plain", [])
    assert prepared == PreparedMessage(content=(TextBlock(text="plain"),))
    assert store.log_reads == 0


async def test_a_reference_becomes_one_context_message() -> None:
    """All sessions of a message are in one context message, in the order of the references."""
    message = context_of(await ask(some_store(), "c", "a", "b"))
    assert [source["sessionId"] for source in sources_of(message)] == ["c", "a", "b"]
    assert message.to_wire()["source"]["references"][1]["inputIndex"] == 1
    assert message.role == "user"


async def test_a_context_message_has_a_fresh_id() -> None:
    """No two context messages have the same id."""
    ids = {context_of(await ask(some_store(), "a")).id for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize("label", [None, "", "A label", "\x1b]"])
async def test_a_source_carries_the_label_of_its_reference(label: str | None) -> None:
    """A source is named as its mention names it; a missing label is the id."""
    message = context_of(await ask(some_store(), Reference(session_id="a", label=label)))
    (source,) = sources_of(message)
    assert source["label"] == ("a" if label is None else label)


async def test_a_session_that_is_mentioned_again_counts_once() -> None:
    """Later duplicates of an id are dropped, and the label of the first one stands."""
    labels = ["first", None, "third", "fourth"]
    references = [Reference(session_id="a", label=label) for label in labels]
    message = context_of(await ask(some_store(), *references, max_references=1))
    (source,) = sources_of(message)
    assert source["label"] == "first"


async def test_references_may_be_json_data() -> None:
    """A host may pass references as it received them."""
    prepared = await prepare(some_store(), "see", [{"sessionId": "a", "label": "L"}])
    (source,) = sources_of(context_of(prepared))
    assert (source["sessionId"], source["label"]) == ("a", "L")


@pytest.mark.parametrize(
    "reference",
    [
        {},
        {"sessionId": 7},
        {"sessionId": None},
        {"sessionId": "a", "label": 7},
        {"sessionId": "a", "label": None},
        {"sessionId": "a", "more": 1},
        {"session_id": "a"},
        "a",
        None,
        ["a"],
    ],
)
async def test_a_malformed_reference_is_refused(reference: object) -> None:
    """What is not an id with or without a label is an invalid reference."""
    assert await code_of(some_store(), {"sessionId": "b"}, reference) is ErrorCode.INVALID_REFERENCE


@pytest.mark.parametrize("content", [[7], [{"text": "x"}], [None], ["text"]])
async def test_malformed_content_is_refused(content: object) -> None:
    """What is no block cannot be sent."""
    code = await code_of(some_store(), {"sessionId": "a"}, content=content)
    assert code is ErrorCode.INVALID_REFERENCE


async def test_a_session_cannot_refer_to_itself() -> None:
    """The target's own id is refused, by name."""
    with pytest.raises(SelfReferenceError) as caught:
        await prepare(some_store(), "see", [{"sessionId": "a"}, {"sessionId": "target"}])
    assert caught.value.session_id == "target"


async def test_too_many_sessions_are_refused() -> None:
    """More distinct sessions than `max_references` are refused, with both numbers."""
    references = [{"sessionId": session_id} for session_id in "abcabc"]
    assert (await prepare(some_store(), "see", references)).additional_context is not None
    with pytest.raises(TooManyReferencesError) as caught:
        await prepare(some_store(), "see", references, max_references=2)
    assert (caught.value.count, caught.value.limit) == (3, 2)


async def test_references_are_checked_before_anything_is_read() -> None:
    """A message that is refused for what it says costs no reading."""
    store = FailingStore(some_store(), {"a": SessionDamagedError(reason="broken")})
    for more in [{"sessionId": 7}, {"sessionId": "target"}]:
        await code_of(store, {"sessionId": "a"}, more)
    await code_of(store, *({"sessionId": session_id} for session_id in "abcd"))
    assert store.log_reads == 0


async def test_a_malformed_reference_is_refused_first() -> None:
    """A malformed reference comes before a self reference, and that before too many."""
    many: list[object] = [{"sessionId": session_id} for session_id in "abcd"]
    own, malformed = {"sessionId": "target"}, {"sessionId": 7}
    assert await code_of(some_store(), malformed, own, *many) is ErrorCode.INVALID_REFERENCE
    assert await code_of(some_store(), *many, own) is ErrorCode.SELF_REFERENCE
    assert await code_of(some_store(), *many) is ErrorCode.TOO_MANY


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SessionDamagedError(reason="broken", path="/p", line=2), "/p, line 2: damaged: broken"),
        (SessionNotFoundError(session_id="b"), "no session has this id"),
        (ZeroDivisionError("by zero"), "by zero"),
    ],
)
async def test_any_failure_to_read_fails_the_message(error: Exception, reason: str) -> None:
    """Whatever a store raises, the error names the session, and its cause is chained."""
    store = FailingStore(some_store(), {"b": error})
    with pytest.raises(ReadFailedError) as caught:
        await prepare(store, "see", [{"sessionId": "a"}, {"sessionId": "b"}])
    assert (caught.value.session_id, caught.value.reason) == ("b", reason)
    assert type(caught.value.__cause__) is type(error)
    assert caught.value.code is ErrorCode.READ_FAILED


async def test_an_absent_session_fails_the_message() -> None:
    """A session that is neither stored nor live cannot be read."""
    with pytest.raises(ReadFailedError, match="'none'") as caught:
        await prepare(some_store(), "see", [{"sessionId": "none"}])
    assert isinstance(caught.value.__cause__, SessionNotFoundError)


async def test_a_session_that_cannot_fit_fails_the_message() -> None:
    """Of two sessions the second does not fit: there is no context for the first either."""
    store = store_of(talk("a"), talk("b" * 500))
    with pytest.raises(BudgetExceededError) as caught:
        await ask(store, "a", "b" * 500, max_reference_bytes=300)
    assert caught.value.session_id == "b" * 500
    assert caught.value.budget == 300 < caught.value.needed


async def test_each_session_has_its_own_budget() -> None:
    """One long session takes nothing from the others."""
    store = store_of(talk("a", "x" * 5_000), talk("b", "y" * 200))
    long, short = sources_of(context_of(await ask(store, "a", "b", max_reference_bytes=600)))
    assert short["conversation"][0]["text"] == "y" * 200
    assert 0 < len(long["conversation"][0]["text"]) < 600


async def test_all_sessions_are_read_at_the_same_time() -> None:
    """No session waits for another to be read."""
    store = ParkedStore(some_store())
    async with open_resolver(store, config=ResolverConfig(read_concurrency=1)) as resolver:
        references = [Reference(session_id=session_id) for session_id in "abc"]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(resolver.prepare, TARGET, "see", references)
            await wait_all_tasks_blocked()
            assert store.waiting == 3
            store.release()


async def test_what_is_passed_in_is_not_touched() -> None:
    """Content and references are as they were after a call, whether it succeeds or fails."""
    content = [{"type": "text", "text": "see", "more": {"x": [1]}}, {"type": "image", "n": [2]}]
    references = [{"sessionId": "a", "label": "L"}]
    before = deepcopy((content, references))
    await prepare(some_store(), content, references)
    with pytest.raises(ReadFailedError):
        await prepare(store_of(), content, references)
    assert (content, references) == before


async def test_what_comes_back_is_detached() -> None:
    """Nothing that happens to the content or to a source later changes a prepared message."""
    content: list[dict[str, Any]] = [{"type": "text", "text": "see", "more": {"x": [1]}}]
    log = talk("a")
    store = store_of(log)
    prepared = await prepare(store, content, [{"sessionId": "a"}])
    before = prepared.to_wire()
    content[0]["more"]["x"].append(2)
    log.user("later")
    store.put(log.header, log.events)
    assert prepared.to_wire() == before
    assert before["content"][0]["more"] == {"x": [1]}


async def test_blocks_may_be_values() -> None:
    """Content may be the blocks of an earlier answer; they come back equal."""
    blocks = (TextBlock(text="see"), TextBlock.from_wire({"text": "there", "more": [1]}))
    prepared = await prepare(some_store(), blocks, [])
    assert prepared.content == blocks
    assert prepared.content[0] is not blocks[0]


async def test_a_snapshot_is_of_one_moment(tmp_path: Path) -> None:
    """A context says up to which event it was taken; what is logged later is in the next."""
    log = talk("a")
    for number in range(3):
        log.user(f"later {number}")
        log.write(tmp_path)
        message = context_of(await ask(tmp_path, "a"))
        (source,) = sources_of(message)
        assert source["capturedThroughSeq"] == len(log.events) - 1
        assert source["conversation"][-1]["text"] == f"later {number}"


async def test_a_message_is_frozen() -> None:
    """A context message cannot be changed by accident."""
    message = context_of(await ask(some_store(), "a"))
    assert isinstance(message, UserMessage)
    with pytest.raises(ValueError, match="frozen"):
        message.id = "other"
    assert "hello from a" in prompt_of(message)


async def test_a_reference_is_checked_as_a_value() -> None:
    """A reference that cannot be made is refused when it is made."""
    with pytest.raises(InvalidReferenceError, match="sessionId"):
        Reference.from_wire({"sessionId": ["a"]})


async def test_mentions_in_the_content_are_not_looked_for() -> None:
    """Without references the content goes alone and as it is, whatever it mentions."""
    text = f"see {format_mention('a', 'A')}"
    async with open_resolver(some_store()) as resolver:
        prepared = await resolver.prepare(TARGET, text)
    assert prepared == PreparedMessage(content=(TextBlock(text=text),))
