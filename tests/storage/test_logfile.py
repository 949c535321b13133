"""The file of a log: what stands there instead, and what happens to it while it is read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from growth import assert_linear
from logs import LogBuilder, zstd_frame
from permissions import needs_permissions, public_folder, unprivileged

from sessionref.errors import SessionDamagedError, SessionTooLargeError
from sessionref.session.fold import SessionLog
from sessionref.storage.jsonl import reader
from sessionref.storage.jsonl.reader import LogRules, read_log_file, read_log_header

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


def read(path: str | Path, check: Callable[[], object] = lambda: None) -> SessionLog:
    return read_log_file(str(path), LogRules(), check)


def some_log(messages: int = 3) -> LogBuilder:
    log = LogBuilder("s", cwd="/w")
    for number in range(messages):
        log.user(f"message {number}")
    return log


def test_a_file_that_is_gone_is_not_there(tmp_path: Path) -> None:
    """Where nothing lies, nothing is damaged."""
    for reading in (read, read_log_header):
        with pytest.raises(FileNotFoundError):
            reading(str(tmp_path / "p" / "s" / "session.jsonl"))


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@each_encoding
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_pipe, "not a regular file"),
        (make_socket, "cannot be read"),
        (Path.mkdir, "Is a directory"),
        (lambda path: path.symlink_to("nowhere"), "symbolic link"),
        (lambda path: path.symlink_to(__file__), "symbolic link"),
        (lambda path: path.symlink_to("/dev/zero"), "symbolic link"),
    ],
    ids=["pipe", "socket", "folder", "broken link", "link", "link to a device"],
)
def test_what_is_no_file_is_damage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compressed: bool,
    make: Callable[[Path], object],
    reason: str,
) -> None:
    """Something else in the place of a log is damage at once: it neither hangs nor is followed."""
    monkeypatch.chdir(tmp_path)  # a socket's path may not be long
    path = some_log().path(tmp_path, compressed=compressed)
    path.parent.mkdir(parents=True)
    make(path)
    for reading in (read, read_log_header):
        with pytest.raises(SessionDamagedError, match=reason) as caught:
            reading(str(path))
        assert caught.value.path == str(path)


@needs_permissions
def test_a_file_that_may_not_be_read_is_damage() -> None:
    """Missing permission is told as such."""
    with public_folder() as root:
        path = some_log().write(root)
        path.chmod(0)
        with unprivileged(), pytest.raises(SessionDamagedError, match="Permission denied"):
            read(path)


def test_a_failing_disk_is_damage(tmp_path: Path) -> None:
    """An error of the file system while a log is read names the log."""

    def fail() -> None:
        raise OSError(5, "Input/output error")

    path = some_log().write(tmp_path)
    with pytest.raises(SessionDamagedError, match="Input/output error") as caught:
        read_log_file(str(path), LogRules(), fail)
    assert caught.value.path == str(path)


class Meanwhile:
    """Does something to a file while it is read: the first so many times that a piece was read."""

    def __init__(self, work: Callable[[], object], times: int = 1) -> None:
        self.calls = 0
        self._work = work
        self._times = times

    def __call__(self) -> None:
        self.calls += 1
        if self.calls <= self._times:
            self._work()


def rewrite(path: Path, data: bytes) -> None:
    """Write a file anew, at a time that it never had."""
    changed = path.stat().st_mtime_ns + 1_000_000_000
    path.write_bytes(data)
    os.utime(path, ns=(changed, changed))


@each_encoding
def test_what_is_appended_meanwhile_does_not_count(tmp_path: Path, compressed: bool) -> None:
    """A log that grows while it is read means what it meant when it was opened."""
    log, longer = some_log(3), some_log(4)
    path = log.write(tmp_path, compressed=compressed)
    data = longer.to_zstd(3) if compressed else longer.to_bytes()
    assert data.startswith(path.read_bytes())
    assert read(path, Meanwhile(lambda: rewrite(path, data))) == log.log()
    assert read(path) == longer.log()


@each_encoding
@pytest.mark.parametrize("messages", [1, 3], ids=["shorter", "of the same size"])
def test_a_rewritten_log_is_read_again(tmp_path: Path, compressed: bool, messages: int) -> None:
    """A log that is rewritten while it is read means what it means afterwards."""
    path = some_log(3).write(tmp_path, compressed=compressed)
    other = some_log(messages)
    data = other.to_zstd() if compressed else other.to_bytes()
    check = Meanwhile(lambda: rewrite(path, data))
    assert read(path, check) == other.log()
    assert check.calls > 1


@pytest.mark.parametrize("is_ended", [False, True], ids=["like a crash", "like damage"])
def test_two_states_are_not_mixed(tmp_path: Path, is_ended: bool) -> None:
    """What was read of a log before it was rewritten shorter is thrown away, good or bad."""
    log, other = some_log(3), some_log(5)
    for large in (log, other):
        large.user("x" * 2**20)
    if is_ended:
        other.title("the first line that does not fit")
        other.end_turn()
    log.user("so that the other is shorter" * 100)
    path = log.write(tmp_path)
    check = Meanwhile(lambda: rewrite(path, other.to_bytes()))
    assert read(path, check) == other.log()


def test_damage_in_a_rewritten_log_is_that_of_the_last_state(tmp_path: Path) -> None:
    """A log that was rewritten to a damaged one is damaged."""
    path = some_log(3).write(tmp_path)
    check = Meanwhile(lambda: rewrite(path, b"[]\n"))
    with pytest.raises(SessionDamagedError, match="not a JSON object"):
        read(path, check)
    assert check.calls == 2


def test_a_log_that_is_rewritten_for_ever_is_given_up(tmp_path: Path) -> None:
    """After three tries reading ends, in words."""
    data = some_log(3).to_bytes()
    path = some_log(3).write(tmp_path)
    check = Meanwhile(lambda: rewrite(path, data), times=10)
    with pytest.raises(SessionDamagedError, match="rewritten each time") as caught:
        read(path, check)
    assert (caught.value.path, check.calls) == (str(path), 3)


def test_damage_in_a_log_that_grows_is_damage(tmp_path: Path) -> None:
    """What a log is appended to meanwhile makes nothing good: it is not read again."""
    log = some_log(3)
    log.append("mode/set", {})
    path = log.write(tmp_path)
    check = Meanwhile(lambda: rewrite(path, log.to_bytes() + b"more"))
    with pytest.raises(SessionDamagedError, match="mode/set"):
        read(path, check)
    assert check.calls == 1


@pytest.mark.parametrize("is_replaced", [True, False], ids=["replaced", "removed"])
def test_a_log_that_goes_away_is_read_to_its_end(tmp_path: Path, is_replaced: bool) -> None:
    """A file that is open stays what it is when its name is given to another, or to none."""
    log = some_log(3)
    path = log.write(tmp_path)
    new = tmp_path / "new"
    new.write_bytes(b"[]\n")
    check = Meanwhile(lambda: new.replace(path) if is_replaced else path.unlink())
    assert read(path, check) == log.log()


def test_a_caller_can_give_up(tmp_path: Path) -> None:
    """What the caller's check raises comes out as it is, and no file stays open."""

    def give_up() -> None:
        raise KeyboardInterrupt

    path = some_log().write(tmp_path)
    before = os.listdir("/dev/fd")
    with pytest.raises(KeyboardInterrupt):
        read(path, give_up)
    assert os.listdir("/dev/fd") == before


