"""The shapes of the messages that a log records, and what of them is conversation.

Each function takes the data of an event, raises `SessionDamagedError` with the member that is
wrong, and gives the surface node.  Members that are not named here may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sessionref.errors import SessionDamagedError
from sessionref.javascript import safe_integer
from sessionref.session.surface import SurfaceNode

__all__ = [
    "any_tool_result_node",
    "assistant_node",
    "developer_node",
    "is_any_checkpoint",
    "is_plugin_checkpoint",
    "require_name",
    "require_numbers",
    "streamed_assistant_node",
    "system_node",
    "tool_calls",
    "tool_result_node",
    "user_node",
    "visible_text",
]

Data = Mapping[str, Any]


def is_plugin_checkpoint(source: Data) -> bool:
    """Return whether a source marks a checkpoint as versions 0 to 2 do."""
    return source.get("kind") == "plugin" and source.get("plugin") == "compact"


def is_any_checkpoint(source: Data) -> bool:
    """Return whether a source marks a checkpoint as any version does."""
    return source.get("kind") == "compact-checkpoint" or is_plugin_checkpoint(source)


def user_node(data: object, is_checkpoint: Callable[[Data], bool]) -> SurfaceNode:
    """Return the node of a `user/message`: visible if a person wrote it or a compaction left it."""
    message = _message(data, "user")
    source = _source(message)
    text = visible_text(message.get("content"))
    checkpoint = is_checkpoint(source)
    if checkpoint or source["kind"] == "user":
        return SurfaceNode("user", text, checkpoint)
    return SurfaceNode()


def assistant_node(data: object) -> SurfaceNode:
    """Return the node of an `assistant/message`."""
    members = require_numbers(data, "turn", "step")
    message = _message(members.get("message"), "assistant")
    source = _source(message)
    if source["kind"] != "model":
        raise SessionDamagedError(reason="the source of an assistant message is not a model")
    for name in ("provider", "model"):
        require_name(source, name)
    for block in tool_calls(message):
        require_name(block, "id")
    return SurfaceNode("assistant", visible_text(message.get("content")))


def streamed_assistant_node(data: object) -> SurfaceNode:
    """Return the node of an `assistant/message` that holds its own stream, which is passed over."""
    if type(require_numbers(data).get("stream")) is not list:
        raise SessionDamagedError(reason="the stream of an assistant message is not a list")
    return assistant_node(data)


def system_node(data: object) -> SurfaceNode:
    """Return the node of a `system/message`, of which nothing is conversation."""
    _check_instructions(data, "system")
    return SurfaceNode(is_system=True)


def developer_node(data: object) -> SurfaceNode:
    """Return the node of a `developer/message`, of which nothing is conversation."""
    _check_instructions(data, "developer")
    return SurfaceNode()


def any_tool_result_node(data: object) -> SurfaceNode:
    """Return the node of a `tool/result` whose message is in the shape of any version."""
    message = require_numbers(data).get("message")
    if type(message) is dict and message.get("role") == "tool":
        return _plain_tool_result_node(data)
    return tool_result_node(data)


def _plain_tool_result_node(data: object) -> SurfaceNode:
    members = require_numbers(data, "turn", "step")
    message = _message(members.get("message"), "tool")
    _check_call(message, message)
    if "isError" in message and type(message["isError"]) is not bool:
        raise SessionDamagedError(reason="isError of a tool result is not true or false")
    visible_text(message.get("content"))
    bare = {name: value for name, value in message.items() if name != "content"}
    return SurfaceNode(result={**members, "message": bare})


def tool_result_node(data: object) -> SurfaceNode:
    """Return the node of a `tool/result`, whose content is checked and not kept."""
    members = require_numbers(data, "turn", "step")
    message = _message(members.get("message"), "user")
    content = message.get("content")
    visible_text(content)
    if type(content) is not list or len(content) != 1 or content[0]["type"] != "tool-result":
        raise SessionDamagedError(reason="a tool result holds exactly one tool-result block")
    block = content[0]
    _check_call(message, block)
    if type(block.get("isError")) is not bool:
        raise SessionDamagedError(reason="isError of a tool result is not true or false")
    visible_text(block.get("content"))
    bare = {name: value for name, value in block.items() if name != "content"}
    return SurfaceNode(result={**members, "message": {**message, "content": [bare]}})


def visible_text(content: object) -> str:
    """Return the text blocks of a message's content, joined with line feeds."""
    if type(content) is not list:
        raise SessionDamagedError(reason="the content of a message is not a list of blocks")
    texts = []
    for block in content:
        if type(block) is not dict or type(kind := block.get("type")) is not str:
            raise SessionDamagedError(reason="a content block has no type")
        if kind == "text":
            text = block.get("text")
            if type(text) is not str:
                raise SessionDamagedError(reason="the text of a text block is not a string")
            texts.append(text)
    return "\n".join(texts)


def tool_calls(message: Data) -> list[Data]:
    """Return the tool-call blocks of an assistant message, in order."""
    content = message.get("content")
    if type(content) is not list:
        return []
    return [block for block in content if type(block) is dict and block.get("type") == "tool-call"]


def require_numbers(data: object, *names: str) -> Data:
    """Return the data of an event if it is an object whose named members are safe integers."""
    if type(data) is not dict:
        raise SessionDamagedError(reason="the data of the event is not an object")
    for name in names:
        if safe_integer(data.get(name)) is None:
            raise SessionDamagedError(reason=f"{name} is not a safe integer")
    return data


def require_name(value: Data, member: str) -> str:
    """Return a member that must be a non-empty string."""
    name = value.get(member)
    if type(name) is not str or not name:
        raise SessionDamagedError(reason=f"{member} is not a non-empty string")
    return name


def _check_call(message: Data, answer: Data) -> None:
    """Raise unless a tool result comes from a tool, for the call that it says it answers."""
    source = _source(message)
    if source["kind"] != "tool":
        raise SessionDamagedError(reason="the source of a tool result is not a tool")
    if answer.get("toolCallId") != require_name(source, "callId"):
        raise SessionDamagedError(reason="toolCallId and callId of a tool result differ")


def _check_instructions(data: object, role: str) -> None:
    members = require_numbers(data, "turn", "step")
    message = _message(members.get("message"), role)
    _source(message)
    visible_text(message.get("content"))


def _message(value: object, role: str) -> Data:
    if type(value) is not dict:
        raise SessionDamagedError(reason="the message is not an object")
    require_name(value, "id")
    if value.get("role") != role:
        raise SessionDamagedError(reason=f'the role of the message is not "{role}"')
    return value


def _source(message: Data) -> Data:
    source = message.get("source")
    if type(source) is not dict:
        raise SessionDamagedError(reason="the message has no source")
    require_name(source, "kind")
    return source
