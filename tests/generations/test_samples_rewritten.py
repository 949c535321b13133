"""The recorded sessions rewritten as each version, where they lie beside the checkout.

`test_samples.py` compares them with what an independent program says of them as they are.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rewriting import rewrite

from sessionref import Candidate, Target, open_resolver
from sessionref.errors import BudgetExceededError
from sessionref.session.fold import SessionLog
from sessionref.session.header import read_header
from sessionref.session.json_line import line_decoder
from sessionref.session.runs import unpack_runs
from sessionref.snapshot.projection import project
from sessionref.snapshot.render import take_snapshot
from sessionref.storage import JsonlSessionStore

FOLDER = Path(__file__).parents[3] / "shared" / "samples" / "store"
BUDGETS = (250, 500, 2_000, 65_536)

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the recorded sessions do not lie at ../shared/samples"
)


def write_samples(root: Path, version: int, *, compressed: bool) -> dict[str, int]:
    """Write all sessions below a root as a version; return by how many events each has grown."""
    grown = {}
    for path in FOLDER.glob("*/*/session.jsonl"):
        first, *lines = path.read_bytes().split(b"\n")[:-1]
        events = list(unpack_runs(map(line_decoder(), lines)))
        other = rewrite(read_header(first), events, version)
        os.utime(other.write(root, compressed=compressed), ns=(0, path.stat().st_mtime_ns))
        grown[other.header.id] = len(other.events) - len(events)
    return grown


async def read_all(root: Path) -> tuple[list[Candidate], dict[str, SessionLog]]:
    """Return the candidates below a root, and what each log means."""
    store = JsonlSessionStore(root)
    async with open_resolver(root) as resolver:
        found = await resolver.list_candidates(Target(session_id="target"), limit=1_000)
    ids = [candidate.session_id for candidate in found]
    return found, {name: await store.read_log(await store.find_session(name)) for name in ids}


def length(log: SessionLog) -> int:
    """Return how many events a log has, those that close it included."""
    return 0 if log.last_seq is None else log.last_seq + 1


def carried(log: SessionLog, budget: int) -> object:
    """Return what is kept of a log within a budget for all but its last seq, and the figures."""
    try:
        snapshot = take_snapshot(log, "label", budget + len(str(log.last_seq)))
    except BudgetExceededError:
        return None
    return snapshot.conversation


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize("compressed", [False, True])
async def test_samples_in_every_version(tmp_path: Path, version: int, compressed: bool) -> None:
    """Real sessions give the same candidates, conversations and figures in every version."""
    grown = write_samples(tmp_path, version, compressed=compressed)
    candidates, before = await read_all(FOLDER)
    rewritten, after = await read_all(tmp_path)
    assert rewritten == candidates
    assert len(before) > 70
    for session_id, log in after.items():
        older = before[session_id]
        assert log.header.version == version
        assert project(log) == project(older)
        assert length(log) == length(older) + grown[session_id]
        for budget in BUDGETS:
            assert carried(log, budget) == carried(older, budget)
