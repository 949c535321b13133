"""Version 1 of the log format, from source builds of DSH: version 0 without older spellings."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sessionref.session.generations import v0

__all__ = ["RULES"]

RULES: Final = replace(v0.RULES, version=1, upgrades={})
