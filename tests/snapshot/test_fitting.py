"""Fitting, against the contract's own words and against what a budget means."""

from __future__ import annotations

import pytest
from growth import assert_linear
from hypothesis import assume, example, given
from hypothesis import strategies as st
from snapshot.plain_fitting import PlainFit, cost, fit_plainly, serialize, utf8
from strategies import conversations, joined_text

from sessionref.javascript import join_surrogates
from sessionref.snapshot.fitting import FittedConversation, RoomError, fit
from sessionref.snapshot.projection import ConversationMessage

FIXED = len(serialize({"conversation": []}))
UNUSED_PER_CUT = 64

Conversation = list[ConversationMessage]


def size_of(conversation: list[tuple[str, str]]) -> int:
    messages = [{"role": role, "text": text} for role, text in conversation]
    return len(serialize({"conversation": messages}))


def whole_size(conversation: Conversation) -> int:
    return size_of([(message.role, message.text) for message in conversation])


def user(text: str, *, is_checkpoint: bool = False) -> ConversationMessage:
    return ConversationMessage("user", text, is_checkpoint)


def pairs_of(fitted: FittedConversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message, _ in fitted.messages]


def fit_or_none(conversation: Conversation, budget: int) -> FittedConversation | None:
    try:
        return fit(conversation, FIXED, budget)
    except RoomError:
        return None


@st.composite
def tight_budgets(draw: st.DrawFn) -> tuple[Conversation, int]:
    """A conversation, and a budget from too small for anything to more than enough."""
    conversation = draw(conversations())
    if draw(st.booleans()):
        return conversation, draw(st.integers(FIXED - 2, whole_size(conversation) + 2))
    undroppable = [message for message in conversation[:-1] if message.is_checkpoint]
    shells = size_of([(message.role, "") for message in undroppable + conversation[-1:]])
    return conversation, shells + draw(st.integers(-2, 60 * (len(undroppable) + 1)))


@st.composite
def crowded_budgets(draw: st.DrawFn) -> tuple[Conversation, int]:
    """Well-formed texts of which none may be dropped, and a budget that cannot hold all of them."""
    drawn = draw(conversations().filter(bool))
    texts = [utf8(message.text * 10).decode() for message in drawn]
    conversation = [user(text, is_checkpoint=True) for text in texts]
    least = size_of([("user", "")] * len(texts))
    return conversation, draw(st.integers(least, whole_size(conversation) - 1))


@given(tight_budgets())
@example(([user("\ud83d" * 100, is_checkpoint=True), user("x" * 5_000)], 800))
@example(([user("<" * 99, is_checkpoint=True), user("\ud83d" * 9), user("é" * 50)], 300))
@example(([], FIXED))
@example(([], FIXED - 1))
def test_fitting_agrees_with_the_contract(case: tuple[Conversation, int]) -> None:
    """The linear work gives what the rules give that take each size anew."""
    conversation, budget = case
    fitted = fit_or_none(conversation, budget)
    plain = fit_plainly(conversation, size_of, budget)
    assert (fitted is None) == (plain is None)
    if fitted is not None and plain is not None:
        cut = [(message.text, omitted) for message, omitted in fitted.messages if omitted]
        assert plain == PlainFit(
            pairs_of(fitted),
            fitted.omitted_messages,
            fitted.omitted_bytes,
            len(cut),
            sum(not text for text, _ in cut),
        )


@given(st.lists(joined_text(min_size=1, max_size=9), min_size=1, max_size=3), st.data())
def test_long_texts_are_cut_as_the_contract_says(units: list[str], data: st.DataObject) -> None:
    """A cut far inside a long text falls where the plain search finds it, to the byte."""
    texts = [join_surrogates(unit * 2_000) for unit in units]  # its end may pair with its start
    conversation = [user(text, is_checkpoint=True) for text in texts]
    budget = data.draw(st.integers(FIXED + 200 * len(units), whole_size(conversation)))
    plain = fit_plainly(conversation, size_of, budget)
    assert plain is not None
    assert pairs_of(fit(conversation, FIXED, budget)) == plain.conversation


@pytest.mark.parametrize("units", ["<<", "<\x00\n", "<a", "<😀é", "\ud83d<", "\ud83da"])
def test_each_budget_is_filled_as_the_contract_says(units: str) -> None:
    """Byte by byte more, the shares of texts of cheap and of costly characters grow as worded."""
    conversation = [user(unit * 150, is_checkpoint=True) for unit in units]
    for budget in range(400, 500):
        plain = fit_plainly(conversation, size_of, budget)
        assert plain is not None
        assert pairs_of(fit(conversation, FIXED, budget)) == plain.conversation


@given(tight_budgets())
def test_a_fitted_source_is_never_over_its_budget(case: tuple[Conversation, int]) -> None:
    """Whatever the texts are, the serialized source takes up at most the budget."""
    conversation, budget = case
    fitted = fit_or_none(conversation, budget)
    if fitted is None:
        return
    assert size_of(pairs_of(fitted)) <= budget


@given(crowded_budgets())
def test_a_cut_fills_the_budget(case: tuple[Conversation, int]) -> None:
    """Where every text has room for something, a few bytes for each cut one are left over."""
    conversation, budget = case
    fitted = fit(conversation, FIXED, budget)
    cut = [message.text for message, omitted in fitted.messages if omitted]
    assume(all(cut))
    assert budget - size_of(pairs_of(fitted)) <= UNUSED_PER_CUT * len(cut)


