"""Budgets and wide text: what a source takes up and what it says it left out."""

from __future__ import annotations

import re

import pytest
from asking import ask, context_of, sources_of
from logs import LogBuilder, store_of

from sessionref.errors import BudgetExceededError
from sessionref.javascript import replace_surrogates
from sessionref.snapshot.json_text import source_text
from sessionref.snapshot.render import take_snapshot

NOTE = re.compile(r"\n\[… omitted (\d+) UTF-8 bytes …\]$")
WIDE = ["😀", "漢", "é", '"', "\x00", "<", "a", "\\", 'a<é"漢\x00😀', "\ud83d", "漢\ud83d<"]


def log_of(*texts: str) -> LogBuilder:
    """Return a log whose every message but the last is a checkpoint, so that all must be kept."""
    log = LogBuilder("s", cwd="/w")
    for text in texts[:-1]:
        seq = log.user("replaced")
        log.checkpoint(text, seq, seq)
    log.user(texts[-1])
    return log


def fixed_size(log: LogBuilder) -> int:
    """Return the size of a source that has all of a log's messages and none of their text."""
    folded = log.log()
    shells = [("user", "")] * len(folded.surface)
    return len(source_text("s", "s", "/w", folded.last_seq, shells))


def split_note(text: str) -> tuple[str, int]:
    """Return what is left of a text, and how many bytes its note says are missing."""
    note = NOTE.search(text)
    return (text, 0) if note is None else (text[: note.start()], int(note[1]))


@pytest.mark.parametrize("unit", WIDE)
@pytest.mark.parametrize("count", [1, 2])
def test_every_small_budget_is_kept(unit: str, count: int) -> None:
    """From the fixed fields on, byte by byte: never over, no character made up, all accounted."""
    text = unit * 300
    log = log_of(*[text] * count)
    folded, least = log.log(), fixed_size(log)
    source_bytes = len(replace_surrogates(text).encode())
    for budget in range(least, least + 401):
        snapshot = take_snapshot(folded, "s", budget)
        assert len(snapshot.text.encode()) <= budget
        missing = 0
        for message, omitted in snapshot.conversation.messages:
            kept, announced = split_note(message.text)
            assert "\ufffd" not in kept or "\ud83d" in unit
            assert len(kept.encode()) + omitted == source_bytes
            assert announced == omitted or not message.text
            missing += omitted
        assert snapshot.record(0).omitted_bytes == missing


async def test_one_byte_under_the_fixed_fields_is_too_little() -> None:
    """The fixed fields alone may fill the budget, and not go beyond it."""
    log = log_of("x" * 99)
    least = fixed_size(log)
    message = context_of(await ask(store_of(log), "s", max_reference_bytes=least))
    assert sources_of(message)[0]["conversation"] == [{"role": "user", "text": ""}]
    with pytest.raises(BudgetExceededError) as caught:
        await ask(store_of(log), "s", max_reference_bytes=least - 1)
    assert (caught.value.budget, caught.value.needed) == (least - 1, least)


async def test_a_page_of_markup_fills_the_default_budget() -> None:
    """A long HTML message is cut to the budget: its escapes cost no more of it than they must."""
    row = '<tr class="row"><td>cell</td>\n<td>&lt;é&gt;</td></tr>'
    page = row * (198_000 // len(row.encode()))
    folded = log_of(page).log()
    size = len(take_snapshot(folded, "s", 65_536).text.encode())
    assert 65_536 - 8 <= size <= 65_536


async def test_each_source_has_a_budget_of_its_own() -> None:
    """Three sessions in one message are each cut as if they were referred to alone."""
    logs = [LogBuilder(session_id) for session_id in "abc"]
    for log in logs:
        log.user("x" * 5_000)
    together = sources_of(
        context_of(await ask(store_of(*logs), "a", "b", "c", max_reference_bytes=1_000))
    )
    alone = sources_of(context_of(await ask(store_of(*logs), "b", max_reference_bytes=1_000)))
    assert together[1] == alone[0]
