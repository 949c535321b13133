"""`sessionref list`: the sessions that can be mentioned."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

import pytest
import trio
from cli.invoking import HERE, Invoke
from logs import LogBuilder

from sessionref import Target, open_resolver
from sessionref.cli.text import moment


def ids(output: str) -> list[str]:
    return [line.split("\t")[0] for line in output.splitlines()]


def test_the_current_folder_comes_first(invoke: Invoke, root: Path) -> None:
    """Sessions of the folder come first, then those without one, then the others."""
    result = invoke("list", "--root", str(root), "--cwd", HERE)
    assert ids(result.stdout) == ["here", "nowhere", "elsewhere"]


def test_the_folder_is_where_the_command_runs(
    invoke: Invoke, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `--cwd` it is the folder that the shell is in."""
    monkeypatch.chdir(tmp_path)
    LogBuilder("right here", created_at=0, cwd=str(Path.cwd())).write(root)
    assert ids(invoke("list", "--root", str(root)).stdout)[0] == "right here"


def test_a_deleted_folder_is_no_folder(
    invoke: Invoke, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who stands in a deleted folder still sees all sessions."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ids(invoke("list", "--root", str(root)).stdout) == ["nowhere", "elsewhere", "here"]


def test_a_query_narrows_the_list(invoke: Invoke, root: Path) -> None:
    """Only sessions whose title, folder or id holds the query are listed, in any case."""
    assert ids(invoke("list", "PARSER", "--root", str(root)).stdout) == ["here"]


def test_the_target_is_left_out(invoke: Invoke, root: Path) -> None:
    """A session cannot be mentioned in itself."""
    result = invoke("list", "--root", str(root), "--target", "here")
    assert ids(result.stdout) == ["nowhere", "elsewhere"]


def test_a_pipe_gets_a_line_for_each(invoke: Invoke, root: Path) -> None:
    """In a pipe a session is one line of id, time, folder and title with tabs between them."""
    result = invoke("list", "parser", "--root", str(root))
    assert result.stdout == f"here\t{moment(1_000)}\t{HERE}\tWrite a parser\n"


def test_a_pipe_gets_remarks(invoke: Invoke, tmp_path: Path) -> None:
    """A line ends with what is special: a subagent's session, or why a log cannot be read."""
    LogBuilder("child", created_at=2, origin="subagent", parent_session="p").write(tmp_path)
    log = LogBuilder("odd", created_at=1)
    log.append("x/unknown", {})
    log.write(tmp_path)
    child, odd = invoke("list", "--root", str(tmp_path)).stdout.splitlines()
    assert child.split("\t")[2:] == ["", "child", "subagent"]
    assert odd.split("\t")[2:4] == ["", ""]
    assert "unsupported: the event type 'x/unknown'" in odd.split("\t")[4]


def test_unreadable_logs_are_counted(invoke: Invoke, root: Path) -> None:
    """Whoever lists is told of logs that cannot be read, also of one that is not listed at all."""
    LogBuilder("empty").write(root, b"")
    result = invoke("list", "--root", str(root))
    assert len(ids(result.stdout)) == 3
    assert result.stderr == (
        f"1 log cannot be read; `sessionref doctor --root {quote(str(root))}` says why.\n"
    )
    assert result.exit_code == 0


def test_the_hint_quotes_a_folder_for_the_shell(invoke: Invoke, tmp_path: Path) -> None:
    """The command that says why can be pasted into a shell, spaces in the root and all."""
    LogBuilder("empty").write(tmp_path / "my logs", b"")
    result = invoke("list", "--root", str(tmp_path / "my logs"))
    assert f"`sessionref doctor --root {quote(str(tmp_path / 'my logs'))}`" in result.stderr


def test_the_hint_for_the_usual_folder_is_short(invoke: Invoke, tmp_path: Path) -> None:
    """Where the logs lie in the usual folder, the command that says why needs no root."""
    LogBuilder("empty").write(tmp_path / "sessions", b"")
    result = invoke("list", DSH_HOME=str(tmp_path))
    assert "`sessionref doctor` says why" in result.stderr


def test_the_hint_for_the_demo_stays_with_it(invoke: Invoke) -> None:
    """The command that says why looks at the demo's sessions, as the list did."""
    assert "`sessionref doctor --demo` says why" in invoke("list", "--demo").stderr


def test_json_is_what_the_library_answers(invoke: Invoke, root: Path) -> None:
    """`--json` prints the candidates of the library, with the names that hosts know."""

    async def find() -> list[object]:
        async with open_resolver(root) as resolver:
            found = await resolver.list_candidates(Target(session_id="", cwd=HERE))
        return [candidate.to_wire() for candidate in found]

    result = invoke("list", "--root", str(root), "--cwd", HERE, "--json")
    assert json.loads(result.stdout) == trio.run(find)


def test_json_holds_lone_surrogates_as_escapes(invoke: Invoke, tmp_path: Path) -> None:
    """JSON is valid UTF-8 whatever a title holds, and means the very title."""
    log = LogBuilder("s")
    log.title("half \ud83d, whole 😀, 漢")
    log.write(tmp_path)
    result = invoke("list", "--root", str(tmp_path), "--json")
    text = result.stdout_bytes.decode()
    assert r"half \ud83d, whole 😀, 漢" in text
    assert json.loads(text)[0]["label"] == "half \ud83d, whole 😀, 漢"


@pytest.mark.parametrize(
    ("query", "said"),
    [("", "No session below {}.\n"), ("a\x1bb", 'No session below {} holds "a\\x1bb".\n')],
)
def test_an_empty_answer_is_said(invoke: Invoke, tmp_path: Path, query: str, said: str) -> None:
    """That nothing matches is no error, and nobody has to wonder about the silence."""
    result = invoke("list", query, "--root", str(tmp_path))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == said.format(tmp_path)


def test_a_terminal_shows_folders_as_headings(invoke_on_terminal: Invoke, root: Path) -> None:
    """On a terminal the sessions of a folder stand below its name, in columns."""
    result = invoke_on_terminal("list", "--root", str(root), "--cwd", HERE)
    lines = result.stdout.splitlines()
    assert lines[0] == f"{HERE}  (this folder)"
    assert lines[1].startswith("  Write a parser ")
    assert lines[1].endswith("  here")
    assert lines[2] == "no folder"
    assert lines[4] == "/home/ana/site"
    assert lines[3].index("1970-01-01") == lines[5].index("1970-01-01")


def test_no_folder_is_this_folder_of_nobody(
    invoke_on_terminal: Invoke, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the writer's folder is not known, no heading is marked."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "(this folder)" not in invoke_on_terminal("list", "--root", str(root)).stdout


def test_a_long_title_is_cut_and_the_id_is_not(invoke_on_terminal: Invoke, tmp_path: Path) -> None:
    """In a row that is too long the title gives way: the id is there to be copied."""
    log = LogBuilder("0123456789" * 4)
    log.title("漢字" * 30)
    log.write(tmp_path)
    _, row = invoke_on_terminal("list", "--root", str(tmp_path)).stdout.splitlines()
    assert "…" in row
    assert row.endswith("  " + "0123456789" * 4)


def test_a_narrow_terminal_gets_two_lines(invoke_on_terminal: Invoke, root: Path) -> None:
    """Where title and id have no room beside each other, they stand below each other."""
    result = invoke_on_terminal("list", "parser", "--root", str(root), columns=30)
    _, first, second = result.stdout.splitlines()
    assert first.startswith("  Write a parser  1970-01-01")
    assert second == "    here"


def test_what_is_special_is_marked_on_a_terminal(
    invoke_on_terminal: Invoke, tmp_path: Path
) -> None:
    """A terminal tells subagents and unreadable logs apart too."""
    LogBuilder("child", created_at=2, origin="subagent", parent_session="p").write(tmp_path)
    log = LogBuilder("odd", created_at=1)
    log.append("x/unknown", {})
    log.write(tmp_path)
    _, child, odd = invoke_on_terminal("list", "--root", str(tmp_path)).stdout.splitlines()
    assert child.startswith("  child  subagent")
    assert odd.startswith("  cannot be read")


NASTY = "a [red]b[/red] :smile: \x1b]0;pwn\x07\n\u202e\u200b\ttab"
SHOWN = r"a [red]b[/red] :smile: \x1b]0;pwn\x07\x0a\u{202e}\u{200b}\x09tab"


@pytest.mark.parametrize("terminal", [False, True])
def test_titles_are_only_shown(
    invoke: Invoke, invoke_on_terminal: Invoke, tmp_path: Path, terminal: bool
) -> None:
    """Markup in a title means nothing, and control characters are visible and without effect."""
    log = LogBuilder("id \x1b", cwd="/w \x07")
    log.title(NASTY)
    log.write(tmp_path)
    if terminal:
        output = invoke_on_terminal("list", "--root", str(tmp_path), columns=200).stdout
    else:
        output = invoke("list", "--root", str(tmp_path)).stdout
    assert SHOWN in output
    assert r"id \x1b" in output
    assert r"/w \x07" in output
    assert not {"\x1b", "\x07"} & set(output)


def test_lone_surrogates_are_printed(invoke: Invoke, tmp_path: Path) -> None:
    """Half an emoji in a title, id or folder does not stop the list."""
    log = LogBuilder("id \ud83d", cwd="/w \udc00")
    log.title("title \ud83d")
    log.write(tmp_path)
    result = invoke("list", "--root", str(tmp_path))
    assert result.exit_code == 0
    assert r"title \ud83d" in result.stdout
