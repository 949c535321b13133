"""Compressed logs: which frames must be whole, and what of the last one may be missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import LogBuilder, json_line, to_lines, zstd_frame, zstd_log

from sessionref.errors import SessionDamagedError
from sessionref.session.fold import SessionLog
from sessionref.session.reading import read_log
from sessionref.storage.jsonl.reader import LogRules, read_log_file, read_log_header


def read(path: str | Path) -> SessionLog:
    return read_log_file(str(path), LogRules(), lambda: None)


def some_log(messages: int = 3) -> LogBuilder:
    log = LogBuilder("s", cwd="/w")
    for number in range(messages):
        log.user(f"message {number}")
    return log


def todo(seq: int) -> bytes:
    return json_line({"type": "todo/write", "seq": seq, "time": 1, "data": {}})


@pytest.mark.parametrize("lines_per_frame", [1, 2, None])
def test_a_cut_compressed_log_is_a_prefix(tmp_path: Path, lines_per_frame: int | None) -> None:
    """Wherever a compressed log ends behind its header, it means what some first lines mean."""
    log = some_log()
    data, lines = log.to_zstd(lines_per_frame), log.lines()
    meanings = [read_log(lines[:count]) for count in range(1, len(lines) + 1)]
    header_end = len(zstd_log(lines[:1]))
    counts = [
        meanings.index(read(log.write(tmp_path, data[:cut], compressed=True)))
        for cut in range(header_end, len(data) + 1)
    ]
    assert counts == sorted(counts)
    assert counts[-1] == len(lines) - 1


@pytest.mark.parametrize("cut", range(0, len(zstd_log(some_log().lines()[:1])), 5))
def test_a_cut_header_frame_is_damage(tmp_path: Path, cut: int) -> None:
    """Without a complete first frame nothing of a compressed log can be told."""
    log = some_log()
    path = log.write(tmp_path, log.to_zstd()[:cut], compressed=True)
    for reading in (read, read_log_header):
        with pytest.raises(SessionDamagedError, match=r"incomplete|no complete header"):
            reading(str(path))


def in_frames(*batches: bytes) -> bytes:
    header = to_lines(some_log().lines()[:1])
    return b"".join(map(zstd_frame, [header, *batches]))


@pytest.mark.parametrize(
    ("batches", "reason"),
    [
        ([todo(0)], "ends inside a line"),
        ([to_lines([todo(0)]), to_lines([todo(1)]) + todo(2), b"\n"], "ends inside a line"),
        ([to_lines([todo(0), b"{"])], "not JSON"),
        ([to_lines([todo(0), todo(2)])], "seq 2 stands where 1 must follow"),
        ([to_lines([todo(0)]), b"\n"], "not JSON"),
    ],
)
def test_a_complete_frame_holds_whole_good_lines(
    tmp_path: Path, batches: list[bytes], reason: str
) -> None:
    """In a complete frame any line that is not accepted is damage, without a later turn end."""
    path = some_log().write(tmp_path, in_frames(*batches), compressed=True)
    with pytest.raises(SessionDamagedError, match=reason) as caught:
        read(path)
    assert caught.value.path == str(path)
    assert caught.value.byte is not None


def test_an_incomplete_frame_is_read_by_the_raw_rules(tmp_path: Path) -> None:
    """In a torn last frame a defect is dropped, unless a later line ends a turn."""
    end = {"type": "turn/end", "seq": 2, "time": 1}
    ended = json_line({**end, "data": {"turn": 1, "reason": {"kind": "completed"}}})
    for lines, is_damaged in [([todo(0), b"{"], False), ([todo(0), b"{", ended], True)]:
        torn = in_frames(to_lines(lines))[:-4]  # all but the checksum
        path = some_log().write(tmp_path, torn, compressed=True)
        if is_damaged:
            with pytest.raises(SessionDamagedError, match="not JSON"):
                read(path)
        else:
            assert read(path).last_seq == 0


def test_an_empty_frame_says_nothing(tmp_path: Path) -> None:
    """A frame without any data is a batch without lines."""
    path = some_log().write(tmp_path, in_frames(b"", to_lines([todo(0)]), b""), compressed=True)
    assert read(path).last_seq == 0


def test_a_corrupt_frame_is_damage(tmp_path: Path) -> None:
    """A frame that fails its checksum is damage, told by its first byte in the file."""
    first, second = in_frames(), zstd_frame(to_lines([todo(0)]))
    corrupt = second[:-1] + bytes([second[-1] ^ 1])
    path = some_log().write(tmp_path, first + corrupt + second, compressed=True)
    with pytest.raises(SessionDamagedError) as caught:
        read(path)
    assert (caught.value.path, caught.value.byte) == (str(path), len(first))


@pytest.mark.parametrize(
    "data",
    [
        zstd_frame(to_lines(some_log().lines())),
        zstd_frame(some_log().lines()[0]),
        zstd_frame(b""),
        zstd_frame(b"\n\n"),
        some_log().to_bytes(),
    ],
    ids=["all lines", "no line feed", "nothing", "two lines", "raw"],
)
def test_the_first_frame_is_the_header(tmp_path: Path, data: bytes) -> None:
    """The first frame holds exactly one line, or the log is damaged."""
    path = some_log().write(tmp_path, data, compressed=True)
    for reading in (read, read_log_header):
        with pytest.raises(SessionDamagedError, match="frame") as caught:
            reading(str(path))
        assert (caught.value.path, caught.value.byte) == (str(path), 0)
