"""A mark is gone on from only where it fits: anything else costs a whole reading, no more."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest
from logs import LogBuilder, json_line, zstd_frame
from storage.title_readings import known_of, noting, outcome, read, try_to_read

from sessionref.storage.jsonl.logfile import BoundedFile
from sessionref.storage.jsonl.titles import KnownTitle, LogMark

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


def titled_log(*titles: str) -> LogBuilder:
    log = LogBuilder("s", cwd="/w")
    for title in titles:
        log.title(title)
    return log


def kept(path: Path) -> KnownTitle:
    known = known_of(read(path))
    assert known is not None
    return known


def overwrite(path: Path, log: LogBuilder, *, compressed: bool) -> None:
    """Write a log into the very file that another one lies in."""
    with path.open("r+b") as file:
        file.write(log.to_zstd() if compressed else log.to_bytes())
        file.truncate()


@each_encoding
@pytest.mark.parametrize("place", ["start", "middle", "end"])
def test_a_file_that_was_rewritten_is_read_anew(
    tmp_path: Path, place: str, compressed: bool
) -> None:
    """A mark fits only what was read: the same file, grown, may hold something else."""
    titles = [f"title {number}" for number in range(9)]
    path = titled_log(*titles).write(tmp_path, compressed=compressed)
    known = kept(path)
    titles[{"start": 0, "middle": 4, "end": 8}[place]] = "another"
    other = titled_log(*titles)
    other.append("turn/start", {"turn": 1})
    overwrite(path, other, compressed=compressed)
    assert read(path, known).title == titles[-1]
    assert known.mark.fingerprint != kept(path).mark.fingerprint


def log_around(title: str, messages: int, text: str) -> LogBuilder:
    """A log with a title between messages of a text, and nothing of it at either end."""
    log = titled_log()
    for _ in range(20):
        log.user("the same " * 50)
    for _ in range(messages):
        log.user(text)
    log.title(title)
    for _ in range(messages):
        log.user(text)
    for _ in range(20):
        log.user("the same " * 50)
    return log


@pytest.mark.parametrize("messages", [1, 400], ids=["short", "long"])
def test_a_file_of_the_same_size_is_read_anew(tmp_path: Path, messages: int) -> None:
    """A file that was rewritten in its middle alone is as long as it was, and starts and ends so.

    Of a long one not every byte is compared, but bytes all over it.
    """
    path = log_around("one", messages, "x" * 1_000).write(tmp_path)
    known = kept(path)
    overwrite(path, log_around("two", messages, "y" * 1_000), compressed=False)
    assert path.stat().st_size == known.mark.stop
    assert read(path, known).title == "two"


@each_encoding
def test_a_shorter_file_is_read_anew(tmp_path: Path, compressed: bool) -> None:
    """What was cut off is forgotten, its title with it."""
    path = titled_log("first").write(tmp_path, compressed=compressed)
    size = path.stat().st_size
    with path.open("ab") as file:
        line = json_line(titled_log("first", "second").events[1]) + b"\n"
        file.write(zstd_frame(line) if compressed else line)
    known = kept(path)
    assert known.title == "second"
    with path.open("r+b") as file:
        file.truncate(size)
    assert read(path, known).title == "first"


def test_another_file_in_the_same_place_is_read_anew(tmp_path: Path) -> None:
    """A file that was moved into the place of a log is another one, whatever it starts with."""
    path = titled_log("old").write(tmp_path)
    known = kept(path)
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    forged = known._replace(title="forged")
    assert read(path, forged).title == "old"


@pytest.mark.parametrize("name", ["session.v2.jsonl", "session.v9.jsonl", "session.jsonl.zstd"])
def test_a_name_that_has_changed_is_judged_again(tmp_path: Path, name: str) -> None:
    """A log whose name has come to tell another version or form than its bytes is not read."""
    path = titled_log("T").write(tmp_path)
    known = kept(path)
    renamed = path.rename(path.with_name(name))
    assert outcome(try_to_read(renamed, known)) == outcome(try_to_read(renamed))


@each_encoding
def test_a_file_that_is_rewritten_while_its_end_is_read_leaves_no_mark_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool
) -> None:
    """No mark says of bytes that nobody has read what they mean."""
    path = titled_log("old").write(tmp_path, compressed=compressed)
    known = kept(path)
    other = titled_log(*[f"new {number}" for number in range(9)])
    original = BoundedFile.read
    rewritten: list[Path] = []

    def rewrite_and_read(self: BoundedFile, count: int) -> bytes:
        if not rewritten:
            rewritten.append(path)
            overwrite(path, other, compressed=compressed)
        return original(self, count)

    with path.open("ab") as file:
        line = json_line(titled_log("old", "older").events[1]) + b"\n"
        file.write(zstd_frame(line) if compressed else line)
    monkeypatch.setattr(BoundedFile, "read", rewrite_and_read)
    found = read(path, known)
    assert rewritten == [path]
    assert read(path, known_of(found)).title == "new 8"


def test_a_file_that_grows_while_its_end_is_read_leaves_a_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session at work is read on from mark to mark, however often it is written to."""
    path = titled_log("old").write(tmp_path)
    known = kept(path)
    appended = [json_line(event) + b"\n" for event in titled_log("old", "new", "newer").events[1:]]
    original = BoundedFile.read

    def grow_and_read(self: BoundedFile, count: int) -> bytes:
        if len(appended) == 1:
            append(path, appended.pop())
        return original(self, count)

    line = appended.pop(0)
    append(path, line)
    monkeypatch.setattr(BoundedFile, "read", grow_and_read)
    with noting() as taken:
        found = read(path, known)
    assert (found.title, b"".join(taken.read)) == ("new", line)
    assert found.mark is not None
    assert found.mark.stop == found.revision.size < path.stat().st_size
    assert read(path, known_of(found)).title == "newer"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_title_in_a_torn_frame_is_not_relied_on(tmp_path: Path) -> None:
    """What stands in an incomplete frame counts as long as it stands there."""
    log = titled_log("whole")
    path = log.write(tmp_path, compressed=True)
    size = path.stat().st_size
    log.title("torn")
    torn = zstd_frame(json_line(log.events[1]) + b"\n" + b"x" * 200_000)
    append(path, torn[:-4])
    state = read(path)
    assert (state.title, state.mark) == ("torn", None)
    with path.open("r+b") as file:
        file.truncate(size)
    assert read(path, known_of(state)).title == "whole"


