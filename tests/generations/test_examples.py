"""Five small logs of several versions, as they lie in files, and everything that they give."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from versioned import said, seqs

from sessionref.errors import SessionDamagedError
from sessionref.session.fold import SessionLog
from sessionref.session.reading import LogReader

FOLDER = Path(__file__).parent / "examples"


class Meaning(NamedTuple):
    """What a log gives."""

    version: int
    said: list[str]
    surface: list[int]
    title: str | None
    last_seq: int


MEANINGS = {
    "E1": Meaning(0, ["user: hi", "assistant: abc"], [2, 6], None, 8),
    "E2": Meaning(2, ["+user: sum"], [4], None, 4),
    "E3": Meaning(3, ["+user: sum"], [0, 3], None, 3),
    "E4": Meaning(4, ["user: go", "assistant: ok"], [2, 3, 5], None, 7),
    "E5": Meaning(4, ["+user: sum"], [3], "T", 4),
}


def read(content: bytes, version: int) -> SessionLog:
    """Return what the content of a file means, whose name tells a version."""
    reader = LogReader(version=version)
    reader.feed(content.split(b"\n")[:-1])
    return reader.close()


@pytest.mark.parametrize("name", MEANINGS)
def test_an_example_means_what_is_written(name: str) -> None:
    """Surface, texts, checkpoints, title and last seq are those that were worked out by hand."""
    meaning = MEANINGS[name]
    log = read((FOLDER / f"{name}.jsonl").read_bytes(), meaning.version)
    title = None if log.title is None else log.title.title
    assert Meaning(log.header.version, said(log), seqs(log), title, log.last_seq or 0) == meaning


def test_a_compaction_of_the_head_is_damage() -> None:
    """If the compaction of E3 took the system message too, the log would be damaged."""
    content = (FOLDER / "E3.jsonl").read_bytes()
    greedy = content.replace(b'"startSeq":1', b'"startSeq":0').replace(b"[1]}", b"[0,1]}")
    assert greedy != content
    with pytest.raises(SessionDamagedError, match="system message at the head"):
        read(greedy, 3)
