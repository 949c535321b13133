"""`sessionref doctor`: which logs cannot be read, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.invoking import Invoke
from logs import LogBuilder, store_of

from sessionref.cli.commands.doctor import Health, examine
from sessionref.errors import SessionNotFoundError
from sessionref.testing import FailingStore


@pytest.fixture
def sick_root(root: Path) -> Path:
    """The three good sessions and one of each kind of bad one."""
    LogBuilder("damaged").write(root, b"")
    unknown = LogBuilder("unknown")
    unknown.append("x/unknown", {})
    unknown.write(root)
    large = LogBuilder("large")
    large.user("x" * 10_000)
    large.write(root, compressed=True)
    (root / "--home--" / "retired\x1b.jsonl").parent.mkdir()
    (root / "--home--" / "retired\x1b.jsonl").touch()
    return root


def test_good_logs_are_counted(invoke: Invoke, root: Path) -> None:
    """Where every log can be read, the doctor says how many there are, and all is well."""
    result = invoke("doctor", "--root", str(root))
    assert (result.exit_code, result.stdout) == (0, "3 logs are fine.\n")


def test_one_log_is_fine(invoke: Invoke, tmp_path: Path) -> None:
    """One log is fine, in good English."""
    LogBuilder("one").write(tmp_path)
    assert invoke("doctor", "--root", str(tmp_path)).stdout == "1 log is fine.\n"


def test_each_bad_log_is_named(invoke: Invoke, sick_root: Path) -> None:
    """Every log that cannot be read is told with its session, its place and the reason."""
    result = invoke("doctor", "--root", str(sick_root), "--max-log-bytes", "5000")
    assert result.exit_code == 1
    blocks = result.stdout.split("\n\n")
    assert blocks[0] == "3 logs are fine.\n4 logs cannot be read:"
    told = dict(block.strip().split("\n  ") for block in blocks[1:])
    assert sorted(told) == ["damaged", "large", "unknown", "unknown session"]
    assert "damaged: the log has no complete header line" in told["damaged"]
    assert "too large: " in told["large"]
    assert "unsupported: the event type 'x/unknown'" in told["unknown"]
    assert r"retired\x1b.jsonl: unsupported: " in told["unknown session"]


def test_json_names_them_too(invoke: Invoke, sick_root: Path) -> None:
    """With `--json` a program gets the counts, and kind, place and reason of each bad log."""
    arguments = ("--root", str(sick_root), "--max-log-bytes", "5000", "--json")
    result = invoke("doctor", *arguments)
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["root"], answer["readable"]) == (str(sick_root), 3)
    kinds = {found["sessionId"]: found["kind"] for found in answer["unreadable"]}
    assert kinds == {
        "damaged": "damaged",
        "large": "too large",
        "unknown": "unsupported",
        None: "unsupported",
    }
    places = [found["place"] for found in answer["unreadable"]]
    assert places == sorted(places)
    assert all(found["problem"].startswith(found["place"]) for found in answer["unreadable"])


async def test_a_log_that_vanishes_is_neither() -> None:
    """A log that is deleted while the doctor reads is no longer there to be unreadable."""
    store = store_of(LogBuilder("a"), LogBuilder("b"))
    vanishing = FailingStore(store, {"b": SessionNotFoundError(session_id="b")})
    assert await examine(vanishing, at_once=2) == Health(readable=1, unreadable=[])
