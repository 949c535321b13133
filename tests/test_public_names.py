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
PAID_FOR_WHEN_USED = {
    "apsw",
    "click",
    "msgspec",
    "orjson",
    "platformdirs",
    "rich",
    "sqlite_utils",
    "zstandard",
}
PAID_FOR_WHEN_OPENED = {
    "sessionref.discovery",
    "sessionref.session",
    "sessionref.snapshot",
    "sessionref.storage",
}
OPENING = """
async def main():
    async with sessionref.open_resolver("."):
        pass

trio.run(main)
"""


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
    assert imported("import sessionref", PAID_FOR_WHEN_USED) == set()


def test_a_start_reads_no_logs() -> None:
    """What lists, reads and carries over sessions is not imported before a resolver is opened."""
    assert imported("import sessionref", PAID_FOR_WHEN_OPENED) == set()


def test_no_lookup_or_message_waits_for_imports() -> None:
    """Opening a resolver imports the rooms that its calls go through."""
    used = {
        "sessionref.discovery.scan",
        "sessionref.session.fold",
        "sessionref.snapshot.render",
        "sessionref.storage.jsonl.store",
    }
    assert imported(f"import sessionref, trio\n{OPENING}", used) == used


def imported(program: str, modules: set[str]) -> set[str]:
    """Return which of some modules a fresh process has imported at the end of a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules.keys() & {modules})"],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return set(done.stdout.split())
