"""The name that is shown is the name that is searched."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import LogBuilder

from sessionref import Target, open_resolver


@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])
async def test_only_the_last_title_is_found(tmp_path: Path, compressed: bool) -> None:
    """After a generated title a person's own one is shown, and only that one matches."""
    log = LogBuilder("s", cwd="/w")
    log.user("a prompt that nobody searches")
    for title, kind in [
        ("first words", "fallback"),
        ("generated name", "provider"),
        ("My Own Name", "user"),
    ]:
        log.title(title, kind)
    log.write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver:
        for query in ["first words", "generated", "prompt", "name generated"]:
            assert await resolver.list_candidates(Target(session_id="t"), query) == []
        (found,) = await resolver.list_candidates(Target(session_id="t"), "my own")
    assert found.label == "My Own Name"
    assert found.mention.startswith("@[My Own Name](")
