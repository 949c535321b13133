"""Version 2 of the log format, from DSH 0.1.3: streams lie in the message that they made."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sessionref.session.generations import v1
from sessionref.session.messages import streamed_assistant_node

__all__ = ["RULES"]

RULES: Final = replace(
    v1.RULES,
    version=2,
    surface_types={**v1.RULES.surface_types, "assistant/message": streamed_assistant_node},
    has_seed_mark=True,
    has_chunk_lines=False,
    has_assistant_sources=False,
)
