"""Sessions that started with events of another one."""

from __future__ import annotations

import pytest
from versioned import event, read, said, user

from sessionref.errors import SessionDamagedError
from sessionref.session.fold import fold_events
from sessionref.session.header import SessionHeader

NEWER = pytest.mark.parametrize("version", [2, 3, 4])
MARK = event("session/end-seed", {"inherited": True})


@pytest.mark.parametrize("version", [0, 1])
def test_an_older_seed_needs_no_mark(version: int) -> None:
    """Up to version 1 the header alone tells of a seed, which is conversation like the rest."""
    log = read(version, user("then"), user("now"), seedLength=1)
    assert said(log) == ["user: then", "user: now"]


@NEWER
def test_a_seed_is_conversation(version: int) -> None:
    """What a session has inherited is on its surface, before what came after."""
    log = read(version, user("then"), MARK, user("now"), isSeeded=True)
    assert said(log) == ["user: then", "user: now"]
    assert log.last_seq == 2


@NEWER
def test_the_seed_of_a_seed(version: int) -> None:
    """A seed may hold the mark of the seed that it started with itself."""
    log = read(version, user("a"), MARK, user("b"), MARK, user("c"), isSeeded=True)
    assert said(log) == ["user: a", "user: b", "user: c"]


@NEWER
def test_a_seeded_log_marks_its_cut(version: int) -> None:
    """A log whose header speaks of a seed, without an event that ends it, is damaged."""
    with pytest.raises(SessionDamagedError, match="isSeeded true"):
        read(version, user(), isSeeded=True)


@NEWER
def test_an_unseeded_log_has_no_cut(version: int) -> None:
    """A log with the end of a seed whose header speaks of none is damaged."""
    with pytest.raises(SessionDamagedError, match="isSeeded false"):
        read(version, MARK, user())


@NEWER
@pytest.mark.parametrize("data", [{}, {"inherited": False}, {"inherited": 1}, [], 7, "inherited"])
def test_other_ends_of_seeds_mean_nothing(version: int, data: object) -> None:
    """Only `inherited: true` marks a cut: any other such event is passed over, and marks none."""
    other = event("session/end-seed", data)
    assert said(read(version, other, user())) == ["user: hi"]
    with pytest.raises(SessionDamagedError, match="isSeeded"):
        read(version, other, user(), isSeeded=True)


@NEWER
def test_a_host_need_not_say_that_there_is_no_seed(version: int) -> None:
    """A header that was made without isSeeded is that of a session without a seed."""
    assert fold_events(SessionHeader(version, "s", 1), []).header.is_seeded is None
