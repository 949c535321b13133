"""The surface: what appends and replacements leave of it, and which replacements are damage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, text_block
from strategies import log_builders

from sessionref.errors import SessionDamagedError
from sessionref.session.reading import read_log
from sessionref.session.surface import Surface, SurfaceNode


def surface_of(log: LogBuilder) -> list[int]:
    return [seq for seq, _ in read_log(log.lines()).surface]


def three_messages() -> LogBuilder:
    log = LogBuilder()
    log.user("a")
    log.assistant("b")
    log.user("c")
    return log


def replace(log: LogBuilder, operation: object, sources: object = None) -> int:
    """Append a user message with an operation of its own; without sources it carries none."""
    more = {} if sources is None else {"sourceEventSeqs": sources}
    message = {"id": "r", "role": "user", "source": {"kind": "user"}, "content": [text_block("r")]}
    return log.append("user/message", message, surfaceOp=operation, **more)


def test_messages_stand_in_the_order_of_the_log() -> None:
    """An event that is appended comes at the end."""
    log = three_messages()
    log.title("between")
    log.tool_result("call", "d")
    assert surface_of(log) == [0, 1, 2, 4]


@pytest.mark.parametrize(
    ("start", "end", "left"),
    [(0, 0, [3, 1, 2]), (1, 1, [0, 3, 2]), (2, 2, [0, 1, 3]), (0, 1, [3, 2]), (0, 2, [3])],
)
def test_a_replacement_stands_where_the_replaced_stood(
    start: int, end: int, left: list[int]
) -> None:
    """A replacement takes the place of all events from the first to the last it names."""
    log = three_messages()
    replace(log, {"op": "replace", "start": start, "end": end}, list(range(start, end + 1)))
    assert surface_of(log) == left


def test_a_replacement_can_be_replaced() -> None:
    """What a compaction left may be compacted again, and is then named by its own seq."""
    log = three_messages()
    replace(log, {"op": "replace", "start": 0, "end": 1}, [0, 1])
    replace(log, {"op": "replace", "start": 3, "end": 2}, [3, 2])
    assert surface_of(log) == [4]


def test_any_surface_event_may_replace() -> None:
    """An answer of the model may stand in the place of others too."""
    log = three_messages()
    log.assistant("d")
    log.events[-1] |= {
        "surfaceOp": {"op": "replace", "start": 0, "end": 2},
        "sourceEventSeqs": [0, 1, 2],
    }
    assert surface_of(log) == [3]


@pytest.mark.parametrize(
    ("operation", "sources", "reason"),
    [
        ({"op": "replace", "start": 9, "end": 1}, [0, 1], "not on the surface"),
        ({"op": "replace", "start": 0, "end": 9}, [0, 1], "not on the surface"),
        ({"op": "replace", "start": 0, "end": 3}, [0, 1], "not on the surface"),
        ({"op": "replace", "start": -1, "end": 1}, [0, 1], "not on the surface"),
        ({"op": "replace", "start": 1, "end": 0}, [0, 1], "backwards"),
        ({"op": "replace", "start": 2, "end": 0}, [0, 1, 2], "backwards"),
        ({"op": "replace", "start": 0, "end": 1}, None, "does not list"),
        ({"op": "replace", "start": 0, "end": 1}, [0], "removes 1, which"),
        ({"op": "replace", "start": 0, "end": 2}, [2, 0], "removes 1, which"),
        ({"op": "replace", "start": 0, "end": 1}, [], "empty"),
        ({"op": "replace", "start": 0, "end": 1, "note": 1}, [0, 1], "surfaceOp"),
        ({"op": "replace", "start": 0}, [0], "surfaceOp"),
        ({"op": "replace", "startSeq": 0, "endSeq": 0}, [0], "surfaceOp"),
        ({"op": "append", "start": 0, "end": 0}, [0], "surfaceOp"),
        ({"op": "replace", "start": "0", "end": 0}, [0], "surfaceOp"),
        ({"op": "replace", "start": 0, "end": None}, [0], "surfaceOp"),
        ({"op": "replace", "start": False, "end": 0}, [0], "surfaceOp"),
        ({"op": "replace", "start": 0.5, "end": 1}, [0, 1], "surfaceOp"),
        ({}, [0], "surfaceOp"),
        ("Append", None, "surfaceOp"),
        ("replace", None, "surfaceOp"),
        (["append"], None, "surfaceOp"),
        (True, None, "surfaceOp"),
        (None, None, "surfaceOp"),
    ],
)
def test_a_wrong_replacement_is_damage(operation: object, sources: object, reason: str) -> None:
    """A replacement names two events on the surface, in order, and lists all that it removes."""
    log = three_messages()
    replace(log, operation, sources)
    with pytest.raises(SessionDamagedError, match=reason):
        surface_of(log)


def test_what_was_replaced_is_not_on_the_surface() -> None:
    """An event that a replacement removed cannot be named by a later one."""
    log = three_messages()
    replace(log, {"op": "replace", "start": 0, "end": 1}, [0, 1])
    replace(log, {"op": "replace", "start": 1, "end": 2}, [1, 2])
    with pytest.raises(SessionDamagedError, match="not on the surface"):
        surface_of(log)


def test_a_log_only_event_is_not_on_the_surface() -> None:
    """A title has a seq like any event, and no place on the surface."""
    log = three_messages()
    title = log.title("T")
    replace(log, {"op": "replace", "start": title, "end": title}, [title])
    with pytest.raises(SessionDamagedError, match="not on the surface"):
        surface_of(log)


def test_a_replacement_may_list_more_than_it_removes() -> None:
    """The events that a replacement was made from may be more than those it removes."""
    log = three_messages()
    replace(log, {"op": "replace", "start": 1, "end": 1}, [0, 1, 2])
    assert surface_of(log) == [0, 3, 2]


def test_a_refused_replacement_changes_nothing() -> None:
    """The surface is as it was after a replacement that it refused."""
    surface = Surface()
    for seq in range(3):
        surface.append(seq, SurfaceNode(text=str(seq)))
    before = list(surface)
    for start, end in [(2, 1), (0, 7), (7, 0)]:
        with pytest.raises(SessionDamagedError):
            surface.replace(3, SurfaceNode(), start, end)
    assert list(surface) == before


@pytest.mark.parametrize("seq", [0, 1, None, "0", True])
def test_a_node_is_found_by_its_seq_alone(seq: object) -> None:
    """Only an integer that is on the surface has a node."""
    surface = Surface()
    surface.append(1, SurfaceNode(text="one"))
    assert (surface.get(seq) is not None) is (seq == 1 and type(seq) is int)


@given(st.lists(st.none() | st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=15))
def test_the_surface_is_a_list(operations: list[tuple[int, int] | None]) -> None:
    """Whatever is appended and replaced, the surface is what a plain list would be."""
    surface = Surface()
    plain: list[int] = []
    for seq, operation in enumerate(operations):
        if operation is None:
            surface.append(seq, SurfaceNode(text=str(seq)))
            plain.append(seq)
        elif not (set(operation) <= set(plain) and is_in_order(plain, *operation)):
            with pytest.raises(SessionDamagedError):
                surface.replace(seq, SurfaceNode(), *operation)
        else:
            first, last = map(plain.index, operation)
            removed = surface.replace(seq, SurfaceNode(text=str(seq)), *operation)
            assert removed == plain[first : last + 1]
            plain[first : last + 1] = [seq]
        assert list(surface) == [(seq, SurfaceNode(text=str(seq))) for seq in plain]


def is_in_order(plain: list[int], start: int, end: int) -> bool:
    return plain.index(start) <= plain.index(end)


@given(log_builders())
def test_the_surface_of_a_log_is_a_list(log: LogBuilder) -> None:
    """The surface of a log with compactions is the list of seqs that its builder kept."""
    assert surface_of(log) == log.surface
