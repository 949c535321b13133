"""What lies on the surface in each version, and what may take its place."""

from __future__ import annotations

from typing import Any

import pytest
from logs import text_block
from versioned import (
    Event,
    assistant,
    blocky_result,
    checkpoint,
    event,
    instructions,
    read,
    replacing,
    said,
    seqs,
    user,
)

from sessionref.errors import SessionDamagedError, SessionUnsupportedError

ALL = pytest.mark.parametrize("version", range(5))
UP_TO_2 = pytest.mark.parametrize("version", [0, 1, 2])
FROM_2 = pytest.mark.parametrize("version", [2, 3, 4])
FROM_3 = pytest.mark.parametrize("version", [3, 4])

OLD_SPELLING = {"op": "replace", "start": 0, "end": 1}
NEW_SPELLING = {"op": "replace", "startSeq": 0, "endSeq": 1}


def replaced(version: int, operation: object, sources: object) -> list[int]:
    """Return the surface after two messages are replaced."""
    summary = checkpoint(version, surfaceOp=operation, sourceEventSeqs=sources)
    return seqs(read(version, user(), user(), summary))


def spelling(version: int) -> object:
    """Return how a version spells a replacement."""
    return NEW_SPELLING if version >= 3 else OLD_SPELLING


@UP_TO_2
def test_the_older_spelling_of_a_replacement(version: int) -> None:
    """Up to version 2 a replacement names start and end, and the newer names are damage."""
    assert replaced(version, OLD_SPELLING, [0, 1]) == [2]
    with pytest.raises(SessionDamagedError, match="neither append nor a replacement"):
        replaced(version, NEW_SPELLING, [0, 1])


@FROM_3
@pytest.mark.parametrize("operation", [OLD_SPELLING, NEW_SPELLING])
def test_both_spellings_of_a_replacement(version: int, operation: object) -> None:
    """From version 3 on it names startSeq and endSeq; the older names mean the same."""
    assert replaced(version, operation, [0, 1]) == [2]


@ALL
@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "start": 0, "endSeq": 1},
        {"op": "replace", "start": 0, "end": 1, "startSeq": 0, "endSeq": 1},
        {"op": "replace", "startSeq": 0},
        {"op": "append", "start": 0, "end": 1},
        {"start": 0, "end": 1},
        {"op": "replace", "start": "0", "end": 1},
        {"op": "replace", "startSeq": 0, "endSeq": None},
        "replace",
        None,
    ],
)
def test_no_other_spelling(version: int, operation: object) -> None:
    """Names may not be mixed, missing or more, and seqs are integers."""
    with pytest.raises(SessionDamagedError, match="neither append nor a replacement"):
        replaced(version, operation, [0, 1])


@ALL
@pytest.mark.parametrize("sources", [[0, 1], [1, 0], [[0, 1]], [0, [1, 1]]])
def test_sources_of_a_replacement(version: int, sources: object) -> None:
    """Every version lists what is removed seq by seq, in any order, or in rising pairs."""
    assert replaced(version, spelling(version), sources) == [2]


@ALL
@pytest.mark.parametrize("sources", [[], [1], [[1, 0]], [[0, 2]], [[0, 0], 0], [0, 0, 1], [[0]]])
def test_wrong_sources_of_a_replacement(version: int, sources: object) -> None:
    """Sources that are none, too few, not rising, too late or repeated are damage."""
    with pytest.raises(SessionDamagedError, match="sourceEventSeqs"):
        replaced(version, spelling(version), sources)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("sources", [[], [0], [[0, 0]]])
def test_older_answers_may_have_sources(version: int, sources: object) -> None:
    """Up to version 1 an answer may list the chunks that it was made from, or none of them."""
    log = read(version, user(), assistant(version, sourceEventSeqs=sources))
    assert said(log) == ["user: hi", "assistant: ok"]


