"""What `import sessionref` adds to importing the libraries that it cannot do without."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from typing import Final

from benchmarks.fresh import take_turns
from benchmarks.report import Check, Report, Row

__all__ = ["run"]

_OURS: Final = "import sessionref"
_FLOOR: Final = "import trio, pydantic"
_RATIO: Final = 1.6

# Microseconds with all that it imports, and its name; what others import is indented.
_TOP_LEVEL: Final = re.compile(r"^import time: +\d+ \| +(\d+) \| (\S+)$", re.MULTILINE)
_LAST_OF_STARTUP: Final = "site"


def run(rounds: int) -> Report:
    """Return what importing the library costs."""
    ours, floor = take_turns(rounds, partial(_time_imports, _OURS), partial(_time_imports, _FLOOR))
    ratio = Check("ratio", ours.best / floor.best, _RATIO)
    row = Row("fresh process", 1, ours, floor, (ratio,))
    return Report("imports", "imports", "trio and pydantic", rounds, (row,))


def _time_imports(statement: str) -> float:
    command = [sys.executable, "-X", "importtime", "-c", statement]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    imported = [(name, int(micros)) for micros, name in _TOP_LEVEL.findall(log)]
    start = [name for name, _ in imported].index(_LAST_OF_STARTUP) + 1
    return sum(micros for _, micros in imported[start:]) / 1_000_000
