"""`sessionref prepare`: what a message that refers to sessions carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.invoking import Invoke
from logs import LogBuilder

from sessionref import encode_uri, format_mention


def prepared(invoke: Invoke, root: Path, *arguments: str) -> Any:
    result = invoke("prepare", "--root", str(root), "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def references(message: Any) -> list[tuple[str, str]]:
    source = message["additionalContext"]["source"]
    return [(record["sessionId"], record["label"]) for record in source["references"]]


def test_mentions_in_the_text_count(invoke: Invoke, root: Path) -> None:
    """A mention in the text becomes its label, and its session comes along."""
    message = prepared(invoke, root, "--text", f"As in {format_mention('here', 'the parser')}.")
    assert message["content"] == [{"type": "text", "text": "As in @the parser."}]
    assert references(message) == [("here", "the parser")]


def test_a_mention_is_put_behind_the_text(invoke: Invoke, root: Path) -> None:
    """`--mention` adds what a picker would: several times, also as a bare URI."""
    mentions = ("--mention", format_mention("here", "A"), "--mention", encode_uri("nowhere"))
    message = prepared(invoke, root, "--text", "Compare", *mentions)
    assert message["content"][0]["text"] == "Compare @A @nowhere"
    assert references(message) == [("here", "A"), ("nowhere", "nowhere")]


def test_a_mention_needs_no_text(invoke: Invoke, root: Path) -> None:
    """A message may be nothing but a mention."""
    message = prepared(invoke, root, "--mention", format_mention("here", "A"))
    assert message["content"][0]["text"] == "@A"


def test_a_session_is_referred_to_by_its_id(invoke: Invoke, root: Path) -> None:
    """`--session` refers to a session and leaves the text alone; several may be given."""
    message = prepared(
        invoke, root, "--text", "Compare", "--session", "here", "--session", "elsewhere"
    )
    assert message["content"][0]["text"] == "Compare"
    assert [session_id for session_id, _ in references(message)] == ["here", "elsewhere"]


def test_a_session_goes_by_its_title(invoke: Invoke, tmp_path: Path) -> None:
    """What `--session` names is labelled as a mention would be: by a title that is safe to show."""
    log = LogBuilder("titled")
    log.title("Tidy \x1b up")
    log.write(tmp_path)
    LogBuilder("untitled").write(tmp_path)
    message = prepared(invoke, tmp_path, "--session", "titled", "--session", "untitled")
    assert references(message) == [("titled", r"Tidy \x1b up"), ("untitled", "untitled")]


def test_a_mention_keeps_its_label(invoke: Invoke, root: Path) -> None:
    """Where a mention and `--session` name the same session, the label of the mention stands."""
    mention = format_mention("here", "my parser")
    message = prepared(invoke, root, "--text", mention, "--session", "here")
    assert references(message) == [("here", "my parser")]


def test_a_message_without_references_goes_alone(invoke: Invoke, root: Path) -> None:
    """Without references there is no context message, in JSON and for people."""
    assert prepared(invoke, root, "--text", "Hi") == {"content": [{"type": "text", "text": "Hi"}]}
    assert invoke("prepare", "--text", "Hi", "--root", str(root)).stdout == "The message\n  │ Hi\n"


def test_people_see_messages_and_figures(invoke: Invoke, root: Path) -> None:
    """Without `--json` both messages are shown as the model gets them, and what was kept."""
    result = invoke("prepare", "--root", str(root), "--text", "Hi", "--session", "here")
    assert result.stdout.startswith(
        "The message\n  │ Hi\n\nThe context message that goes with it\n"
        "  │ ## Referenced sessions\n  │ \n"
    )
    assert "  │ </referenced-sessions>\n\nWhat was kept\n" in result.stdout
    last = result.stdout.splitlines()[-1].split("  ")
    assert [part.strip() for part in last if part] == [
        "Write a parser",
        "2 of 2 messages",
        "nothing",
    ]


def test_dropped_messages_are_counted(invoke: Invoke, root: Path) -> None:
    """The figures tell messages and bytes that had no room."""
    arguments = ("--session", "here", "--max-reference-bytes", "190")
    result = invoke("prepare", "--root", str(root), *arguments)
    assert "1 of 2 messages  1 message, 20 bytes" in result.stdout


def test_a_cut_text_is_counted(invoke: Invoke, tmp_path: Path) -> None:
    """Where only a text was cut, the figures tell the bytes of it."""
    log = LogBuilder("s")
    log.user("word " * 100)
    log.write(tmp_path)
    result = invoke(
        "prepare", "--root", str(tmp_path), "--session", "s", "--max-reference-bytes", "300"
    )
    line = result.stdout.splitlines()[-1]
    assert "1 of 1 message " in line
    assert line.rstrip().endswith(" bytes")


def test_json_holds_lone_surrogates_as_escapes(invoke: Invoke, tmp_path: Path) -> None:
    """What is prepared is valid UTF-8 and means the very texts."""
    log = LogBuilder("s \ud83d")
    log.user("half \ud83d")
    log.write(tmp_path)
    arguments = ("--session", "s \ud83d", "--text", "t \ud83d", "--json")
    result = invoke("prepare", "--root", str(tmp_path), *arguments)
    message = json.loads(result.stdout_bytes.decode())
    assert message["content"][0]["text"] == "t \ud83d"
    assert references(message) == [("s \ud83d", "s \ud83d")]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--session", "lost"], "READ_FAILED"),
        (["--session", "here", "--target", "here"], "SELF_REFERENCE"),
        (["--session", "here", "--session", "nowhere", "--max-references", "1"], "TOO_MANY"),
        (["--session", "here", "--max-reference-bytes", "1"], "BUDGET_EXCEEDED"),
        (["--mention", "dsh-session:%"], None),
        (["--text", "dsh-session:AAAA"], "INVALID_REFERENCE"),
    ],
)
def test_failures(invoke: Invoke, root: Path, arguments: list[str], code: str | None) -> None:
    """What cannot be prepared prints nothing but one line on stderr, with its stable code."""
    result = invoke("prepare", "--root", str(root), *arguments)
    assert not result.stdout
    if code is None:
        assert result.exit_code == 2
        assert "holds no mention of a session" in result.stderr
    else:
        assert result.exit_code == 1
        assert result.stderr.endswith(f"[SESSION_REFERENCE_{code}]\n")
        assert len(result.stderr.splitlines()) == 1


def test_nothing_to_prepare_is_a_mistake(invoke: Invoke) -> None:
    """A message without text and references is refused at once."""
    result = invoke("prepare")
    assert result.exit_code == 2
    assert "--text, --mention or --session" in result.stderr


def test_labels_are_only_shown(invoke: Invoke, root: Path) -> None:
    """A label in a mention cannot style, or break, the table of what was kept."""
    mention = format_mention("here", "[red]a[/red] :smile:\x1b")
    result = invoke("prepare", "--root", str(root), "--mention", mention)
    assert result.stdout.splitlines()[-1].startswith(r"  [red]a[/red] :smile:\x1b  2 of 2")
