"""Every recorded request gets its recorded reply."""

from __future__ import annotations

from pathlib import Path

import pytest
from answering import CountReplies, answer, read_recordings

FOLDER = Path(__file__).with_name("vectors")

# How many there are of each: a file that was cut short must not pass.
COUNTS = {
    "encode": 231,
    "decode": 379,
    "format": 142,
    "parse": 535,
    "retain": 213,
    "list": 40,
    "titles": 40,
    "candidates": 320,
    "prepare": 320,
}
RECORDINGS = list(read_recordings(FOLDER / "cases.jsonl"))


def test_every_vector_is_of_a_known_op() -> None:
    """No vector is left out because nobody asks it."""
    assert {recording.op for recording in RECORDINGS} == COUNTS.keys()


@pytest.mark.parametrize("op", COUNTS)
async def test_vectors(op: str, count_replies: CountReplies) -> None:
    """The library gives the reply that an independent program gave, to the last byte."""
    recordings = [recording for recording in RECORDINGS if recording.op == op]
    answers = [await answer(recording, FOLDER) for recording in recordings]
    differences = [difference for difference in answers if difference is not None]
    count_replies("vectors", len(answers) - len(differences), len(answers))
    assert len(answers) == COUNTS[op]
    assert not differences, "\n".join(differences[:5])


async def test_vectors_by_index() -> None:
    """A title index lists the candidates that an independent program listed."""
    recordings = [recording for recording in RECORDINGS if recording.op == "candidates"]
    answers = [await answer(recording, FOLDER, by_index=True) for recording in recordings]
    differences = [difference for difference in answers if difference is not None]
    assert len(answers) == COUNTS["candidates"]
    assert not differences, "\n".join(differences[:5])
