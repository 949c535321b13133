"""The sessions below a root: each once, and what is wrong with one costs the others nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import LogBuilder, to_lines
from permissions import public_folder

from sessionref.errors import (
    SessionDamagedError,
    SessionNotFoundError,
    SessionUnsupportedError,
    StoreUnreadableError,
)
from sessionref.storage import StoredSession
from sessionref.storage.jsonl import listing
from sessionref.storage.jsonl.listing import find_below, list_below

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


def listed(root: Path) -> list[StoredSession]:
    return [session for batch in list_below(str(root)) for session in batch]


def by_id(root: Path) -> dict[str | None, StoredSession]:
    sessions = listed(root)
    found = {session.session_id: session for session in sessions}
    assert len(found) == len(sessions), "each session is listed once"
    return found


def ids(root: Path) -> list[str | None]:
    return sorted((session.session_id for session in listed(root)), key=str)


def write(root: Path, *session_ids: str, cwd: str | None = "/w") -> None:
    for session_id in session_ids:
        LogBuilder(session_id, cwd=cwd).write(root)


@each_encoding
def test_a_session_is_listed_with_its_header(tmp_path: Path, compressed: bool) -> None:
    """A listing tells the header, where the log lies, which state it has and when it grew."""
    log = LogBuilder("s", cwd="/w", parent_session="p")
    path = log.write(tmp_path, compressed=compressed)
    (session,) = listed(tmp_path)
    found = path.stat()
    assert (session.session_id, session.header) == ("s", log.header)
    assert (session.place, session.error) == (str(path), None)
    assert session.revision is not None
    assert session.revision.size == found.st_size
    assert session.revision.mtime_ns == found.st_mtime_ns
    assert session.updated_at == found.st_mtime_ns // 1_000_000


def test_a_root_that_is_not_there_has_no_sessions(tmp_path: Path) -> None:
    """Before the first session a root need not exist."""
    assert listed(tmp_path / "none") == []
    with pytest.raises(SessionNotFoundError):
        find_below(str(tmp_path / "none"), "s")


def test_a_root_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    """A file in the place of the root gives no empty answer."""
    root = tmp_path / "root"
    root.write_bytes(b"")
    with pytest.raises(StoreUnreadableError, match=r"root: .*Not a directory") as caught:
        listed(root)
    assert caught.value.path == str(root)
    with pytest.raises(StoreUnreadableError):
        find_below(str(root), "s")


def test_many_sessions_come_in_batches(tmp_path: Path) -> None:
    """A large root is listed in pieces, so that nobody waits for all of it."""
    write(tmp_path, *map(str, range(300)))
    batches = list(list_below(str(tmp_path)))
    assert [len(batch) for batch in batches] == [256, 44]
    assert {session.session_id for batch in batches for session in batch} == set(
        map(str, range(300))
    )


def test_other_files_are_ignored(tmp_path: Path) -> None:
    """Only logs in a session's folder count; a folder without one is no session."""
    path = LogBuilder("s", cwd="/w").write(tmp_path)
    for other in ["notes.txt", "session.jsonl.tmp", "session.json", "lock"]:
        (path.parent / other).write_bytes(b"x")
    (path.parents[1] / "empty").mkdir()
    (path.parents[1] / "notes.txt").write_bytes(b"x")
    (tmp_path / "session.jsonl").write_bytes(b"x")
    (tmp_path / "no-project").mkdir()
    assert ids(tmp_path) == ["s"]


def test_a_bad_log_costs_itself_only(tmp_path: Path) -> None:
    """A log whose header cannot be read is listed under the id of its folder, with the reason."""
    write(tmp_path, "good")
    path = LogBuilder("bad id", cwd="/w").write(tmp_path, b"{}\n")
    session = by_id(tmp_path)["bad id"]
    assert isinstance(session.error, SessionDamagedError)
    assert (session.place, session.header, session.error.path) == (str(path), None, str(path))
    assert ids(tmp_path) == ["bad id", "good"]


