"""Recalled text is not recalled again, and a compacted log gives what the model still sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import ask, context_of, prompt_of, sources_of
from logs import LogBuilder

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


@each_encoding
async def test_a_recall_is_not_carried_on(tmp_path: Path, compressed: bool) -> None:
    """C holds a marker, B refers to C, A to B: what A gets of B shows neither marker nor frame."""
    c, b = LogBuilder("c"), LogBuilder("b")
    c.user("the marker")
    c.write(tmp_path, compressed=compressed)
    recall = context_of(await ask(tmp_path, "c", target="b"))
    assert "the marker" in prompt_of(recall)
    b.user("what did c say?")
    b.append("user/message", recall.to_wire(), surfaceOp="append")
    b.assistant("nothing new")
    b.write(tmp_path, compressed=compressed)
    prompt = prompt_of(context_of(await ask(tmp_path, "b", target="a")))
    assert "the marker" not in prompt
    assert prompt.count("Referenced sessions") == 1


@each_encoding
async def test_a_compacted_log(tmp_path: Path, compressed: bool) -> None:
    """After one compaction its checkpoint and the kept tail are shown, after two the later one."""
    log = LogBuilder("s")
    first, second = log.user("first"), log.assistant("second")
    log.tool_result("c", "output")
    log.user("kept")
    checkpoint = log.checkpoint("summary", first, second)
    for expected in (["summary", "kept"], ["later summary"]):
        log.write(tmp_path, compressed=compressed)
        message = context_of(await ask(tmp_path, "s"))
        (source,) = sources_of(message)
        assert [message["text"] for message in source["conversation"]] == expected
        assert message.to_wire()["source"]["references"][0]["compacted"]
        if expected[0] == "summary":
            log.checkpoint("later summary", checkpoint, log.surface[-1])
