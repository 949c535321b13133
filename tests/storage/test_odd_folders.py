"""Folders as nobody meant them: two logs of a session, links, missing permissions, old layouts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from logs import LogBuilder
from permissions import needs_permissions, public_folder, unprivileged

from sessionref.errors import (
    SessionDamagedError,
    SessionNotFoundError,
    SessionUnsupportedError,
    StoreUnreadableError,
)
from sessionref.session.header import SessionHeader
from sessionref.storage import StoredSession
from sessionref.storage.jsonl import listing
from sessionref.storage.jsonl.listing import find_below, list_below
from sessionref.storage.jsonl.reader import read_log_header

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


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.zstd"])
def test_a_log_of_the_retired_layout_is_reported(tmp_path: Path, name: str) -> None:
    """A log that lies beside the sessions' folders is never read, and told as unsupported."""
    write(tmp_path, "s")
    path = tmp_path / "--w--" / name
    path.write_bytes(LogBuilder("a", cwd="/w").to_bytes())
    session = by_id(tmp_path)[None]
    assert isinstance(session.error, SessionUnsupportedError)
    assert (session.error.direction, session.place) == ("retired", str(path))
    assert by_id(tmp_path)["s"].error is None


def test_each_log_of_the_retired_layout_is_reported(tmp_path: Path) -> None:
    """Logs of one name in several projects, or beside a folder of that name, are all told."""
    for cwd in ["/a", "/b", "/c"]:
        write(tmp_path, "s" + cwd[1:], cwd=cwd)
    retired = [tmp_path / "--a--" / "x.jsonl", tmp_path / "--b--" / "x.jsonl"]
    for path in retired:
        path.write_bytes(b"")
    write(tmp_path, "x.jsonl", cwd="/c")
    places = [session.place for session in listed(tmp_path) if session.session_id is None]
    assert sorted(places) == list(map(str, retired))
    assert sorted(map(str, ids(tmp_path))) == ["None", "None", "sa", "sb", "sc", "x.jsonl"]


def test_both_encodings_of_a_log_are_ambiguous(tmp_path: Path) -> None:
    """Which of the two is the session nobody can tell: it is listed once, as damaged."""
    log = LogBuilder("s", cwd="/w")
    raw, compressed = log.write(tmp_path), log.write(tmp_path, compressed=True)
    write(tmp_path, "good")
    session = by_id(tmp_path)["s"]
    assert session.header == log.header
    assert isinstance(session.error, SessionDamagedError)
    assert session.error.path == session.place == str(raw)
    assert str(compressed) in session.error.reason


def test_an_id_in_two_projects_is_ambiguous(tmp_path: Path) -> None:
    """The same id with two cwds is two logs that claim to be one session."""
    write(tmp_path, "s", "a", cwd="/a")
    write(tmp_path, "s", "b", cwd="/b")
    session = by_id(tmp_path)["s"]
    assert isinstance(session.error, SessionDamagedError)
    assert "--b--" in session.error.reason
    assert ids(tmp_path) == ["a", "b", "s"]


def test_an_ambiguous_session_has_a_header_if_any_of_its_logs_has(tmp_path: Path) -> None:
    """A session is known by its header where one of the logs that claim it can be read."""
    LogBuilder("s", cwd="/a").write(tmp_path, b"{}\n")
    write(tmp_path, "s", cwd="/b")
    session = by_id(tmp_path)["s"]
    assert session.header is not None
    assert session.header.cwd == "/b"
    assert "ambiguous" in str(session.error)


def test_an_ambiguous_session_lies_at_its_first_log(tmp_path: Path) -> None:
    """Where none of the logs can be read, the session is told of at the first of their paths."""
    paths = [LogBuilder("s", cwd=cwd).write(tmp_path, b"") for cwd in ["/a", "/b"]]
    session = by_id(tmp_path)["s"]
    assert (session.place, session.header) == (str(paths[0]), None)
    assert str(paths[1]) in str(session.error)


