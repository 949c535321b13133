"""Sessions without title, without events, and of subagents."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from asking import ask, context_of, sources_of
from logs import LogBuilder

from sessionref import Target, open_resolver

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


@each_encoding
async def test_a_session_without_title_is_shown_by_its_id(tmp_path: Path, compressed: bool) -> None:
    """A session that nobody named has its id for a label, and is found by it."""
    log = LogBuilder("b50d1e78")
    log.user("hi")
    log.write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver:
        (found,) = await resolver.list_candidates(Target(session_id="t"), "B50D")
    assert found.label == "b50d1e78"


@each_encoding
async def test_a_session_without_events_is_listed(tmp_path: Path, compressed: bool) -> None:
    """A header alone is a session with an empty conversation."""
    LogBuilder("s", cwd="/w").write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver:
        (found,) = await resolver.list_candidates(Target(session_id="t"))
    assert found.readable
    (source,) = sources_of(context_of(await ask(tmp_path, "s")))
    assert (source["conversation"], source["capturedThroughSeq"]) == ([], None)


@each_encoding
async def test_a_candidate_tells_what_to_hide_or_sort_by(tmp_path: Path, compressed: bool) -> None:
    """A candidate says whose child it is, when it was created, and when its log last grew."""
    child = LogBuilder(
        "child", created_at=5, parent_session="parent", origin="subagent", delegation_depth=1
    )
    child.user("hi")
    path = child.write(tmp_path, compressed=compressed)
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    LogBuilder("parent", created_at=4).write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver:
        first, second = await resolver.list_candidates(Target(session_id="t"))
    assert (first.session_id, first.subagent, first.parent_session) == ("child", True, "parent")
    assert (first.created_at, first.updated_at) == (5, 1_700_000_000_123)
    assert (second.subagent, second.parent_session) == (False, None)


@each_encoding
async def test_a_hidden_session_can_be_referenced(tmp_path: Path, compressed: bool) -> None:
    """A session that a host does not show can still be named exactly."""
    child = LogBuilder("child", origin="subagent")
    child.user("from below")
    child.write(tmp_path, compressed=compressed)
    (source,) = sources_of(context_of(await ask(tmp_path, "child", target="parent")))
    assert source["conversation"][0]["text"] == "from below"
