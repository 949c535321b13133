"""Records end at line feeds, and at nothing else that some program takes for a line end."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import ask, context_of, sources_of
from logs import LogBuilder, to_lines, zstd_log

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


async def conversation(root: Path, lines: list[bytes], *, compressed: bool) -> list[str]:
    data = zstd_log(lines) if compressed else to_lines(lines)
    LogBuilder("s").write(root, data, compressed=compressed)
    (source,) = sources_of(context_of(await ask(root, "s")))
    return [message["text"] for message in source["conversation"]]


def some_lines(*texts: str) -> list[bytes]:
    log = LogBuilder("s")
    for text in texts:
        log.user(text)
    return log.lines()


@each_encoding
@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x7f"])
async def test_a_separator_in_text_is_text(
    tmp_path: Path, compressed: bool, separator: str
) -> None:
    """Each text is one message, and the character in it is kept."""
    texts = [f"a{separator}b", separator, "c"]
    assert await conversation(tmp_path, some_lines(*texts), compressed=compressed) == texts


@each_encoding
async def test_a_bare_carriage_return_is_white_space(tmp_path: Path, compressed: bool) -> None:
    """A carriage return between two tokens of a record leaves it one record."""
    header, first, second = some_lines("a", "b")
    first = first.replace(b'{"type":', b'\r{\r"type"\r:\r').replace(b',"data"', b'\r,\r"data"')
    assert first.count(b"\r") == 10
    lines = [header, first, second]
    assert await conversation(tmp_path, lines, compressed=compressed) == ["a", "b"]


@each_encoding
async def test_a_log_may_have_the_line_ends_of_windows(tmp_path: Path, compressed: bool) -> None:
    """A log with CRLF reads like one with LF."""
    lines = [line + b"\r" for line in some_lines("a", "b")]
    assert await conversation(tmp_path, lines, compressed=compressed) == ["a", "b"]