@FROM_2
@pytest.mark.parametrize("sources", [[], [0], [[0, 0]]])
def test_newer_answers_have_no_sources(version: int, sources: object) -> None:
    """From version 2 on an answer that lists sources is damage, also if it lists none."""
    with pytest.raises(SessionDamagedError, match="assistant/message may not carry"):
        read(version, user(), assistant(version, sourceEventSeqs=sources))


@ALL
@pytest.mark.parametrize("made", [user, blocky_result])
def test_other_messages_may_have_sources(version: int, made: Any) -> None:
    """A message of another kind may list sources in every version, but not an empty list."""
    assert seqs(read(version, user(), made(sourceEventSeqs=[0]))) == [0, 1]
    with pytest.raises(SessionDamagedError, match="sourceEventSeqs"):
        read(version, user(), made(sourceEventSeqs=[]))


@pytest.mark.parametrize(
    ("role", "first"), [("system", 3), ("developer", 4)], ids=["system", "developer"]
)
@ALL
def test_instructions_lie_on_the_surface(version: int, role: str, first: int) -> None:
    """System messages came with version 3, developer messages with 4; before, they are unknown."""
    if version >= first:
        log = read(version, user(), instructions(role))
        assert (said(log), seqs(log)) == (["user: hi"], [0, 1])
    else:
        with pytest.raises(SessionUnsupportedError, match=f"{role}/message"):
            read(version, user(), instructions(role))


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", ""),
        ("role", "user"),
        ("source", None),
        ("source", {"kind": ""}),
        ("content", "be kind"),
        ("content", [{"type": "text"}]),
    ],
)
def test_instructions_of_a_wrong_shape(role: str, member: str, value: object) -> None:
    """Instructions are a message of their role; anything else under their name is damage."""
    wrong = instructions(role)
    wrong["data"]["message"][member] = value
    with pytest.raises(SessionDamagedError):
        read(4, wrong)


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("data", [{"turn": 1, "step": 1}, {"message": {}}, [], None])
def test_instructions_of_no_shape(role: str, data: object) -> None:
    """Instructions stand in a turn and step."""
    with pytest.raises(SessionDamagedError):
        read(4, {"type": f"{role}/message", "data": data, "surfaceOp": "append"})


@FROM_3
@pytest.mark.parametrize("last", [0, 1, 2])
def test_the_head_is_protected(version: int, last: int) -> None:
    """A system message at the head goes away by no compaction that starts with it."""
    log = [instructions("system"), user(), user()]
    with pytest.raises(SessionDamagedError, match="system message at the head"):
        read(version, *log, checkpoint(version, **replacing(version, 0, last)))


@FROM_3
def test_the_head_gives_way_to_its_like(version: int) -> None:
    """A system message may replace the one at the head, as often as it likes."""
    again = instructions("system", **replacing(version, 0, 0))
    operation = {"op": "replace", "startSeq": 2, "endSeq": 2}
    once_more = instructions("system", surfaceOp=operation, sourceEventSeqs=[2])
    log = read(version, instructions("system"), user(), again, once_more)
    assert (seqs(log), said(log)) == ([3, 1], ["user: hi"])


@FROM_3
def test_the_head_gives_way_alone(version: int) -> None:
    """A system message that takes more than the one at the head with it is damage."""
    greedy = instructions("system", **replacing(version, 0, 1))
    with pytest.raises(SessionDamagedError, match="system message at the head"):
        read(version, instructions("system"), user(), greedy)


@FROM_3
def test_a_new_head_is_protected_too(version: int) -> None:
    """What a system message was replaced by is protected as it was."""
    again = instructions("system", **replacing(version, 0, 0))
    operation = {"op": "replace", "startSeq": 2, "endSeq": 1}
    summary = checkpoint(version, surfaceOp=operation, sourceEventSeqs=[1, 2])
    with pytest.raises(SessionDamagedError, match="system message at the head"):
        read(version, instructions("system"), user(), again, summary)


