"""What a search decides by: rare grams, and walks that are no longer than they are worth."""

from __future__ import annotations

from sessionref.discovery.sqlite.plans import COSTS

TOTAL = 1_000_000


def choose(counts: dict[str, int], rows: int = TOTAL) -> list[str]:
    return COSTS.choose_grams(list(counts), lambda gram: counts[gram], rows, TOTAL)


def test_the_rarest_gram_comes_first() -> None:
    """The gram that leaves the fewest rows is looked up, and one that leaves them all is not."""
    assert choose({"all": TOTAL, "rar": 100, "mid": 300_000})[0] == "rar"
    assert "all" not in choose({"all": TOTAL, "rar": 100})


def test_a_further_gram_has_to_be_worth_it() -> None:
    """Where few rows are left to check, no long list is gone through to spare some of them."""
    assert choose({"rar": 5, "xxx": 1, "yyy": 2, "com": 400_000}) == ["xxx"]
    assert choose({"one": 90_000, "xxx": TOTAL, "yyy": TOTAL, "two": 80_000}) == ["two", "one"]


def test_few_rows_are_checked_without_grams() -> None:
    """A folder with three sessions is looked through, whatever the needle."""
    assert choose({"rar": 5}, rows=3) == []


def test_grams_far_apart_are_preferred() -> None:
    """Of two grams alike, the one that does not overlap the first spares more."""
    counts = {"abc": 20_000, "bcd": 30_000, "cde": 30_000, "xyz": 31_000}
    assert choose(counts)[:2] == ["abc", "xyz"]


def test_a_walk_is_for_what_is_frequent() -> None:
    """Where every second row matches a walk begins, where one in 100,000 does it does not."""
    assert 100 < COSTS.steps(50, TOTAL // 2, TOTAL, TOTAL) < 1_000
    assert COSTS.steps(50, 10, TOTAL, TOTAL) == 0


def test_few_rows_are_walked_through() -> None:
    """In a folder of few sessions a walk is short, however rare the needle."""
    assert COSTS.steps_in_cwd(50, 1_000, 40, TOTAL) > 40


def test_gathering_is_for_few() -> None:
    """More matches than that are worth walking for, and the more rows the later."""
    assert 0 < COSTS.worth_walking(50, 10_000) < COSTS.worth_walking(50, TOTAL) < TOTAL / 10