def test_a_folder_without_log_makes_nothing_ambiguous(tmp_path: Path) -> None:
    """What lies in another project under the id must be a log to count."""
    write(tmp_path, "s", cwd="/b")
    (tmp_path / "--a--" / "s").mkdir(parents=True)
    (tmp_path / "--c--").mkdir()
    (tmp_path / "--c--" / "s").write_bytes(b"a file")
    assert by_id(tmp_path)["s"].error is None


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A linked project or session is not listed: nothing twice, and nothing from outside."""
    write(tmp_path / "root", "s")
    write(tmp_path / "outside", "t", cwd="/x")
    project = tmp_path / "root" / "--w--"
    (tmp_path / "root" / "--x--").symlink_to(tmp_path / "outside" / "--x--")
    (tmp_path / "root" / "--y--").symlink_to(project)
    (project / "t").symlink_to(tmp_path / "outside" / "--x--" / "t")
    (project / "u").symlink_to(project / "s")
    (project / "v").symlink_to("nowhere")
    assert ids(tmp_path / "root") == ["s"]
    for session_id in "tuv":
        with pytest.raises(SessionNotFoundError):
            find_below(str(tmp_path / "root"), session_id)


def test_a_linked_log_is_damaged(tmp_path: Path) -> None:
    """A link in the place of a log is told as such, broken or not."""
    write(tmp_path, "s")
    for session_id, target in [("t", "nowhere"), ("u", "../s/session.jsonl")]:
        folder = tmp_path / "--w--" / session_id
        folder.mkdir()
        (folder / "session.jsonl").symlink_to(target)
        assert "symbolic link" in str(by_id(tmp_path)[session_id].error)


def test_a_folder_in_the_place_of_a_log_is_damaged(tmp_path: Path) -> None:
    """A folder that is named like a log costs its own session only."""
    write(tmp_path, "a", "s", "z")
    (tmp_path / "--w--" / "d" / "session.jsonl").mkdir(parents=True)
    assert ids(tmp_path) == ["a", "d", "s", "z"]
    assert isinstance(by_id(tmp_path)["d"].error, SessionDamagedError)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems want names in Unicode")
def test_a_name_that_is_no_text_is_nobodys(tmp_path: Path) -> None:
    """A folder whose name is not UTF-8 stands for no id, and costs the others nothing."""
    write(tmp_path, "s")
    folder = tmp_path / "--w--" / os.fsdecode(b"\xff\xfe")
    folder.mkdir()
    (folder / "session.jsonl").write_bytes(LogBuilder("t", cwd="/w").to_bytes())
    sessions = by_id(tmp_path)
    assert sessions["s"].error is None
    assert isinstance(sessions[None].error, SessionDamagedError)


@needs_permissions
def test_a_root_that_may_not_be_read_is_an_error() -> None:
    """Missing permission on the root gives no empty answer."""
    with public_folder() as root:
        write(root, "s")
        root.chmod(0o311)
        with unprivileged(), pytest.raises(StoreUnreadableError, match="Permission denied"):
            listed(root)


@needs_permissions
@pytest.mark.parametrize(
    ("path", "mode"),
    [
        ("--w--/t/session.jsonl", 0),
        ("--w--/t", 0),
        ("--w--/t", 0o311),
        ("--w--/t", 0o444),
        ("--w--", 0),
        ("--w--", 0o311),
        ("--w--", 0o444),
    ],
)
def test_what_may_not_be_read_costs_itself_only(path: str, mode: int) -> None:
    """A log, session or project without permission is told, and the rest is listed."""
    with public_folder() as root:
        write(root, "s", cwd="/v")
        write(root, "t")
        (root / path).chmod(mode)
        with unprivileged():
            sessions = by_id(root)
    assert sessions.pop("s").error is None
    (closed,) = sessions.values()
    assert isinstance(closed.error, SessionDamagedError)
    assert "Permission denied" in closed.error.reason


def test_what_vanishes_meanwhile_is_not_listed(tmp_path: Path) -> None:
    """Folders that are gone by the time they are looked at are passed over."""
    write(tmp_path, "a", "b", cwd="/v")
    write(tmp_path, "c", cwd="/w")
    sessions = listing._list(str(tmp_path))
    first = next(sessions)
    for path in list(tmp_path.glob("*/*/session.jsonl")):
        path.unlink()
        path.parent.rmdir()
    (tmp_path / "--w--").rmdir()
    assert first.session_id in {"a", "b"}
    assert list(sessions) == []


@pytest.mark.parametrize("left", [0, 1])
def test_a_log_that_vanishes_meanwhile_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    """A log that is gone when it is opened is passed over; its rival is no longer ambiguous."""
    log = LogBuilder("s", cwd="/w")
    paths = [log.write(tmp_path), log.write(tmp_path, compressed=True)]

    def vanish(path: str) -> tuple[SessionHeader, object]:
        for gone in paths[left:]:
            gone.unlink(missing_ok=True)
        return read_log_header(path)

    monkeypatch.setattr(listing, "read_log_header", vanish)
    assert [session.error for session in listed(tmp_path)] == [None] * left