def test_a_folder_that_stands_for_no_id_is_listed_without(tmp_path: Path) -> None:
    """A log in a folder that no id leads to is damaged, and nobody's."""
    LogBuilder("s", cwd="/w").write(tmp_path).parent.rename(tmp_path / "--w--" / "a b")
    (session,) = listed(tmp_path)
    assert session.session_id is None
    assert isinstance(session.error, SessionDamagedError)


def test_a_newer_log_is_listed_with_its_header(tmp_path: Path) -> None:
    """A log of a newer version is unsupported, and known by its id all the same."""
    log = LogBuilder("s", cwd="/w")
    newer = log.to_bytes().replace(b'"version":0', b'"version":99')
    path = log.write(tmp_path, newer)
    (session,) = listed(tmp_path)
    assert session.header is not None
    assert session.header.id == "s"
    assert isinstance(session.error, SessionUnsupportedError)
    assert (session.error.direction, session.error.path) == ("newer", str(path))


def test_a_listing_reads_headers_only(tmp_path: Path) -> None:
    """What is wrong behind the header is not found by a listing."""
    log = LogBuilder("s", cwd="/w")
    log.append("mode/set", {})
    log.write(tmp_path)
    assert by_id(tmp_path)["s"].error is None


@each_encoding
def test_a_session_is_found_as_it_is_listed(tmp_path: Path, compressed: bool) -> None:
    """Finding one session gives what a listing says of it."""
    LogBuilder("s", cwd="/w").write(tmp_path, compressed=compressed)
    write(tmp_path, "t", cwd="/v")
    assert find_below(str(tmp_path), "s") == by_id(tmp_path)["s"]


@pytest.mark.parametrize("session_id", ["", "absent", "S", "x" * 5_000, "a\0b", "../s", "\ud800"])
def test_an_absent_session_is_not_found(tmp_path: Path, session_id: str) -> None:
    """An id that no folder stands for is not found, whatever it holds."""
    write(tmp_path, "s")
    with pytest.raises(SessionNotFoundError) as caught:
        find_below(str(tmp_path), session_id)
    assert caught.value.session_id == session_id


def stores() -> st.SearchStrategy[list[tuple[str, str, bool, bytes | None]]]:
    """Logs in a few projects under a few ids, good, damaged, or another session's."""
    other = to_lines(LogBuilder("other", cwd="/a").lines())
    content = st.sampled_from([None, None, None, b"", b"{}\n", other])
    log = st.tuples(st.sampled_from("stu"), st.sampled_from(["/a", "/b"]), st.booleans(), content)
    return st.lists(log, max_size=6)


@given(stores())
def test_listing_and_finding_agree(logs: list[tuple[str, str, bool, bytes | None]]) -> None:
    """Whatever lies below a root, each id is found as it is listed, and no other is found."""
    with public_folder() as root:
        for session_id, cwd, compressed, content in logs:
            LogBuilder(session_id, cwd=cwd).write(root, content, compressed=compressed)
        sessions = by_id(root)
        assert set(sessions) == {session_id for session_id, *_ in logs}
        for session_id, *_ in logs:
            session = sessions[session_id]
            found = find_below(str(root), session_id)
            assert (found.place, found.header) == (session.place, session.header)
            assert str(found.error) == str(session.error)


def test_folders_of_one_name_are_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any number of projects may hold a folder of the same name, with or without a log."""
    for number in range(50):
        (tmp_path / f"--{number}--" / "memory").mkdir(parents=True)
    looked_at: list[str] = []
    logs_in = listing._logs_in

    def count(folder: str) -> list[str]:
        looked_at.append(folder)
        return logs_in(folder)

    monkeypatch.setattr(listing, "_logs_in", count)
    assert listed(tmp_path) == []
    assert len(looked_at) == 50


@pytest.mark.parametrize("name", ["a\0b", "\ud83d"])
def test_a_root_that_no_path_can_name_is_an_error(name: str) -> None:
    """What cannot be a folder's name cannot be listed."""
    with pytest.raises(StoreUnreadableError):
        listed(Path(name))
