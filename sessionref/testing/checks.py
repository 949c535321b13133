"""Checks that hold any store or discovery to its protocol, whoever wrote it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import trio

from sessionref.discovery.protocol import Discovery
from sessionref.discovery.scan import ScanDiscovery
from sessionref.errors import SessionNotFoundError, StorageError
from sessionref.model import Candidate, Target
from sessionref.session.fold import SessionLog
from sessionref.session.title import SessionTitle
from sessionref.storage.corpus import Corpus
from sessionref.storage.protocol import SessionStore, StoredSession, TitleReading
from sessionref.work import run_all

__all__ = ["check_discovery", "check_store"]

_Result = TypeVar("_Result")

_AT_ONCE: Final = 8
_MOST_SHOWN: Final = 400


async def check_store(store: SessionStore) -> None:
    """Hold a store, which must hold two sessions or more that can be read, to its protocol.

    Raises `AssertionError` with what was expected and what came; what a method raised that it must
    not raise is chained.
    """
    sessions = await _list(store)
    ids = [session.session_id for session in sessions if session.session_id is not None]
    if len(ids) != len(set(ids)):
        raise _broken("a listing has each session once", "different ids", ids)
    for session in sessions:
        if session.error is None:
            await _check_session(store, session)
    logs = [(session, await _read_log(store, session)) for session in sessions]
    readable = [session for session, log in logs if isinstance(log, SessionLog)]
    if len(readable) < 2:
        raise _broken("the check needs two readable sessions", "two or more", readable)
    await _check_titles(store, sessions)
    await _check_absence(store, ids)
    await _check_cancelling(store, readable[0])


async def check_discovery(
    discovery: Discovery, corpus: Corpus, *, queries: Sequence[str] = ()
) -> None:
    """Hold a discovery over a corpus to its protocol: it must answer exactly as the scan does.

    The corpus must not change meanwhile.  Beside `queries`, parts of the ids, cwds and labels of
    the corpus are asked for, in several cases and at several limits.  Raises `AssertionError` as
    `check_store` does.
    """
    scan = ScanDiscovery(corpus)
    everything = await scan.list_candidates(Target(session_id=""), "", 10**9)
    for target in _targets(everything):
        for query in {"", *queries, *_queries(everything)}:
            expected = await scan.list_candidates(target, query, 10**9)
            for limit in sorted({1, 2, max(len(expected) - 1, 1), len(expected) + 1}):
                ask = partial(discovery.list_candidates, target, query, limit)
                found = await _call("list_candidates", ask, list)
                rule = (
                    f"the first {limit} sessions that match {query!r}, seen from {target}, are "
                    f"those of the scan"
                )
                _expect_candidates(rule, expected[:limit], found)


def _broken(rule: str, expected: str, found: object) -> AssertionError:
    return AssertionError(f"{rule}: expected {expected}, got {_shown(found)}")


def _expect_equal(rule: str, expected: object, found: object) -> None:
    if found != expected:
        raise _broken(rule, _shown(expected), found)


def _expect_candidates(rule: str, expected: list[Candidate], found: list[Candidate]) -> None:
    for candidate in found:
        _expect_kind("list_candidates lists candidates", Candidate, candidate)
    ids = [candidate.session_id for candidate in found]
    _expect_equal(rule, [candidate.session_id for candidate in expected], ids)
    for candidate, scanned in zip(found, expected, strict=True):
        _expect_equal(rule, scanned, candidate)


def _expect_kind(rule: str, kind: type, value: object) -> None:
    if not isinstance(value, kind):
        raise _broken(rule, f"a {kind.__name__}", value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


async def _call(
    name: str,
    method: Callable[[], Awaitable[_Result]],
    kind: type[_Result],
) -> _Result:
    """Return what an async method returns, of the kind that it must be.

    A `StorageError` is raised as it is.
    """
    values = []
    try:
        answer = method()
        if inspect.isawaitable(answer):
            values.append(await answer)
    except StorageError:
        raise
    except Exception as error:
        rule = f"{name} raises no errors of other kinds"
        raise _broken(rule, "a StorageError at most", error) from error
    if not values:
        raise _broken(f"{name} is an async method", "an awaitable from calling it", answer)
    _expect_kind(f"{name} returns what it promises", kind, values[0])
    return values[0]


async def _list(store: SessionStore) -> list[StoredSession]:
    sessions: list[StoredSession] = []
    try:
        batches = store.list_sessions()
        is_iterator = hasattr(batches, "__aiter__")
        if is_iterator:
            async for batch in batches:
                sessions += batch
    except Exception as error:
        rule = "list_sessions yields sequences of sessions"
        raise _broken(rule, "no error", error) from error
    if inspect.iscoroutine(batches):
        batches.close()  # which nobody will await
    if not is_iterator:
        raise _broken("list_sessions is an async generator", "an async iterator", batches)
    for session in sessions:
        _expect_kind("list_sessions yields sequences of sessions", StoredSession, session)
    return sessions


async def _find(store: SessionStore, session_id: str) -> StoredSession:
    find = partial(store.find_session, session_id)
    return await _call(f"find_session({session_id!r})", find, StoredSession)


async def _read_log(
    store: SessionStore, session: StoredSession
) -> SessionLog | tuple[type[StorageError], str]:
    """Return the log of a session, or type and text of the error with which reading it fails."""
    try:
        return await _call("read_log", partial(store.read_log, session), SessionLog)
    except StorageError as error:
        return type(error), str(error)


async def _check_session(store: SessionStore, session: StoredSession) -> None:
    if session.header is None:
        raise _broken("a session without error has a header", "a header", session)
    rule = "a listing tells the id of the header"
    _expect_equal(rule, session.header.id, session.session_id)
    found = await _find(store, session.header.id)
    _expect_equal("a session is found as it is listed", session.header, found.header)
    _expect_equal("an unchanged session keeps its revision", session.revision, found.revision)
    log = await _read_log(store, found)
    if isinstance(log, SessionLog):
        _expect_equal("a log has the header that was listed", session.header, log.header)
    again = await _read_log(store, session)
    _expect_equal("reading an unchanged log twice gives the same", log, again)


async def _check_titles(store: SessionStore, sessions: Sequence[StoredSession]) -> None:
    readings = await _read_titles(store, sessions)
    rule = "every session gets an answer of read_titles, in order"
    _expect_equal(rule, len(sessions), len(readings))
    for session, reading in zip(sessions, readings, strict=True):
        log = await _read_log(store, session)
        where = f"session {session.session_id!r}"
        _expect_kind(f"{where}: read_titles gives readings", TitleReading, reading)
        if reading.title is not None:
            _expect_kind(f"{where}: TitleReading.title has its kind", SessionTitle, reading.title)
        if isinstance(log, SessionLog):
            expected = TitleReading(log.title)
            _expect_equal(f"{where}: a title is the one of the log", expected, reading)
        else:
            failure = type(reading.error), str(reading.error)
            _expect_equal(f"{where}: a title fails as its log does", log, failure)
    nothing = list(await _read_titles(store, []))
    _expect_equal("read_titles: no sessions have no titles", [], nothing)


async def _read_titles(
    store: SessionStore, sessions: Sequence[StoredSession]
) -> Sequence[TitleReading]:
    read = partial(store.read_titles, sessions)
    try:
        # Any sequence will do, which mypy takes for no type that could be asked for.
        return await _call("read_titles", read, Sequence)  # type: ignore[type-abstract]
    except StorageError as error:
        rule = "read_titles gives the error of a session in its TitleReading"
        raise _broken(rule, "no error raised", error) from error


async def _check_absence(store: SessionStore, ids: Sequence[str]) -> None:
    absent = "absent"
    while absent in ids:
        absent += "-"
    for session_id in (absent, ""):
        rule = f"an id that no session has is not found by find_session({session_id!r})"
        try:
            found = await _find(store, session_id)
        except SessionNotFoundError as error:
            named = "SessionNotFoundError names the id that was asked for"
            _expect_equal(named, session_id, error.session_id)
        except StorageError as error:
            raise _broken(rule, "SessionNotFoundError to be raised", error) from error
        else:
            raise _broken(rule, "SessionNotFoundError to be raised", found)


async def _check_cancelling(store: SessionStore, session: StoredSession) -> None:
    log = None
    with trio.CancelScope() as scope:
        scope.cancel()
        log = await _read_log(store, session)
    if not scope.cancelled_caught:
        raise _broken("a read can be cancelled", "trio.Cancelled", log)
    reads = [partial(_read_log, store, session)] * _AT_ONCE
    for log in await run_all(reads, at_once=_AT_ONCE):
        header = log.header if isinstance(log, SessionLog) else log
        _expect_equal("a store works on after a cancelled read", session.header, header)


def _targets(candidates: Sequence[Candidate]) -> list[Target]:
    listed = [Target(session_id=listed.session_id, cwd=listed.cwd) for listed in candidates[:2]]
    return [Target(session_id="no such session"), *listed]


def _queries(candidates: Sequence[Candidate]) -> set[str]:
    queries = {"no session holds this text"}
    for candidate in candidates[:8]:
        for text in (candidate.session_id, candidate.cwd or "", candidate.label):
            middle = len(text) // 2
            queries |= {text, text.upper(), text[:1], text[-2:], text[middle : middle + 4]}
    return queries
