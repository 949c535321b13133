"""How a crashed last turn is closed in each version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from versioned import (
    Event,
    assistant,
    blocky_result,
    event,
    in_step,
    plain_result,
    read,
    replacing,
    seqs,
)

from sessionref.errors import SessionDamagedError
from sessionref.session.fold import SessionLog

ALL = pytest.mark.parametrize("version", range(5))
RESULTS = [(version, blocky_result) for version in range(5)] + [
    (3, plain_result),
    (4, plain_result),
]
ANY_RESULT = pytest.mark.parametrize(("version", "made"), RESULTS)


def added(log: SessionLog, *events: Event) -> int:
    """Return how many events close a log of these events."""
    return (log.last_seq or 0) - len(events) + 1


def closers(version: int, *events: Event) -> int:
    """Return how many events close a crashed step with an answer that calls "c", and more."""
    crashed = in_step(assistant(version, calls=["c"]), *events)
    return added(read(version, *crashed), *crashed)


def elsewhere(result: Event, **place: int) -> Event:
    """Return a result that says that it is of another turn or step."""
    return {**result, "data": {**result["data"], **place}}


def last_result(log: SessionLog) -> Mapping[str, Any]:
    """Return the data of the tool result at the end of the surface."""
    result = log.surface[-1][1].result
    assert result is not None
    return result


@ALL
def test_an_open_call_gets_a_result(version: int) -> None:
    """Every version answers an open call, ends the step and ends the turn."""
    assert closers(version) == 3


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_older_lost_result(version: int) -> None:
    """Up to version 3 a lost result is one block in a user message."""
    message = last_result(read(version, *in_step(assistant(version, calls=["c"]))))["message"]
    assert message["role"] == "user"
    assert message["content"] == [{"type": "tool-result", "toolCallId": "c", "isError": True}]


def test_a_lost_result_of_version_4() -> None:
    """In version 4 a lost result is an error of role tool, in its turn and step."""
    result = last_result(read(4, *in_step(assistant(4, calls=["c"]))))
    assert (result["turn"], result["step"]) == (1, 1)
    assert result["error"] == {"code": "TOOL_NOT_STARTED"}
    assert result["message"] == {
        "id": "interrupted:c",
        "role": "tool",
        "toolCallId": "c",
        "isError": True,
        "source": {"kind": "tool", "callId": "c"},
    }


@ALL
def test_a_lost_result_of_a_tool_that_ran(version: int) -> None:
    """What a started tool did is not known, in every version."""
    call = event("tool/call", {"turn": 1, "step": 1, "callId": "c", "name": "x", "arguments": ""})
    log = read(version, *in_step(assistant(version, calls=["c"]), call))
    assert last_result(log)["error"] == {"code": "TOOL_OUTCOME_UNKNOWN"}


@ANY_RESULT
def test_a_result_settles_its_call(version: int, made: Any) -> None:
    """An appended result of the same turn and step settles its call, in whichever shape."""
    assert closers(version, made()) == 2


@ANY_RESULT
def test_a_result_of_another_call_settles_nothing(version: int, made: Any) -> None:
    """A result settles the call that it answers and no other."""
    assert closers(version, made("d")) == 3


@pytest.mark.parametrize(("version", "made"), RESULTS)
@pytest.mark.parametrize("place", [{"turn": 2}, {"step": 2}])
def test_a_result_of_another_step(version: int, made: Any, place: dict[str, int]) -> None:
    """In version 4 a result that names another turn or step settles nothing; before, it does."""
    assert closers(version, elsewhere(made(), **place)) == (3 if version == 4 else 2)


@pytest.mark.parametrize(("version", "made"), RESULTS)
def test_a_result_that_replaces_one(version: int, made: Any) -> None:
    """In version 4 a result that was not appended settles nothing; before, it does."""
    before = [made(), *in_step(assistant(version, calls=["c"]))]
    crashed = [*before, made(**replacing(version, 0, 0))]
    assert added(read(version, *crashed), *crashed) == (3 if version == 4 else 2)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_no_fork_ends_an_older_turn(version: int) -> None:
    """Before version 4 no turn ends as forked."""
    with pytest.raises(SessionDamagedError, match="no known reason"):
        read(version, event("turn/end", {"turn": 1, "reason": {"kind": "forked"}}))


def test_a_forked_turn_is_closed() -> None:
    """A turn that ended by a fork holds its closers, and nothing is added."""
    lost = plain_result()
    lost["data"]["message"]["isError"] = True
    end = event("turn/end", {"turn": 1, "reason": {"kind": "forked"}})
    forked = in_step(assistant(4, calls=["c"]), lost, event("step/end"), end)
    log = read(4, *forked)
    assert (added(log, *forked), seqs(log)) == (0, [2, 3])


@ALL
@pytest.mark.parametrize("kind", ["unknown", None, ["forked"]])
def test_a_turn_ends_for_a_reason(version: int, kind: object) -> None:
    """A turn that ends for no reason that a version knows is damage."""
    with pytest.raises(SessionDamagedError, match="no known reason"):
        read(version, event("turn/end", {"turn": 1, "reason": {"kind": kind}}))
