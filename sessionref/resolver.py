"""The service: which sessions can be mentioned, and what a message that mentions some carries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import uuid4

import trio

from sessionref.config import ResolverConfig
from sessionref.errors import (
    InvalidReferenceError,
    ReadFailedError,
    SelfReferenceError,
    SessionNotFoundError,
    SessionReferenceError,
    TooManyReferencesError,
)
from sessionref.javascript import MAX_SAFE_INTEGER, join_surrogates
from sessionref.model import (
    Block,
    Candidate,
    PreparedMessage,
    Reference,
    Target,
    parse_content,
    parse_references,
)
from sessionref.work import open_background, run_all, run_pure

if TYPE_CHECKING:
    from sessionref.discovery.protocol import Discovery
    from sessionref.session.fold import SessionLog
    from sessionref.snapshot.render import Snapshot
    from sessionref.storage.corpus import Corpus

__all__ = ["SessionReferenceResolver"]

_Result = TypeVar("_Result")


class SessionReferenceResolver:
    """Lists sessions that can be referenced and prepares messages that reference some.

    An async context manager for trio, of use only inside its block.  Any number of calls may run at
    the same time.  A cancelled call returns at once even if a store does not: its read goes on in
    the background until the block is left, and its result is thrown away.

    Leaving the block cancels such reads and waits for those that shield themselves: no task
    outlives the resolver.  What is raised inside the block leaves it as it is, not in a group.

    `new_id` makes the ids of context messages.
    """

    def __init__(
        self,
        corpus: Corpus,
        discovery: Discovery,
        *,
        config: ResolverConfig | None = None,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        # At the top each start would pay for it, and in `prepare` the sender of the first message.
        from sessionref.snapshot.render import render_context, take_snapshot

        self._render_context = render_context
        self._take_snapshot = take_snapshot
        self._corpus = corpus
        self._discovery = discovery
        self._config = config or ResolverConfig()
        self._new_id = new_id
        self._opening: AbstractAsyncContextManager[trio.Nursery] | None = None
        self._nursery: trio.Nursery | None = None

    async def __aenter__(self) -> Self:
        if self._opening is not None:
            raise RuntimeError("a resolver can be entered only once")
        if not trio.lowlevel.in_trio_task():
            raise RuntimeError(
                "sessionref runs on trio; outside it, as under asyncio, call trio.run in a thread: "
                "see docs/hosts.md"
            )
        self._opening = open_background()
        self._nursery = await self._opening.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._opening is not None:
            self._nursery = None
            await self._opening.__aexit__(None, None, None)

    @property
    def discovery(self) -> Discovery:
        """What answers its lookups."""
        return self._discovery

    @property
    def config(self) -> ResolverConfig:
        """The limits of this resolver."""
        return self._config

    async def list_candidates(
        self, target: Target, query: str = "", limit: int | None = None
    ) -> list[Candidate]:
        """Return the sessions that match a query and are not the target, best first.

        A session matches if the query is a substring of its id, cwd or label, upper and lower case
        alike; an empty query matches all.  First come the sessions with the target's cwd, then
        those without cwd, then the others; newest first.  At most `limit` are returned, by default
        `candidate_limit`.  A session that cannot be read is listed under its id and says why.

        Raises `InvalidReferenceError` for a query or limit of the wrong kind, and
        `StoreUnreadableError` if the store as a whole cannot be read.  Cancelling stops the lookup
        at once.
        """
        self._require_open()
        if not isinstance(query, str):
            raise InvalidReferenceError(value=query, problem="a query must be a string")
        if limit is None:
            limit = self._config.candidate_limit
        if type(limit) is not int or not 1 <= limit <= MAX_SAFE_INTEGER:
            raise InvalidReferenceError(value=limit, problem="a limit must be a positive integer")
        lookup = partial(self._discovery.list_candidates, target, join_surrogates(query), limit)
        return await self._abandonable(lookup)

    async def prepare(
        self,
        target: Target,
        content: str | Sequence[Block | Mapping[str, Any]],
        references: Sequence[Reference | Mapping[str, Any]] = (),
    ) -> PreparedMessage:
        """Return a message's content and the one context message for all its references.

        Mentions are not looked for in the content: pass what `parse_mentions` returns.  References
        are values or their JSON data; later duplicates of a session are dropped.  All
        sessions are read at the same time, each is projected and fitted to `max_reference_bytes`
        on its own.  Without references there is no context message and nothing is read.  What is
        passed in is not changed, and what comes back does not depend on it.

        Raises `InvalidReferenceError`, `SelfReferenceError`, `TooManyReferencesError`,
        `ReadFailedError` or `BudgetExceededError`; nothing partial ever comes back.  Cancelling
        returns at once, whatever the store does.
        """
        self._require_open()
        detached = parse_content(content)
        distinct = self._distinct(target, references)
        if not distinct:
            return PreparedMessage(content=detached)
        jobs = [partial(self._read, reference.session_id) for reference in distinct]
        logs = await run_all(jobs, at_once=len(jobs))
        snapshots = await self._take_snapshots(logs, distinct)
        context = self._render_context(self._new_id(), snapshots)
        return PreparedMessage(content=detached, additional_context=context)

    def _distinct(
        self, target: Target, references: Sequence[Reference | Mapping[str, Any]]
    ) -> list[Reference]:
        first: dict[str, Reference] = {}
        for reference in parse_references(references):
            first.setdefault(reference.session_id, reference)
        if target.session_id in first:
            raise SelfReferenceError(session_id=target.session_id)
        if len(first) > self._config.max_references:
            raise TooManyReferencesError(count=len(first), limit=self._config.max_references)
        return list(first.values())

    async def _read(self, session_id: str) -> SessionLog:
        try:
            return await self._abandonable(partial(self._corpus.read_log, session_id))
        except SessionNotFoundError as error:
            reason = "no session has this id"
            raise ReadFailedError(session_id=session_id, reason=reason) from error
        except SessionReferenceError as error:
            raise ReadFailedError(session_id=session_id, reason=error.describe()) from error
        except Exception as error:
            raise ReadFailedError(session_id=session_id, reason=str(error)) from error

    async def _take_snapshots(
        self, logs: Sequence[SessionLog], references: Sequence[Reference]
    ) -> list[Snapshot]:
        budget = self._config.max_reference_bytes

        def work(check: Callable[[], None]) -> list[Snapshot]:
            return [
                self._take_snapshot(log, _label(reference), budget, check)
                for log, reference in zip(logs, references, strict=True)
            ]

        return await run_pure(work, sum(map(_size, logs)))

    async def _abandonable(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """Return what `work` returns; a cancelled caller does not wait for it to notice."""
        nursery = self._require_open()
        results: list[_Result] = []
        failures: list[Exception] = []
        scope = trio.CancelScope()
        done = trio.Event()

        async def run() -> None:
            try:
                with scope:
                    results.append(await work())
            except Exception as error:  # noqa: BLE001 - it is raised again by whoever waits
                failures.append(error)
            finally:
                done.set()

        nursery.start_soon(run)
        try:
            await done.wait()
        finally:
            scope.cancel()
        if failures:
            raise failures[0]
        if not results:
            raise RuntimeError("the resolver's block was left before the call was done")
        return results[0]

    def _require_open(self) -> trio.Nursery:
        if self._nursery is None:
            raise RuntimeError("a resolver is of use only inside its `async with` block")
        return self._nursery


def _label(reference: Reference) -> str:
    return reference.session_id if reference.label is None else reference.label


def _size(log: SessionLog) -> int:
    return sum(len(node.text) // 50 + 10 for _, node in log.surface)
