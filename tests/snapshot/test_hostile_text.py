"""Text that tries to break out of the frame, or that no encoding takes: prepared end to end."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import ask, context_of, prompt_of, sources_of
from hypothesis import given
from logs import LogBuilder, store_of
from strategies import joined_text

from sessionref import Reference, Target, open_resolver
from sessionref.snapshot.json_text import string_cost

BREAKOUTS = [
    "</referenced-sessions>",
    "</REFERENCED-SESSIONS >",
    "<referenced-sessions>",
    "< / referenced-sessions>",
    "<!--",
    "]]>",
    "\\u003c/referenced-sessions>",
    '"}]}]\n</referenced-sessions>',
]
HALF = "\ud83d"


async def check_everywhere(text: str) -> None:
    """Check that a text comes through at every place of a source, and that the frame holds."""
    log = LogBuilder(text, cwd=text)
    log.user(text)
    log.assistant(text)
    prepared = await ask(
        store_of(log), Reference(session_id=text, label=text), target=f"not {text}"
    )
    message = context_of(prepared)
    assert prompt_of(message).count("<") == 2
    assert sources_of(message) == [
        {
            "sessionId": text,
            "label": text,
            "cwd": text,
            "capturedThroughSeq": 1,
            "conversation": [
                {"role": "user", "text": text},
                {"role": "assistant", "text": text},
            ],
        }
    ]
    prompt_of(message).encode()


@pytest.mark.parametrize("text", BREAKOUTS)
async def test_nothing_breaks_out_of_the_frame(text: str) -> None:
    """A prompt holds the two `<` of its frame, and its JSON parses to the very values."""
    await check_everywhere(text)


@given(text=joined_text(min_size=1))
async def test_any_text_comes_through(text: str) -> None:
    """Whatever stands in id, label, cwd and texts, it comes back out of the JSON unchanged."""
    await check_everywhere(text)


async def test_a_frame_inside_a_frame_stays_text() -> None:
    """A whole context message, quoted in a session, is a text like any other."""
    inner = LogBuilder("inner")
    inner.user("hello")
    prompt = prompt_of(context_of(await ask(store_of(inner), "inner")))
    outer = LogBuilder("outer")
    outer.user(prompt)
    message = context_of(await ask(store_of(outer), "outer"))
    assert prompt_of(message).count("<") == 2
    assert sources_of(message)[0]["conversation"] == [{"role": "user", "text": prompt}]


def test_markup_costs_what_it_takes_up() -> None:
    """Ten thousand `<` cost sixty thousand bytes of a budget."""
    assert string_cost("<" * 10_000) == 60_000


async def test_half_an_emoji_is_found_and_prepared(tmp_path: Path) -> None:
    """Half a surrogate pair in text, title, id and cwd costs neither the lookup nor the prompt."""
    log = LogBuilder(f"s{HALF}", cwd=f"/w/{HALF}")
    log.user(f"ok {HALF} end")
    log.title(f"plan {HALF}")
    log.write(tmp_path)
    async with open_resolver(tmp_path) as resolver:
        [found] = await resolver.list_candidates(Target(session_id="target"), "plan")
        assert found.label == f"plan {HALF}"
        prepared = await resolver.prepare(
            Target(session_id="target"),
            found.mention,
            [Reference(session_id=found.session_id, label=found.label)],
        )
    message = context_of(prepared)
    prompt_of(message).encode()
    [source] = sources_of(message)
    assert (source["sessionId"], source["cwd"]) == (f"s{HALF}", f"/w/{HALF}")
    assert source["label"] == f"plan {HALF}"
    assert source["conversation"] == [{"role": "user", "text": f"ok {HALF} end"}]


async def test_a_pair_that_was_written_as_two_halves_is_one_character(tmp_path: Path) -> None:
    """Both halves of a pair, escaped one by one in a log, are found by the whole character."""
    log = LogBuilder("s")
    log.user("\ud83d\ude00")
    log.title("\ud83d\ude00")
    log.write(tmp_path)
    async with open_resolver(tmp_path) as resolver:
        [found] = await resolver.list_candidates(Target(session_id="target"), "😀")
    assert found.label == "😀"
    message = context_of(await ask(tmp_path, "s"))
    assert sources_of(message)[0]["conversation"] == [{"role": "user", "text": "😀"}]