@pytest.mark.parametrize(
    ("session_id", "cwd"),
    [("t", "/w"), ("S", "/w"), ("s", "/v"), ("s", None), ("s", "/W"), ("", "/w"), ("s", "")],
)
@each_encoding
def test_a_log_lies_where_its_header_leads(
    tmp_path: Path, compressed: bool, session_id: str, cwd: str | None
) -> None:
    """A log that was copied or renamed is damaged: its id and cwd must give its own path."""
    other = LogBuilder(session_id, cwd=cwd)
    data = other.to_zstd() if compressed else other.to_bytes()
    path = some_log().write(tmp_path, data, compressed=compressed)
    for reading in (read, read_log_header):
        with pytest.raises(SessionDamagedError, match="another folder") as caught:
            reading(str(path))
        assert (caught.value.path, caught.value.line, caught.value.byte) == (str(path), 1, 0)


def test_cwds_may_share_a_folder(tmp_path: Path) -> None:
    """The name of a project folder is lossy: any cwd that gives it will do."""
    other = LogBuilder("s", cwd="\\\\w")
    assert read(some_log().write(tmp_path, other.to_bytes())) == other.log()


def test_another_spelling_of_a_path_is_the_path(tmp_path: Path) -> None:
    """Where upper and lower case name the same file, either may be in the header."""
    log = LogBuilder("abc", cwd="/w")
    path = LogBuilder("ABC", cwd="/w").write(tmp_path, log.to_bytes())
    spelled = log.path(tmp_path)
    # What a file system that ignores case does by itself.
    spelled.parent.symlink_to(path.parent, target_is_directory=True)
    assert read(path) == log.log()


