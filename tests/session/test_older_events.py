"""Older events around messages: converted where their shape is exact, near misses are damage."""

from __future__ import annotations

from typing import Any

import pytest
from logs import LogBuilder

from sessionref.errors import SessionDamagedError
from sessionref.session.fold import SessionLog
from sessionref.session.generations import find_generation
from sessionref.session.reading import read_log
from sessionref.session.surface import Surface

Record = dict[str, Any]


def read(kind: str, data: object, **members: object) -> SessionLog:
    log = LogBuilder("s")
    log.append(kind, data, **members)
    return read_log(log.lines())


def refused(kind: str, data: object, **members: object) -> str:
    with pytest.raises(SessionDamagedError) as caught:
        read(kind, data, **members)
    return caught.value.reason


def converted(kind: str, data: object) -> Record:
    """Return the data of today that an older event's stand for."""
    generation = find_generation(0)
    assert generation is not None
    record = {"type": kind, "seq": 9, "time": 1, "data": data}
    changed: Record = generation.upgrades[kind](record, "s", Surface())["data"]
    return changed


def test_a_trigger_is_dropped() -> None:
    """What triggered a turn says nothing any more."""
    assert converted("turn/start", {"turn": 1, "trigger": {"x": 1}}) == {"turn": 1}
    assert read("turn/start", {"turn": 1, "trigger": {}}).last_seq == 1


@pytest.mark.parametrize("trigger", [None, "user", []])
def test_a_trigger_is_an_object(trigger: object) -> None:
    """A trigger that is no object is damage."""
    assert "trigger" in refused("turn/start", {"turn": 1, "trigger": trigger})


@pytest.mark.parametrize(
    ("reason", "today"),
    [
        ({"kind": "aborted"}, {"kind": "aborted", "reason": {"kind": "legacy"}}),
        ({"kind": "disposed"}, {"kind": "aborted", "reason": {"kind": "disposed"}}),
        (
            {"kind": "error", "step": 1, "failure": {"code": "E", "message": "no"}},
            {"kind": "error", "error": {"code": "E", "message": "no"}},
        ),
        (
            {"kind": "error", "step": 1, "failure": {"message": "no"}},
            {"kind": "error", "error": {"code": "UNKNOWN", "message": "no"}},
        ),
        (
            {"kind": "error", "message": "no", "code": "E"},
            {"kind": "error", "error": {"code": "E", "message": "no"}},
        ),
        (
            {"kind": "error", "message": "no"},
            {"kind": "error", "error": {"code": "UNKNOWN", "message": "no"}},
        ),
    ],
)
def test_an_older_reason_is_converted(reason: Record, today: Record) -> None:
    """What ended a turn is told in today's shape."""
    assert converted("turn/end", {"turn": 1, "reason": reason})["reason"] == today
    assert read("turn/end", {"turn": 1, "reason": reason}).last_seq == 0


@pytest.mark.parametrize(
    "reason",
    [
        {"kind": "aborted", "reason": {"kind": "user"}},
        {"kind": "error", "error": {"code": "E"}},
        {"kind": "completed"},
    ],
)
def test_a_reason_of_today_stays(reason: Record) -> None:
    """A reason that has today's shape is left alone."""
    data = {"turn": 1, "reason": reason}
    assert converted("turn/end", data) is data


@pytest.mark.parametrize(
    "reason",
    [
        {"kind": "error"},
        {"kind": "error", "step": 1},
        {"kind": "error", "step": 1, "failure": "no"},
        {"kind": "error", "failure": {"message": "no"}},
        {"kind": "error", "message": "no", "more": 1},
    ],
)
def test_a_near_miss_of_an_error_is_damage(reason: Record) -> None:
    """An error that does not say what failed is damage."""
    assert "error" in refused("turn/end", {"turn": 1, "reason": reason})


@pytest.mark.parametrize("kind", ["request/header-delta", "mode/set"])
def test_what_has_no_meaning_any_more_is_damage(kind: str) -> None:
    """Two retired types are refused, even where they are marked ignorable."""
    assert kind in refused(kind, {}, ignorable=True)


def test_a_fallback_header_is_damage() -> None:
    """A `request/header` with reason `fallback` is refused; any other is a known event."""
    assert "fallback" in refused("request/header", {"reason": "fallback"})
    assert read("request/header", {"reason": "first"}).last_seq == 0


@pytest.mark.parametrize("name", ["start", "summary", "end", "prune"])
def test_compactions_had_another_name(name: str) -> None:
    """`compact/…` is the older name of `compaction/…`."""
    assert read(f"compact/{name}", {}).last_seq == 0
