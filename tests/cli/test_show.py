"""`sessionref show`: what of one session a message would carry."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

import pytest
from cli.invoking import HERE, Invoke
from logs import LogBuilder
from rewriting import rewrite

from sessionref.cli.text import moment


def test_the_conversation_is_shown(invoke: Invoke, root: Path) -> None:
    """A session is shown as title, facts, and who said what, and no more than that."""
    result = invoke("show", "here", "--root", str(root))
    assert result.stdout.splitlines() == [
        "Write a parser",
        "  id          here",
        f"  folder      {HERE}",
        f"  created     {moment(1_000)}",
        "  log         format version 0",
        "  kept        2 of 2 messages",
        "  left out    nothing",
        "  size        198 of 65,536 bytes",
        "",
        "  user",
        "  │ How do I parse this?",
        "",
        "  model",
        "  │ With a parser.",
    ]


@pytest.fixture
def compacted(tmp_path: Path) -> Path:
    """A root with a session whose beginning was compacted, and which has a long last answer."""
    log = LogBuilder("compacted", origin="subagent", parent_session="parent \x1b")
    first = log.user("gone")
    log.checkpoint("What was said: much.", first, first)
    log.user("An older question?")
    log.assistant("word " * 100)
    log.write(tmp_path)
    return tmp_path


def test_what_is_left_out_is_said(invoke: Invoke, compacted: Path) -> None:
    """Dropped messages are counted, a cut one says how much of it is missing."""
    result = invoke("show", "compacted", "--root", str(compacted), "--max-reference-bytes", "400")
    assert "  kept        2 of 3 messages" in result.stdout
    assert "  left out    1 message, " in result.stdout
    assert "  summary of what was said before\n  │ What was said: much.\n" in result.stdout
    assert "An older question?" not in result.stdout
    assert " bytes left out\n  │ word word" in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{number} " for number in range(500)),
        "".join(f"{number}\n" for number in range(500)),
        "\ud83d" + "漢字😀" * 100,
        "x" * 1_000,
    ],
)
def test_the_place_of_a_cut_is_shown(invoke: Invoke, tmp_path: Path, text: str) -> None:
    """Between head and tail of a cut text stands a mark, so that nobody reads them as one."""
    log = LogBuilder("s")
    log.user(text)
    log.write(tmp_path)
    budget = ("--max-reference-bytes", "300")
    shown = invoke("show", "s", "--root", str(tmp_path), *budget).stdout.partition("  user")[2]
    kept = "\n".join(line.removeprefix("  │ ") for line in shown.splitlines()[1:-1])
    head, tail = kept.split(" […]")
    whole = text.replace("\ud83d", "\ufffd")
    assert whole.startswith(head)
    assert whole.rstrip().endswith(tail.strip())
    assert head
    assert "UTF-8 bytes …]" in shown.splitlines()[-1]


def test_a_note_in_the_text_is_no_cut(invoke: Invoke, tmp_path: Path) -> None:
    """Where a text was cut at its end, what it quotes of another cut is not taken for the note."""
    log = LogBuilder("s")
    log.user("word " * 20 + "\n[… omitted 7 UTF-8 bytes …]" * 20)
    log.write(tmp_path)
    shown = invoke("show", "s", "--root", str(tmp_path), "--max-reference-bytes", "250").stdout
    assert shown.count(" […] ") == 1
    assert " […] " not in shown.splitlines()[-1]


def test_json_has_no_mark(invoke: Invoke, compacted: Path) -> None:
    """What programs get is the very text that is carried over."""
    arguments = ("--root", str(compacted), "--max-reference-bytes", "400", "--json")
    assert "[…]" not in invoke("show", "compacted", *arguments).stdout


def test_older_messages_are_no_part_of_a_cut_one(invoke: Invoke, compacted: Path) -> None:
    """Where messages were dropped, each kept one is compared with its own whole text."""
    budget = ("--max-reference-bytes", "400")
    shown = invoke("show", "compacted", "--root", str(compacted), *budget).stdout
    summary, answer = shown.partition("  summary")[2].split("  model")
    assert "[…]" not in summary
    assert " […] " in answer
    assert "│  […]" not in answer


def test_whose_subagent_it_was_is_said(invoke: Invoke, compacted: Path) -> None:
    """A subagent's session names its parent."""
    result = invoke("show", "compacted", "--root", str(compacted))
    assert r"  subagent of parent \x1b" in result.stdout


