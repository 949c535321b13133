"""Which events each version knows, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from logs import LogBuilder
from versioned import event, header, read, said, user

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.session.fold import fold_events
from sessionref.session.generations import NEWEST_VERSION, Generation, find_generation
from sessionref.session.header import parse_header
from sessionref.session.reading import read_log

ALL = pytest.mark.parametrize("version", range(5))
FROM_1 = pytest.mark.parametrize("version", [1, 2, 3, 4])

OLDER_NAMES = {"compact/start", "compact/summary", "compact/end", "compact/prune"}


def rules(version: int) -> Generation:
    found = find_generation(version)
    assert found is not None
    return found


def known(version: int) -> frozenset[str]:
    return rules(version).known_types


def test_the_versions_that_are_read() -> None:
    """Versions 0 to 4 have rules, each under its own number, and nothing else has."""
    assert [rules(version).version for version in range(5)] == [0, 1, 2, 3, 4]
    assert NEWEST_VERSION == 4
    assert [find_generation(version) for version in (-1, 5, 99)] == [None, None, None]


def test_version_1() -> None:
    """Version 1 knows what version 0 knows but its older spellings."""
    assert known(0) - known(1) == OLDER_NAMES | {"steering/message"}
    assert known(1) < known(0)


def test_version_2() -> None:
    """Version 2 has attempts for chunks, and feedback on messages."""
    added = {"assistant/attempt", "feedback/message-put", "feedback/message-delete"}
    assert known(2) == known(1) - {"assistant/chunk"} | added


def test_version_3() -> None:
    """Version 3 renames two events and knows five more."""
    added = {
        "tool/ptc-dispatch",
        "tool/ptc-dispatch-start",
        "system/message",
        "deliverables/presented",
        "image/offload",
        "subagent/catalog",
        "workspace/changes",
    }
    assert known(3) == known(2) - {"tool/code-dispatch", "tool/code-dispatch-start"} | added


def test_version_4() -> None:
    """Version 4 knows two more."""
    assert known(4) == known(3) | {"developer/message", "working-directory/change"}


@ALL
def test_surface_types(version: int) -> None:
    """Three types lie on the surface, from version 3 on a fourth, in version 4 a fifth."""
    types = ["user/message", "assistant/message", "tool/result", "system/message"]
    types += ["developer/message"]
    assert set(rules(version).surface_types) == set(types[: {3: 4, 4: 5}.get(version, 3)])
    assert rules(version).surface_types.keys() <= known(version)


@ALL
def test_log_only_events_say_nothing(version: int) -> None:
    """Every other known event counts and leaves the conversation alone, whatever its data is."""
    meaningful = {"turn/start", "turn/end", "step/start", "step/end", "tool/call", "session/title"}
    older = {"steering/message"}
    names = sorted(rules(version).log_only_types - meaningful - older)
    log = read(version, user(), *(event(name, [7]) for name in names))
    assert (said(log), log.last_seq) == (["user: hi"], len(names))


@ALL
def test_an_unknown_event_is_unsupported(version: int) -> None:
    """An event that nobody knows and that may not be ignored is named, with its seq."""
    with pytest.raises(SessionUnsupportedError, match=r"'acme/note' at seq 1") as caught:
        read(version, user(), event("acme/note", 7))
    assert caught.value.direction == "unknown"


@ALL
def test_an_ignorable_event_is_skipped(version: int) -> None:
    """An unknown event that says that it may be ignored counts and means nothing."""
    log = read(version, user(), event("acme/note", 7, ignorable=True))
    assert (said(log), log.last_seq) == (["user: hi"], 1)


@ALL
def test_a_host_may_know_more(version: int) -> None:
    """A host adds event types of its own to those of any version."""
    events = [{**event("acme/note", 7), "seq": 0, "time": 1}]
    log = fold_events(parse_header(header(version)), events, known_types={"acme/note"})
    assert log.last_seq == 0


@pytest.mark.parametrize("name", ["plugin:", "plugin:a", "plugin:@acme/tools/note"])
@pytest.mark.parametrize("members", [{}, {"ignorable": True}, {"surfaceOp": "append"}])
def test_a_plugin_record_is_ignorable(name: str, members: dict[str, object]) -> None:
    """In version 4 what a plugin records may always be ignored, said or not."""
    log = read(4, user(), event(name, 7, **members))
    assert (said(log), log.last_seq) == (["user: hi"], 1)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_older_plugin_record_is_required(version: int) -> None:
    """Before version 4 that name means nothing special."""
    with pytest.raises(SessionUnsupportedError, match="plugin:a"):
        read(version, event("plugin:a", 7))


@pytest.mark.parametrize("name", ["plugin", "Plugin:a", "plugins:a"])
def test_a_name_like_a_plugin_record(name: str) -> None:
    """Only a name that starts with `plugin:` is a plugin's."""
    with pytest.raises(SessionUnsupportedError, match="is required and not known"):
        read(4, event(name, 7))


@pytest.mark.parametrize("name", sorted(OLDER_NAMES))
@ALL
def test_older_names_of_compactions(version: int, name: str) -> None:
    """`compact/…` is an older name of `compaction/…` in version 0, and unknown from 1 on."""
    if version == 0:
        assert read(version, event(name, {})).last_seq == 0
    else:
        with pytest.raises(SessionUnsupportedError, match=name):
            read(version, event(name, {}))


def older_user(log: LogBuilder) -> None:
    data = {"content": [], "source": {"kind": "user"}}
    log.append("user/message", data, surfaceOp="append")


def older_assistant(log: LogBuilder) -> None:
    provenance = {"provider": "p", "model": "m"}
    data = {"turn": 1, "step": 1, "stream": [], "content": [], "provenance": provenance}
    log.append("assistant/message", data, surfaceOp="append")


def older_result(log: LogBuilder) -> None:
    data = {"turn": 1, "step": 1, "callId": "c", "content": [], "isError": False}
    log.append("tool/result", data, surfaceOp="append")


def older_end(log: LogBuilder) -> None:
    log.append("turn/end", {"turn": 1, "reason": {"kind": "disposed"}})


@pytest.mark.parametrize("append", [older_user, older_assistant, older_result, older_end])
@FROM_1
def test_older_shapes(version: int, append: Callable[[LogBuilder], None]) -> None:
    """Shapes that version 0 converts are damage from version 1 on."""
    log = LogBuilder("s")
    append(log)
    assert read_log(log.lines()).last_seq == 0
    with pytest.raises(SessionDamagedError):
        fold_events(parse_header(header(version)), log.events)


@FROM_1
def test_older_steering(version: int) -> None:
    """`steering/message` is a message in version 0, and unknown from 1 on."""
    steering = event("steering/message", {"turn": 1, "message": user("go")["data"]})
    assert said(read(0, {**steering, "surfaceOp": "append"})) == ["user: go"]
    with pytest.raises(SessionUnsupportedError, match="steering/message"):
        read(version, {**steering, "surfaceOp": "append"})


@pytest.mark.parametrize("name", ["request/header-delta", "mode/set"])
@ALL
def test_events_without_a_meaning(version: int, name: str) -> None:
    """Two retired events are damage in version 0, and unknown from 1 on."""
    expected = SessionUnsupportedError if version else SessionDamagedError
    with pytest.raises(expected, match=name):
        read(version, event(name, {}))
