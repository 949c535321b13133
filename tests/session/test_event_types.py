"""Which types of events a log may hold, and which members each may carry."""

from __future__ import annotations

import pytest
from logs import LogBuilder, json_line

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.session.generations import find_generation
from sessionref.session.reading import read_log

SURFACE_TYPES = {"user/message", "assistant/message", "tool/result"}
NAMES = """
    agent-preset/selected agent/inbox/spliced approval/asked approval/decided approval/policy
    assistant/chunk assistant/message command/done command/run compaction/end compaction/prune
    compaction/start compaction/summary feedback/record goal/change hook/invoked hook/result
    llm/retry llm/retry-started model/selection permission/preset plan/mode request/context
    request/header sandbox/mode schedule/change session-log-deepseek/delivery-accepted
    session/end-seed session/title session/title-llm-request step/end step/start
    subagent/descriptor subagent/model-selection-policy team/member team/message/delivered
    team/message/queued team/task todo/write tool-workflow/agent-end tool-workflow/agent-start
    tool-workflow/run-end tool-workflow/run-start tool/call tool/code-dispatch
    tool/code-dispatch-start tool/result turn/end turn/start user/message
    web/deepseek-search-llm-request
"""
KNOWN_TYPES = frozenset(NAMES.split())
OLD_NAMES = {"compact/start", "compact/summary", "compact/end", "compact/prune", "steering/message"}
# Those of which a reader must understand the data.
UNDERSTOOD = {"session/title", "step/end", "step/start", "tool/call", "turn/end", "turn/start"}


def test_the_known_types_are_those_of_the_format() -> None:
    """Version 0 knows exactly the types that its programs write."""
    generation = find_generation(0)
    assert generation is not None
    assert generation.known_types - OLD_NAMES == KNOWN_TYPES


@pytest.mark.parametrize("data", [None, {"turn": "x"}, [1]])
def test_other_known_events_may_hold_anything(data: object) -> None:
    """The data of an event that tells a reader nothing are not judged."""
    log = LogBuilder()
    for kind in sorted(KNOWN_TYPES - SURFACE_TYPES - UNDERSTOOD):
        log.append(kind, data)
    assert read_log(log.lines()).last_seq == len(log.events) - 1


def test_a_known_event_may_be_ignorable() -> None:
    """`ignorable` on a known type changes nothing."""
    log = LogBuilder()
    log.append("session/title", {"title": "T", "messageSeqs": [], "source": {}}, ignorable=True)
    title = read_log(log.lines()).title
    assert title is not None
    assert title.title == "T"


def test_an_unknown_ignorable_event_is_skipped() -> None:
    """An event that its writer calls ignorable takes up its seq, and says nothing."""
    log = LogBuilder()
    log.append("acme/note", 7, ignorable=True)
    log.user("hi")
    read = read_log(log.lines())
    assert [seq for seq, _ in read.surface] == [1]


def test_an_unknown_required_event_makes_the_log_unsupported() -> None:
    """A wrong reading is worse than none: the error names the type, the seq and the way out."""
    log = LogBuilder()
    log.user("hi")
    log.append("acme/ledger", 7)
    with pytest.raises(SessionUnsupportedError) as caught:
        read_log(log.lines())
    assert caught.value.direction == "unknown"
    assert "'acme/ledger' at seq 1" in str(caught.value)
    assert "known_types" in str(caught.value)


@pytest.mark.parametrize("known_types", [{"acme/ledger"}, ["other", "acme/ledger"]])
def test_a_host_can_make_a_type_known(known_types: set[str] | list[str]) -> None:
    """A type that the host knows is read like any other that says nothing here."""
    log = LogBuilder()
    log.append("acme/ledger", 7)
    assert read_log(log.lines(), known_types).last_seq == 0


@pytest.mark.parametrize("member", ["surfaceOp", "sourceEventSeqs"])
@pytest.mark.parametrize("kind", sorted(KNOWN_TYPES - SURFACE_TYPES - UNDERSTOOD)[::8])
def test_a_log_only_event_stays_off_the_surface(kind: str, member: str) -> None:
    """Only the three types of the surface may carry what changes it."""
    log = LogBuilder()
    log.append(kind, {}, **{member: "append"})
    with pytest.raises(SessionDamagedError, match=f"{kind} may not carry {member}"):
        read_log(log.lines())