@FROM_3
def test_only_the_head_is_protected(version: int) -> None:
    """A system message that stands behind another node may be compacted like that."""
    summary = checkpoint(version, **replacing(version, 0, 1))
    assert said(read(version, user(), instructions("system"), summary)) == ["+user: sum"]
    behind = checkpoint(version, **replacing(version, 1, 1))
    assert seqs(read(version, user(), instructions("system"), behind)) == [0, 2]


@FROM_3
def test_only_a_system_message_is_protected(version: int) -> None:
    """A head of any other kind may be replaced by anything."""
    system = instructions("system", **replacing(version, 0, 0))
    assert seqs(read(version, user(), system)) == [1]


def test_a_developer_message_is_not_protected() -> None:
    """A developer message at the head may be compacted."""
    summary = checkpoint(4, **replacing(4, 0, 0))
    assert seqs(read(4, instructions("developer"), summary)) == [1]


MARKS: list[tuple[Event, list[int]]] = [
    ({"kind": "plugin", "plugin": "compact", "compactionId": "k"}, [0, 1, 2, 3, 4]),
    ({"kind": "plugin", "plugin": "compact"}, [0, 1, 2, 3, 4]),
    ({"kind": "compact-checkpoint", "compactionId": "k"}, [3, 4]),
    ({"kind": "compact-checkpoint"}, [3, 4]),
    ({"kind": "plugin", "plugin": "other"}, []),
    ({"kind": "compact", "plugin": "compact"}, []),
    ({"kind": "agent-message", "form": "relay", "senderSessionId": "z"}, []),
]


@pytest.mark.parametrize(("source", "versions"), MARKS)
@ALL
def test_the_mark_of_a_checkpoint(version: int, source: Event, versions: list[int]) -> None:
    """The mark of the plugin counts everywhere, the newer kind from version 3 on, and no other."""
    expected = ["+user: sum"] if version in versions else []
    assert said(read(version, user("sum", source))) == expected


@ALL
def test_a_person_is_a_user(version: int) -> None:
    """In every version a prompt has a source of kind user."""
    assert said(read(version, user())) == ["user: hi"]


@ALL
def test_only_text_is_visible(version: int) -> None:
    """Blocks of any other kind carry no text, in questions and answers, and need no known shape."""
    kinds = ["file", "image", "reasoning", "tool-addition", "tool-removal", "acme"]
    hidden = [{"type": kind, "text": "hidden"} for kind in kinds]
    question, answer = user(), assistant(version, "ok", ["c"])
    question["data"]["content"] = [*hidden, text_block("hi"), text_block("again")]
    answer["data"]["message"]["content"] += hidden
    assert said(read(version, question, answer)) == ["user: hi\nagain", "assistant: ok"]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_ignored_events_stay_off_the_surface(version: int) -> None:
    """Up to version 2 an unknown event with a surfaceOp is damage, ignorable or not."""
    with pytest.raises(SessionDamagedError, match="may not carry surfaceOp"):
        read(version, event("acme/note", 7, ignorable=True, surfaceOp="append"))


@FROM_3
@pytest.mark.parametrize(
    "members",
    [
        {"surfaceOp": "append"},
        {"surfaceOp": NEW_SPELLING, "sourceEventSeqs": [0]},
        {"surfaceOp": "nonsense"},
        {"sourceEventSeqs": "nonsense"},
    ],
)
def test_ignored_events_never_touch_the_surface(version: int, members: Event) -> None:
    """From version 3 on an unknown ignorable event may carry anything: it does nothing."""
    note = event("acme/note", 7, ignorable=True, **members)
    log = read(version, user(), user(), note)
    assert (seqs(log), log.last_seq) == ([0, 1], 2)


@FROM_3
def test_known_events_stay_off_the_surface(version: int) -> None:
    """A known log-only event with a surfaceOp is damage in every version, ignorable or not."""
    with pytest.raises(SessionDamagedError, match="todo/write may not carry surfaceOp"):
        read(version, event("todo/write", 7, ignorable=True, surfaceOp="append"))
