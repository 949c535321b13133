"""Text that was shortened in the middle of a surrogate pair stays in a log for ever."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import context_of, prompt_of, sources_of
from logs import LogBuilder

from sessionref import Reference, Target, open_resolver, parse_mentions

HALF = "\ud83d"

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


@each_encoding
async def test_half_an_emoji_in_text_and_title(tmp_path: Path, compressed: bool) -> None:
    """The log reads, the session is found by its title, and the prompt is UTF-8 and JSON."""
    log = LogBuilder("s", cwd="/w")
    log.user(f"ok {HALF} end")
    log.title(f"plan {HALF}")
    log.write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver:
        (found,) = await resolver.list_candidates(Target(session_id="t"), "plan")
        (reference,) = parse_mentions(found.mention).references
        message = context_of(await resolver.prepare(Target(session_id="t"), "see", [reference]))
    assert found.label == f"plan {HALF}"
    assert prompt_of(message).encode()
    (source,) = sources_of(message)
    assert source["conversation"] == [{"role": "user", "text": f"ok {HALF} end"}]
    assert source["label"] == f"plan {HALF}"


@each_encoding
@pytest.mark.parametrize("half", [HALF, "\ude00", f"a{HALF}b", "\ude00\ud83d"])
async def test_half_an_emoji_in_id_and_cwd(tmp_path: Path, compressed: bool, half: str) -> None:
    """A session whose id and cwd hold half a pair is stored, found and prepared by that id."""
    log = LogBuilder(half, cwd=f"/w/{half}")
    log.user("hi")
    log.write(tmp_path, compressed=compressed)
    async with open_resolver(tmp_path) as resolver:
        target = Target(session_id="t", cwd=f"/w/{half}")
        (found,) = await resolver.list_candidates(target, half)
        (reference,) = parse_mentions(found.mention).references
        message = context_of(await resolver.prepare(target, "see", [reference]))
    assert (found.session_id, found.cwd) == (half, f"/w/{half}")
    assert reference.session_id == half
    (source,) = sources_of(message)
    assert (source["sessionId"], source["cwd"]) == (half, f"/w/{half}")
    assert json.loads(prompt_of(message).splitlines()[-2])


async def test_both_halves_make_one_character(tmp_path: Path) -> None:
    """An id that spells a character as two halves is the id with that character."""
    log = LogBuilder("😀")
    log.user("hi")
    log.write(tmp_path)
    async with open_resolver(tmp_path) as resolver:
        reference = Reference(session_id="\ud83d\ude00")
        prepared = await resolver.prepare(Target(session_id="t"), "see", [reference])
    (source,) = sources_of(context_of(prepared))
    assert source["sessionId"] == "😀"
