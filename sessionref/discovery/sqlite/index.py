"""The title index: a discovery that answers from a SQLite file what the scan reads logs for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

import apsw
import trio

from sessionref.discovery.diagnostics import Diagnostic, Reporter
from sessionref.discovery.ranking import Rank, rank
from sessionref.discovery.scan import ScanDiscovery, match_session
from sessionref.discovery.sqlite.about import REFRESHED_AT, read_about
from sessionref.discovery.sqlite.answers import candidate_of, header_of, stored_of
from sessionref.discovery.sqlite.applying import apply_readings, report_reading
from sessionref.discovery.sqlite.comparing import change_of
from sessionref.discovery.sqlite.files import default_path
from sessionref.discovery.sqlite.logs import read_change
from sessionref.discovery.sqlite.opened import FAILURES, OpenedIndex
from sessionref.discovery.sqlite.reading import find_session
from sessionref.discovery.sqlite.refreshing import (
    Refreshing,
    RefreshProgress,
    RefreshReport,
)
from sessionref.discovery.sqlite.rows import IndexedSession
from sessionref.discovery.sqlite.search import search
from sessionref.discovery.sqlite.verifying import Difference, verify
from sessionref.discovery.sqlite.watching import watch
from sessionref.discovery.sqlite.writing import remove_sessions
from sessionref.errors import StoreUnreadableError, TitleIndexError
from sessionref.model import Candidate, Target
from sessionref.storage.corpus import Corpus
from sessionref.storage.jsonl.listing import find_folders
from sessionref.storage.jsonl.store import JsonlSessionStore
from sessionref.storage.live import LiveSession, LiveSessions

__all__ = ["IndexStatus", "SqliteTitleIndex"]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What an index is like.

    `refreshed_at` is when the last complete refresh began, in milliseconds since the epoch, None
    before the first one.  `problem` says why lookups do without the index, if they do.
    """

    path: Path
    sessions: int = 0
    unreadable: int = 0
    bytes: int = 0
    refreshed_at: int | None = None
    is_refreshing: bool = False
    problem: TitleIndexError | None = None


