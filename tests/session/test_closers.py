"""A crashed last turn: the events that close it, in memory and never in the file."""

from __future__ import annotations

from typing import Any

import pytest
from logs import LogBuilder, tool_call_block

from sessionref.session.fold import fold_events
from sessionref.session.messages import tool_calls
from sessionref.session.reading import read_log
from sessionref.session.repair import OpenTurn, lost_result

Record = dict[str, Any]


def crashed(*call_ids: str) -> LogBuilder:
    """A log that ends in a step whose answer called some tools."""
    log = LogBuilder()
    log.start_turn()
    log.user("go")
    log.start_step()
    log.assistant("ok", blocks=tuple(map(tool_call_block, call_ids)))
    return log


def closers(log: LogBuilder) -> list[Record]:
    """Return the events that close a log, told by its open turn alone."""
    turn = OpenTurn()
    for event in log.events:
        match event:
            case {"type": "turn/start", "data": data}:
                turn.start_turn(data["turn"])
            case {"type": "turn/end"}:
                turn.end_turn()
            case {"type": "step/start", "data": data}:
                turn.start_step(data["step"])
            case {"type": "step/end"}:
                turn.end_step()
            case {"type": "assistant/message", "data": data}:
                call_ids = [block["id"] for block in tool_calls(data["message"])]
                turn.ask(data["turn"], data["step"], call_ids)
            case {"type": "tool/call", "data": data, "seq": seq}:
                turn.call(data["callId"], seq)
            case {"type": "tool/result", "data": data}:
                turn.settle(data["message"]["source"]["callId"])
    return turn.closers(len(log.events), log.events[-1]["time"], lost_result)


def types(events: list[Record]) -> list[str]:
    return [event["type"] for event in events]


def test_a_log_without_an_open_turn_is_left_alone() -> None:
    """Nothing is added where the last turn has ended."""
    log = crashed()
    log.end_step()
    log.end_turn()
    assert read_log(log.lines()).last_seq == len(log.events) - 1


def test_a_log_without_events_is_left_alone() -> None:
    """A header alone has no turn to close."""
    assert read_log(LogBuilder().lines()).last_seq is None


def test_an_open_turn_is_ended() -> None:
    """A turn between two steps is ended by one event, as interrupted."""
    log = LogBuilder()
    log.start_turn(7)
    (event,) = closers(log)
    assert event["data"] == {"turn": 7, "reason": {"kind": "interrupted"}}
    assert read_log(log.lines()).last_seq == 1


def test_an_open_step_is_ended_before_its_turn() -> None:
    """First the step ends, then the turn."""
    log = LogBuilder()
    log.start_turn()
    log.start_step(3)
    step, _ = closers(log)
    assert (step["type"], step["data"]) == ("step/end", {"turn": 1, "step": 3})
    assert read_log(log.lines()).last_seq == 3


def test_each_open_call_gets_a_result() -> None:
    """Every call without a result gets an error, in the order of the calls, within the step."""
    log = crashed("a", "b", "c")
    log.tool_result("b", "done")
    first, second, *rest = closers(log)
    assert [event["data"]["message"]["source"]["callId"] for event in (first, second)] == ["a", "c"]
    assert types(rest) == ["step/end", "turn/end"]
    read = read_log(log.lines())
    assert read.last_seq == len(log.events) + 3
    assert [seq for seq, _ in read.surface] == [1, 3, 4, 5, 6]


def test_a_call_that_never_started_says_so() -> None:
    """Without a `tool/call` the tool did nothing."""
    (result, *_) = closers(crashed("a"))
    assert result["data"]["error"]["code"] == "TOOL_NOT_STARTED"
    assert "sourceEventSeqs" not in result


def test_a_call_that_started_says_that_its_outcome_is_unknown() -> None:
    """With a `tool/call` the result names it: the tool may have done anything."""
    log = crashed("a", "b")
    started = log.tool_call("b")
    _, result, *_ = closers(log)
    assert result["data"]["error"]["code"] == "TOOL_OUTCOME_UNKNOWN"
    assert result["sourceEventSeqs"] == [started]
    assert read_log(log.lines()).last_seq == len(log.events) + 3


def test_a_lost_result_is_an_error_of_its_step() -> None:
    """A result that was made up has today's shape and says in words what is known."""
    (result, *_) = closers(crashed("a"))
    (block,) = result["data"]["message"]["content"]
    assert (result["data"]["turn"], result["data"]["step"]) == (1, 1)
    assert (block["toolCallId"], block["isError"]) == ("a", True)
    assert "before this tool was started" in block["content"][0]["text"]


def test_closers_go_on_where_the_log_ends() -> None:
    """Their seqs follow the last seq, and their time is that of the last event."""
    log = crashed("a")
    events = closers(log)
    assert [event["seq"] for event in events] == [4, 5, 6]
    assert {event["time"] for event in events} == {log.events[-1]["time"]}
    read = read_log(log.lines())
    assert (read.last_seq, read.last_time) == (6, log.events[-1]["time"])


def test_a_closed_log_has_no_open_turn() -> None:
    """With its closers written out, a log means what it meant without them."""
    log = crashed("a", "b")
    log.tool_call("a")
    before = read_log(log.lines())
    assert fold_events(log.header, log.events + closers(log)) == before


def test_a_call_that_is_made_twice_gets_one_result() -> None:
    """Two blocks of one call are one call."""
    assert types(closers(crashed("a", "a"))) == ["tool/result", "step/end", "turn/end"]


def test_a_call_of_another_step_is_none_of_this_one() -> None:
    """Only the answers of the open step wait for results."""
    log = crashed()
    log.assistant("late", blocks=(tool_call_block("a"),))
    log.events[-1]["data"]["step"] = 2
    log.tool_call("a")
    assert types(closers(log)) == ["step/end", "turn/end"]
    assert read_log(log.lines()).last_seq == len(log.events) + 1


@pytest.mark.parametrize("event", ["end_step", "end_turn", "start_step", "start_turn"])
def test_open_calls_are_forgotten(event: str) -> None:
    """When a step or turn ends or begins, the calls before it wait no longer."""
    log = crashed("a")
    getattr(log, event)()
    assert "tool/result" not in types(closers(log))
    assert len(read_log(log.lines()).surface) == 2


def test_a_step_outside_of_a_turn_closes_nothing() -> None:
    """Without an open turn there is nothing to close, whatever step began."""
    log = LogBuilder()
    log.start_step()
    assert closers(log) == []
    assert read_log(log.lines()).last_seq == 0


def test_a_dropped_tail_is_closed_too() -> None:
    """What a crash left of the last line is dropped before the turn is closed."""
    lines = [*crashed("a").lines(), b'{"type":"tool/call","se']
    assert read_log(lines).last_seq == 6
