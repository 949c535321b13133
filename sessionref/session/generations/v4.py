"""Version 4 of the log format, from DSH 0.1.7: developer messages and results of role tool."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sessionref.session.generations import v3
from sessionref.session.messages import developer_node
from sessionref.session.repair import plain_lost_result

__all__ = ["RULES"]

RULES: Final = replace(
    v3.RULES,
    version=4,
    surface_types={**v3.RULES.surface_types, "developer/message": developer_node},
    lost_result=plain_lost_result,
    # A turn that ends because the session was forked holds its closers already.
    turn_end_reasons=v3.RULES.turn_end_reasons | {"forked"},
    settles_in_place=True,
    ignorable_prefix="plugin:",
)
