"""The two shapes of a tool's result, and what may replace one."""

from __future__ import annotations

from typing import Any

import pytest
from logs import text_block
from versioned import Event, blocky_result, plain_result, read, replacing, said, seqs, user

from sessionref.errors import SessionDamagedError

FROM_3 = pytest.mark.parametrize("version", [3, 4])


@pytest.mark.parametrize("version", range(5))
def test_a_block_in_a_user_message(version: int) -> None:
    """The shape of versions 0 to 3 is read in every version: forks write it under version 4."""
    log = read(version, user(), blocky_result())
    assert (said(log), seqs(log)) == (["user: hi"], [0, 1])


@FROM_3
def test_a_message_of_role_tool(version: int) -> None:
    """The shape of version 4 is read from version 3 on."""
    log = read(version, user(), plain_result())
    assert (said(log), seqs(log)) == (["user: hi"], [0, 1])


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_message_of_role_tool_comes_too_early(version: int) -> None:
    """Up to version 2 the shape of version 4 is damage."""
    with pytest.raises(SessionDamagedError, match="role"):
        read(version, plain_result())


@FROM_3
@pytest.mark.parametrize("is_error", [True, False])
def test_a_plain_result_may_say_if_it_failed(version: int, is_error: bool) -> None:
    """In a message of role tool isError may be given."""
    result = plain_result()
    result["data"]["message"]["isError"] = is_error
    assert seqs(read(version, result)) == [0]


@FROM_3
@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", ""),
        ("id", None),
        ("role", "assistant"),
        ("toolCallId", "d"),
        ("toolCallId", None),
        ("isError", None),
        ("isError", 0),
        ("source", None),
        ("source", {"kind": "user", "callId": "c"}),
        ("source", {"kind": "tool"}),
        ("source", {"kind": "tool", "callId": ""}),
        ("content", None),
        ("content", "done"),
        ("content", [{"text": "done"}]),
        ("content", [{"type": "text"}]),
    ],
)
def test_a_plain_result_of_a_wrong_shape(version: int, member: str, value: object) -> None:
    """A message of role tool answers the call that its source names, with blocks."""
    result = plain_result()
    result["data"]["message"][member] = value
    with pytest.raises(SessionDamagedError):
        read(version, result)


@FROM_3
@pytest.mark.parametrize("member", ["id", "role", "toolCallId", "source", "content"])
def test_a_plain_result_lacks_nothing(version: int, member: str) -> None:
    """All members of a message of role tool but isError are required."""
    result = plain_result()
    del result["data"]["message"][member]
    with pytest.raises(SessionDamagedError):
        read(version, result)


@FROM_3
@pytest.mark.parametrize("member", ["turn", "step", "message"])
def test_a_plain_result_stands_in_a_step(version: int, member: str) -> None:
    """The data of a result names its turn and step, in whichever shape."""
    result = plain_result()
    del result["data"][member]
    with pytest.raises(SessionDamagedError):
        read(version, result)


def test_the_shapes_do_not_mix() -> None:
    """A message of role user with the members of a plain result is neither."""
    result = plain_result()
    result["data"]["message"]["role"] = "user"
    with pytest.raises(SessionDamagedError, match="exactly one tool-result block"):
        read(4, result)


def replaced(version: int, made: Any, **members: object) -> list[int]:
    """Return the surface after a result is replaced by one with other members of its message."""
    again: Event = made(text="shorter", **replacing(version, 1, 1))
    again["data"]["message"] |= members
    return seqs(read(version, user(), made(), again))


@pytest.mark.parametrize(
    ("version", "made"),
    [*((version, blocky_result) for version in range(5)), (3, plain_result), (4, plain_result)],
)
def test_a_result_may_change_its_content(version: int, made: Any) -> None:
    """A result may be replaced by itself with another content, in whichever shape."""
    assert replaced(version, made) == [0, 2]


@FROM_3
@pytest.mark.parametrize(
    "members",
    [
        {"id": "other"},
        {"isError": True},
        {"note": 1},
        {"toolCallId": "d", "source": {"kind": "tool", "callId": "d"}},
    ],
)
def test_a_plain_result_changes_only_its_content(version: int, members: Event) -> None:
    """Whatever else of the message differs is damage, also what one of them lacks."""
    with pytest.raises(SessionDamagedError, match="change only its content"):
        replaced(version, plain_result, **members)


@FROM_3
def test_a_plain_result_stays_in_its_step(version: int) -> None:
    """What stands beside the message stays too."""
    again = plain_result(**replacing(version, 0, 0))
    again["data"]["error"] = {"code": "X"}
    with pytest.raises(SessionDamagedError, match="change only its content"):
        read(version, plain_result(), again)


@FROM_3
def test_a_plain_result_replaces_one_result(version: int) -> None:
    """A result takes the place of nothing but one result."""
    with pytest.raises(SessionDamagedError, match="may replace only itself"):
        read(version, user(), plain_result(**replacing(version, 0, 0)))
    both = plain_result(**replacing(version, 0, 1))
    with pytest.raises(SessionDamagedError, match="may replace only itself"):
        read(version, plain_result(), plain_result(), both)


def test_a_result_keeps_its_shape() -> None:
    """A result of one shape is not replaced by one of the other."""
    with pytest.raises(SessionDamagedError, match="change only its content"):
        read(4, blocky_result(), plain_result(**replacing(4, 0, 0)))


@FROM_3
def test_the_content_of_a_plain_result_is_blocks(version: int) -> None:
    """A result may hold blocks of any kind, and none at all."""
    result = plain_result()
    result["data"]["message"]["content"] = [text_block("x"), {"type": "image", "data": 7}]
    empty = plain_result()
    empty["data"]["message"]["content"] = []
    assert seqs(read(version, result, empty)) == [0, 1]
