"""What the index holds of sessions that are put in and taken out."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cwds, joined_text, labels, safe_integers, session_ids

from sessionref.discovery.sqlite.counting import count_grams, read_frequencies
from sessionref.discovery.sqlite.reading import find_session, read_ranked
from sessionref.discovery.sqlite.rows import IndexedSession, rank_ranges
from sessionref.discovery.sqlite.writing import merge_grams, put_sessions, remove_sessions
from sessionref.reference.visible import is_blank
from sessionref.storage.protocol import Revision


def indexed_sessions() -> st.SearchStrategy[IndexedSession]:
    """A session with all that the index can hold of one."""
    count = st.none() | safe_integers(0)
    numbers = st.integers(-(2**70), 2**130)
    return st.tuples(
        session_ids(),
        st.none() | cwds(),
        st.none() | labels(),
        safe_integers(0),
        st.none() | safe_integers(),
        st.none() | session_ids(),
        st.booleans(),
        st.none() | joined_text(),
        safe_integers(0),
        safe_integers(0),
        count,
        st.none() | st.booleans(),
        st.none() | joined_text(),
        st.binary(),
        st.none() | st.binary(),
        st.binary(),
        st.none() | st.builds(Revision, numbers, numbers, numbers, numbers, numbers),
        st.none() | st.binary(),
    ).map(lambda values: IndexedSession(*values))


def grams_in(index: apsw.Connection, table: str) -> list[str]:
    """Return the grams that a table of grams has left once it is merged."""
    for _ in merge_grams(index):
        pass
    index.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {table}, row)")
    terms = [str(term) for (term,) in index.execute("SELECT term FROM temp.terms")]
    index.execute("DROP TABLE temp.terms")
    return terms


@given(indexed_sessions())
def test_a_session_comes_back_as_it_was(
    new_index: Callable[[], apsw.Connection], session: IndexedSession
) -> None:
    """All values come back, but for a title that shows nothing: the label is the id."""
    index = new_index()
    put_sessions(index, [session])
    blank = session.title is None or is_blank(session.title)
    shown = session._replace(title=None) if blank else session
    assert find_session(index, session.id) == shown
    rank = index.execute("SELECT rank FROM session").get
    assert read_ranked(index, [rank]) == [shown]


def test_an_unknown_session_is_none(index: apsw.Connection) -> None:
    """An id that is not in the index finds nothing, and taking it out does nothing."""
    assert find_session(index, "nobody") is None
    remove_sessions(index, ["nobody"])


def test_the_last_of_one_id_counts(index: apsw.Connection) -> None:
    """Of several sessions with one id, in one call or in several, the last one is in the index."""
    put_sessions(index, [IndexedSession("s", None, "one", 1), IndexedSession("s", "/a", "two", 2)])
    assert find_session(index, "s") == IndexedSession("s", "/a", "two", 2)
    put_sessions(index, [IndexedSession("s", "/b", "three", 2)])
    assert find_session(index, "s") == IndexedSession("s", "/b", "three", 2)
    assert index.execute("SELECT count(*) FROM session").get == 1


def test_what_is_taken_out_leaves_nothing(index: apsw.Connection) -> None:
    """No gram, folder or name stays behind that a session brought with it."""
    sessions = [
        IndexedSession(f"s{n}", f"/home/{n}", f"Title {n}", n, project=b"p%d" % n, file=b"log")
        for n in range(30)
    ]
    put_sessions(index, sessions)
    put_sessions(index, [each._replace(title="Other", cwd="/x") for each in sessions[:10]])
    remove_sessions(index, [each.id for each in sessions])
    assert grams_in(index, "session_gram") == grams_in(index, "cwd_gram") == []
    assert index.execute("SELECT count(*) FROM cwd").get == 0
    assert index.execute("SELECT name FROM name").fetchall() == [(b"log",)]


def test_a_folder_counts_its_sessions(index: apsw.Connection) -> None:
    """The number of sessions of a cwd follows what is put in, moved and taken out."""
    put_sessions(index, [IndexedSession(f"s{n}", "/ab"[: 1 + n % 3], None, n) for n in range(9)])
    put_sessions(index, [IndexedSession("s0", "/ab", "moved", 0)])
    remove_sessions(index, ["s1"])
    counts = index.execute("SELECT path, sessions FROM cwd ORDER BY path").fetchall()
    assert counts == [(b"/", 2), (b"/a", 2), (b"/ab", 4)]


def test_a_change_that_nothing_is_looked_up_by_leaves_grams_alone(index: apsw.Connection) -> None:
    """A session whose log grew, and nothing else, is written without a change of grams."""
    session = IndexedSession("s", "/a", "title", 1)
    put_sessions(index, [session])
    before = index.execute("SELECT id, block FROM session_gram_data ORDER BY id").fetchall()
    put_sessions(index, [session._replace(updated_at=9, checkpoint=b"c")])
    assert find_session(index, "s") == session._replace(updated_at=9, checkpoint=b"c")
    after = index.execute("SELECT id, block FROM session_gram_data ORDER BY id").fetchall()
    assert after == before


def test_a_write_that_fails_changes_nothing(index: apsw.Connection) -> None:
    """What cannot be written takes back all that came with it."""
    put_sessions(index, [IndexedSession("s", "/a", "title", 1)])
    too_large = IndexedSession("u", "/b", None, 1, updated_at=2**70)
    with pytest.raises(OverflowError):
        put_sessions(index, [IndexedSession("t", "/b", "other", 0), too_large])
    assert find_session(index, "t") is None
    assert index.execute("SELECT path FROM cwd").fetchall() == [(b"/a",)]


@given(safe_integers(0), safe_integers(0), st.none() | cwds())
def test_ranks_sort_by_time(one: int, other: int, cwd: str | None) -> None:
    """Of two sessions in a group the newer has the smaller ranks, or both have the same."""
    for newer, older in zip(
        rank_ranges(cwd, max(one, other)), rank_ranges(cwd, min(one, other)), strict=True
    ):
        assert newer == older or newer[1] < older[0]
        assert newer[0] <= newer[1] < 2**63


def test_sessions_without_cwd_have_the_smaller_ranks() -> None:
    """The oldest session without cwd comes before the newest of a cwd, in either area."""
    without, within = rank_ranges(None, 0), rank_ranges("", 2**53 - 1)
    assert all(one[1] < other[0] for one, other in zip(without, within, strict=True))
    assert within[0][1] < without[1][0]


def test_frequent_grams_are_counted(
    index: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index knows of about how many rows have a frequent gram; of a rare one, a guess."""
    put_sessions(
        index,
        [IndexedSession(f"{n:x}", f"/w{n % 4}", "xyz" if n % 2 else "u", n) for n in range(2_000)],
    )
    for sample in (8_000, 200):
        monkeypatch.setattr("sessionref.discovery.sqlite.counting._SAMPLE", sample)
        count_grams(index)
        frequencies = read_frequencies(index, "session_gram", ["xyz", "x", "7cf", "none"])
        assert frequencies.total == 2_000
        assert 700 < frequencies.rows_with("xyz") < 1_300
        assert frequencies.rows_with("x") >= frequencies.rows_with("xyz")
        assert frequencies.rows_with("7cf") < 20
        assert frequencies.rows_with("none") == 2
    assert read_frequencies(index, "cwd_gram", ["w1", "w"]).counts == {"w1": 1, "w": 4}
