"""What hypothesis draws from: the strings, names, data and logs of hostile hosts and sessions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from logs import LogBuilder

from sessionref.javascript import MAX_SAFE_INTEGER, join_surrogates
from sessionref.snapshot.projection import ConversationMessage

__all__ = [
    "HOSTILE",
    "conversations",
    "cwds",
    "javascript_text",
    "joined_text",
    "json_values",
    "labels",
    "log_builders",
    "mention_texts",
    "safe_integers",
    "session_ids",
    "split_pairs",
]

HOSTILE = (
    "\"\\/<>&[]()@:~.%_- aZ0'"  # what JSON, markup, mentions, paths and SQL give a meaning to
    "\x00\x07\b\t\n\v\f\r\x1b\x1c\x1f\x7f\x85\x9b\xa0"  # control characters; odd white space
    "\u2028\u2029\u3000\ufeff\u200b\u200d\u202e\u2066\u061c"  # separators, hidden characters
    "é\u0301ßẞİıΣςǅ漢修😀𝒳\ufffd\uffff\U0010ffff"  # each length in UTF-8; odd lower case
    "\ud83d\ude00\ud800\udfff"  # halves of surrogate pairs, which may come to stand together
)
"""Characters that have broken programs like this one."""

_ANY_CHARACTER = st.characters(exclude_categories=())


def javascript_text(*, min_size: int = 0, max_size: int | None = None) -> SearchStrategy[str]:
    """Any string, lone surrogates included; a pair may be spelled as its two halves.

    The sizes count characters, such a pair as one.
    """
    hostile = st.text(HOSTILE, min_size=min_size, max_size=max_size)
    return (
        hostile
        | hostile.map(split_pairs)
        | st.text(_ANY_CHARACTER, min_size=min_size, max_size=max_size)
    )


def split_pairs(text: str) -> str:
    """Return a text with each character beyond U+FFFF spelled as a pair of surrogates."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(map(chr, units))


def joined_text(*, min_size: int = 0, max_size: int | None = None) -> SearchStrategy[str]:
    """Any string with its surrogate pairs joined, as every value of the library holds it."""
    joined = javascript_text(min_size=min_size, max_size=max_size).map(join_surrogates)
    return joined.filter(lambda text: len(text) >= min_size)


def session_ids() -> SearchStrategy[str]:
    """The id of a session that can be stored: a UUID mostly, or any string but the empty one."""
    return (
        st.uuids().map(str) | st.sampled_from([".", "..", "~002E", "CON"]) | joined_text(min_size=1)
    )


def labels() -> SearchStrategy[str]:
    """A title or the label of a mention: words, any string, or nothing that can be seen."""
    words = st.lists(st.sampled_from(["quick", "fix", "修复", "МИР", "a]b", "c:\\tmp", "@[x](y)"]))
    return words.map(" ".join) | joined_text() | st.text("\u200b\x1b \t\u202e", max_size=4)


def cwds() -> SearchStrategy[str]:
    """A working directory, of any system."""
    usual = ["/w/data-hub/api", "/w/data/hub/api", "C:\\Work\\App", "c:/Work/App/", "/", "/srv/界"]
    return st.sampled_from(usual) | joined_text()


def safe_integers(min_value: int = -MAX_SAFE_INTEGER) -> SearchStrategy[int]:
    """An integer that a JavaScript number holds exactly."""
    return st.integers(min_value, MAX_SAFE_INTEGER)


def json_values(*, max_leaves: int = 10) -> SearchStrategy[Any]:
    """Any JSON data, surrogates also in the names of members; numbers are safe integers."""
    leaves = st.none() | st.booleans() | safe_integers() | joined_text(max_size=8)
    names = joined_text(max_size=4)
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
        max_leaves=max_leaves,
    )


def mention_texts() -> SearchStrategy[str]:
    """A text of whole, broken and nested mentions."""
    whole = ["@[a](dsh-session:ImEi)", "dsh-session:ImEi", "](dsh-session:ImEi)"]
    parts = ["@", "[", "@[", "]", "](", "](dsh-session:", "dsh-session:", "(", ")", "ImEi", "\\"]
    spaces = [" ", "\n", "\r", "\u2028", "\u00a0", "\ufeff", "\x1c", "\x85"]
    others = ["a", "-", "=", "é", "😀", "\ud83d", "\ude00"]
    pieces = st.sampled_from(parts) | st.sampled_from(whole + parts + spaces + others)
    return st.lists(pieces, max_size=24).map("".join)


def conversations() -> SearchStrategy[list[ConversationMessage]]:
    """What a projection may give: checkpoints mostly first, no text empty."""
    message = st.builds(
        ConversationMessage,
        role=st.sampled_from(("user", "assistant")),
        text=joined_text(min_size=1) | st.builds(_repeat, joined_text(min_size=1, max_size=3)),
    )
    checkpoint = message.map(lambda drawn: drawn._replace(role="user", is_checkpoint=True))
    rest = st.lists(message | message | checkpoint, max_size=6)
    return st.tuples(st.lists(checkpoint, max_size=2), rest).map(lambda parts: parts[0] + parts[1])


def _repeat(text: str) -> str:
    return text * 40


@st.composite
def log_builders(draw: DrawFn, *, max_events: int = 12) -> LogBuilder:
    """A log of messages of every kind, titles and compactions, with any id and cwd."""
    log = LogBuilder(draw(session_ids()), cwd=draw(st.none() | cwds()))
    for _ in range(draw(st.integers(0, max_events))):
        text = draw(joined_text(max_size=30))
        match draw(st.sampled_from(["user", "assistant", "context", "tool", "title", "compact"])):
            case "user":
                log.user(text)
            case "assistant":
                log.assistant(text, blocks=({"type": "reasoning", "text": "hidden"},))
            case "context":
                log.user(text, kind=draw(st.sampled_from(["plugin", "session-reference", "hook"])))
            case "tool":
                log.tool_result("call", text)
            case "title":
                log.title(text)
            case _ if log.surface:
                first = draw(st.integers(0, len(log.surface) - 1))
                last = draw(st.integers(first, len(log.surface) - 1))
                log.checkpoint(text, log.surface[first], log.surface[last])
    return log