@each_encoding
def test_no_flipped_bit_makes_another_mark(tmp_path: Path, compressed: bool) -> None:
    """A wrong number in a mark could hide a title for good: no bit of it may be another one."""
    data = kept(titled_log("T").write(tmp_path, compressed=compressed)).mark.to_bytes()
    assert len(data) < 100
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert LogMark.from_bytes(bytes(flipped)) is None


@pytest.mark.parametrize("data", [b"", b"x", b"\x90", b"\xff" * 50, b"not a mark"])
def test_bytes_that_are_no_mark_are_none(data: bytes) -> None:
    """What is no mark only costs a whole reading, with a sum that fits it or without."""
    for start in (b"", b"\x01", b"\x02"):
        summed = start + data
        assert LogMark.from_bytes(summed) is None
        assert LogMark.from_bytes(summed + crc32(summed).to_bytes(4, "little")) is None


def test_what_another_version_has_kept_is_none(tmp_path: Path) -> None:
    """Marks start with a number: what means something else has another one, and is not read."""
    data = kept(titled_log("T").write(tmp_path)).mark.to_bytes()[:-4]
    other = bytes([data[0] + 1]) + data[1:]
    assert LogMark.from_bytes(data + crc32(data).to_bytes(4, "little")) is not None
    assert LogMark.from_bytes(other + crc32(other).to_bytes(4, "little")) is None
