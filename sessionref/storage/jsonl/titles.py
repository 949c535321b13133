"""The title of a log, read from where the last reading stopped if the log has only grown.

Blocking: to be called in a thread.

A title is found by going through a whole log once; what the rest must know of the part before it
fits into a mark of some hundred bytes.  Wherever a mark does not fit, or what follows needs more
than it has, the whole log is read, and so every error is that of a whole reading.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from os.path import basename
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from sessionref.errors import StorageError
from sessionref.session.fold import FoldState
from sessionref.session.header import SessionHeader
from sessionref.session.reading import LogReader
from sessionref.session.surface import ForgottenError
from sessionref.session.title import SessionTitle
from sessionref.storage.jsonl.frames import Frame
from sessionref.storage.jsonl.layout import log_version
from sessionref.storage.jsonl.logfile import BoundedFile
from sessionref.storage.jsonl.reader import (
    READ_BYTES,
    LogRules,
    check_place,
    feed_frames,
    feed_lines,
    is_compressed,
    read_in_one_state,
    version_problem,
)
from sessionref.storage.protocol import Revision

__all__ = ["KnownTitle", "LogMark", "TitleState", "read_title"]

_WINDOW: Final = 2**12
_WINDOWS: Final = 32
_WHOLLY_COMPARED: Final = 2**18
"""Up to so many bytes before a mark are compared, all of them; of more, windows."""

_FORMAT: Final = b"\x01"
"""What kept marks start with; another number from then on that they mean something else."""

_SUM_BYTES: Final = 4

Check = Callable[[], object]


class LogMark(NamedTuple):
    """Where the reading of a log stopped, and what it takes to go on from there.

    `stop` is the byte behind the last line or frame that was taken in, `text_bytes` how many bytes
    of text came before it, and `fingerprint` tells what bytes the file had there.
    """

    device: int
    inode: int
    is_compressed: bool
    stop: int
    text_bytes: int
    fingerprint: int
    state: FoldState

    def to_bytes(self) -> bytes:
        """Return the mark as bytes to be kept."""
        data = _FORMAT + msgspec.msgpack.encode(self)
        return data + _sum(data)

    @classmethod
    def from_bytes(cls, data: bytes) -> LogMark | None:
        """Return the mark that was kept, or None if these bytes are not as one was kept."""
        data, kept_sum = data[:-_SUM_BYTES], data[-_SUM_BYTES:]
        # A wrong number in a mark would go unnoticed, and what follows in the log be passed over.
        if not data.startswith(_FORMAT) or kept_sum != _sum(data):
            return None
        try:
            return msgspec.msgpack.decode(data[len(_FORMAT) :], type=cls)
        except (msgspec.MsgspecError, ValueError):
            return None


class KnownTitle(NamedTuple):
    """What was read of a log before, by the same rules: its header, its title, and its mark."""

    header: SessionHeader
    title: str | None
    mark: LogMark


class TitleState(NamedTuple):
    """The header and title of a log in one state of its file.

    `mark` is where to go on from, None where the next reading must begin anew.
    """

    header: SessionHeader
    title: str | None
    revision: Revision
    mark: LogMark | None


def read_title(
    path: str, rules: LogRules, check: Check, known: KnownTitle | None = None
) -> TitleState:
    """Return the title of a log; only what comes behind what is known is read, if that still fits.

    `check` is called between the pieces that are read, so that a caller can give up by raising.
    Raises what `read_log_file` raises.
    """
    return read_in_one_state(path, partial(_read, path=path, rules=rules, check=check, known=known))


def _read(
    file: BoundedFile, path: str, rules: LogRules, check: Check, known: KnownTitle | None
) -> TitleState:
    if known is not None and _may_go_on(known, file, path) and _stands_before(known.mark, file):
        try:
            state = _Reading(file, path, rules).read(check, known)
        except (ForgottenError, StorageError):
            pass
        else:
            # Of a file that was rewritten meanwhile, the new mark would tell what nobody has read.
            if not file.has_changed() or _stands_before(known.mark, file):
                return state
        file.start_at(0)
    return _Reading(file, path, rules).read(check)


class _Reading:
    """One reading of a log, from its beginning or from a mark on."""

    def __init__(self, file: BoundedFile, path: str, rules: LogRules) -> None:
        self._file = file
        self._path = path
        self._rules = rules
        self._lines = LogReader(rules.known_types, log_version(basename(path)), keeps_surface=False)
        self._start = self._text_before = 0
        self._title: str | None = None
        self._mark: LogMark | None = None
        self._title_at_mark: str | None = None

    def read(self, check: Check, known: KnownTitle | None = None) -> TitleState:
        if known is not None:
            mark = known.mark
            self._lines.go_on_from(known.header, mark.state)
            self._start, self._text_before, self._title = mark.stop, mark.text_bytes, known.title
            self._file.start_at(mark.stop)
            self._mark, self._title_at_mark = mark, known.title
        if is_compressed(self._path):
            left = self._rules.max_bytes - self._text_before
            feed_frames(self._lines, self._file.read, left, check, self._mark_frame)
        else:
            pieces = iter(partial(self._file.read, READ_BYTES), b"")
            feed_lines(self._lines, pieces, check, sealed=False)
            self._mark = self._mark_at(self._start + self._lines.taken)
        log = self._lines.close()
        check_place(log.header, self._path)
        title = self._latest(log.title)
        # What stands in a torn end may be gone at the next reading, and its title with it.
        stop = self._mark if title == self._title_at_mark else None
        if stop is not None:
            stop = stop._replace(fingerprint=_fingerprint(self._file, stop.stop))
        return TitleState(log.header, title, self._file.revision, stop)

    def _mark_frame(self, frame: Frame) -> None:
        self._mark = self._mark_at(self._start + frame.byte + len(frame.data))

    def _mark_at(self, stop: int) -> LogMark | None:
        fold = self._lines.fold
        if fold is None:
            return None
        self._title_at_mark = self._latest(fold.title)
        revision = self._file.revision
        return LogMark(
            revision.device,
            revision.inode,
            is_compressed=is_compressed(self._path),
            stop=stop,
            text_bytes=self._text_before + self._lines.taken,
            fingerprint=0,
            state=fold.state,
        )

    def _latest(self, title: SessionTitle | None) -> str | None:
        return self._title if title is None else title.title


def _may_go_on(known: KnownTitle, file: BoundedFile, path: str) -> bool:
    """Return whether a log is the file that was read, and its name says what it said then."""
    mark, revision = known.mark, file.revision
    return (
        (mark.device, mark.inode) == (revision.device, revision.inode)
        and mark.stop <= revision.size
        and mark.is_compressed == is_compressed(path)
        and version_problem(path, known.header) is None
    )


def _stands_before(mark: LogMark, file: BoundedFile) -> bool:
    """Return whether what stands before a mark is what was read, as far as can be told."""
    return mark.fingerprint == _fingerprint(file, mark.stop)


def _fingerprint(file: BoundedFile, stop: int) -> int:
    """Return a sum of the bytes before one: of all, or of windows from the first to the last."""
    if stop <= _WHOLLY_COMPARED:
        return crc32(file.peek(0, stop))
    last, total = stop - _WINDOW, 0
    for number in range(_WINDOWS):
        total = crc32(file.peek(last * number // (_WINDOWS - 1), _WINDOW), total)
    return total


def _sum(data: bytes) -> bytes:
    return crc32(data).to_bytes(_SUM_BYTES, "little")
