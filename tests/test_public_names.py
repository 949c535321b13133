"""What can be imported, and what importing costs."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import sessionref

PUBLIC = {
    "sessionref": [
        "Candidate",
        "ErrorCode",
        "PreparedMessage",
        "Reference",
        "ResolverConfig",
        "SessionReferenceError",
        "SessionReferenceResolver",
        "Target",
        "TextBlock",
        "UserMessage",
        "decode_uri",
        "encode_uri",
        "format_mention",
        "open_resolver",
        "parse_mentions",
    ],
    "sessionref.storage": [
        "JsonlSessionStore",
        "LiveSessions",
        "MemorySessionStore",
        "SessionStore",
    ],
    "sessionref.discovery": ["Discovery", "ScanDiscovery"],
    "sessionref.snapshot.retention": ["RetainedText", "retain_head_tail"],
    "sessionref.testing": ["check_discovery", "check_store"],
}
PAID_FOR_WHEN_USED = {"apsw", "click", "orjson", "rich", "sqlite_utils", "zstandard"}


def test_the_package_offers_exactly_its_names() -> None:
    """`from sessionref import *` brings the promised names and nothing else."""
    assert sessionref.__all__ == PUBLIC["sessionref"]


@pytest.mark.parametrize(("module", "names"), PUBLIC.items())
def test_promised_names_are_there(module: str, names: list[str]) -> None:
    """Each promised name is offered by its package, and is documented."""
    package = importlib.import_module(module)
    assert set(names) <= set(package.__all__)
    assert [name for name in names if not getattr(package, name).__doc__] == []


@pytest.mark.parametrize("module", PUBLIC)
def test_offered_names_exist(module: str) -> None:
    """A package offers no name that it does not have."""
    package = importlib.import_module(module)
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


def test_a_start_is_cheap() -> None:
    """Importing the library imports nothing that only some of its uses need."""
    program = f"import sessionref, sys; print(*sys.modules.keys() & {PAID_FOR_WHEN_USED})"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.split() == []
