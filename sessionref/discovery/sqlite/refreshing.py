"""One refresh: look at every folder, read what has changed, forget what has gone.

Each part is a transaction of its own, so a refresh may stop after any of them, by being cancelled
or by being killed, and the next one goes on from there.  Reading and writing take turns: logs keep
the interpreter busy, and a second thread that wants it for each statement only gets in the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os.path import basename
from typing import Final, NamedTuple, TypeVar

import apsw
import trio

from sessionref.discovery.diagnostics import Diagnostic, Reporter
from sessionref.discovery.sqlite.about import (
    REFRESHED_AT,
    RULES,
    read_about,
    rules_id,
    write_about,
)
from sessionref.discovery.sqlite.applying import apply_readings, report_reading
from sessionref.discovery.sqlite.comparing import (
    Change,
    Row,
    compare,
    faults_of,
    list_projects,
    read_rows,
)
from sessionref.discovery.sqlite.connections import Connections
from sessionref.discovery.sqlite.counting import count_grams
from sessionref.discovery.sqlite.faults import Fault, list_faults, put_faults, remove_faults
from sessionref.discovery.sqlite.logs import Reading, read_change
from sessionref.discovery.sqlite.problems import parse_problem
from sessionref.discovery.sqlite.text import decode
from sessionref.discovery.sqlite.writing import merge_grams, remove_sessions
from sessionref.storage.jsonl.listing import Project, Survey, find_folders, survey
from sessionref.storage.jsonl.reader import LogRules

__all__ = ["RefreshProgress", "RefreshReport", "Refreshing"]

_Result = TypeVar("_Result")

_COMPARED_AT_ONCE: Final = 1_024
_READ_AT_ONCE: Final = 128
_LARGE_SHARE: Final = 10
"""After a change of a tenth of all sessions it is worth counting their grams anew."""


class RefreshProgress(NamedTuple):
    """How far a refresh has come: sessions looked at, of how many, and logs that had to be read."""

    seen: int
    total: int
    read: int
    seconds: float

    @property
    def rate(self) -> float:
        """Sessions a second."""
        return self.seen / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take at this rate, None as long as nobody can tell."""
        return max(self.total - self.seen, 0) / self.rate if self.seen else None


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """What a refresh did: the sessions that it found, logs that it read, sessions that had gone."""

    sessions: int
    read: int
    removed: int
    seconds: float


