"""Version 3 of the log format, from DSH 0.1.5: system messages, and a head that they protect.

Forks wrote the bodies of this version under number 4, and so from here on the shapes of both are
read under either number.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from sessionref.session.generations import v2
from sessionref.session.messages import (
    any_tool_result_node,
    is_any_checkpoint,
    system_node,
    user_node,
)

__all__ = ["RULES"]

RULES: Final = replace(
    v2.RULES,
    version=3,
    surface_types={
        **v2.RULES.surface_types,
        "user/message": partial(user_node, is_checkpoint=is_any_checkpoint),
        "tool/result": any_tool_result_node,
        "system/message": system_node,
    },
    replace_members=frozenset({("start", "end"), ("startSeq", "endSeq")}),
    protects_head=True,
    ignores_all_of_unknown=True,
)
