"""The conversation of a session: what a person and the model said to each other, and no more."""

from __future__ import annotations

from typing import Literal, NamedTuple

from sessionref.javascript import join_surrogates
from sessionref.session.fold import SessionLog

__all__ = ["ConversationMessage", "project"]


class ConversationMessage(NamedTuple):
    """One message of the conversation; a checkpoint is what a compaction left of older ones."""

    role: Literal["user", "assistant"]
    text: str
    is_checkpoint: bool = False


def project(log: SessionLog) -> list[ConversationMessage]:
    """Return the conversation of a log, in surface order.

    It holds prompts, steering, checkpoints and the model's answers.  Tools and their results,
    reasoning, injected context (earlier references among it), shadowed events and messages without
    text stay out.
    """
    return [
        ConversationMessage(node.speaker, join_surrogates(node.text), node.is_checkpoint)
        for _, node in log.surface
        if node.speaker is not None and node.text
    ]
