"""Which file of a session's folder is its log: the highest version, by name alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import to_lines, zstd_log
from session_folder import read_folder, write_folder
from versioned import lines, read, said, user

from sessionref.errors import SessionDamagedError, SessionNotFoundError, SessionUnsupportedError
from sessionref.session.reading import LogReader
from sessionref.storage import JsonlSessionStore
from sessionref.storage.jsonl.layout import find_logs, log_version
from sessionref.storage.jsonl.reader import LogRules, read_log_file

VERSIONS = range(5)
IGNORED = [
    "session.v0.jsonl",
    "session.v04.jsonl.zstd",
    "session.v.jsonl",
    "session.v-1.jsonl",
    "session.v1.2.jsonl",
    "session.v\u0661.jsonl",
    "session.v2.jsonl.tmp",
    "session.v2.jsonl.zst",
    "session.v2.jsonl\n",
    "session.V2.jsonl",
    "SESSION.V2.JSONL",
    "a.session.v2.jsonl",
    "session.lock",
    "session.jsonl.tmp",
]


def name_of(version: int, *, compressed: bool = False) -> str:
    """Return the name of a log."""
    number = f".v{version}" if version else ""
    return f"session{number}.jsonl{'.zstd' if compressed else ''}"


def log_of(version: int, text: str = "hi", *, compressed: bool = False) -> bytes:
    """Return the bytes of a log in which a person says a text."""
    written = lines(version, user(text))
    return zstd_log(written) if compressed else to_lines(written)


def unnumbered(version: int) -> bytes:
    """Return a log that says that it is of a version."""
    return log_of(0).replace(b'"version":0', f'"version":{version}'.encode())


async def text_of(root: Path) -> list[str]:
    """Return what is said in session "s" below a root."""
    store = JsonlSessionStore(root)
    return said(await store.read_log(await store.find_session("s")))


@pytest.mark.parametrize("version", [*VERSIONS, 5, 10, 40])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_name_tells_a_version(version: int, compressed: bool) -> None:
    """Version 0 has no number in its name, any other has it without leading zeros."""
    assert log_version(name_of(version, compressed=compressed)) == version


@pytest.mark.parametrize("name", IGNORED)
def test_another_name_is_no_logs(name: str) -> None:
    """What is spelled in any other way is not a log, whatever lies in it."""
    assert log_version(name) is None


@pytest.mark.parametrize("name", [name for name in IGNORED if name != "session.v2.jsonl\n"])
def test_other_files_are_left_alone(name: str, tmp_path: Path) -> None:
    """A file of another name changes nothing about the log beside it, and is no log without one."""
    write_folder(tmp_path, {name: b"garbage", "session.v1.jsonl": log_of(1)})
    assert read_folder(tmp_path) == ["version 1"]
    write_folder(tmp_path, {name: log_of(2)})
    assert read_folder(tmp_path) == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("compressed", [False, True])
def test_every_version_is_read(version: int, compressed: bool, tmp_path: Path) -> None:
    """A log of any version up to 4 is read, compressed or not."""
    name = name_of(version, compressed=compressed)
    write_folder(tmp_path, {name: log_of(version, compressed=compressed)})
    assert read_folder(tmp_path) == [f"version {version}"]


def test_the_highest_number_wins() -> None:
    """Numbers are compared as numbers, and not by how their names sort."""
    names = [name_of(version) for version in (2, 10, 0, 9)]
    assert find_logs(names) == ["session.v10.jsonl"]


@pytest.mark.parametrize("version", VERSIONS[1:])
async def test_the_newest_log_is_read(version: int, tmp_path: Path) -> None:
    """What a conversion left behind in an older version is not what is read."""
    older = {
        name_of(old, compressed=compressed): log_of(old, "stale", compressed=compressed)
        for old in range(version)
        for compressed in (False, True)
    }
    write_folder(tmp_path, {**older, name_of(version): log_of(version, "new")})
    assert await text_of(tmp_path) == ["user: new"]


@pytest.mark.parametrize(
    ("name", "content", "outcome"),
    [
        ("session.v4.jsonl", b"", "SessionDamagedError"),
        ("session.v4.jsonl", b"garbage\n", "SessionDamagedError"),
        ("session.v4.jsonl.zstd", log_of(4), "SessionDamagedError"),
        (
            "session.v4.jsonl",
            to_lines(lines(4, {"type": "x", "data": 1})),
            "SessionUnsupportedError",
        ),
        ("session.v5.jsonl", log_of(4), "SessionUnsupportedError"),
    ],
    ids=["empty", "garbage", "not compressed", "unknown event", "newer"],
)
def test_nothing_falls_back(name: str, content: bytes, outcome: str, tmp_path: Path) -> None:
    """A newest log that cannot be read makes its session so, however good the older ones are."""
    stale = {"session.jsonl": log_of(0), "session.v3.jsonl.zstd": log_of(3, compressed=True)}
    write_folder(tmp_path, {**stale, name: content})
    assert read_folder(tmp_path) == [outcome]


def test_a_folder_in_the_place_of_the_newest_log(tmp_path: Path) -> None:
    """The name alone decides: a folder of that name is damage."""
    write_folder(tmp_path, {"session.v3.jsonl": log_of(3)})
    (tmp_path / "_no-cwd" / "s" / "session.v4.jsonl").mkdir()
    assert read_folder(tmp_path) == ["SessionDamagedError"]


async def test_both_encodings_are_ambiguous(tmp_path: Path) -> None:
    """Two files of the newest version: which one is right cannot be told."""
    both = {name_of(4, compressed=how): log_of(4, compressed=how) for how in (False, True)}
    write_folder(tmp_path, both)
    session = await JsonlSessionStore(tmp_path).find_session("s")
    assert isinstance(session.error, SessionDamagedError)
    assert "ambiguous" in session.error.reason


@pytest.mark.parametrize("beside", [{}, {"session.v4.jsonl": log_of(4)}], ids=["alone", "beside 4"])
@pytest.mark.parametrize("content", [log_of(4), unnumbered(5), b"", b"garbage"])
async def test_a_newer_version_is_unsupported(
    beside: dict[str, bytes], content: bytes, tmp_path: Path
) -> None:
    """A number above 4 is judged before anything in the file, and beside any other log."""
    write_folder(tmp_path, {**beside, "session.v5.jsonl": content})
    store = JsonlSessionStore(tmp_path)
    session = await store.find_session("s")
    assert isinstance(session.error, SessionUnsupportedError)
    assert session.error.direction == "newer"
    assert str(session.error.path).endswith("session.v5.jsonl")
    with pytest.raises(SessionUnsupportedError, match="version 5"):
        await store.read_log(session)


@pytest.mark.parametrize(("named", "written"), [(0, 4), (4, 0), (3, 4), (1, 2)])
async def test_name_and_header_agree(named: int, written: int, tmp_path: Path) -> None:
    """A log whose header tells another version than its name is damaged, at its first line."""
    write_folder(tmp_path, {name_of(named): log_of(written)})
    session = await JsonlSessionStore(tmp_path).find_session("s")
    assert isinstance(session.error, SessionDamagedError)
    assert (session.error.line, session.error.byte) == (1, 0)
    assert read_folder(tmp_path) == ["SessionDamagedError"]


def test_the_reader_of_lines_compares_them_too() -> None:
    """Whoever feeds lines of a named log is told as well that its header disagrees."""
    with pytest.raises(SessionDamagedError, match="version 3, the name of version 4"):
        LogReader(version=4).feed(lines(3))
    assert read(3).header.version == 3


async def test_a_header_from_the_future_is_unsupported(tmp_path: Path) -> None:
    """A version that is not read is unsupported before its name is looked at."""
    write_folder(tmp_path, {"session.v4.jsonl": unnumbered(7)})
    session = await JsonlSessionStore(tmp_path).find_session("s")
    assert isinstance(session.error, SessionUnsupportedError)


async def test_a_log_that_is_converted_meanwhile(tmp_path: Path) -> None:
    """A newer log that comes between listing and reading is read, and read whole."""
    write_folder(tmp_path, {"session.jsonl": log_of(0, "old")})
    store = JsonlSessionStore(tmp_path)
    session = await store.find_session("s")
    (tmp_path / "_no-cwd" / "s" / "session.v2.jsonl").write_bytes(log_of(2, "new"))
    log = await store.read_log(session)
    assert (log.header.version, said(log)) == (2, ["user: new"])


async def test_a_newer_log_that_is_bad_comes_meanwhile(tmp_path: Path) -> None:
    """What wins at the time of reading is what counts, also if it cannot be read."""
    write_folder(tmp_path, {"session.v4.jsonl": log_of(4)})
    store = JsonlSessionStore(tmp_path)
    session = await store.find_session("s")
    newer = tmp_path / "_no-cwd" / "s" / "session.v5.jsonl"
    newer.write_bytes(b"")
    with pytest.raises(SessionUnsupportedError, match="version 5"):
        await store.read_log(session)
    newer.rename(newer.with_name("session.v4.jsonl.zstd"))
    with pytest.raises(SessionDamagedError, match="ambiguous"):
        await store.read_log(session)


async def test_a_log_that_is_overwritten_meanwhile(tmp_path: Path) -> None:
    """Name and header are compared again when the log is read."""
    write_folder(tmp_path, {"session.v4.jsonl": log_of(4)})
    store = JsonlSessionStore(tmp_path)
    session = await store.find_session("s")
    write_folder(tmp_path, {"session.v4.jsonl": log_of(3)})
    with pytest.raises(SessionDamagedError, match="version 3, the name of version 4"):
        await store.read_log(session)


async def test_a_folder_that_is_emptied_meanwhile(tmp_path: Path) -> None:
    """A session whose folder holds no log any more is not found."""
    write_folder(tmp_path, {"session.v4.jsonl": log_of(4)})
    store = JsonlSessionStore(tmp_path)
    session = await store.find_session("s")
    write_folder(tmp_path, {"session.lock": b""})
    with pytest.raises(SessionNotFoundError):
        await store.read_log(session)


async def test_a_folder_that_becomes_a_file_meanwhile(tmp_path: Path) -> None:
    """A session whose folder cannot be listed any more is damaged."""
    write_folder(tmp_path, {"session.v4.jsonl": log_of(4)})
    store = JsonlSessionStore(tmp_path)
    session = await store.find_session("s")
    write_folder(tmp_path, {})
    folder = tmp_path / "_no-cwd" / "s"
    folder.rmdir()
    folder.write_bytes(b"")
    with pytest.raises(SessionDamagedError, match="the folder cannot be read"):
        await store.read_log(session)


async def test_a_listing_sees_the_newer_log(tmp_path: Path) -> None:
    """After a conversion the session is listed with another place, header and revision."""
    write_folder(tmp_path, {"session.v3.jsonl": log_of(3)})
    store = JsonlSessionStore(tmp_path)
    before = await store.find_session("s")
    (tmp_path / "_no-cwd" / "s" / "session.v4.jsonl").write_bytes(log_of(4))
    [[after]] = [batch async for batch in store.list_sessions()]
    assert Path(after.place).name == "session.v4.jsonl"
    assert after.header is not None
    assert after.header.version == 4
    assert after.revision != before.revision


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_another_name(version: int, tmp_path: Path) -> None:
    """Whoever reads a file of a name that tells no version gets what its header tells."""
    write_folder(tmp_path, {"backup": log_of(version)})
    log = read_log_file(str(tmp_path / "_no-cwd" / "s" / "backup"), LogRules(), lambda: None)
    assert log.header.version == version
