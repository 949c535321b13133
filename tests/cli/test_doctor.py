"""`sessionref doctor`: which logs cannot be read, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.invoking import Invoke
from logs import LogBuilder, log_path, store_of
from rewriting import rewrite

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
    assert (result.exit_code, result.stdout) == (0, "3 logs are fine: 3 of format version 0.\n")


def test_one_log_is_fine(invoke: Invoke, tmp_path: Path) -> None:
    """One log is fine, in good English."""
    LogBuilder("one").write(tmp_path)
    assert (
        invoke("doctor", "--root", str(tmp_path)).stdout
        == "1 log is fine: 1 of format version 0.\n"
    )


def test_an_empty_folder_is_named(invoke: Invoke, tmp_path: Path) -> None:
    """Where there is not one log, the doctor says which folder was looked at."""
    result = invoke("doctor", "--root", str(tmp_path))
    assert (result.exit_code, result.stdout) == (0, f"No session logs below {tmp_path}.\n")


def test_each_bad_log_is_named(invoke: Invoke, sick_root: Path) -> None:
    """Every log that cannot be read is told with its session, its place and the reason."""
    result = invoke("doctor", "--root", str(sick_root), "--max-log-bytes", "5000")
    assert result.exit_code == 1
    blocks = result.stdout.split("\n\n")
    assert blocks[0] == "3 logs are fine: 3 of format version 0.\n4 logs cannot be read:"
    told = dict(block.strip().split("\n  ") for block in blocks[1:])
    large, unknown = "large  format version 0", "unknown  format version 0"
    assert sorted(told) == ["damaged", large, unknown, "unknown session"]
    assert "damaged: the log has no complete header line" in told["damaged"]
    assert "too large: " in told[large]
    assert "unsupported: the event type 'x/unknown'" in told[unknown]
    assert r"retired\x1b.jsonl: unsupported: " in told["unknown session"]


def test_json_names_them_too(invoke: Invoke, sick_root: Path) -> None:
    """With `--json` a program gets the counts, and kind, place and reason of each bad log."""
    arguments = ("--root", str(sick_root), "--max-log-bytes", "5000", "--json")
    result = invoke("doctor", *arguments)
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["root"], answer["readable"]) == (str(sick_root), 3)
    assert answer["formatVersions"] == {"0": 3}
    kinds = {found["sessionId"]: found["kind"] for found in answer["unreadable"]}
    assert kinds == {
        "damaged": "damaged",
        "large": "too large",
        "unknown": "unsupported",
        None: "unsupported",
    }
    versions = {found["sessionId"]: found["formatVersion"] for found in answer["unreadable"]}
    assert versions == {"damaged": None, "large": 0, "unknown": 0, None: None}
    places = [found["place"] for found in answer["unreadable"]]
    assert places == sorted(places)
    assert all(found["problem"].startswith(found["place"]) for found in answer["unreadable"])


async def test_a_log_that_vanishes_is_neither() -> None:
    """A log that is deleted while the doctor reads is no longer there to be unreadable."""
    store = store_of(LogBuilder("a"), LogBuilder("b"))
    vanishing = FailingStore(store, {"b": SessionNotFoundError(session_id="b")})
    assert await examine(vanishing, at_once=2) == Health(1, {0: 1}, [])


def test_versions_are_counted(invoke: Invoke, root: Path) -> None:
    """The doctor says how many of the good logs are of each version, the oldest first."""
    log = LogBuilder("newest")
    log.user("hi")
    rewrite(log.header, log.events, 4).write(root)
    result = invoke("doctor", "--root", str(root))
    expected = "4 logs are fine: 3 of format version 0, 1 of format version 4.\n"
    assert result.stdout == expected


def test_a_version_that_is_not_read_is_told(invoke: Invoke, tmp_path: Path) -> None:
    """A log of a newer version is named with its version, and no version is counted as fine."""
    newer = log_path(tmp_path, "newer", version=5)
    newer.parent.mkdir(parents=True)
    newer.write_bytes(LogBuilder("newer").to_bytes().replace(b'"version":0', b'"version":5'))
    result = invoke("doctor", "--root", str(tmp_path))
    assert result.exit_code == 1
    assert "0 logs are fine.\n" in result.stdout
    assert "\n  newer  format version 5\n" in result.stdout
    assert "this library reads up to version 4" in result.stdout
