"""One log file to a session, raw or zstd.  Blocking: to be called in a thread.

A file may grow, shrink or be replaced while it is read.  Only as many bytes are read as it had when
it was opened, and it is looked at again afterwards: what comes back is a state that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import FileIO
from itertools import accumulate, repeat
from os.path import basename, dirname, join, samefile, sep
from typing import Final, TypeVar

from sessionref.errors import (
    SessionDamagedError,
    SessionTooLargeError,
    SessionUnsupportedError,
    StorageError,
)
from sessionref.session.fold import SessionLog
from sessionref.session.header import MAX_HEADER_BYTES, SessionHeader, read_header, require_version
from sessionref.session.reading import LogReader
from sessionref.storage.jsonl.frames import (
    Frame,
    FrameError,
    FrameUnpacker,
    TooMuchError,
    read_frames,
)
from sessionref.storage.jsonl.layout import (
    COMPRESSED_SUFFIX,
    log_version,
    project_name,
    session_name,
)
from sessionref.storage.jsonl.logfile import BoundedFile, open_log
from sessionref.storage.protocol import Revision

__all__ = [
    "READ_BYTES",
    "LogRules",
    "check_place",
    "feed_frames",
    "feed_lines",
    "is_compressed",
    "read_in_one_state",
    "read_log_file",
    "read_log_header",
    "version_problem",
]

READ_BYTES: Final = 2**20
_FIRST_READ_BYTES: Final = 2**12
_TRIES: Final = 3
_LONGEST_LINE: Final = 2**28

Check = Callable[[], object]
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class LogRules:
    """What a reader of logs must know beside the format.

    `max_bytes` bounds what a compressed log may decompress to; `known_types` are event types that
    a host knows beside those of the format.
    """

    max_bytes: int = 2**30
    known_types: Container[str] = ()


def read_log_header(path: str) -> tuple[SessionHeader, Revision]:
    """Return the header of a log, of whatever version, and the state of its file.

    Only the first bytes of the file are read.

    Raises `SessionDamagedError` or `SessionUnsupportedError` with the path, and
    `FileNotFoundError` if there is no such file.
    """
    with open_log(path) as (file, revision):
        if is_compressed(path):
            header = read_header(_first_frame_line(file, revision))
        else:
            header = read_header(_first_line(file))
        problem = version_problem(path, header)
        try:
            check_place(header, path)
        except SessionDamagedError as error:
            raise (problem or error) from error.__cause__
        return header, revision


def read_log_file(
    path: str, rules: LogRules, check: Check, *, keeps_surface: bool = True
) -> SessionLog:
    """Return what a log means, in one state that its file had during the call.

    Without `keeps_surface`, its surface is empty, and the rest is found more quickly.
    `check` is called between the pieces that are read, so that a caller can give up by raising.
    Raises a `StorageError` with path, line and byte, and `FileNotFoundError` if there is no file.
    """

    def read(file: BoundedFile) -> SessionLog:
        version = log_version(basename(path))
        reader = LogReader(rules.known_types, version, keeps_surface=keeps_surface)
        if is_compressed(path):
            feed_frames(reader, file.read, rules.max_bytes, check)
        else:
            feed_lines(reader, iter(partial(file.read, READ_BYTES), b""), check, sealed=False)
        log = reader.close()
        check_place(log.header, path)
        return log

    return read_in_one_state(path, read)


def read_in_one_state(path: str, read: Callable[[BoundedFile], _Result]) -> _Result:
    """Return what `read` makes of a log's file, in one state that it had during the call.

    Raises what `read` raises, with the path, and `FileNotFoundError` if there is no file.
    """
    problem = version_problem(path, None)
    if problem is not None:
        raise problem
    for _ in range(_TRIES):
        with open_log(path) as (file, revision):
            bounded = BoundedFile(file, revision)
            try:
                found = read(bounded)
            except StorageError:
                if bounded.is_as_read():
                    raise
            else:
                if bounded.is_as_read():
                    return found
    raise SessionDamagedError(reason="the log was rewritten each time it was read", path=path)


def version_problem(path: str, header: SessionHeader | None) -> StorageError | None:
    """Return why a log of this name, and this header if it is known, is not read; None if it is.

    A number in the name that is not read is judged before anything in the file.
    """
    version = log_version(basename(path))
    try:
        if version is not None:
            require_version(version)
        if header is not None:
            require_version(header.version, version)
    except (SessionDamagedError, SessionUnsupportedError) as error:
        return error.located(path)
    return None


def feed_lines(reader: LogReader, pieces: Iterator[bytes], check: Check, *, sealed: bool) -> bool:
    """Feed the complete lines of some pieces of text; return whether something stands behind."""
    waiting: list[bytes] = []
    length = 0
    for piece in pieces:
        check()
        complete, line_feed, rest = piece.rpartition(b"\n")
        if line_feed:
            waiting.append(complete)
            text = b"".join(waiting)
            reader.feed(text.split(b"\n"), sealed=sealed, size=len(text) + 1)
            waiting, length = [], 0
        if rest:
            waiting.append(rest)
            length += len(rest)
        if length > _LONGEST_LINE:
            raise SessionTooLargeError(
                reason=f"a line of the log is longer than {_LONGEST_LINE:,} bytes",
                limit=_LONGEST_LINE,
            )
    return length > 0


def feed_frames(
    reader: LogReader,
    read: Callable[[int], bytes],
    max_bytes: int,
    check: Check,
    note: Callable[[Frame], object] | None = None,
) -> None:
    """Feed the lines of a compressed log, or of the rest of one whose header is known.

    `note` is called after each complete frame.
    """
    unpacker = FrameUnpacker(max_bytes)
    with _frame_errors(max_bytes):
        for frame in read_frames(read):
            check()
            if reader.header is None:
                reader.feed([_only_line(frame, unpacker)], sealed=True)
            else:
                rest = feed_lines(reader, unpacker.unpack(frame), check, sealed=frame.is_complete)
                is_cut = frame.is_complete and rest
                _require(not is_cut, "a complete frame ends inside a line", frame)
            if note is not None and frame.is_complete:
                note(frame)


def _only_line(frame: Frame, unpacker: FrameUnpacker) -> bytes:
    _require(frame.is_complete, "the first frame is incomplete", frame)
    text = b""
    for piece in unpacker.unpack(frame):
        text += piece
        _require(len(text) <= MAX_HEADER_BYTES + 1, "the first frame is too long a header", frame)
    line, line_feed, rest = text.partition(b"\n")
    _require(line_feed and not rest, "the first frame is not exactly one line, the header", frame)
    return line


def _require(holds: object, reason: str, frame: Frame) -> None:
    if not holds:
        raise FrameError(reason, frame.byte)


@contextmanager
def _frame_errors(max_bytes: int) -> Iterator[None]:
    try:
        yield
    except TooMuchError as error:
        raise SessionTooLargeError(
            reason=f"{error}; a log may hold {max_bytes:,} bytes (max_log_bytes)",
            limit=max_bytes,
            byte=error.byte,
        ) from error
    except FrameError as error:
        raise SessionDamagedError(reason=str(error), byte=error.byte) from error


def _first_line(file: FileIO) -> bytes:
    line = file.read(_FIRST_READ_BYTES) or b""
    while b"\n" not in line and len(line) <= MAX_HEADER_BYTES:
        more = file.read(len(line) + 1)
        if not more:
            raise SessionDamagedError(reason="the log has no complete header line", line=1, byte=0)
        line += more
    return line.partition(b"\n")[0]


def _first_frame_line(file: FileIO, revision: Revision) -> bytes:
    start = BoundedFile(file, revision, 2 * MAX_HEADER_BYTES)
    sizes = accumulate(repeat(_FIRST_READ_BYTES), lambda size, _: 2 * size)
    try:
        for frame in read_frames(lambda _: start.read(next(sizes))):
            return _only_line(frame, FrameUnpacker(MAX_HEADER_BYTES + 1))
    except FrameError as error:
        raise SessionDamagedError(reason=str(error), byte=error.byte) from error
    raise SessionDamagedError(reason="the log has no complete header line", line=1, byte=0)


def check_place(header: SessionHeader, path: str) -> None:
    """Raise unless the id and cwd of a header lead to the very file that it was read from."""
    name, project = session_name(header.id), project_name(header.cwd)
    if name is not None:
        # Every log is looked at twice: its names are compared before paths are put together.
        if dirname(path).endswith(f"{sep}{project}{sep}{name}"):
            return
        root = dirname(dirname(dirname(path)))
        if _is_same_spelling(join(root, project, name, basename(path)), path):
            return
    raise SessionDamagedError(
        reason=(
            f"its header names session {header.id!r} in {header.cwd!r}, which belongs into another "
            f"folder; was it copied or renamed?"
        ),
        line=1,
        byte=0,
    )


def _is_same_spelling(expected: str, path: str) -> bool:
    # Some file systems find a file under any spelling of its name in upper and lower case.
    if expected.casefold() != path.casefold():
        return False
    try:
        return samefile(expected, path)
    except OSError:
        return False


def is_compressed(path: str) -> bool:
    """Return whether a log's name says that it is compressed."""
    return path.endswith(COMPRESSED_SUFFIX)
