"""The first line of a log: who the session is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import json_line
from strategies import cwds, joined_text, safe_integers

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.javascript import MAX_SAFE_INTEGER
from sessionref.session.header import (
    MAX_HEADER_BYTES,
    SessionHeader,
    read_header,
    require_version,
)

REQUIRED: dict[str, Any] = {
    "type": "session",
    "version": 0,
    "id": "s",
    "createdAt": 1,
    "delegationDepth": 0,
}
OPTIONAL: dict[str, Any] = {
    "cwd": "/abs",
    "parentSession": "p",
    "seedLength": 12,
    "origin": "subagent",
    "agentPreset": "fast",
}


def headers() -> st.SearchStrategy[SessionHeader]:
    natural = safe_integers(0)
    return st.builds(
        SessionHeader,
        version=st.just(0),
        id=joined_text(),
        created_at=natural,
        delegation_depth=natural,
        cwd=st.none() | cwds(),
        parent_session=st.none() | joined_text(),
        seed_length=st.none() | natural,
        origin=st.sampled_from([None, "subagent"]),
        agent_preset=st.none() | joined_text(),
    )


def test_every_member_is_read() -> None:
    """A header with all members gives them under their Python names."""
    assert read_header(json_line({**REQUIRED, **OPTIONAL})) == SessionHeader(
        version=0,
        id="s",
        created_at=1,
        delegation_depth=0,
        cwd="/abs",
        parent_session="p",
        seed_length=12,
        origin="subagent",
        agent_preset="fast",
    )


@given(headers())
def test_a_header_survives_its_line(header: SessionHeader) -> None:
    """What a header is written as is read as the same header, whatever its strings hold."""
    assert read_header(json_line({"type": "session", **header.to_wire()})) == header


def test_optional_members_may_be_absent() -> None:
    """Only type, version, id, createdAt and delegationDepth are required."""
    assert read_header(json_line(REQUIRED)) == SessionHeader(0, "s", 1)


def test_unknown_members_are_ignored() -> None:
    """A member that the format does not name says nothing."""
    assert read_header(json_line({**REQUIRED, "colour": None})) == SessionHeader(0, "s", 1)


@pytest.mark.parametrize("number", [b"1.0", b"1e0", b"10E-1"])
def test_any_spelling_of_an_integer_is_one(number: bytes) -> None:
    """JSON has one kind of number: `1.0` is the integer 1, as in JavaScript."""
    line = json_line(REQUIRED).replace(b'"createdAt":1', b'"createdAt":' + number)
    assert read_header(line).created_at == 1


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_member_may_not_be_missing(name: str) -> None:
    """A header without one of its required members is damaged."""
    rest = {key: value for key, value in REQUIRED.items() if key != name}
    with pytest.raises(SessionDamagedError, match=name):
        read_header(json_line(rest))


@pytest.mark.parametrize("name", OPTIONAL)
def test_an_optional_member_is_never_null(name: str) -> None:
    """An optional member is absent or has a value."""
    with pytest.raises(SessionDamagedError, match=name):
        read_header(json_line({**REQUIRED, name: None}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "Session"),
        ("id", 7),
        ("createdAt", -1),
        ("createdAt", 1.5),
        ("createdAt", True),
        ("createdAt", "1"),
        ("createdAt", MAX_SAFE_INTEGER + 1),
        ("delegationDepth", -1),
        ("delegationDepth", [0]),
        ("cwd", 1),
        ("parentSession", {}),
        ("seedLength", -1),
        ("seedLength", 0.5),
        ("origin", "user"),
        ("agentPreset", False),
        ("sandboxMode", "none"),
        ("approvalPolicy", None),
    ],
)
def test_a_member_of_the_wrong_kind_is_damage(name: str, value: object) -> None:
    """A member has its type and range, and the two retired members may not be there at all."""
    with pytest.raises(SessionDamagedError, match=name) as caught:
        read_header(json_line({**REQUIRED, name: value}))
    assert (caught.value.line, caught.value.byte) == (1, 0)


def test_the_greatest_safe_integer_is_in_range() -> None:
    """A safe integer goes up to 2^53 - 1."""
    line = json_line({**REQUIRED, "createdAt": MAX_SAFE_INTEGER})
    assert read_header(line).created_at == MAX_SAFE_INTEGER


@pytest.mark.parametrize("version", [5, 99, MAX_SAFE_INTEGER])
@pytest.mark.parametrize("rest", [REQUIRED, {"sandboxMode": 1, "id": None}, {}])
def test_the_version_is_judged_before_anything_else(version: int, rest: dict[str, Any]) -> None:
    """A header of a newer version is unsupported even where the rest looks damaged."""
    line = json_line({**rest, "version": version})
    with pytest.raises(SessionUnsupportedError, match=f"version {version} .* newer") as caught:
        require_version(read_header(line).version)
    assert (caught.value.direction, caught.value.line, caught.value.byte) == ("newer", 1, 0)


def test_a_newer_header_is_read_as_far_as_it_goes() -> None:
    """A session of a newer version can be listed under its id, though its log is not read."""
    header = read_header(json_line({**REQUIRED, **OPTIONAL, "version": 99}))
    assert (header.version, header.id, header.cwd) == (99, "s", "/abs")


@pytest.mark.parametrize("version", [-1, 0.5, "0", True, None])
def test_a_version_is_a_natural_number(version: object) -> None:
    """What is no version number is damage: nothing says that a newer program wrote it."""
    with pytest.raises(SessionDamagedError, match="version"):
        read_header(json_line({**REQUIRED, "version": version}))


@pytest.mark.parametrize("value", [[], None, 1, "session", True])
def test_a_header_is_an_object(value: object) -> None:
    """A first line that is JSON but no object is damaged."""
    with pytest.raises(SessionDamagedError, match="not a JSON object"):
        read_header(json_line(value))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b'{"type":"session"',
        b"\xef\xbb\xbf" + json_line(REQUIRED),
        b"[" * 100_000,
        json_line(REQUIRED).replace(b":1,", b":" + b"9" * 5_000 + b","),
        json_line(REQUIRED).replace(b":1,", b":NaN,"),
        json_line(REQUIRED).replace(b'"s"', b'"\xe6\x87"'),
    ],
    ids=["empty", "half", "byte order mark", "deep", "5,000 digits", "NaN", "cut character"],
)
def test_a_header_is_json(line: bytes) -> None:
    """A first line that is not JSON is damaged, and the cause is chained."""
    with pytest.raises(SessionDamagedError, match="not JSON") as caught:
        read_header(line)
    assert isinstance(caught.value.__cause__, ValueError)
    assert (caught.value.line, caught.value.byte) == (1, 0)


def test_a_header_is_not_longer_than_it_may_be() -> None:
    """A first line of more than a mebibyte is damaged and not even parsed; one of that size is."""
    room = MAX_HEADER_BYTES - len(json_line({**REQUIRED, "cwd": ""}))
    assert read_header(json_line({**REQUIRED, "cwd": "x" * room})).cwd == "x" * room
    with pytest.raises(SessionDamagedError, match="longer than 1,048,576 bytes"):
        read_header(json_line({**REQUIRED, "cwd": "x" * (room + 1)}))