@pytest.mark.parametrize("member", ["surfaceOp", "sourceEventSeqs"])
def test_an_unknown_event_stays_off_the_surface(member: str) -> None:
    """Neither an ignorable event nor one that the host knows may change the surface."""
    log = LogBuilder()
    log.append("acme/note", {}, ignorable=True, **{member: "append"})
    with pytest.raises(SessionDamagedError, match=f"acme/note may not carry {member}"):
        read_log(log.lines(), {"acme/note"})


@pytest.mark.parametrize("kind", sorted(SURFACE_TYPES))
def test_a_surface_event_says_what_it_does(kind: str) -> None:
    """A message or tool result without surfaceOp is damage."""
    log = LogBuilder()
    log.user("hi")
    log.assistant("hello")
    log.tool_result("c", "done")
    assert read_log(log.lines()).last_seq == 2
    for event in log.events:
        if event["type"] == kind:
            del event["surfaceOp"]
    with pytest.raises(SessionDamagedError, match="surfaceOp"):
        read_log(log.lines())


@pytest.mark.parametrize("member", ["surfaceOp", "sourceEventSeqs", "ignorable"])
def test_a_run_carries_nothing_else(member: str) -> None:
    """A packed run with any further member is no record, and so a defect."""
    data = {"turn": 1, "step": 1, "index": 0, "dt": [], "texts": ["a"]}
    run = {"type": "text-chunks", "seq0": 0, "time0": 1, "data": data}
    header = LogBuilder().lines()[0]
    assert read_log([header, json_line(run)]).last_seq == 0
    assert read_log([header, json_line({**run, member: True})]).last_seq is None


@pytest.mark.parametrize("kind", ["turn/start", "turn/end", "step/start", "step/end", "tool/call"])
@pytest.mark.parametrize("data", [None, {}, {"turn": "1", "step": 1}, {"turn": True, "step": 1}])
def test_an_event_that_is_understood_is_judged(kind: str, data: object) -> None:
    """Turns, steps and calls say which turn they belong to, in safe integers."""
    log = LogBuilder()
    log.append(kind, data)
    with pytest.raises(SessionDamagedError, match=r"turn|object"):
        read_log(log.lines())


@pytest.mark.parametrize("kind", ["step/start", "step/end", "tool/call"])
def test_a_step_is_numbered(kind: str) -> None:
    """Steps and calls say which step they belong to."""
    log = LogBuilder()
    log.append(kind, {"turn": 1, "callId": "c"})
    with pytest.raises(SessionDamagedError, match="step"):
        read_log(log.lines())


@pytest.mark.parametrize("call_id", [None, "", 7, ["c"], {"c": 1}])
def test_a_call_has_an_id(call_id: object) -> None:
    """The id of a tool call is a non-empty string."""
    log = LogBuilder()
    log.append("tool/call", {"turn": 1, "step": 1, "callId": call_id})
    with pytest.raises(SessionDamagedError, match="callId"):
        read_log(log.lines())


REASONS = ["completed", "aborted", "blocked", "error", "max-tokens", "interrupted"]


@pytest.mark.parametrize("kind", REASONS)
def test_a_turn_ends_for_a_known_reason(kind: str) -> None:
    """Each of the six kinds of reasons ends a turn."""
    log = LogBuilder()
    log.start_turn()
    log.append("turn/end", {"turn": 1, "reason": {"kind": kind, "reason": {}, "error": {}}})
    assert read_log(log.lines()).last_seq == 1


@pytest.mark.parametrize("reason", [None, "completed", {}, {"kind": "tired"}, {"kind": ["error"]}])
def test_a_turn_ends_for_no_other_reason(reason: object) -> None:
    """A turn that ends for an unknown reason, or for none, is damage."""
    log = LogBuilder()
    log.append("turn/end", {"turn": 1, "reason": reason})
    with pytest.raises(SessionDamagedError, match="reason"):
        read_log(log.lines())
