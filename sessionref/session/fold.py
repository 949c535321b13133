"""Events to a session: one pass that keeps the surface, the title and what is still open."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.javascript import MAX_SAFE_INTEGER, safe_integer, same_json
from sessionref.session.header import SessionHeader, require_supported
from sessionref.session.messages import require_name, require_numbers
from sessionref.session.records import RUN_TYPES, RecordError, check_record
from sessionref.session.repair import OpenTurn
from sessionref.session.surface import Surface, SurfaceNode, parse_source_seqs
from sessionref.session.title import SessionTitle, parse_title

__all__ = ["SessionFold", "SessionLog", "fold_events"]

Record = dict[str, Any]

_CHECK_EVERY: Final = 256


@dataclass(frozen=True, slots=True)
class SessionLog:
    """What a log means, as far as its reader got.

    `surface` is what the model sees, in order, the events that close a crashed last turn included;
    `last_seq` is the last seq of the log with them, None for a log without events, and `last_time`
    the time of its last event in milliseconds since the epoch.
    """

    header: SessionHeader
    surface: tuple[tuple[int, SurfaceNode], ...]
    title: SessionTitle | None
    last_seq: int | None
    last_time: int | None


class SessionFold:
    """The meaning of a log while its events go by, in order.

    `known_types` are event types that a host knows beside those of the log's generation.  A header
    of a version that is not read raises `SessionUnsupportedError`.  An event that breaks a rule
    raises a `StorageError` without a place; the fold is of no use afterwards.
    """

    def __init__(self, header: SessionHeader, known_types: Container[str] = ()) -> None:
        generation = require_supported(header)
        self._header = header
        self._generation = generation
        self._upgrades = generation.upgrades
        self._known_types = known_types
        self._surface = Surface()
        self._title: SessionTitle | None = None
        self._open = OpenTurn()
        self._next_seq = 0
        self._time: int | None = None
        # What to do with an event that carries nothing but its data; None where that is nothing.
        self._meanings: dict[str, Callable[[Record], None] | None] = {
            **dict.fromkeys(generation.log_only_types),
            "turn/start": self._start_turn,
            "turn/end": self._end_turn,
            "step/start": self._start_step,
            "step/end": self._end_step,
            "tool/call": self._call,
            "session/title": self._set_title,
        }

    @property
    def next_seq(self) -> int:
        """The seq that the next event must have."""
        return self._next_seq

    def take(self, value: Any) -> None:
        """Take in the next parsed line.

        Raises `RecordError`, the fold as it was, if the line is no record or not the next one.
        """
        # Most lines of a log are plain events: they get through with as few steps as possible.
        if (
            type(value) is dict
            and len(value) == 4
            and type(kind := value.get("type")) is str
            and kind in self._meanings
            and kind not in self._upgrades
            and type(seq := value.get("seq")) is int
            and seq == self._next_seq
            and type(time := value.get("time")) is int
            and -MAX_SAFE_INTEGER <= time <= MAX_SAFE_INTEGER
            and "data" in value
        ):
            meaning = self._meanings[kind]
            if meaning is not None:
                meaning(value)
            self._next_seq = seq + 1
            self._time = time
            return
        span = check_record(value)
        if span.first_seq != self._next_seq:
            raise RecordError(f"seq {span.first_seq} stands where {self._next_seq} must follow")
        if value["type"] not in RUN_TYPES:
            self._apply({**value, "seq": span.first_seq, "time": span.time}, span.first_seq)
        self._next_seq += span.length
        self._time = span.time

    def _apply(self, record: Record, seq: int) -> None:
        upgrade = self._upgrades.get(record["type"])
        if upgrade is not None:
            record = upgrade(record, self._header.id, self._surface)
        kind = record["type"]
        if kind in self._generation.surface_types:
            self._put_on_surface(record, seq)
            return
        if kind not in self._meanings:
            self._check_unknown(record)
        for member in ("surfaceOp", "sourceEventSeqs"):
            if member in record:
                raise SessionDamagedError(reason=f"{kind} may not carry {member}")
        meaning = self._meanings.get(kind)
        if meaning is not None:
            meaning(record)

    def close(self) -> SessionLog:
        """Return what the log means; an open last turn is closed first."""
        if self._time is not None:
            for event in self._open.closers(self._next_seq, self._time):
                self.take(event)
        return SessionLog(
            header=self._header,
            surface=tuple(self._surface),
            title=self._title,
            last_seq=self._next_seq - 1 if self._next_seq else None,
            last_time=self._time,
        )

    def _check_unknown(self, record: Record) -> None:
        if record["type"] not in self._known_types and record.get("ignorable") is not True:
            raise SessionUnsupportedError(
                reason=(
                    f"the event type {record['type']!r} at seq {record['seq']} is required and not "
                    f"known to this library; a host that knows it can add it to known_types"
                ),
                direction="unknown",
            )

    def _put_on_surface(self, record: Record, seq: int) -> None:
        kind = record["type"]
        operation = record.get("surfaceOp")
        node = self._generation.surface_types[kind](record["data"])
        sources: Container[int] = ()
        if "sourceEventSeqs" in record:
            sources = parse_source_seqs(record["sourceEventSeqs"], seq)
            if record["sourceEventSeqs"] == [] and kind != "assistant/message":
                raise SessionDamagedError(reason=f"sourceEventSeqs of {kind} is empty")
        if operation == "append":
            self._surface.append(seq, node)
        else:
            self._replace(operation, seq, node, sources)
        if kind == "assistant/message":
            self._open.ask(record["data"])
        elif node.result is not None:
            self._open.settle(node.result["message"]["source"]["callId"])

    def _replace(
        self, operation: object, seq: int, node: SurfaceNode, sources: Container[int]
    ) -> None:
        first, last = self._generation.replace_members
        if type(operation) is not dict or operation.keys() != {"op", first, last}:
            raise SessionDamagedError(reason="surfaceOp is neither append nor a replacement")
        start, end = safe_integer(operation[first]), safe_integer(operation[last])
        if operation["op"] != "replace" or start is None or end is None:
            raise SessionDamagedError(reason="surfaceOp is neither append nor a replacement")
        old = self._surface.get(start)
        removed = self._surface.replace(seq, node, start, end)
        missing = [gone for gone in removed if gone not in sources]
        if missing:
            raise SessionDamagedError(
                reason=f"the replacement removes {missing[0]}, which sourceEventSeqs does not list"
            )
        if node.result is not None and (
            len(removed) != 1 or old is None or not same_json(old.result, node.result)
        ):
            raise SessionDamagedError(
                reason="a tool result may replace only itself, and change only its content"
            )

    def _start_turn(self, record: Record) -> None:
        self._open.start_turn(require_numbers(record["data"], "turn"))

    def _end_turn(self, record: Record) -> None:
        reason = require_numbers(record["data"], "turn").get("reason")
        kind = reason.get("kind") if type(reason) is dict else None
        if type(kind) is not str or kind not in self._generation.turn_end_reasons:
            raise SessionDamagedError(reason="the turn ends for no known reason")
        self._open.end_turn()

    def _start_step(self, record: Record) -> None:
        self._open.start_step(require_numbers(record["data"], "turn", "step"))

    def _end_step(self, record: Record) -> None:
        require_numbers(record["data"], "turn", "step")
        self._open.end_step()

    def _call(self, record: Record) -> None:
        data = require_numbers(record["data"], "turn", "step")
        self._open.call(require_name(data, "callId"), record["seq"])

    def _set_title(self, record: Record) -> None:
        self._title = parse_title(record["data"], record["seq"], record["time"])


def fold_events(
    header: SessionHeader,
    events: Iterable[Record],
    known_types: Container[str] = (),
    check: Callable[[], object] | None = None,
) -> SessionLog:
    """Return what a list of events means, the runs among them packed or not.

    `check` is called from time to time, so that a caller can give the work up by raising.  Raises a
    `StorageError` that names the event for the first one that breaks a rule.
    """
    fold = SessionFold(header, known_types)
    for place, event in enumerate(events):
        if check is not None and place % _CHECK_EVERY == 0:
            check()
        try:
            fold.take(event)
        except RecordError as error:
            raise SessionDamagedError(reason=f"event {fold.next_seq}: {error}") from error
        except (SessionDamagedError, SessionUnsupportedError) as error:
            raise replace(error, reason=f"event {fold.next_seq}: {error.reason}") from error
    return fold.close()
