"""A log says the same in every version of the format."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio
from asking import ask, context_of, sources_of
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder
from rewriting import Rewritten, rewrite
from strategies import log_builders
from turns import logs_in_turns

from sessionref import Target, open_resolver
from sessionref.errors import BudgetExceededError
from sessionref.session.fold import SessionLog, fold_events
from sessionref.snapshot.projection import project

logs = log_builders(max_events=30) | logs_in_turns()
versions = st.sampled_from([1, 2, 3, 4])


def rewritten(log: LogBuilder, version: int) -> Rewritten:
    return rewrite(log.header, log.events, version)


def meaning(log: Rewritten) -> SessionLog:
    return fold_events(log.header, log.events)


@given(log=logs, version=versions)
def test_conversation(log: LogBuilder, version: int) -> None:
    """Roles, texts, checkpoints and the title are those of version 0."""
    before, after = log.log(), meaning(rewritten(log, version))
    assert project(after) == project(before)
    assert (after.title and after.title.title) == (before.title and before.title.title)
    assert after.header.version == version


@given(log=logs, version=versions)
def test_surface(log: LogBuilder, version: int) -> None:
    """The events on the surface are those of version 0, in their order, under their new seqs."""
    other = rewritten(log, version)
    after = [seq for seq, _ in meaning(other).surface]
    before = [other.seqs[seq] for seq, _ in log.log().surface if seq < len(log.events)]
    kept = set(other.seqs.values())
    assert [seq for seq in after if seq in kept] == before


@given(log=logs, version=versions)
def test_last_seq(log: LogBuilder, version: int) -> None:
    """The last seq is that of the rewritten log, with as many closers as version 0 has."""
    before, other = log.log(), rewritten(log, version)
    closers = 0 if before.last_seq is None else before.last_seq + 1 - len(log.events)
    length = len(other.events) + closers
    assert meaning(other).last_seq == (length - 1 if length else None)


@given(log=logs, version=versions, compressed=st.booleans(), budget=st.integers(150, 900))
def test_references(log: LogBuilder, version: int, compressed: bool, budget: int) -> None:
    """Through a store each version gives the same candidates, texts and figures, at any budget."""
    older, newer = rewritten(log, 0), rewritten(log, version)
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        for root, written in ((one, older), (other, newer)):
            os.utime(written.write(Path(root), compressed=compressed), ns=(0, 10**15))
        assert trio.run(candidates, Path(one)) == trio.run(candidates, Path(other))
        before = trio.run(reference, Path(one), log.header.id, budget)
        # The seq is one of the fixed fields: the texts get the same room beside a longer one.
        through = [meaning(written).last_seq for written in (older, newer)]
        room = budget + len(json.dumps(through[1])) - len(json.dumps(through[0]))
        after = trio.run(reference, Path(other), log.header.id, room)
    assert "capturedFormatVersion" not in before
    if before:
        assert before["capturedThroughSeq"] == through[0]
        before |= {"capturedThroughSeq": through[1], "capturedFormatVersion": version}
    assert after == before


async def candidates(root: Path) -> list[dict[str, Any]]:
    async with open_resolver(root) as resolver:
        found = await resolver.list_candidates(Target(session_id="target"))
    return [candidate.to_wire() for candidate in found]


async def reference(root: Path, session_id: str, budget: int) -> dict[str, Any]:
    """Return what a message says of a session and carries of it, nothing if it does not fit."""
    try:
        prepared = await ask(root, session_id, target="target", max_reference_bytes=budget)
    except BudgetExceededError:
        return {}
    context = context_of(prepared)
    [record] = context.to_wire()["source"]["references"]
    [source] = sources_of(context)
    assert source.pop("capturedThroughSeq") == record["capturedThroughSeq"]
    return {**record, "source": source}
