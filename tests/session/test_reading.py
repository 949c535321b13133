"""Lines to a session: which line opens a defect, and which lines may be dropped."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, json_line, to_lines
from strategies import log_builders

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.session.reading import LogReader, read_log

TURN_END = {"turn": 1, "reason": {"kind": "completed"}}


def event(seq: int, kind: str = "todo/write", data: object = None) -> bytes:
    return json_line({"type": kind, "seq": seq, "time": seq, "data": data})


HEADER = LogBuilder().lines()[0]
GOOD = [HEADER, event(0), event(1), event(2)]

DEFECTS = {
    "no JSON": (b'{"type":"todo/wri', "not JSON"),
    "empty": (b"", "not JSON"),
    "cut character": (b'"\xe6\x87"', "not JSON"),
    "NaN": (event(3).replace(b'"time":3', b'"time":NaN'), "not JSON"),
    "no record": (b"[]", "object"),
    "no type": (event(3).replace(b'"todo/write"', b'["todo/write"]'), "type"),
    "no seq": (event(3).replace(b'"seq":3', b'"seq":true'), "seq"),
    "no time": (event(3).replace(b'"time":3', b'"time":"3"'), "time"),
    "time out of range": (event(3).replace(b'"time":3', b'"time":9007199254740992'), "time"),
    "no run": (b'{"type":"text-chunks","seq0":3,"time0":1,"data":{}}', "the data of a packed run"),
    "repeated seq": (event(2), "seq 2 stands where 3 must follow"),
    "missing seq": (event(4), "seq 4 stands where 3 must follow"),
}
each_defect = pytest.mark.parametrize(("line", "reason"), DEFECTS.values(), ids=DEFECTS)


def last_seq(*lines: bytes) -> int | None:
    return read_log(lines).last_seq


@each_defect
def test_a_defect_at_the_end_is_dropped(line: bytes, reason: str) -> None:
    """Behind a line that is not the next record nothing counts, if no turn ends there."""
    assert last_seq(*GOOD, line, event(3), event(4)) == 2


@each_defect
def test_a_defect_before_a_turn_end_is_damage(line: bytes, reason: str) -> None:
    """A later line that ends a turn proves that the defect was committed."""
    with pytest.raises(SessionDamagedError, match=reason) as caught:
        read_log([*GOOD, line, event(3), event(4, "turn/end", TURN_END)])
    assert (caught.value.line, caught.value.byte) == (5, len(to_lines(GOOD)))


@each_defect
def test_a_sealed_defect_is_damage(line: bytes, reason: str) -> None:
    """A writer that committed the lines as a whole meant every one of them."""
    with pytest.raises(SessionDamagedError, match=reason) as caught:
        LogReader().feed([*GOOD, line], sealed=True)
    assert (caught.value.line, caught.value.byte) == (5, len(to_lines(GOOD)))


@pytest.mark.parametrize(
    "line",
    [
        event(9, "todo/write", {"type": "turn/end"}),
        event(9, "turn/endless"),
        b'{"type":"turn/end","seq":-1,"time":1,"data":{}}',
        b'{"type":"turn/end","seq":9,"time":1}',
        event(9, "turn/end", TURN_END)[:-1],
    ],
)
def test_only_a_record_ends_a_turn(line: bytes) -> None:
    """What is no record of the type `turn/end` proves nothing."""
    assert last_seq(*GOOD, b"{", line) == 2


def test_any_record_of_the_type_ends_a_turn() -> None:
    """A later `turn/end` proves the defect whatever its seq and data are."""
    with pytest.raises(SessionDamagedError):
        last_seq(*GOOD, b"{", event(0, "turn/end"))


def test_a_turn_end_that_is_the_defect_itself_drops_itself() -> None:
    """A `turn/end` out of place is a defect; only a later one makes it damage."""
    assert last_seq(*GOOD, event(7, "turn/end", TURN_END)) == 2


def test_what_stands_behind_a_defect_is_not_judged() -> None:
    """In a crash tail no event breaks a rule, not even one of an unknown type."""
    assert last_seq(*GOOD, b"{", event(3, "acme/unheard-of")) == 2


def test_a_turn_end_counts_in_a_later_piece() -> None:
    """A defect is remembered from one piece of the log to the next."""
    reader = LogReader()
    reader.feed([*GOOD, b"{"])
    reader.feed([event(3)])
    with pytest.raises(SessionDamagedError, match="line 5"):
        reader.feed([event(4, "turn/end", TURN_END)])


def test_a_log_needs_a_header() -> None:
    """A log without a single complete line is damaged."""
    with pytest.raises(SessionDamagedError, match="no complete header") as caught:
        read_log([])
    assert (caught.value.line, caught.value.byte) == (1, 0)


def test_a_header_alone_is_a_log() -> None:
    """A session may have no events yet."""
    log = read_log([HEADER])
    assert (log.last_seq, log.last_time, log.surface, log.title) == (None, None, (), None)


def test_a_bad_header_is_damage_at_once() -> None:
    """No crash tail begins with the header: without it nothing can be said of the rest."""
    with pytest.raises(SessionDamagedError, match="line 1, byte 0"):
        LogReader().feed([b"[]", event(0)])


def test_the_header_is_known_before_the_rest() -> None:
    """A reader tells the header as soon as it has read it."""
    reader = LogReader()
    assert reader.header is None
    reader.feed([HEADER])
    assert reader.header is not None
    assert reader.header.id == "source"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("tool/result", "not an object"), ("mode/set", "no meaning"), ("session/title", "title")],
)
def test_a_broken_rule_is_damage_at_once(kind: str, reason: str) -> None:
    """A record in its place that breaks a rule is damage, whether or not a turn ends later."""
    with pytest.raises(SessionDamagedError, match=reason) as caught:
        read_log([*GOOD, event(3, kind), event(4)])
    assert (caught.value.line, caught.value.byte) == (5, len(to_lines(GOOD)))


def test_an_unknown_type_tells_its_place() -> None:
    """An unsupported log names line and byte as a damaged one does."""
    with pytest.raises(SessionUnsupportedError) as caught:
        read_log([*GOOD, event(3, "acme/unheard-of"), event(4)])
    assert (caught.value.line, caught.value.byte) == (5, len(to_lines(GOOD)))


def test_a_place_is_counted_over_all_pieces() -> None:
    """Line and byte count from the start of the log, not of the piece that was fed last."""
    reader = LogReader()
    for line in GOOD:
        reader.feed([line])
    with pytest.raises(SessionDamagedError) as caught:
        reader.feed([event(3), event(4, "mode/set")])
    assert (caught.value.line, caught.value.byte) == (6, len(to_lines([*GOOD, event(3)])))


def test_a_seq_may_be_spelled_with_a_point() -> None:
    """`3.0` is the integer 3 for the title and for what closes a crashed turn too."""
    log = LogBuilder()
    log.start_turn()
    log.start_step()
    log.assistant("ok", blocks=({"type": "tool-call", "id": "c", "name": "sh"},))
    log.tool_call("c")
    log.title("T")
    for record in log.events:
        record["seq"], record["time"] = float(record["seq"]), float(record["time"])
    read = read_log(log.lines())
    assert read.last_seq == 7
    assert read.title is not None
    assert json_line([read.title.event_seq, read.title.updated_at]) == b"[4,1700000000004]"


WHOLE_LOG = b"""\
{"type":"session","version":0,"id":"e1","createdAt":1,"delegationDepth":0}
{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}
{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1}}
{"type":"user/message","seq":2,"time":1,"data":{"id":"a","role":"user","source":{"kind":"user"},\
"content":[{"type":"text","text":"hi"}]},"surfaceOp":"append"}
{"type":"text-chunks","seq0":3,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[0,0],\
"texts":["a","b","c"]}}
{"type":"assistant/message","seq":6,"time":2,"data":{"turn":1,"step":1,"message":{"id":"b",\
"role":"assistant","source":{"kind":"model","provider":"p","model":"m"},\
"content":[{"type":"text","text":"abc"}]}},"surfaceOp":"append","sourceEventSeqs":[[3,5]]}
"""


def test_a_whole_log_is_read() -> None:
    """A log as it stands in a file gives its conversation, and the seq of its last closer."""
    log = read_log(WHOLE_LOG.splitlines())
    assert [(seq, node.speaker, node.text) for seq, node in log.surface] == [
        (2, "user", "hi"),
        (6, "assistant", "abc"),
    ]
    assert (log.header.id, log.title, log.last_seq, log.last_time) == ("e1", None, 8, 2)


@given(log_builders(), st.lists(st.integers(0, 15)), st.booleans())
def test_a_log_means_the_same_in_any_pieces(log: LogBuilder, cuts: list[int], sealed: bool) -> None:
    """However the lines of a log are fed, they mean the same."""
    lines = log.lines()
    reader = LogReader()
    for start, end in pairwise([0, *sorted(cuts), len(lines)]):
        reader.feed(lines[start:end], sealed=sealed)
    assert reader.close() == log.log() == read_log(lines)
