"""Streams: lines of their own up to version 1, inside of what they made from version 2 on."""

from __future__ import annotations

import pytest
from logs import json_line
from versioned import PLACE, Event, assistant, event, lines, read, said, seqs, user

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.session.reading import LogReader, read_log

OLDER = pytest.mark.parametrize("version", [0, 1])
NEWER = pytest.mark.parametrize("version", [2, 3, 4])

STREAM: Event = {"type": "text-chunks", "time0": 1, "index": 0, "dt": [0], "texts": ["a", "b"]}
TURN_END = event("turn/end", {"turn": 1, "reason": {"kind": "completed"}})


def run(seq: int) -> bytes:
    """Return a packed run of two deltas."""
    data = {**PLACE, "index": 0, "dt": [0], "texts": ["a", "b"]}
    return json_line({"type": "text-chunks", "seq0": seq, "time0": 1, "data": data})


def chunk() -> Event:
    """Return one delta as an event."""
    delta = {"type": "text-delta", "index": 0, "text": "a"}
    return event("assistant/chunk", {**PLACE, "chunk": delta})


@OLDER
def test_older_streams_are_lines(version: int) -> None:
    """Up to version 1 chunks count, packed or not, and say nothing."""
    log = read_log([*lines(version, user(), chunk()), run(2)])
    assert (said(log), log.last_seq) == (["user: hi"], 3)


@NEWER
def test_a_packed_run_opens_a_defect(version: int) -> None:
    """From version 2 on a packed run is no record: it starts a crash tail."""
    log = read_log([*lines(version, user("kept")), run(1), *lines(version, user("lost"))[1:]])
    assert (said(log), log.last_seq) == (["user: kept"], 0)


@NEWER
def test_a_packed_run_in_the_committed_region(version: int) -> None:
    """A packed run before the end of a turn, or in a complete frame, is damage."""
    broken = [*lines(version, user()), run(1)]
    with pytest.raises(SessionDamagedError, match="packed run"):
        read_log([*broken, *lines(version, TURN_END)[1:]])
    with pytest.raises(SessionDamagedError, match="packed run"):
        LogReader().feed(broken, sealed=True)


@NEWER
def test_a_chunk_is_an_unknown_event(version: int) -> None:
    """From version 2 on `assistant/chunk` is a type that nobody knows, and required."""
    with pytest.raises(SessionUnsupportedError, match=r"assistant/chunk.* at seq 1"):
        read(version, user(), chunk())


@NEWER
@pytest.mark.parametrize("stream", [[], [STREAM], [7, None]])
def test_a_stream_is_passed_over(version: int, stream: object) -> None:
    """The stream inside an answer says nothing beside the answer, whatever it holds."""
    answer = assistant(version)
    answer["data"]["stream"] = stream
    assert said(read(version, answer)) == ["assistant: ok"]


@NEWER
@pytest.mark.parametrize("stream", [None, {}, "text", 7])
def test_a_stream_is_a_list(version: int, stream: object) -> None:
    """An answer whose stream is anything else is damaged."""
    answer = assistant(version)
    answer["data"]["stream"] = stream
    with pytest.raises(SessionDamagedError, match="stream"):
        read(version, answer)


@NEWER
def test_a_stream_is_required(version: int) -> None:
    """An answer without its stream is damaged."""
    with pytest.raises(SessionDamagedError, match="stream"):
        read(version, assistant(0))


@OLDER
def test_older_answers_have_no_stream(version: int) -> None:
    """Up to version 1 an answer has no stream, and a member of that name means nothing."""
    answer = assistant(version)
    answer["data"]["stream"] = None
    assert said(read(version, answer)) == ["assistant: ok"]


@NEWER
def test_an_attempt_is_never_shown(version: int) -> None:
    """A failed or repeated call counts and says nothing: it is not on the surface."""
    attempt = event("assistant/attempt", {**PLACE, "stream": [STREAM]})
    log = read(version, user(), attempt)
    assert (said(log), seqs(log), log.last_seq) == (["user: hi"], [0], 1)


@NEWER
def test_an_attempt_cannot_reach_the_surface(version: int) -> None:
    """An attempt that claims a place on the surface is damage."""
    with pytest.raises(SessionDamagedError, match="assistant/attempt may not carry surfaceOp"):
        read(version, event("assistant/attempt", {**PLACE, "stream": []}, surfaceOp="append"))


@OLDER
def test_older_logs_know_no_attempts(version: int) -> None:
    """Up to version 1 `assistant/attempt` is unknown and required."""
    with pytest.raises(SessionUnsupportedError, match="assistant/attempt"):
        read(version, event("assistant/attempt", {**PLACE, "stream": []}))


@pytest.mark.parametrize("version", range(5))
def test_an_interrupted_answer_is_shown(version: int) -> None:
    """What the model had said when it was interrupted is conversation."""
    answer = assistant(version, "so far")
    answer["data"]["interrupted"] = True
    assert said(read(version, answer)) == ["assistant: so far"]
