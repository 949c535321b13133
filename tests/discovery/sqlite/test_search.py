"""Which sessions a search of the index finds: those of the scan, by whatever plan."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from math import inf

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cwds, joined_text, safe_integers

from sessionref.discovery.ranking import label_of, matches, rank
from sessionref.discovery.sqlite.counting import count_grams
from sessionref.discovery.sqlite.plans import COSTS, Costs
from sessionref.discovery.sqlite.rows import IndexedSession
from sessionref.discovery.sqlite.search import search
from sessionref.discovery.sqlite.writing import merge_grams, put_sessions, remove_sessions
from sessionref.javascript import join_surrogates
from sessionref.session.header import SessionHeader

NewIndex = Callable[[], apsw.Connection]

PLANS = {
    "as measured": COSTS,
    "walks": Costs(walk=0, walk_in_cwd=0, least_walk=10**9),
    "walks a step and gives up": Costs(walk=1e-9, walk_in_cwd=1e-9, patience=0, least_walk=1),
    "never walks": Costs(walk=inf, walk_in_cwd=inf),
    "looks up all grams": Costs(check=1e9, pass_by=0, open=0, walk=inf, walk_in_cwd=inf),
    "looks up few grams": Costs(check=0, walk=inf, walk_in_cwd=inf),
}

# Few characters, so that much of one text is in another; and those that have broken such searches.
ODD = "aAb/ .\0\"*-%_'()修缓İΣσςſẞᏣꮳᲐა\u2028\ud83d\ude00😀\U0010fffe\uffff"
TITLES = ["quick fix only", "quick ok", "修复 缓存", "МИР", "go", "go-lang", 'a"b', "don't", "100%"]
TITLES += [
    "100 done",
    "a_b",
    "axb",
    "x*",
    "f(x)",
    "title:x",
    "^top",
    "NEAR(a b)",
    "c:\\tmp",
    "[br]",
]
TITLES += ["plan \ud83d", "nul \0 nul", "line\u2028line", "İstanbul", "ſo", "Σίσυφος", "Ꮳꮳ", "Აა"]


def texts() -> st.SearchStrategy[str]:
    return st.text(ODD, max_size=5).map(join_surrogates) | joined_text(max_size=5)


def sessions() -> st.SearchStrategy[list[IndexedSession]]:
    few_cwds = st.none() | st.sampled_from(["/a", "/A", "/b/修"]) | cwds() | texts()
    times = st.integers(0, 3) | st.just(2**42) | safe_integers(0)
    values = st.tuples(texts(), few_cwds, st.none() | texts(), times)
    drawn = values.map(lambda each: IndexedSession(*each))
    return st.lists(drawn, max_size=30, unique_by=lambda session: session.id)


def indexed(index: apsw.Connection, found: Iterable[IndexedSession]) -> apsw.Connection:
    put_sessions(index, found)
    count_grams(index)
    return index


def titled(*titles: str | None, cwd: str | None = None, time: int = 0) -> list[IndexedSession]:
    return [
        IndexedSession(f"id-{place}", cwd, title, time + place)
        for place, title in enumerate(titles)
    ]


def expected(
    found: Iterable[IndexedSession], cwd: str | None, target_id: str, needle: str
) -> list[str]:
    """Return the ids of the sessions that match, by ranking alone."""
    ranked = []
    for session in found:
        header = SessionHeader(0, session.id, session.created_at, cwd=session.cwd)
        if session.id != target_id and matches(needle, header, label_of(session.id, session.title)):
            ranked.append(rank(cwd, header))
    return [place.session_id for place in sorted(ranked)]


def found_ids(
    index: apsw.Connection,
    needle: str,
    limit: int = 50,
    *,
    cwd: str | None = None,
    target_id: str = "target",
    costs: Costs = COSTS,
) -> list[str]:
    return [each.id for each in search(index, cwd, target_id, needle.lower(), limit, costs)]


@given(st.data(), sessions(), st.booleans())
def test_a_search_finds_what_ranking_says(
    new_index: NewIndex, data: st.DataObject, found: list[IndexedSession], has_counts: bool
) -> None:
    """Any needle, target and limit give the sessions that match, in rank order, by every plan."""
    index = new_index()
    put_sessions(index, found)
    if has_counts:
        count_grams(index)
    fields = [field for each in found for field in (each.id, each.title, each.cwd) if field]
    pieces = texts()
    if fields:
        pieces |= st.sampled_from(fields).flatmap(
            lambda text: st.slices(len(text)).map(lambda cut: text[cut.start : cut.stop])
        )
    needle = data.draw(pieces).lower()
    cwd = data.draw(st.sampled_from([None, "/a", "/nowhere", *(each.cwd for each in found)]))
    target_id = data.draw(st.sampled_from(["target", *(each.id for each in found)]))
    right = expected(found, cwd, target_id, needle)
    limits = {1, 2, max(1, len(right) - 1), len(right) + 1}
    for plan, costs in PLANS.items():
        for limit in limits:
            ids = found_ids(index, needle, limit, cwd=cwd, target_id=target_id, costs=costs)
            assert ids == right[:limit], plan


@given(st.lists(st.tuples(sessions(), st.booleans()), max_size=5), texts())
def test_an_index_that_changed_is_searched_as_it_is(
    new_index: NewIndex, changes: list[tuple[list[IndexedSession], bool]], needle: str
) -> None:
    """Sessions that were put in, changed, moved and taken out leave nothing behind to be found."""
    index = new_index()
    now: dict[str, IndexedSession] = {}
    for found, are_added in changes:
        if are_added:
            put_sessions(index, found)
            now |= {each.id: each for each in found}
        else:
            gone = [*(each.id for each in found), *list(now)[::2]]
            remove_sessions(index, gone)
            now = {key: each for key, each in now.items() if key not in gone}
        count_grams(index)
    for sought in (needle.lower(), ""):
        for plan, costs in PLANS.items():
            right = expected(now.values(), "/a", "target", sought)
            assert found_ids(index, sought, 100, cwd="/a", costs=costs) == right, plan


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("needle", ["ok", "quick ok", "修复", "МИ", "g", "复 缓", " ", *TITLES])
def test_odd_needles_are_text(index: apsw.Connection, needle: str, plan: str) -> None:
    """Short needles, and characters that SQL or FTS5 give a meaning to, are sought as they are."""
    found = titled(*TITLES)
    indexed(index, found)
    ids = {f"id-{TITLES.index(title)}" for title in TITLES if needle.lower() in title.lower()}
    assert set(found_ids(index, needle, costs=PLANS[plan])) == ids != set()


@pytest.mark.parametrize("needle", ["a", "ab", "abc", "ab\0cd", "d/e", "xid", "1/"])
def test_a_needle_does_not_reach_from_field_to_field(index: apsw.Connection, needle: str) -> None:
    """What stands in one field matches, what two would make together does not."""
    found = [IndexedSession("ab", "cd", "ef", 1), IndexedSession("abc", "/ab", "1", 2)]
    indexed(index, found)
    for costs in PLANS.values():
        assert found_ids(index, needle, costs=costs) == expected(found, None, "target", needle)


@pytest.mark.parametrize("times", [1, 1024, 10**12])
def test_many_sessions_of_one_second_are_in_order(index: apsw.Connection, times: int) -> None:
    """Of more sessions than a second has numbers for, each has its place."""
    found = [
        IndexedSession(f"{place * 7 % 60:03}", cwd, "ab" * (place % 4), 10**12 + place % 2 * times)
        for place in range(60)
        for cwd in [(None, "/a", "/b")[place % 3]]
    ]
    for session in found:
        put_sessions(index, [session])
    count_grams(index)
    assert index.execute("SELECT max(rank) FROM session").get > 2**61
    for needle in ("", "a", "ab", "aba", "/a", "01"):
        for costs in PLANS.values():
            for limit in (1, 7, 39, 100):
                right = expected(found, "/a", "target", needle)[:limit]
                assert found_ids(index, needle, limit, cwd="/a", costs=costs) == right


def test_every_session_may_have_a_folder_of_its_own(index: apsw.Connection) -> None:
    """A needle in thousands of folders, or in one of them, finds their sessions."""
    found = [IndexedSession(f"id-{n}", f"/home/work-{n}", "t", n) for n in range(3_000)]
    indexed(index, found)
    for needle in ("work", "work-77", "/", "k-2999", "e"):
        for costs in PLANS.values():
            right = expected(found, "/home/work-770", "target", needle)[:50]
            assert found_ids(index, needle, cwd="/home/work-770", costs=costs) == right


def test_merging_changes_no_answer(index: apsw.Connection) -> None:
    """After any step of a merge the answer is the same."""
    found = titled(*(f"word{place} {place:b}" for place in range(300)))
    for start in range(0, 300, 20):
        put_sessions(index, found[start : start + 20])
    right = expected(found, None, "target", "d1")
    for _ in merge_grams(index, pages=1):
        assert found_ids(index, "d1", 300) == right


def statements_of(index: apsw.Connection, needle: str, costs: Costs) -> str:
    """Return the statements that a search runs."""
    ran: list[str] = []

    def note(_: apsw.Cursor, statement: str, __: apsw.Bindings | None) -> bool:
        ran.append(statement)
        return True

    index.exec_trace = note
    search(index, "/a", "target", needle, 50, costs)
    index.exec_trace = None
    return "".join(ran)


def test_plans_differ(index: apsw.Connection) -> None:
    """The plans that these tests go through are not all the same one."""
    indexed(index, [*titled("ab", "abc", cwd="/b"), IndexedSession("x", "/a", "bc", 1)])
    walking = statements_of(index, "b", PLANS["walks"])
    giving_up = statements_of(index, "b", PLANS["walks a step and gives up"])
    never = statements_of(index, "b", PLANS["never walks"])
    assert ("OFFSET" in walking, "MATCH" in walking.split("OFFSET")[-1]) == (True, False)
    assert ("OFFSET" in giving_up, "MATCH" in giving_up) == (True, True)
    assert ("OFFSET" in never, "MATCH" in never) == (False, True)


def test_a_search_can_be_interrupted(index: apsw.Connection) -> None:
    """Another thread ends a search; no transaction stays open, and the next one is answered."""
    indexed(index, titled(*(f"title {place}" for place in range(200))))
    steps = 0

    def interrupt() -> bool:
        nonlocal steps
        steps += 1
        if steps == 20:
            thread = threading.Thread(target=index.interrupt)
            thread.start()
            thread.join()
        return False

    index.set_progress_handler(interrupt, 50)
    with pytest.raises(apsw.InterruptError):
        search(index, None, "target", "t", 1_000, PLANS["walks"])
    assert not index.in_transaction
    index.set_progress_handler(None)
    assert len(found_ids(index, "title")) == 50
