"""Events to a session: one pass that keeps the surface, the title and what is still open."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal, NamedTuple

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.javascript import MAX_SAFE_INTEGER, shown
from sessionref.session.header import SessionHeader, require_version
from sessionref.session.messages import require_name, require_numbers, tool_calls
from sessionref.session.placing import place_event
from sessionref.session.records import RUN_TYPES, RecordError, check_record
from sessionref.session.repair import OpenTurn
from sessionref.session.surface import ForgottenSurface, Surface, SurfaceNode
from sessionref.session.title import SessionTitle, parse_title

__all__ = ["FoldState", "SessionFold", "SessionLog", "fold_events"]

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


class FoldState(NamedTuple):
    """What the rest of a log must know of the part before it, but for its surface.

    `last_time` is None before the first event.
    """

    next_seq: int
    last_time: int | None
    is_seeded: bool


class SessionFold:
    """The meaning of a log while its events go by, in order.

    `known_types` are event types that a host knows beside those of the log's generation.  A header
    of a version that is not read raises `SessionUnsupportedError`.  An event that breaks a rule
    raises a `StorageError` without a place; the fold is of no use afterwards.

    Without `keeps_surface` the surface of the log that comes out is empty and a crashed last turn
    stays open; the rest is found more quickly.  `next_seq` is the seq that the next event must
    have, and `last_time` the time of the last one: `sessionref.session.typed` moves them on without
    `take`.
    """

    def __init__(
        self, header: SessionHeader, known_types: Container[str] = (), *, keeps_surface: bool = True
    ) -> None:
        generation = require_version(header.version)
        self.header = header
        self.keeps_surface = keeps_surface
        self._generation = generation
        self._upgrades = generation.upgrades
        self._known_types = known_types
        self.surface = Surface()
        self.title: SessionTitle | None = None
        self.open_turn = OpenTurn()
        self._is_seeded = False
        self.next_seq = 0
        self.last_time: int | None = None
        self._log_only_types = generation.log_only_types

    @property
    def state(self) -> FoldState:
        """What a fold of the rest of the log must know."""
        return FoldState(self.next_seq, self.last_time, self._is_seeded)

    def go_on_from(self, state: FoldState) -> None:
        """Take the events before the next one as read, their surface and title forgotten.

        What needs the surface raises `ForgottenError` from now on.
        """
        self.next_seq, self.last_time, self._is_seeded = state
        self.surface = ForgottenSurface()

    def take(self, value: Any) -> None:
        """Take in the next parsed line.

        Raises `RecordError`, the fold as it was, if the line is no record or not the next one.
        """
        # Most lines of a log are plain events: they get through with as few steps as possible.
        if (
            type(value) is dict
            and len(value) == 4
            and type(kind := value.get("type")) is str
            and kind in self._log_only_types
            and kind not in self._upgrades
            and type(seq := value.get("seq")) is int
            and seq == self.next_seq
            and type(time := value.get("time")) is int
            and -MAX_SAFE_INTEGER <= time <= MAX_SAFE_INTEGER
            and "data" in value
        ):
            meaning = self._meanings.get(kind)
            if meaning is not None:
                meaning(self, value)
            self.next_seq = seq + 1
            self.last_time = time
            return
        span = check_record(value)
        if span.first_seq != self.next_seq:
            raise RecordError(f"seq {span.first_seq} stands where {self.next_seq} must follow")
        if value["type"] in RUN_TYPES:
            if not self._generation.has_chunk_lines:
                raise RecordError(f"a packed run has no place in version {self.header.version}")
        else:
            self._apply({**value, "seq": span.first_seq, "time": span.time})
        self.next_seq += span.length
        self.last_time = span.time

    def pass_over(self, count: int, time: int) -> Literal[True]:
        """Take in the next events, whose meaning has been taken in already; the last at `time`."""
        self.next_seq += count
        self.last_time = time
        return True

    def settle(self, turn: int, step: int, call_id: str, *, is_appended: bool = True) -> None:
        """Take note that a call of a turn and step has its result."""
        in_place = is_appended and self.open_turn.is_open_step(turn, step)
        if in_place or not self._generation.settles_in_place:
            self.open_turn.settle(call_id)

    def _apply(self, record: Record) -> None:
        upgrade = self._upgrades.get(record["type"])
        if upgrade is not None:
            record = upgrade(record, self.header.id, self.surface)
        kind = record["type"]
        if kind in self._generation.surface_types:
            self._put_on_surface(record)
            return
        if kind not in self._log_only_types:
            if self._is_ignorable(record):
                if self._generation.ignores_all_of_unknown:
                    return
            elif kind not in self._known_types:
                raise _unknown_type(record)
        for member in ("surfaceOp", "sourceEventSeqs"):
            if member in record:
                raise SessionDamagedError(reason=f"{shown(kind)} may not carry {member}")
        meaning = self._meanings.get(kind)
        if meaning is not None:
            meaning(self, record)

    def close(self) -> SessionLog:
        """Return what the log means; an open last turn is closed first."""
        self._check_seed()
        if self.last_time is not None and self.keeps_surface:
            lost_result = self._generation.lost_result
            for event in self.open_turn.closers(self.next_seq, self.last_time, lost_result):
                self.take(event)
        return SessionLog(
            header=self.header,
            surface=tuple(self.surface) if self.keeps_surface else (),
            title=self.title,
            last_seq=self.next_seq - 1 if self.next_seq else None,
            last_time=self.last_time,
        )

    def _check_seed(self) -> None:
        claimed = bool(self.header.is_seeded)
        if self._generation.has_seed_mark and self._is_seeded != claimed:
            found = "marks the end of a seed" if self._is_seeded else "marks no end of its seed"
            raise SessionDamagedError(
                reason=f"the log {found}, while its header says isSeeded {str(claimed).lower()}"
            )

    def _is_ignorable(self, record: Record) -> bool:
        prefix = self._generation.ignorable_prefix
        return record.get("ignorable") is True or (
            prefix is not None and record["type"].startswith(prefix)
        )

    def _put_on_surface(self, record: Record) -> None:
        node = place_event(record, self.surface, self._generation)
        if record["type"] == "assistant/message":
            data = record["data"]
            call_ids = [block["id"] for block in tool_calls(data["message"])]
            self.open_turn.ask(data["turn"], data["step"], call_ids)
        elif node.result is not None:
            result, call_id = node.result, node.result["message"]["source"]["callId"]
            is_appended = record["surfaceOp"] == "append"
            self.settle(result["turn"], result["step"], call_id, is_appended=is_appended)

    def _start_turn(self, record: Record) -> None:
        self.open_turn.start_turn(require_numbers(record["data"], "turn")["turn"])

    def _end_turn(self, record: Record) -> None:
        reason = require_numbers(record["data"], "turn").get("reason")
        kind = reason.get("kind") if type(reason) is dict else None
        if type(kind) is not str or kind not in self._generation.turn_end_reasons:
            raise SessionDamagedError(reason="the turn ends for no known reason")
        self.open_turn.end_turn()

    def _start_step(self, record: Record) -> None:
        self.open_turn.start_step(require_numbers(record["data"], "turn", "step")["step"])

    def _end_step(self, record: Record) -> None:
        require_numbers(record["data"], "turn", "step")
        self.open_turn.end_step()

    def _call(self, record: Record) -> None:
        data = require_numbers(record["data"], "turn", "step")
        self.open_turn.call(require_name(data, "callId"), record["seq"])

    def _set_title(self, record: Record) -> None:
        self.title = parse_title(record["data"], record["seq"], record["time"])

    def _end_seed(self, record: Record) -> None:
        data = record["data"]
        if type(data) is dict and data.get("inherited") is True:
            self._is_seeded = True

    _meanings: ClassVar[Mapping[str, Callable[[SessionFold, Record], None]]] = {
        "turn/start": _start_turn,
        "turn/end": _end_turn,
        "step/start": _start_step,
        "step/end": _end_step,
        "tool/call": _call,
        "session/title": _set_title,
        "session/end-seed": _end_seed,
    }


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


def _unknown_type(record: Record) -> SessionUnsupportedError:
    return SessionUnsupportedError(
        reason=(
            f"the event type '{shown(record['type'])}' at seq {record['seq']} is required and not "
            f"known to this library; a host that knows it can add it to known_types"
        ),
        direction="unknown",
    )
