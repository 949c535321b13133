"""`sessionref list`, answered from a title index or in spite of one."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from shlex import quote
from shutil import rmtree

import pytest
import trio
from cli.invoking import HERE, Invoke
from logs import LogBuilder

from sessionref import Target, open_resolver
from sessionref.discovery.sqlite.files import default_path

COSTLY = {
    "apsw",
    "filelock",
    "sessionref.discovery.sqlite",
    "sqlite_utils",
    "watchfiles",
}


def ids(output: str) -> list[str]:
    return [line.split("\t")[0] for line in output.splitlines()]


@pytest.fixture
def index(invoke: Invoke, root: Path, tmp_path: Path) -> Path:
    """An index of the root, from which a session has gone since."""
    path = tmp_path / "titles.sqlite3"
    invoke("index", "build", "--root", str(root), "--index", str(path))
    rmtree(LogBuilder("nowhere").path(root).parent)
    return path


def test_an_index_answers_as_it_is(invoke: Invoke, root: Path, index: Path) -> None:
    """A list from an index is that of its last refresh, and reads no log."""
    result = invoke("list", "--root", str(root), "--cwd", HERE, "--index", str(index))
    assert ids(result.stdout) == ["here", "nowhere", "elsewhere"]
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_environment_names_an_index(invoke: Invoke, root: Path, index: Path) -> None:
    """A variable names the index for every list."""
    result = invoke("list", "nowhere", "--root", str(root), SESSIONREF_INDEX=str(index))
    assert ids(result.stdout) == ["nowhere"]


def test_the_usual_index_needs_no_name(invoke: Invoke, root: Path) -> None:
    """Once an index of a folder is built in its usual place, lists come from there."""
    invoke("index", "build", "--root", str(root))
    LogBuilder("late").write(root)
    assert "late" not in ids(invoke("list", "--root", str(root)).stdout)
    assert "late" in ids(invoke("list", "--root", str(root), "--no-index").stdout)


def test_the_logs_can_be_read_all_the_same(invoke: Invoke, root: Path, index: Path) -> None:
    """`--no-index` reads the logs, whatever index there is."""
    result = invoke("list", "--root", str(root), "--index", str(index), "--no-index")
    assert set(ids(result.stdout)) == {"here", "elsewhere"}


def test_a_list_makes_no_index(invoke: Invoke, root: Path) -> None:
    """Where there is no index the logs are read, and nothing is written."""
    assert len(ids(invoke("list", "--root", str(root)).stdout)) == 3
    assert not default_path(root).parent.exists()


def test_a_named_index_that_is_missing(invoke: Invoke, root: Path, tmp_path: Path) -> None:
    """Somebody who names an index that is not there is told, and gets the list all the same."""
    result = invoke("list", "--root", str(root), "--index", str(tmp_path / "lost"))
    assert len(ids(result.stdout)) == 3
    assert result.stderr == f"There is no index {tmp_path / 'lost'}; the logs are read instead.\n"
    assert result.exit_code == 0
    assert not (tmp_path / "lost").exists()


def test_an_index_that_was_never_refreshed(invoke: Invoke, root: Path, tmp_path: Path) -> None:
    """Before its first refresh is complete an index is no reason to miss sessions."""
    (tmp_path / "new").touch()
    result = invoke("list", "--root", str(root), "--index", str(tmp_path / "new"))
    assert len(ids(result.stdout)) == 3


def test_a_terminal_says_how_old_the_index_is(
    invoke_on_terminal: Invoke, root: Path, index: Path
) -> None:
    """People see how old the answer is, and the command that brings it up to date."""
    result = invoke_on_terminal("list", "--root", str(root), "--index", str(index))
    options = f"--index {quote(str(index))} --root {quote(str(root))}"
    assert result.stderr == (
        f"The index was refreshed just now; `sessionref index refresh {options}` brings it up to "
        f"date.\n"
    )


def test_a_terminal_says_nothing_of_an_index_that_there_is_not(
    invoke_on_terminal: Invoke, root: Path
) -> None:
    """Who has no index is not bothered with it."""
    assert invoke_on_terminal("list", "--root", str(root)).stderr == ""


def test_json_is_the_same_as_without(invoke: Invoke, root: Path, index: Path) -> None:
    """Programs get candidates of the same form and content, wherever they come from."""
    invoke("index", "refresh", "--root", str(root), "--index", str(index))

    async def find() -> list[object]:
        async with open_resolver(root) as resolver:
            found = await resolver.list_candidates(Target(session_id="", cwd=HERE))
        return [candidate.to_wire() for candidate in found]

    result = invoke("list", "--root", str(root), "--index", str(index), "--cwd", HERE, "--json")
    assert json.loads(result.stdout) == trio.run(find)


def test_unreadable_logs_are_counted(invoke: Invoke, root: Path, tmp_path: Path) -> None:
    """With an index, too, whoever lists is told how many logs cannot be read."""
    odd = LogBuilder("odd")
    odd.append("x/unknown", {})
    odd.write(root)
    options = ["--root", str(root), "--index", str(tmp_path / "titles.sqlite3")]
    invoke("index", "build", *options)
    assert invoke("list", *options).stderr == (
        f"1 log cannot be read; `sessionref doctor --root {quote(str(root))}` says why.\n"
    )


def test_an_index_of_another_folder(invoke: Invoke, index: Path, tmp_path: Path) -> None:
    """An index says whose it is: that of another folder never answers for this one."""
    LogBuilder("other").write(tmp_path / "others")
    result = invoke("list", "--root", str(tmp_path / "others"), "--index", str(index))
    assert ids(result.stdout) == ["other"]
    assert "it is the index of another folder" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_database_of_somebody_else(invoke: Invoke, root: Path, tmp_path: Path) -> None:
    """A file of another program is refused in one line, is left alone, and the logs answer."""
    path = tmp_path / "photos.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE photo (name)")
    before = path.read_bytes()
    result = invoke("list", "--root", str(root), "--index", str(path))
    assert len(ids(result.stdout)) == 3
    assert result.stderr.startswith(f"{path}: this title index cannot be used: ")
    assert len(result.stderr.splitlines()) == 1
    assert result.exit_code == 0
    assert path.read_bytes() == before


def test_an_index_of_a_newer_version(invoke: Invoke, root: Path, index: Path) -> None:
    """What a newer version has written is not guessed at: one line, and the logs answer."""
    with closing(sqlite3.connect(index)) as db, db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('sessionref', 's999_be_newer', '')"
        )
    result = invoke("list", "--root", str(root), "--index", str(index))
    assert set(ids(result.stdout)) == {"here", "elsewhere"}
    assert "a newer version of sessionref has written it" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("content", [b"garbage", b"SQLite format 3\0" + bytes(100)])
def test_a_damaged_index(invoke: Invoke, root: Path, index: Path, content: bytes) -> None:
    """A broken file costs one line, and the logs answer."""
    index.write_bytes(content)
    result = invoke("list", "--root", str(root), "--index", str(index), "--json")
    assert {found["sessionId"] for found in json.loads(result.stdout)} == {"here", "elsewhere"}
    assert "it is damaged" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.exit_code == 0


def test_a_folder_is_no_index(invoke: Invoke, root: Path, tmp_path: Path) -> None:
    """A folder in the place of the file is refused in one line."""
    (tmp_path / "folder").mkdir()
    result = invoke("list", "--root", str(root), "--index", str(tmp_path / "folder"))
    assert len(ids(result.stdout)) == 3
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "line", ["--help", "uri encode a", "show --demo x", "list --demo --no-index", "index --help"]
)
def test_who_needs_no_index_pays_for_none(line: str) -> None:
    """A command that opens no index imports nothing of it."""
    program = (
        "import sys\n"
        "from sessionref.cli.application import application\n"
        "try:\n"
        f"    application({line.split()})\n"
        "finally:\n"
        f"    print(*{COSTLY} & sys.modules.keys(), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, encoding="utf-8"
    )
    assert done.stderr.splitlines()[-1] == ""
