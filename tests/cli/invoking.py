"""How tests run the command inside their own process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from click.testing import Result

__all__ = ["HERE", "Invoke"]

Invoke = Callable[..., Result]
"""Runs the command with arguments; keyword arguments are variables of its environment."""

HERE: Final = "/home/ana/app"
"""The folder of one of the sessions that the fixture `root` holds."""
