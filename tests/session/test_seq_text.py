"""Consecutive seqs are told by their text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.session.seq_text import is_run_before

EDGES = [0, 1, 8, 9, 10, 11, 98, 99, 100, 999, 1_000, 9_999, 10_000, 99_998, 99_999]


def text_of(seqs: list[int]) -> bytes:
    return json.dumps(seqs, separators=(",", ":")).encode()


@given(st.sampled_from(EDGES) | st.integers(0, 99_999), st.integers(1, 300))
def test_a_run_up_to_the_seq_before_is_one(first: int, length: int) -> None:
    """All that rises by one and ends right before the event is told, wherever digits are added."""
    end = min(first + length, 100_000)
    text = text_of(list(range(first, end)))
    assert is_run_before(text, end)
    assert not is_run_before(text, end + 1)


@given(st.lists(st.integers(-2, 120_000), max_size=6), st.integers(0, 120_000))
def test_nothing_else_is_a_run(seqs: list[int], seq: int) -> None:
    """What is no run is never taken for one."""
    assert not is_run_before(text_of(seqs), seq) or seqs == list(range(seqs[0], seq))


@pytest.mark.parametrize("text", [b"", b"[]", b"[5", b"[05]", b"[ 5]", b"[5 ]", b"[5.0]", b"5"])
def test_odd_text_is_no_run(text: bytes) -> None:
    """What is spelled otherwise is left to a parser."""
    assert not is_run_before(text, 6)
