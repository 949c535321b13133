"""One log file to a session: torn tails, long headers, limits, and the place of an error."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from logs import LogBuilder, json_line, to_lines, zstd_frame, zstd_log

from sessionref.errors import (
    SessionDamagedError,
    SessionTooLargeError,
    SessionUnsupportedError,
)
from sessionref.session.fold import SessionLog
from sessionref.session.reading import read_log
from sessionref.storage.jsonl.reader import LogRules, read_log_file, read_log_header

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


def read(path: str | Path, rules: LogRules | None = None) -> SessionLog:
    return read_log_file(str(path), rules or LogRules(), lambda: None)


def some_log(messages: int = 3) -> LogBuilder:
    log = LogBuilder("s", cwd="/w")
    for number in range(messages):
        log.user(f"message {number}")
    return log


def todo(seq: int) -> bytes:
    return json_line({"type": "todo/write", "seq": seq, "time": 1, "data": {}})


@each_encoding
def test_a_log_file_is_its_log(tmp_path: Path, compressed: bool) -> None:
    """A file means what its lines mean, in either encoding."""
    log = some_log()
    assert read(log.write(tmp_path, compressed=compressed)) == log.log()


@each_encoding
def test_reading_changes_nothing(tmp_path: Path, compressed: bool) -> None:
    """After reading, a file has the same bytes and times, and nothing lies beside it."""
    path = some_log().write(tmp_path, compressed=compressed)
    with path.open("ab") as file:
        file.write(b"\x28\xb5")
    os.utime(path, ns=(1, 2))
    before = path.read_bytes(), path.stat().st_mtime_ns
    read(path)
    read_log_header(str(path))
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "tail",
    [b'{"type":"todo/wri', todo(3), todo(3)[:-1] + b"\xe6\x87", b"\r", b"\0" * 100],
    ids=["inside JSON", "complete", "inside a character", "carriage return", "zeros"],
)
def test_a_torn_tail_is_dropped(tmp_path: Path, tail: bytes) -> None:
    """A last line without line feed does not count, even if it is complete JSON."""
    log = some_log()
    path = log.write(tmp_path, log.to_bytes() + tail)
    assert read(path) == log.log()


@pytest.mark.parametrize("cut", range(0, len(some_log().to_bytes()), 7))
def test_a_cut_raw_log_is_its_complete_lines(tmp_path: Path, cut: int) -> None:
    """Wherever a raw log ends, what it means is what its complete lines mean."""
    log = some_log()
    data = log.to_bytes()[:cut]
    path = log.write(tmp_path, data)
    lines = data.split(b"\n")[:-1]
    if lines:
        assert read(path) == read_log(lines)
    else:
        with pytest.raises(SessionDamagedError, match="no complete header"):
            read(path)


@each_encoding
def test_the_header_needs_only_the_first_bytes(tmp_path: Path, compressed: bool) -> None:
    """Whatever follows the first line, the header can be read."""
    log = some_log()
    header = zstd_log(log.lines()[:1]) if compressed else to_lines(log.lines()[:1])
    path = log.write(tmp_path, header + b"\0garbage" * 1_000, compressed=compressed)
    assert read_log_header(str(path))[0] == log.header


@each_encoding
@pytest.mark.parametrize("size", [4_000, 4_096, 5_000, 200_000])
def test_a_header_may_be_long(tmp_path: Path, compressed: bool, size: int) -> None:
    """A header longer than the first read is put together."""
    log = LogBuilder("s", agent_preset="".join(chr(0x4E00 + n % 5_000) for n in range(size)))
    log.user("hi")
    path = log.write(tmp_path, compressed=compressed)
    assert read_log_header(str(path))[0] == log.header
    assert read(path) == log.log()


@each_encoding
def test_a_header_without_end_is_not_read(tmp_path: Path, compressed: bool) -> None:
    """Of a log whose first line does not end, no more than a header's longest is kept."""
    line = b" " * 20_000_000 + b"\n"
    data = zstd_frame(line) if compressed else line
    path = some_log().write(tmp_path, data, compressed=compressed)
    tracemalloc.start()
    try:
        with pytest.raises(SessionDamagedError):
            read_log_header(str(path))
        if compressed:
            with pytest.raises(SessionDamagedError, match="too long"):
                read(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@each_encoding
@pytest.mark.parametrize(("messages", "limit"), [(3, 100), (200, 10_000)])
def test_what_a_log_unpacks_to_is_bounded(
    tmp_path: Path, compressed: bool, messages: int, limit: int
) -> None:
    """A compressed log that holds more than it may is refused; a raw one takes what it takes."""
    log = some_log(messages)
    path = log.write(tmp_path, log.to_zstd(1) if compressed else None, compressed=compressed)
    if not compressed:
        assert read(path, LogRules(max_bytes=limit)) == log.log()
        return
    assert read(path, LogRules(max_bytes=len(log.to_bytes()))) == log.log()
    with pytest.raises(SessionTooLargeError, match=r"\(max_log_bytes\)") as caught:
        read(path, LogRules(max_bytes=limit))
    assert (caught.value.path, caught.value.limit) == (str(path), limit)


@each_encoding
@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"type": "mode/set", "seq": 1, "time": 1, "data": {}}, SessionDamagedError),
        ({"type": "acme/x", "seq": 1, "time": 1, "data": {}}, SessionUnsupportedError),
    ],
)
def test_an_error_tells_file_line_and_byte(
    tmp_path: Path, compressed: bool, event: object, error: type[SessionDamagedError]
) -> None:
    """The byte is that of the line in the text of the log, in either encoding."""
    lines = [*some_log(1).lines(), json_line(event)]
    data = zstd_log(lines) if compressed else to_lines(lines)
    path = some_log().write(tmp_path, data, compressed=compressed)
    with pytest.raises(error) as caught:
        read(path)
    assert caught.value.path == str(path)
    assert (caught.value.line, caught.value.byte) == (3, len(to_lines(lines[:2])))
    assert str(caught.value).startswith(f"{path}, line 3, byte {caught.value.byte}: ")


def test_a_host_can_make_a_type_known(tmp_path: Path) -> None:
    """Types that a host knows are read in files too."""
    log = some_log(0)
    log.append("acme/x", {})
    path = log.write(tmp_path)
    assert read(path, LogRules(known_types={"acme/x"})).last_seq == 0


@each_encoding
def test_lines_across_pieces_are_put_together(tmp_path: Path, compressed: bool) -> None:
    """A file is read in pieces of a mebibyte, wherever its lines end; a line may be longer."""
    log = some_log(0)
    for size in [10, 700_000, 400_000, 5, 3_000_000, 1_048_576, 20]:
        log.user("x" * size)
    assert read(log.write(tmp_path, compressed=compressed)) == log.log()
