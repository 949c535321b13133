"""Recorded requests about real sessions get their recorded replies.

The sessions are not ours to publish: they lie beside the checkout, where one has them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from answering import CountReplies, answer, read_recordings

FOLDER = Path(__file__).parents[2] / "shared" / "samples"
COUNTS = {"list": 1, "titles": 1, "candidates": 6, "prepare": 150}


needs_samples = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the recorded sessions do not lie at ../shared/samples"
)


@needs_samples
@pytest.mark.parametrize("op", COUNTS)
async def test_samples(op: str, count_replies: CountReplies) -> None:
    """The library says of real sessions what an independent program said, to the last byte."""
    everything = list(read_recordings(FOLDER / "expected.jsonl"))
    answers = [await answer(recording, FOLDER) for recording in everything if recording.op == op]
    differences = [difference for difference in answers if difference is not None]
    count_replies("samples", len(answers) - len(differences), len(answers))
    assert len(answers) == COUNTS[op]
    assert len(everything) == sum(COUNTS.values())
    assert not differences, "\n".join(differences[:5])


@needs_samples
async def test_samples_by_index() -> None:
    """A title index lists the real sessions that an independent program listed."""
    everything = read_recordings(FOLDER / "expected.jsonl")
    recordings = [recording for recording in everything if recording.op == "candidates"]
    answers = [await answer(recording, FOLDER, by_index=True) for recording in recordings]
    differences = [difference for difference in answers if difference is not None]
    assert len(answers) == COUNTS["candidates"]
    assert not differences, "\n".join(differences[:5])