class SqliteTitleIndex:
    """A `Discovery` over a folder of session logs that opens no log to answer.

    It knows what the last refresh found, and what `observe` was told since; live sessions go before
    that.  Until the first refresh is complete, and while the file cannot be used, it answers by the
    scan instead: the same, only more slowly.  Why it cannot be used is told once, as a diagnostic,
    and the next refresh tries again.

    An async context manager for trio, of use only inside its block.  `path` is where the file lies,
    by default in the user's cache folder.  It is made if need be, any number of processes may use
    it at the same time, and it can be deleted whenever none does.

    A cancelled lookup is interrupted inside SQLite.  A cancelled refresh leaves a valid index, and
    the next one goes on from there.
    """

    def __init__(
        self,
        store: JsonlSessionStore,
        path: str | os.PathLike[str] | None = None,
        *,
        live: LiveSessions | None = None,
        on_diagnostic: Callable[[Diagnostic], None] | None = None,
    ) -> None:
        self._store = store
        self._root = str(store.root)
        self._path = default_path(store.root) if path is None else Path(path)
        self._rules = store.rules
        self._live = LiveSessions() if live is None else live
        self._corpus = Corpus(store, self._live, known_types=store.rules.known_types)
        self._reporter = Reporter(on_diagnostic)
        self._scan = ScanDiscovery(self._corpus, reporter=self._reporter)
        self._file = OpenedIndex(self._path, self._root, self._report_problem)
        self._refreshing = trio.Lock()
        self._wants_refresh = trio.Event()
        self._unreadable: StoreUnreadableError | None = None

    async def __aenter__(self) -> Self:
        await self._file.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        with trio.CancelScope(shield=True):
            await self._file.close()

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self._path

    async def list_candidates(self, target: Target, query: str, limit: int) -> list[Candidate]:
        """Return the first `limit` sessions that match a query, best first, without the target."""
        live = [each for each in self._live if each.header.id != target.session_id]
        needle = query.lower()
        work = partial(_look_up, target=target, needle=needle, limit=limit, live=live)
        connections = self._file.connections
        if self._unreadable is not None:
            raise copy(self._unreadable)
        if connections is None:
            return await self._scan.list_candidates(target, query, limit)
        try:
            found = await connections.read(work)
        except FAILURES as error:
            await self._file.give_up(connections, error)
            found = None
        if found is None:
            return await self._scan.list_candidates(target, query, limit)
        ranked, behind = found
        for session, stored in zip(live, behind, strict=True):
            candidate = await self._match_live(needle, session, stored)
            if candidate is not None:
                ranked.append((rank(target.cwd, session.header), candidate))
        ranked.sort(key=lambda pair: pair[0])
        return [candidate for _, candidate in ranked[:limit]]

    async def refresh(
        self, on_progress: Callable[[RefreshProgress], None] | None = None
    ) -> RefreshReport:
        """Bring the index up to date with the folder; return what that took.

        Only logs that have changed are opened, and of one that has grown only the new part is read.
        Of several processes one refreshes at a time; the others wait here.  `on_progress` is called
        on the event loop, now and then.

        Raises `StoreUnreadableError` if the folder cannot be listed, and `TitleIndexError` if the
        index cannot be used; lookups go on in both cases.
        """
        async with self._refreshing:
            await self._file.open()
            await self._file.check()
            if self._file.connections is None:
                raise self._unusable("it is closed")
            async with self._file.lock():
                try:
                    return await self._refresh(on_progress)
                except FAILURES as error:
                    if self._file.connections is None:
                        raise self._unusable(str(error)) from error
                # What was set aside left a new file behind, and that is to be filled at once.
                try:
                    return await self._refresh(on_progress)
                except FAILURES as error:
                    raise self._unusable(str(error)) from error

    async def keep_fresh(self) -> None:
        """Refresh, and do so again whenever the file had to be started anew, until cancelled.

        What a refresh raises is told as a diagnostic instead.
        """
        while True:
            self._wants_refresh = trio.Event()
            try:
                await self.refresh()
            except (StoreUnreadableError, TitleIndexError) as error:
                self._reporter.report(Diagnostic(error.path, None, error))
            await self._wants_refresh.wait()

    async def watch(self) -> None:
        """Refresh, and then observe each session whose log the system tells to be written.

        Runs until cancelled.  Needs the extra `watch`; raises what `refresh` raises.
        """
        await watch(self, self._root)

    async def observe(self, session_id: str) -> None:
        """Bring one session up to date, whose log its host knows to be made, written or removed.

        Nothing happens as long as the index cannot be used.
        """
        connections = self._file.connections
        if connections is None:
            return
        work = partial(find_folders, self._root, session_id)
        found = await trio.to_thread.run_sync(work, abandon_on_cancel=True)
        try:
            if found is None:
                forget = partial(remove_sessions, session_ids=[session_id])
                await connections.write(forget)
                return
            change = await connections.read(partial(change_of, found=found))
            check = trio.from_thread.check_cancelled
            read = partial(read_change, change, self._rules, check)
            reading = await trio.to_thread.run_sync(read, abandon_on_cancel=True)
            await connections.write(partial(apply_readings, readings=[reading]))
            report_reading(self._reporter, reading)
        except FAILURES as error:
            await self._file.give_up(connections, error)

    async def status(self) -> IndexStatus:
        """Return what the index is like at this moment."""
        status = IndexStatus(
            self._path, is_refreshing=self._refreshing.locked(), problem=self._file.problem
        )
        connections = self._file.connections
        if connections is None:
            return status
        try:
            sessions, unreadable, refreshed_at = await connections.read(_count)
        except FAILURES as error:
            await self._file.give_up(connections, error)
            return replace(status, problem=self._file.problem)
        size = 0
        with suppress(OSError):  # somebody may have deleted it
            size = (await trio.Path(self._path).stat()).st_size
        return replace(
            status,
            sessions=sessions,
            unreadable=unreadable,
            bytes=size,
            refreshed_at=refreshed_at,
        )

    async def verify(self) -> list[Difference]:
        """Return in what the index differs from the logs, all of which are read for it.

        Raises `TitleIndexError` if the index cannot be used, and `StoreUnreadableError` if the
        folder cannot be listed.
        """
        connections = self._file.connections
        if connections is None:
            raise self._unusable("it is closed")
        try:
            return await verify(self._store, connections, self._path)
        except FAILURES as error:
            await self._file.give_up(connections, error)
            raise self._unusable(str(error)) from error

    async def _refresh(
        self, on_progress: Callable[[RefreshProgress], None] | None
    ) -> RefreshReport:
        connections = self._file.connections
        if connections is None:
            raise self._file.unusable("it is closed")
        refreshing = Refreshing(self._root, connections, self._rules, self._reporter, on_progress)
        try:
            report = await refreshing.run()
        except StoreUnreadableError as error:
            self._unreadable = error
            raise
        except FAILURES as error:
            await self._file.give_up(connections, error)
            raise
        self._unreadable = None
        self._file.problem = None
        self._reporter.clear(str(self._path), None)
        await self._file.seal()
        return report

    async def _match_live(
        self, needle: str, session: LiveSession, stored: IndexedSession | None
    ) -> Candidate | None:
        listed = None if stored is None else stored_of(stored, self._root)
        merged = self._corpus.merge(listed, session)
        (reading,) = await self._corpus.read_titles([merged])
        return match_session(needle, merged, reading)

    def _unusable(self, reason: str) -> TitleIndexError:
        return self._file.problem or self._file.unusable(reason)

    def _report_problem(self, problem: TitleIndexError) -> None:
        if self._file.connections is not None:
            self._wants_refresh.set()  # the file is new, and has nothing in it yet
        self._reporter.report(Diagnostic(str(self._path), None, problem))


def _look_up(
    connection: apsw.Connection,
    target: Target,
    needle: str,
    limit: int,
    live: Sequence[LiveSession],
) -> tuple[list[tuple[Rank, Candidate]], list[IndexedSession | None]] | None:
    """Return the stored sessions that match, and what is stored of live ones; None if unknown."""
    if read_about(connection, REFRESHED_AT) is None:
        return None
    ids = {session.header.id for session in live}
    found = search(connection, target.cwd, target.session_id, needle, limit + len(live))
    ranked = [
        (rank(target.cwd, header_of(each)), candidate_of(each))
        for each in found
        if each.id not in ids
    ]
    return ranked, [find_session(connection, session.header.id) for session in live]


def _count(connection: apsw.Connection) -> tuple[int, int, int | None]:
    query = """
        SELECT count(*), count(problem) + (SELECT count(*) FROM fault) FROM session"""
    ((sessions, unreadable),) = connection.execute(query)
    refreshed_at = read_about(connection, REFRESHED_AT)
    return sessions, unreadable, None if refreshed_at is None else int(refreshed_at)
