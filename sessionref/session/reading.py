"""The lines of a log to a session, and which lines may be dropped.

Bytes in, values out: where the lines come from, and whether the file may still grow, is the
business of a storage.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import length_hint
from typing import Final

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.session.fold import FoldState, SessionFold, SessionLog
from sessionref.session.header import SessionHeader, read_header, require_version
from sessionref.session.json_line import line_decoder
from sessionref.session.records import RecordError, check_record

__all__ = ["LogReader", "read_log"]

_BATCH: Final = 1024


class LogReader:
    """Reads the lines of one log, in any number of pieces.

    The first line that is no record, or not the next one, opens a defect.  In a sealed piece that
    is damage at once; else the lines from there on are a crash tail, unless a later one ends a
    turn: then the defect lies in what a writer has committed, and the log is damaged.

    `version` is the one that the log's name tells, which its header must have; None if it has no
    name.  Without `keeps_surface`, the surface of what comes out is empty.

    Every method raises `SessionDamagedError` or `SessionUnsupportedError` with line and byte; the
    reader is of no use afterwards.
    """

    def __init__(
        self,
        known_types: Container[str] = (),
        version: int | None = None,
        *,
        keeps_surface: bool = True,
    ) -> None:
        self._known_types = known_types
        self._version = version
        self._keeps_surface = keeps_surface
        # Importing the library shall not load what only reading a log needs.
        from sessionref.session.typed import take_lines

        self._take_lines = take_lines
        self._decode = line_decoder()
        self._fold: SessionFold | None = None
        self._header: SessionHeader | None = None
        self._defect: SessionDamagedError | None = None
        self._lines = 0
        self._bytes = 0

    @property
    def fold(self) -> SessionFold | None:
        """What the lines before the first defect mean, None before the first line."""
        return self._fold

    @property
    def taken(self) -> int:
        """The bytes of the lines before the first defect, line feeds included."""
        defect = self._defect
        return self._bytes if defect is None or defect.byte is None else defect.byte

    def go_on_from(self, header: SessionHeader, state: FoldState) -> None:
        """Take the header and the lines before the next one as read.

        What needs their surface raises `ForgottenError`.
        """
        self._header = header
        self._fold = SessionFold(header, self._known_types, keeps_surface=self._keeps_surface)
        self._fold.go_on_from(state)

    @property
    def header(self) -> SessionHeader | None:
        """The header, None before the first line."""
        return self._header

    def feed(
        self, lines: Sequence[bytes], *, sealed: bool = False, size: int | None = None
    ) -> None:
        """Take in complete lines, without their line feeds.

        `sealed` says that a writer committed them as a whole, as a complete frame proves.  `size`
        is how many bytes they are together with their line feeds, if the caller knows.
        """
        rest = iter(lines)
        if self._fold is None:
            self._start(rest)
        if self._fold is not None and self._defect is None:
            self._take(self._fold, rest, lines, sealed=sealed)
        if self._defect is not None and any(map(self._ends_turn, rest)):
            raise self._defect
        self._lines += len(lines)
        self._bytes += sum(map(len, lines)) + len(lines) if size is None else size

    def close(self) -> SessionLog:
        """Return what the lines so far mean; a last line without line feed is never fed."""
        if self._fold is None:
            raise SessionDamagedError(reason="the log has no complete header line", line=1, byte=0)
        return self._fold.close()

    def _start(self, rest: Iterator[bytes]) -> None:
        for line in rest:
            self._header = read_header(line)
            require_version(self._header.version, self._version)
            self._fold = SessionFold(
                self._header, self._known_types, keeps_surface=self._keeps_surface
            )
            return

    def _take(
        self, fold: SessionFold, rest: Iterator[bytes], lines: Sequence[bytes], *, sealed: bool
    ) -> None:
        try:
            self._take_lines(fold, rest)
        except (SessionDamagedError, SessionUnsupportedError) as error:
            number, byte = self._place(rest, lines)
            raise replace(error, line=number, byte=byte) from error.__cause__
        except ValueError as error:
            number, byte = self._place(rest, lines)
            kind = "" if isinstance(error, RecordError) else "the line is not JSON: "
            defect = SessionDamagedError(reason=f"{kind}{error}", line=number, byte=byte)
            if sealed:
                raise defect from error
            defect.__cause__ = error
            self._defect = defect

    def _place(self, rest: Iterator[bytes], lines: Sequence[bytes]) -> tuple[int, int]:
        """Return the number and first byte of the line that was taken from `rest` last."""
        before = lines[: len(lines) - length_hint(rest) - 1]
        return self._lines + len(before) + 1, self._bytes + sum(map(len, before)) + len(before)

    def _ends_turn(self, line: bytes) -> bool:
        try:
            record = self._decode(line)
            check_record(record)
        except ValueError:
            return False
        return bool(record["type"] == "turn/end")


def read_log(lines: Iterable[bytes], known_types: Container[str] = ()) -> SessionLog:
    """Return what the complete lines of an uncompressed log mean, given without line feeds.

    Raises `SessionDamagedError` or `SessionUnsupportedError` with line and byte.
    """
    reader = LogReader(known_types)
    rest = iter(lines)
    while batch := list(islice(rest, _BATCH)):
        reader.feed(batch)
    return reader.close()
