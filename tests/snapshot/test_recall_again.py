"""Sessions that recall sessions that recalled others: nothing is carried over twice."""

from __future__ import annotations

from asking import ask, context_of, prompt_of, sources_of
from logs import LogBuilder, store_of

MARKER = "the marker of C"
ROUNDS = 20


async def refer(log: LogBuilder, *others: LogBuilder) -> str:
    """Record a context message for other sessions in a log, as a host does; return its prompt."""
    ids = [other.header.id for other in others]
    message = context_of(await ask(store_of(*others), *ids, target=log.header.id))
    data = message.to_wire()
    log.surface.append(log.append("user/message", data, surfaceOp="append"))
    return prompt_of(message)


async def test_a_recalled_text_is_not_recalled_again() -> None:
    """What B was shown of C is neither text of B nor carried over when A refers to B."""
    a, b, c = LogBuilder("a"), LogBuilder("b"), LogBuilder("c")
    c.user(MARKER)
    b.user("@c please")
    assert MARKER in await refer(b, c)
    prompt = await refer(a, b)
    assert MARKER not in prompt
    assert prompt.count("Referenced sessions") == 1
    assert prompt.count("referenced-sessions") == 2


async def test_sessions_that_recall_each_other_stay_level() -> None:
    """Two sessions that refer to each other again and again show the same conversation always."""
    a, b = LogBuilder("a"), LogBuilder("b")
    a.user("hello")
    b.user("hello")
    sizes = set()
    for _ in range(ROUNDS):
        sizes.add(len(await refer(a, b)))
        sizes.add(len(await refer(b, a)))
    assert max(sizes) - min(sizes) <= len(str(ROUNDS)) - len("0"), "only the captured seq may grow"


async def test_a_compacted_session_is_its_checkpoint_and_its_tail() -> None:
    """After two compactions the last checkpoint comes first, then what was kept, and no more."""
    log = LogBuilder("compacted")
    first = log.user("first")
    second = log.assistant("second")
    earlier = log.checkpoint("earlier summary", first, second)
    third = log.user("third")
    log.assistant("kept")
    log.checkpoint("later summary", earlier, third)
    message = context_of(await ask(store_of(log), "compacted"))
    assert sources_of(message)[0]["conversation"] == [
        {"role": "user", "text": "later summary"},
        {"role": "assistant", "text": "kept"},
    ]
