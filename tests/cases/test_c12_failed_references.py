"""References that fail: a stable code for each, nothing partial, and nothing changed."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest
from asking import context_of, sources_of
from logs import LogBuilder
from permissions import needs_permissions, public_folder, unprivileged

from sessionref import (
    ErrorCode,
    Reference,
    SessionReferenceError,
    Target,
    format_mention,
    open_resolver,
    parse_mentions,
)

TARGET = Target(session_id="target", cwd="/w")
each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


def write(root: Path, *, compressed: bool) -> None:
    for session_id in ["a", "b", "c", "d", "target"]:
        log = LogBuilder(session_id, cwd="/w")
        log.user(f"hello from {session_id}")
        log.write(root, compressed=compressed)


async def fail(root: Path, *session_ids: str) -> ErrorCode:
    """Return the code with which a message fails, having seen that its content is untouched."""
    content = [{"type": "text", "text": "see", "more": {"deep": [1]}}]
    before = deepcopy(content)
    references = [Reference(session_id=session_id) for session_id in session_ids]
    async with open_resolver(root) as resolver:
        with pytest.raises(SessionReferenceError) as caught:
            await resolver.prepare(TARGET, content, references)
    assert content == before
    return caught.value.code


@each_encoding
@pytest.mark.parametrize(
    ("session_ids", "code"),
    [
        (["gone"], ErrorCode.READ_FAILED),
        (["a", "gone"], ErrorCode.READ_FAILED),
        (["target"], ErrorCode.SELF_REFERENCE),
        (["a", "target"], ErrorCode.SELF_REFERENCE),
        (["a", "b", "c", "d"], ErrorCode.TOO_MANY),
    ],
)
async def test_a_reference_that_fails(
    tmp_path: Path, compressed: bool, session_ids: list[str], code: ErrorCode
) -> None:
    """Deleted, self, one too many: the whole message fails with one code."""
    write(tmp_path, compressed=compressed)
    gone = LogBuilder("gone", cwd="/w").write(tmp_path, compressed=compressed)
    gone.unlink()
    assert await fail(tmp_path, *session_ids) is code


@needs_permissions
@each_encoding
async def test_a_reference_that_may_not_be_read(compressed: bool) -> None:
    """A log without permission fails the message, a good reference before it or not."""
    with public_folder() as root:
        write(root, compressed=compressed)
        LogBuilder("b", cwd="/w").path(root, compressed=compressed).chmod(0)
        with unprivileged():
            assert await fail(root, "b") is ErrorCode.READ_FAILED
            assert await fail(root, "a", "b") is ErrorCode.READ_FAILED


@each_encoding
async def test_a_mention_five_times_is_one_source(tmp_path: Path, compressed: bool) -> None:
    """Five mentions of one session are shown five times, and carried over once."""
    write(tmp_path, compressed=compressed)
    mentions = " and ".join(format_mention("a", f"label {number}") for number in range(5))
    text, references = parse_mentions(mentions)
    async with open_resolver(tmp_path) as resolver:
        prepared = await resolver.prepare(TARGET, text, references)
    assert text.count("@label") == len(references) == 5
    (source,) = sources_of(context_of(prepared))
    assert (source["sessionId"], source["label"]) == ("a", "label 0")
