"""What the header of each version holds."""

from __future__ import annotations

import pytest
from versioned import event, header, read

from sessionref.errors import SessionDamagedError
from sessionref.session.header import SessionHeader, parse_header

OPTIONAL = {"cwd": "/w", "parentSession": "p", "origin": "subagent", "agentPreset": "fast"}


@pytest.mark.parametrize("version", range(5))
def test_the_members_that_all_versions_share(version: int) -> None:
    """Version, id, times, folder, parent, origin, depth and preset are the same everywhere."""
    parsed = parse_header(header(version, **OPTIONAL, delegationDepth=3))
    assert parsed == SessionHeader(
        version=version,
        id="s",
        created_at=1,
        delegation_depth=3,
        cwd="/w",
        parent_session="p",
        origin="subagent",
        agent_preset="fast",
        is_seeded=False if version >= 2 else None,
    )


@pytest.mark.parametrize("version", range(5))
def test_a_header_is_written_as_its_version_has_it(version: int) -> None:
    """What a header is written as holds what it was read from."""
    written = header(version, **OPTIONAL)
    assert {"type": "session", **parse_header(written).to_wire()} == written


@pytest.mark.parametrize("version", [0, 1])
def test_the_length_of_a_seed(version: int) -> None:
    """Up to version 1 a header may say how many events the session started with."""
    assert parse_header(header(version, seedLength=3)).seed_length == 3
    with pytest.raises(SessionDamagedError, match="seedLength"):
        parse_header(header(version, seedLength=-1))


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("value", [True, None])
def test_older_headers_know_no_seed_mark(version: int, value: object) -> None:
    """Up to version 1 isSeeded is a member like any other unknown one, and means nothing."""
    log = read(version, event("session/end-seed", {"inherited": True}), isSeeded=value)
    assert log.header.is_seeded is None


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("value", [0, 1, None, "true"])
def test_the_seed_mark_is_a_boolean(version: int, value: object) -> None:
    """From version 2 on isSeeded is true or false."""
    with pytest.raises(SessionDamagedError, match="isSeeded") as caught:
        parse_header(header(version, isSeeded=value))
    assert (caught.value.line, caught.value.byte) == (1, 0)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_seed_mark_is_required(version: int) -> None:
    """From version 2 on a header without isSeeded is damaged."""
    written = header(version)
    del written["isSeeded"]
    with pytest.raises(SessionDamagedError, match="isSeeded"):
        parse_header(written)


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("value", [0, 3, None])
def test_newer_headers_have_no_seed_length(version: int, value: object) -> None:
    """From version 2 on a header with seedLength is damaged."""
    with pytest.raises(SessionDamagedError, match="seedLength"):
        parse_header(header(version, seedLength=value))


def test_a_newer_header_is_not_judged() -> None:
    """What a version that is not read says of a seed is unknown, and keeps nothing from a list."""
    parsed = parse_header(header(9, isSeeded=1, seedLength="many"))
    assert (parsed.id, parsed.seed_length, parsed.is_seeded) == ("s", None, None)
