"""A list of events to a session, as a host holds it in memory."""

from __future__ import annotations

import pytest
from logs import LogBuilder

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.session.fold import SessionFold, fold_events
from sessionref.session.header import SessionHeader
from sessionref.session.runs import pack_runs


def some_events(count: int) -> LogBuilder:
    log = LogBuilder()
    for number in range(count):
        log.user(str(number))
    return log


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"type": "todo/write", "seq": 7, "time": 1, "data": {}}, "event 2: seq 7 stands"),
        ({"type": "todo/write", "seq": 2, "data": {}}, "event 2: seq and time"),
        ({"type": "mode/set", "seq": 2, "time": 1, "data": {}}, "event 2: mode/set"),
    ],
)
def test_a_bad_event_is_named(event: dict[str, object], reason: str) -> None:
    """In memory nothing may be torn: the first event that breaks a rule is damage, by its seq."""
    log = some_events(2)
    with pytest.raises(SessionDamagedError, match=reason):
        fold_events(log.header, [*log.events, event])


def test_an_unknown_event_is_named() -> None:
    """An unknown required type makes the session unsupported, unless the host knows it."""
    log = some_events(2)
    log.append("acme/ledger", {})
    with pytest.raises(SessionUnsupportedError, match=r"event 2: .*'acme/ledger' at seq 2"):
        fold_events(log.header, log.events)
    assert fold_events(log.header, log.events, {"acme/ledger"}).last_seq == 2


def test_a_newer_session_is_unsupported() -> None:
    """No event of a session of a newer version is looked at."""
    with pytest.raises(SessionUnsupportedError, match="newer"):
        fold_events(SessionHeader(99, "s", 1), [{"type": None}])


def test_packed_runs_are_events_too() -> None:
    """A run among the events counts as all its members."""
    log = LogBuilder()
    for text in "abcd":
        log.chunk(text)
    fold = SessionFold(log.header)
    (run,) = pack_runs(log.events)
    fold.take(run)
    assert fold.next_seq == 4
    assert fold.close() == log.log()


def test_a_caller_can_give_up() -> None:
    """What the caller's check raises ends the work, and comes out as it is."""
    log = some_events(2_000)
    checks = 0

    def give_up() -> None:
        nonlocal checks
        checks += 1
        if checks == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fold_events(log.header, log.events, check=give_up)
    checks = 10
    assert fold_events(log.header, log.events, check=give_up).last_seq == 1_999