class Refreshing:
    """A refresh of the index of one folder, to be run once."""

    def __init__(
        self,
        root: str,
        connections: Connections,
        rules: LogRules,
        reporter: Reporter,
        on_progress: Callable[[RefreshProgress], None] | None = None,
    ) -> None:
        self._root = root
        self._connections = connections
        self._rules = rules
        self._rules_id = rules_id(rules.max_bytes, rules.known_types)
        self._reporter = reporter
        self._on_progress = on_progress
        self._started = time.time_ns()
        self._is_current = True
        self._faults: Mapping[str, Fault] = {}
        self._fault_places: set[str] = set()
        self._missed: list[str] = []
        self._seen = self._total = self._read = 0

    async def run(self) -> RefreshReport:
        """Bring the index to the state of the folder; return what was done.

        Raises `StoreUnreadableError` if the folder cannot be listed, and `apsw.Error` if the index
        cannot be written.
        """
        self._is_current = await self._connections.read(self._has_same_rules)
        faults = await self._connections.read(list_faults)
        self._faults = faults if self._is_current else {}
        surveyed = await _in_thread(partial(survey, self._root))
        self._total = sum(len(project.names) for project in surveyed.projects)
        for project in surveyed.projects:
            await self._refresh_project(surveyed, project)
        removed = await self._remove_missed(surveyed)
        await self._remove_faults(faults.keys() - self._fault_places)
        if self._read * _LARGE_SHARE >= self._total:
            await self._tidy()
        await self._connections.write(self._finish)
        return RefreshReport(self._seen, self._read, removed, self._seconds())

    async def _refresh_project(self, surveyed: Survey, project: Project) -> None:
        rows = await self._connections.read(partial(read_rows, project=project.path))
        await self._note(faults_of(project))
        for start in range(0, len(project.names), _COMPARED_AT_ONCE):
            names = project.names[start : start + _COMPARED_AT_ONCE]
            for changes in _parts(await self._compare(surveyed, project, names, rows)):
                readings = await _in_thread(partial(self._read_all, changes))
                await self._apply(readings)
                self._tell()
            self._seen += len(names)
            self._tell()
        found = set(project.names)
        self._missed += [decode(row.session_id) for name, row in rows.items() if name not in found]

    async def _compare(
        self,
        surveyed: Survey,
        project: Project,
        names: Sequence[str],
        rows: Mapping[str, Row],
    ) -> list[Change]:
        result = await self._connections.read(
            partial(
                compare,
                survey=surveyed,
                project=project,
                names=names,
                rows=rows,
                faults=self._faults,
                is_current=self._is_current,
            )
        )
        for place, session_id, problem in result.problems:
            self._reporter.report(Diagnostic(place, session_id, parse_problem(problem)))
        await self._note(result.faults)
        self._missed += result.missed
        return result.changes

    async def _note(self, faults: Sequence[Fault]) -> None:
        """Take note of faults that are there; those that the index does not have go into it."""
        for fault in faults:
            self._fault_places.add(fault.place)
            error = parse_problem(fault.problem)
            self._reporter.report(Diagnostic(fault.place, fault.session_id, error))
        new = [fault for fault in faults if self._faults.get(fault.place) != fault]
        if new:
            await self._connections.write(partial(put_faults, faults=new))

    async def _apply(self, readings: Sequence[Reading]) -> None:
        await self._connections.write(partial(apply_readings, readings=readings))
        for reading in readings:
            report_reading(self._reporter, reading)
            if reading.fault is not None:
                self._fault_places.add(reading.fault.place)
        self._read += len(readings)

    async def _remove_missed(self, surveyed: Survey) -> int:
        """Forget the sessions that were not met and are not there; return how many those are."""
        names = {basename(project.path) for project in surveyed.projects}
        for project in await self._connections.read(list_projects):
            if project not in names:
                rows = await self._connections.read(partial(read_rows, project=project))
                self._missed += [decode(row.session_id) for row in rows.values()]
        removed = 0
        for missed in _parts(self._missed):
            gone = await _in_thread(partial(self._gone, missed))
            await self._connections.write(partial(remove_sessions, session_ids=gone))
            removed += len(gone)
        return removed

    def _gone(self, session_ids: Sequence[str]) -> list[str]:
        # One that has moved was read where it is now.
        return [each for each in session_ids if find_folders(self._root, each) is None]

    async def _remove_faults(self, places: set[str]) -> None:
        if places:
            await self._connections.write(partial(remove_faults, places=places))

    async def _tidy(self) -> None:
        """Let lookups be as fast as they can be after a large change."""
        steps: list[Iterator[None]] = []

        def merge_some(connection: apsw.Connection) -> bool:
            if not steps:
                steps.append(merge_grams(connection))
            return next(steps[0], self) is not self

        while await self._connections.write(merge_some):
            pass
        await self._connections.write(count_grams)

    def _read_all(self, changes: Sequence[Change]) -> list[Reading]:
        check = trio.from_thread.check_cancelled
        return [read_change(change, self._rules, check) for change in changes]

    def _has_same_rules(self, connection: apsw.Connection) -> bool:
        return read_about(connection, RULES) == self._rules_id

    def _finish(self, connection: apsw.Connection) -> None:
        write_about(connection, RULES, self._rules_id)
        write_about(connection, REFRESHED_AT, str(self._started // 1_000_000))

    def _tell(self) -> None:
        if self._on_progress is not None:
            total = max(self._total, self._seen)
            self._on_progress(RefreshProgress(self._seen, total, self._read, self._seconds()))

    def _seconds(self) -> float:
        return (time.time_ns() - self._started) / 1e9


def _parts(items: Sequence[_Result]) -> Iterator[Sequence[_Result]]:
    for start in range(0, len(items), _READ_AT_ONCE):
        yield items[start : start + _READ_AT_ONCE]


async def _in_thread(work: Callable[[], _Result]) -> _Result:
    """Return what `work` returns; a cancelled caller leaves at once and lets it end by itself."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