def test_the_version_of_the_log_is_said(invoke: Invoke, tmp_path: Path) -> None:
    """Which version of the format the log has is one of the facts, in JSON too."""
    log = LogBuilder("s")
    log.user("hi")
    rewrite(log.header, log.events, 4).write(tmp_path)
    assert "  log         format version 4\n" in invoke("show", "s", "--root", str(tmp_path)).stdout
    shown = json.loads(invoke("show", "s", "--root", str(tmp_path), "--json").stdout)
    assert (shown["header"]["version"], shown["capturedFormatVersion"]) == (4, 4)


def test_a_session_may_have_no_parent_and_no_folder(invoke: Invoke, tmp_path: Path) -> None:
    """What a header does not tell is not made up."""
    LogBuilder("orphan", origin="subagent").write(tmp_path)
    result = invoke("show", "orphan", "--root", str(tmp_path))
    assert "  subagent of an unknown session" in result.stdout
    assert "  folder      none" in result.stdout


def test_json_tells_all_of_it(invoke: Invoke, compacted: Path) -> None:
    """`--json` prints header, figures and conversation, with the names that hosts know."""
    arguments = ("--root", str(compacted), "--max-reference-bytes", "400", "--json")
    shown = json.loads(invoke("show", "compacted", *arguments).stdout)
    conversation = shown.pop("conversation")
    assert shown == {
        "header": {
            "version": 0,
            "id": "compacted",
            "createdAt": 1_700_000_000_000,
            "parentSession": "parent \x1b",
            "origin": "subagent",
            "delegationDepth": 0,
        },
        "sessionId": "compacted",
        "label": "compacted",
        "capturedThroughSeq": 3,
        "compacted": True,
        "originalMessages": 3,
        "retainedMessages": 2,
        "omittedMessages": 1,
        "omittedBytes": len("An older question?") + conversation[1]["omittedBytes"],
        "truncated": True,
        "bytes": 400,
        "maxReferenceBytes": 400,
    }
    assert [message["role"] for message in conversation] == ["user", "assistant"]
    assert [message["checkpoint"] for message in conversation] == [True, False]


def test_texts_are_only_shown(invoke: Invoke, tmp_path: Path) -> None:
    """Markup and control characters in a text have no effect; its line breaks stay."""
    log = LogBuilder("s")
    log.user("[b]one[/b]\x1b[2J\n  two :smile: \ud83d")
    log.write(tmp_path)
    result = invoke("show", "s", "--root", str(tmp_path))
    expected = "  │ [b]one[/b]\\x1b[2J\n  │   two :smile: \\ud83d\n"
    assert expected in result.stdout


def test_long_lines_are_wrapped_behind_the_bar(invoke_on_terminal: Invoke, tmp_path: Path) -> None:
    """On a terminal no line of a text goes beyond the edge, and each stands behind the bar."""
    log = LogBuilder("s")
    log.user("漢字 " * 30 + "x" * 100)
    log.write(tmp_path)
    result = invoke_on_terminal("show", "s", "--root", str(tmp_path), columns=40)
    text = result.stdout.partition("  user\n")[2].splitlines()
    assert len(text) > 4
    assert all(line.startswith("  │ ") for line in text)
    assert max(map(len, text)) == 40


@pytest.mark.parametrize("columns", [0, 1])
def test_a_terminal_without_columns_shows_it_too(
    invoke_on_terminal: Invoke, root: Path, columns: int
) -> None:
    """A window may be as narrow as it likes."""
    result = invoke_on_terminal("show", "here", "--root", str(root), columns=columns)
    assert result.exit_code == 0
    assert "  │ How do I parse" in result.stdout


def test_a_session_that_is_not_there(invoke: Invoke, root: Path) -> None:
    """An unknown id is one line on stderr that says how to find the right one, and exit code 1."""
    result = invoke("show", "lost\x1b", "--root", str(root))
    assert result.exit_code == 1
    assert not result.stdout
    assert result.stderr == (
        "Error: there is no session 'lost\\x1b'; ids are given in full; try "
        f"`sessionref list 'lost\\x1b' --root {quote(str(root))}` [SESSION_REFERENCE_READ_FAILED]\n"
    )


def test_a_budget_that_is_too_small(invoke: Invoke, root: Path) -> None:
    """Where not even the id has room, the error says how much is needed."""
    result = invoke("show", "here", "--root", str(root), "--max-reference-bytes", "10")
    assert result.exit_code == 1
    assert "SESSION_REFERENCE_BUDGET_EXCEEDED" in result.stderr
