"""How much memory it takes to read a log whose bytes are mostly streams."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from logs import log_path, to_lines, zstd_log
from versioned import PLACE, Event, assistant, event, lines

from sessionref.storage.jsonl.reader import LogRules, read_log_file

STREAM: list[Event] = [
    {"type": "text-chunks", "time0": 1, "index": 0, "dt": [0] * 999, "texts": ["piece"] * 1_000}
] * 5


def streaming(version: int) -> list[bytes]:
    """Return the lines of a log of answers and attempts with long streams."""
    answer = assistant(version, "short")
    answer["data"]["stream"] = STREAM
    attempt = event("assistant/attempt", {**PLACE, "stream": STREAM})
    return lines(version, *[answer, attempt] * 100)


@pytest.mark.parametrize("version", [2, 4])
@pytest.mark.parametrize("compressed", [False, True])
def test_streams_take_no_memory(tmp_path: Path, version: int, compressed: bool) -> None:
    """A log needs memory for its surface, not for the streams that its answers came from."""
    written = streaming(version)
    data = zstd_log(written, 10) if compressed else to_lines(written)
    assert sum(map(len, written)) > 8_000_000
    path = log_path(tmp_path, "s", version=version, compressed=compressed)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    del written, data
    tracemalloc.start()
    try:
        log = read_log_file(str(path), LogRules(), lambda: None)
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()
    assert len(log.surface) == 100
