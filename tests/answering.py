"""Recorded requests and their replies: read them, and answer each with the library.

The shape of both is told in `vectors/README.md`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from indexed import open_indexed

from sessionref import (
    ResolverConfig,
    SessionReferenceError,
    Target,
    decode_uri,
    encode_uri,
    format_mention,
    open_resolver,
    parse_mentions,
)
from sessionref.snapshot.retention import retain_head_tail
from sessionref.storage import Corpus, JsonlSessionStore

__all__ = ["CountReplies", "Recording", "answer", "read_recordings"]

Json = dict[str, Any]

CountReplies = Callable[[str, int, int], None]
"""Counts for the end of the run: a collection, how many of its replies were equal, of how many."""

_CONFIG = {"maxReferences": "max_references", "maxReferenceBytes": "max_reference_bytes"}
_CANDIDATE = ("sessionId", "label", "cwd", "createdAt")


@dataclass(frozen=True)
class Recording:
    """One request and its right reply; `line` counts from 1 in the file that holds it."""

    line: int
    request: Json
    reply: Json

    @property
    def op(self) -> str:
        """What is asked for."""
        return str(self.request["op"])


def read_recordings(path: Path) -> Iterator[Recording]:
    """Yield the recordings of a file, in order."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            case = json.loads(line)
            yield Recording(number, case["request"], case["reply"])


async def answer(recording: Recording, folder: Path, *, by_index: bool = False) -> str | None:
    """Return None if the library gives the recorded reply, else both replies, in words.

    `folder` is what the request's `root` is relative to.  Candidates may be asked of an index.
    """
    request = {**recording.request, "op": "indexed"} if by_index else recording.request
    given = _canonical(await _reply(request, folder))
    wanted = _canonical(recording.reply)
    if given == wanted:
        return None
    return f"line {recording.line}: {recording.op}\n  gives  {given}\n  wanted {wanted}"


async def _reply(request: Json, folder: Path) -> Json:
    try:
        return {"ok": await _ANSWERS[request["op"]](request, folder)}
    except SessionReferenceError as error:
        return {"error": {"code": error.code}}


def _canonical(reply: Json) -> str:
    """Return a reply as JSON text, in which 1, 1.0 and true differ, without what may differ."""
    match reply:
        case {"error": {"code": code}}:
            reply = {"error": {"code": code}}
        case {"ok": [*titles]} if any("status" in title for title in titles):
            reply = {"ok": [{**title, "reason": None} for title in titles]}
    return json.dumps(reply, sort_keys=True)


async def _encode(request: Json, _: Path) -> str:
    return encode_uri(request["id"])


async def _decode(request: Json, _: Path) -> str:
    return decode_uri(request["uri"])


async def _format(request: Json, _: Path) -> str:
    return format_mention(request["id"], request.get("label"))


async def _parse(request: Json, _: Path) -> Json:
    text, references = parse_mentions(request["text"])
    return {"text": text, "references": [reference.to_wire() for reference in references]}


async def _retain(request: Json, _: Path) -> Json:
    text, omitted, truncated = retain_head_tail(request["text"], request["head"], request["tail"])
    omitted_bytes = {"kind": "exact", "count": omitted} if truncated else {"kind": "none"}
    return {"text": text, "truncated": truncated, "omittedBytes": omitted_bytes}


async def _list(request: Json, folder: Path) -> list[Json]:
    sessions = await Corpus(JsonlSessionStore(folder / request["root"])).list_sessions()
    records = [
        {
            "header": session.header.to_wire(),
            "live": session.live is not None,
            "persisted": session.stored is not None,
        }
        for session in sessions
        if session.header is not None
    ]
    return sorted(records, key=lambda record: record["header"]["createdAt"], reverse=True)


async def _titles(request: Json, folder: Path) -> list[Json]:
    corpus = Corpus(JsonlSessionStore(folder / request["root"]))
    return [await _title(corpus, session_id) for session_id in dict.fromkeys(request["ids"])]


async def _title(corpus: Corpus, session_id: str) -> Json:
    try:
        log = await corpus.read_log(session_id)
    except SessionReferenceError:
        return {"sessionId": session_id, "status": "rejected"}
    value: Json = {"session": log.header.to_wire()}
    if log.title is not None:
        value["title"] = log.title.to_wire()
    return {"sessionId": session_id, "status": "fulfilled", "value": value}


async def _candidates(request: Json, folder: Path, opening: Any = open_resolver) -> Json:
    async with opening(folder / request["root"]) as resolver:
        found = await resolver.list_candidates(_target(request), request["query"], request["limit"])
    items = [candidate.to_wire() for candidate in found]
    return {"items": [{name: item[name] for name in _CANDIDATE if name in item} for item in items]}


async def _prepare(request: Json, folder: Path) -> Json:
    settings = {_CONFIG[name]: value for name, value in request.get("config", {}).items()}
    async with open_resolver(
        folder / request["root"], config=ResolverConfig(**settings)
    ) as resolver:
        prepared = await resolver.prepare(
            _target(request), request["content"], request["references"]
        )
    reply = prepared.to_wire()
    if "additionalContext" in reply:
        reply["additionalContext"]["id"] = "<fresh id>"
    return reply


def _target(request: Json) -> Target:
    target = request["target"]
    return Target(session_id=target["id"], cwd=target.get("cwd"))


_ANSWERS: dict[str, Callable[[Json, Path], Awaitable[Any]]] = {
    "encode": _encode,
    "decode": _decode,
    "format": _format,
    "parse": _parse,
    "retain": _retain,
    "list": _list,
    "titles": _titles,
    "candidates": _candidates,
    "indexed": partial(_candidates, opening=open_indexed),
    "prepare": _prepare,
}