def test_a_file_of_almost_the_same_name_is_another(tmp_path: Path) -> None:
    """Where upper and lower case differ, the header must have the very name."""
    log = LogBuilder("abc", cwd="/w")
    log.write(tmp_path)
    path = LogBuilder("ABC", cwd="/w").write(tmp_path, log.to_bytes())
    with pytest.raises(SessionDamagedError, match="another folder"):
        read(path)


@each_encoding
def test_a_log_that_is_emptied_and_filled_longer_is_read_anew(
    tmp_path: Path, compressed: bool
) -> None:
    """A file that grew may hold something else by now: what comes back is what it holds."""
    old, new = some_log(3), LogBuilder("s", cwd="/w")
    for number in range(50):
        new.user(f"another message {number}")
    path = old.write(tmp_path, compressed=compressed)
    rewriting = Meanwhile(lambda: new.write(tmp_path, compressed=compressed))
    assert read(path, rewriting) == new.log()


def test_a_line_may_not_be_endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without line feeds is given up at a bound, before memory is."""
    monkeypatch.setattr(reader, "_LONGEST_LINE", 2**20)
    path = some_log().write(tmp_path)
    with path.open("ab") as file:
        file.truncate(path.stat().st_size + 2**23)
    with pytest.raises(SessionTooLargeError, match="longer than 1,048,576 bytes"):
        read(path)


def test_too_little_memory_costs_one_log(tmp_path: Path) -> None:
    """What memory does not hold is an error of its log, and of no other."""
    path = some_log().write(tmp_path)

    def run_out() -> None:
        raise MemoryError

    with pytest.raises(SessionTooLargeError, match="more memory than there is"):
        read(path, run_out)


def test_empty_frames_do_not_keep_a_reader(tmp_path: Path) -> None:
    """A caller can give up between any two frames, whatever they hold."""
    data = some_log().to_zstd() + zstd_frame(b"") * 1000
    path = some_log().write(tmp_path, data, compressed=True)
    check = Meanwhile(lambda: None)
    assert read(path, check) == some_log().log()
    assert check.calls > 1000


def test_a_header_of_many_blocks_is_found_in_linear_time(tmp_path: Path) -> None:
    """Looking for the end of the first frame does not start again with every piece."""

    def make(size: int) -> Path:
        # A frame of empty blocks that does not end: a frame header, then three bytes a block.
        data = b"\x28\xb5\x2f\xfd\x00\x58" + b"\x00\x00\x00" * (size // 3)
        return some_log().write(tmp_path, data, compressed=True)

    def find_header(path: Path) -> None:
        with pytest.raises(SessionDamagedError):
            read_log_header(str(path))

    assert_linear(make, find_header)
