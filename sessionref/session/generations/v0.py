"""Version 0 of the log format: what DSH writes up to 0.1.2, and its older spellings.

The older spellings are converted where their shape is exact, and near misses are damage: a guess
could put words into somebody's mouth.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sessionref.errors import SessionDamagedError
from sessionref.session.generations.generation import Generation, Record
from sessionref.session.messages import (
    assistant_node,
    is_plugin_checkpoint,
    require_numbers,
    tool_result_node,
    user_node,
)
from sessionref.session.repair import lost_result
from sessionref.session.surface import Surface

__all__ = ["RULES", "TURN_END_REASONS"]

TURN_END_REASONS: Final = frozenset(
    {"completed", "aborted", "blocked", "error", "max-tokens", "interrupted"}
)


def _upgrade_user(record: Record, session_id: str, _: Surface) -> Record:
    data = record["data"]
    if type(data) is not dict or data.keys() & {"id", "role", "message"}:
        return record
    if not data.keys() >= {"content", "source"}:
        return record
    return {**record, "data": _user_message(data, _legacy_id(record, session_id))}


def _upgrade_assistant(record: Record, session_id: str, _: Surface) -> Record:
    data = record["data"]
    if type(data) is not dict or "message" in data or not data.keys() >= {"content", "provenance"}:
        return record
    if type(data["provenance"]) is not dict:
        raise SessionDamagedError(reason="the provenance of an older assistant message is wrong")
    rest = {name: data[name] for name in data.keys() - {"content", "provenance"}}
    message = {
        "id": _legacy_id(record, session_id),
        "role": "assistant",
        "source": {**data["provenance"], "kind": "model"},
        "content": data["content"],
    }
    return {**record, "data": {**rest, "message": message}}


def _upgrade_result(record: Record, session_id: str, surface: Surface) -> Record:
    data = record["data"]
    old = {"callId", "content", "isError"}
    if type(data) is not dict or "message" in data or not data.keys() >= old:
        return record
    block = {
        "type": "tool-result",
        "toolCallId": data["callId"],
        "isError": data["isError"],
        "content": data["content"],
    }
    message = {
        "id": _replaced_id(record, surface) or _legacy_id(record, session_id),
        "role": "user",
        "source": {"kind": "tool", "callId": data["callId"]},
        "content": [block],
    }
    rest = {name: data[name] for name in data.keys() - old}
    return {**record, "data": {**rest, "message": message}}


def _upgrade_steering(record: Record, session_id: str, _: Surface) -> Record:
    data = record["data"]
    keys = require_numbers(data, "turn").keys()
    if keys == {"turn", "message"}:
        message = data["message"]
    elif keys == {"turn", "content", "source"}:
        rest = {"content": data["content"], "source": data["source"]}
        message = _user_message(rest, _legacy_id(record, session_id))
    else:
        raise SessionDamagedError(reason="a steering/message holds neither message nor content")
    return {**record, "type": "user/message", "data": message}


def _upgrade_turn_start(record: Record, _: str, __: Surface) -> Record:
    data = record["data"]
    if type(data) is not dict or "trigger" not in data:
        return record
    if type(data["trigger"]) is not dict:
        raise SessionDamagedError(reason="the trigger of an older turn/start is not an object")
    return {**record, "data": {name: data[name] for name in data.keys() - {"trigger"}}}


def _upgrade_turn_end(record: Record, _: str, __: Surface) -> Record:
    data = record["data"]
    reason = data.get("reason") if type(data) is dict else None
    if type(reason) is not dict:
        return record
    match reason.get("kind"):
        case "aborted" if "reason" not in reason:
            reason = {**reason, "reason": {"kind": "legacy"}}
        case "disposed":
            reason = {"kind": "aborted", "reason": {"kind": "disposed"}}
        case "error" if "error" not in reason:
            reason = {"kind": "error", "error": _older_error(reason)}
        case _:
            return record
    return {**record, "data": {**data, "reason": reason}}


def _older_error(reason: Mapping[str, Any]) -> Mapping[str, Any]:
    failure: Mapping[str, Any] = {}
    if reason.keys() == {"kind", "step", "failure"} and type(reason["failure"]) is dict:
        failure = reason["failure"]
    elif reason.keys() - {"step", "code"} == {"kind", "message"}:
        failure = {name: reason[name] for name in reason.keys() & {"message", "code"}}
    if type(failure.get("message")) is not str or type(failure.get("code", "")) is not str:
        raise SessionDamagedError(reason="a turn ended with an error that says nothing")
    return {"code": "UNKNOWN", **failure}


def _refuse_header(record: Record, _: str, __: Surface) -> Record:
    data = record["data"]
    if type(data) is dict and data.get("reason") == "fallback":
        raise SessionDamagedError(reason="a request/header with reason fallback has no meaning")
    return record


def _refuse(record: Record, _: str, __: Surface) -> Record:
    raise SessionDamagedError(reason=f"{record['type']} events have no meaning any more")


def _user_message(data: Mapping[str, Any], message_id: str) -> Mapping[str, Any]:
    return {**data, "id": message_id, "role": "user"}


def _legacy_id(record: Record, session_id: str) -> str:
    return f"legacy-message:{session_id}:{record['seq']}"


def _replaced_id(record: Record, surface: Surface) -> str | None:
    operation = record.get("surfaceOp")
    replaced = surface.get(operation.get("start")) if type(operation) is dict else None
    if replaced is None or replaced.result is None:
        return None
    message_id: str = replaced.result["message"]["id"]
    return message_id


RULES: Final = Generation(
    version=0,
    surface_types={
        "user/message": partial(user_node, is_checkpoint=is_plugin_checkpoint),
        "assistant/message": assistant_node,
        "tool/result": tool_result_node,
    },
    lost_result=lost_result,
    turn_end_reasons=TURN_END_REASONS,
    replace_members=frozenset({("start", "end")}),
    upgrades={
        "user/message": _upgrade_user,
        "assistant/message": _upgrade_assistant,
        "tool/result": _upgrade_result,
        "steering/message": _upgrade_steering,
        "turn/start": _upgrade_turn_start,
        "turn/end": _upgrade_turn_end,
        "request/header": _refuse_header,
        "request/header-delta": _refuse,
        "mode/set": _refuse,
    },
    has_seed_mark=False,
    has_chunk_lines=True,
    has_assistant_sources=True,
    protects_head=False,
    ignores_all_of_unknown=False,
    settles_in_place=False,
)
