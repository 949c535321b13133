"""What every test run starts with: how hard hypothesis looks, and what the last lines tell."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from answering import CountReplies
from hypothesis import HealthCheck, settings

# No time counts: a machine that does two things at once is no defect.
settings.register_profile(
    "default", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# For every change: fewer examples, and the same ones each time.
settings.register_profile(
    "ci", settings.get_profile("default"), max_examples=50, derandomize=True, database=None
)
# For the night: `tox -e slow`.
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2_000)
settings.load_profile("ci" if os.environ.get("CI") else "default")

_EQUAL = pytest.StashKey[Counter[str]]()
_ALL = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_EQUAL] = Counter()
    config.stash[_ALL] = Counter()


@pytest.fixture
def count_replies(pytestconfig: pytest.Config) -> CountReplies:
    """The function that counts recorded replies for the last lines of the run."""

    def count(collection: str, equal: int, number: int) -> None:
        pytestconfig.stash[_EQUAL][collection] += equal
        pytestconfig.stash[_ALL][collection] += number

    return count


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many recorded replies were given again."""
    for collection, number in config.stash[_ALL].items():
        equal = config.stash[_EQUAL][collection]
        terminalreporter.write_line(f"{collection}: {equal} of {number} replies equal")