@given(tight_budgets())
def test_the_numbers_account_for_every_byte(case: tuple[Conversation, int]) -> None:
    """Messages and bytes that are kept, dropped and cut add up to the conversation."""
    conversation, budget = case
    fitted = fit_or_none(conversation, budget)
    if fitted is None:
        return
    kept = sum(kept_bytes(message.text, omitted) for message, omitted in fitted.messages)
    assert fitted.original_messages == len(conversation)
    assert fitted.retained_messages + fitted.omitted_messages == len(conversation)
    assert kept + fitted.omitted_bytes == sum(len(utf8(message.text)) for message in conversation)
    assert fitted.truncated == (pairs_of(fitted) != [message[:2] for message in conversation])


def kept_bytes(text: str, omitted: int) -> int:
    """Return how many bytes of a text are from the source, without the note of what is missing."""
    note = f"\n[… omitted {omitted} UTF-8 bytes …]" if omitted and text else ""
    assert text.endswith(note)
    return len(utf8(text)) - len(note.encode())


def test_a_conversation_that_fits_stays_as_it_is() -> None:
    """A budget of exactly the source's size takes nothing away."""
    conversation = [user("first"), ConversationMessage("assistant", "<second>")]
    fitted = fit(conversation, FIXED, whole_size(conversation))
    assert [message for message, _ in fitted.messages] == conversation
    assert not fitted.truncated


def test_the_oldest_message_goes_first() -> None:
    """One byte too many costs the oldest message, and only that."""
    conversation = [user("a"), user("b"), user("c")]
    fitted = fit(conversation, FIXED, whole_size(conversation) - 1)
    assert pairs_of(fitted) == [("user", "b"), ("user", "c")]
    assert (fitted.omitted_messages, fitted.omitted_bytes) == (1, 1)


def test_checkpoints_and_the_last_message_are_never_dropped() -> None:
    """Everything else goes before a checkpoint or the last message loses a byte."""
    checkpoint = user("what was before", is_checkpoint=True)
    conversation = [user("a" * 50), checkpoint, user("b" * 50), user("last")]
    fitted = fit(conversation, FIXED, whole_size([checkpoint, conversation[-1]]))
    assert [message for message, _ in fitted.messages] == [checkpoint, conversation[-1]]


def test_a_short_text_stays_whole_beside_a_long_one() -> None:
    """Texts share the room: who needs less than the others leaves them the rest."""
    conversation = [user("short", is_checkpoint=True), user("x" * 5_000)]
    fitted = fit(conversation, FIXED, 1_000)
    assert fitted.messages[0] == (conversation[0], 0)
    assert size_of(pairs_of(fitted)) == 1_000


@pytest.mark.parametrize("room", [20, 21, 30, 33, 34, 60])
def test_a_short_text_stays_whole_where_a_long_one_has_no_room(room: int) -> None:
    """Where a long text has not even room for a note, it is empty and costs others nothing."""
    conversation = [user("x" * 20, is_checkpoint=True), user("y" * 5_000)]
    fitted = fit(conversation, FIXED, size_of([("user", "")] * 2) + room)
    assert fitted.messages[0] == (conversation[0], 0)


def test_texts_full_of_escapes_get_the_same_share() -> None:
    """Room is shared by cost: two long texts cost about the same, whatever they are made of."""
    conversation = [user("<" * 5_000, is_checkpoint=True), user("x" * 5_000)]
    fitted = fit(conversation, FIXED, 2_000)
    markup, plain = (cost(message.text) for message, _ in fitted.messages)
    assert abs(markup - plain) <= UNUSED_PER_CUT


def test_the_error_tells_what_is_needed() -> None:
    """A budget of what the error asks for is enough, and one byte less is not."""
    conversation = [user("x" * 99, is_checkpoint=True), user("y" * 99)]
    with pytest.raises(RoomError) as caught:
        fit(conversation, FIXED, FIXED)
    assert all(not text for _, text in pairs_of(fit(conversation, FIXED, caught.value.needed)))
    with pytest.raises(RoomError):
        fit(conversation, FIXED, caught.value.needed - 1)


@pytest.mark.parametrize("allowed", [0, 2, 3, 5])
def test_fitting_can_be_given_up(allowed: int) -> None:
    """What the check raises ends the work, in whichever piece of it."""

    class GivenUpError(Exception):
        pass

    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > allowed:
            raise GivenUpError

    checkpoints = [user(letter * 500, is_checkpoint=True) for letter in "abc"]
    with pytest.raises(GivenUpError):
        fit(checkpoints, FIXED, 700, check)
    assert calls == allowed + 1


@pytest.mark.parametrize("text", ["a short message", "<" * 20, "修复 \ud83d"])
@pytest.mark.parametrize("is_checkpoint", [False, True])
def test_fitting_is_linear_in_the_messages(text: str, is_checkpoint: bool) -> None:
    """Four times the messages take about four times as long, dropped or cut."""
    message = user(text, is_checkpoint=is_checkpoint)
    assert_linear(
        lambda size: [message] * (size // 25),
        lambda conversation: fit(conversation, FIXED, FIXED + 40 * len(conversation)),
        2**18,
    )


@pytest.mark.parametrize("character", ["a", "<", "\x00", "😀", "\ud83d", "\\"])
def test_fitting_is_linear_in_a_text(character: str) -> None:
    """Four times the text takes about four times as long, whatever it is made of."""
    assert_linear(
        lambda size: [user(character * (size // 4))],
        lambda conversation: fit(conversation, FIXED, FIXED + len(conversation[0].text) // 2),
    )
