"""What of a log is conversation, and in which order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from logs import LogBuilder, text_block
from strategies import log_builders

from sessionref.snapshot.projection import ConversationMessage, project


def test_prompts_and_answers_are_conversation() -> None:
    """What a person and the model said to each other is carried over, in order."""
    log = LogBuilder()
    log.user("question")
    log.assistant("answer")
    log.user("steering")
    assert project(log.log()) == [
        ConversationMessage("user", "question"),
        ConversationMessage("assistant", "answer"),
        ConversationMessage("user", "steering"),
    ]


def test_text_blocks_are_joined_with_line_feeds() -> None:
    """The text of a message is its text blocks, empty ones too, each on a line of its own."""
    log = LogBuilder()
    log.user("one", "", "two")
    log.assistant("three", blocks=(text_block("four"),))
    assert [message.text for message in project(log.log())] == ["one\n\ntwo", "three\nfour"]


def test_other_blocks_carry_no_text() -> None:
    """Reasoning, tool calls and blocks of unknown types stay out."""
    log = LogBuilder()
    call = {"type": "tool-call", "id": "c", "name": "bash", "arguments": {}}
    others = [{"type": kind, "text": "hidden"} for kind in ("reasoning", "image")]
    log.assistant("seen", blocks=(call, *others))
    assert project(log.log()) == [ConversationMessage("assistant", "seen")]


def test_messages_without_text_stay_out() -> None:
    """A message that says nothing is not carried over, and not counted."""
    log = LogBuilder()
    log.user("")
    log.user()
    log.assistant(blocks=({"type": "reasoning", "text": "hidden"},))
    log.user(" ")
    assert project(log.log()) == [ConversationMessage("user", " ")]


def test_tool_results_stay_out() -> None:
    """What a tool returned is no conversation."""
    log = LogBuilder()
    log.tool_result("c", "output")
    assert project(log.log()) == []


def test_injected_context_stays_out() -> None:
    """A user message that no person wrote is no conversation, an earlier reference neither."""
    log = LogBuilder()
    for kind in ["session-reference", "plugin", "hook", "tool", "User"]:
        log.user("injected", kind=kind)
    log.user("injected", kind="plugin", plugin="compactor")
    log.user("injected", kind="hook", plugin="compact")
    assert project(log.log()) == []


def test_titles_stay_out() -> None:
    """What only the log records is no conversation."""
    log = LogBuilder()
    log.title("a title")
    assert project(log.log()) == []


def test_a_checkpoint_stands_for_what_it_replaced() -> None:
    """After a compaction come its checkpoint and then the messages that were kept."""
    log = LogBuilder()
    first, second = log.user("first"), log.assistant("second")
    log.user("third")
    log.checkpoint("summary", first, second)
    assert project(log.log()) == [
        ConversationMessage("user", "summary", is_checkpoint=True),
        ConversationMessage("user", "third"),
    ]


def test_only_the_last_of_two_checkpoints_is_left() -> None:
    """A second compaction replaces the first one's checkpoint like any other message."""
    log = LogBuilder()
    first = log.user("first")
    log.assistant("second")
    earlier = log.checkpoint("earlier", first, first)
    last = log.user("third")
    log.checkpoint("later", earlier, last)
    log.user("tail")
    assert project(log.log()) == [
        ConversationMessage("user", "later", is_checkpoint=True),
        ConversationMessage("user", "tail"),
    ]


def test_an_empty_log_has_no_conversation() -> None:
    """A session in which nothing happened can be carried over all the same."""
    assert project(LogBuilder().log()) == []


@given(log_builders())
def test_a_projection_is_in_surface_order(builder: LogBuilder) -> None:
    """Whatever was compacted, messages come in the order in which the model sees them."""
    texts = {event["seq"]: _text(event["data"]) for event in builder.events}
    expected = [texts[seq] for seq in builder.surface if texts[seq]]
    assert [message.text for message in project(builder.log())] == expected


def _text(data: dict[str, Any]) -> str | None:
    """Return what is conversation in an event's data, else None."""
    match data:
        case {"message": {"role": "assistant", "content": content}}:
            pass
        case {"source": {"kind": "user"} | {"plugin": "compact"}, "content": content}:
            pass
        case _:
            return None
    return "\n".join(block["text"] for block in content if block["type"] == "text")
