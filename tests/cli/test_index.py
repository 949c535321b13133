"""`sessionref index`: building, refreshing, checking and deleting the title index."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from shlex import quote

import pytest
from cli.invoking import Invoke
from logs import LogBuilder

from sessionref.cli.root import demo_sessions
from sessionref.discovery.sqlite.files import default_path

EVERY = ["build", "refresh", "status", "verify", "drop"]


def words(root: Path, index: Path) -> list[str]:
    return ["--root", str(root), "--index", str(index)]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """The place of an index, which is not there yet."""
    return tmp_path / "titles.sqlite3"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database of somebody else."""
    path = tmp_path / "photos.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE photo (name)")
    return path


def test_build_says_what_it_did(invoke: Invoke, root: Path, index: Path) -> None:
    """A build makes the file and says in one line what is in it; a pipe sees nothing else."""
    result = invoke("index", "build", *words(root, index))
    assert result.stdout.startswith("The index has 3 sessions: 3 logs read, 0 removed, in ")
    assert len(result.stdout.splitlines()) == 1
    assert (result.exit_code, result.stderr) == (0, "")
    assert index.is_file()


def test_build_as_json(invoke: Invoke, root: Path, index: Path) -> None:
    """For programs a build is counted, logs that cannot be read among it."""
    LogBuilder("empty").write(root, b"")
    result = invoke("index", "build", *words(root, index), "--json")
    built = json.loads(result.stdout)
    assert built.pop("seconds") >= 0
    assert built == {
        "root": str(root),
        "path": str(index),
        "sessions": 4,
        "read": 4,
        "removed": 0,
        "unreadable": 1,
    }
    assert result.stderr == ""


def test_build_reads_everything_anew(invoke: Invoke, root: Path, index: Path) -> None:
    """A build takes nothing over from the index that was there."""
    invoke("index", "build", *words(root, index))
    with closing(sqlite3.connect(index)) as db, db:
        db.execute("UPDATE session SET title = NULL")
    invoke("index", "build", *words(root, index))
    assert invoke("index", "verify", *words(root, index)).exit_code == 0


def test_unreadable_logs_are_counted(invoke: Invoke, root: Path, index: Path) -> None:
    """Whoever builds is told of logs that cannot be read, and which command says more."""
    LogBuilder("empty").write(root, b"")
    result = invoke("index", "build", *words(root, index))
    assert result.stderr == (
        f"1 log cannot be read; `sessionref doctor --root {quote(str(root))}` says why.\n"
    )
    assert result.exit_code == 0


def test_each_root_has_an_index(invoke: Invoke, root: Path) -> None:
    """Without a name an index lies in the user's cache folder, one for each folder of logs."""
    result = invoke("index", "build", "--root", str(root), "--json")
    assert json.loads(result.stdout)["path"] == str(default_path(root))
    assert default_path(root).is_file()


def test_the_environment_names_an_index(invoke: Invoke, root: Path, index: Path) -> None:
    """A variable that a shell exports names what its option names."""
    invoke("index", "build", "--root", str(root), SESSIONREF_INDEX=str(index))
    assert index.is_file()


def test_the_environment_does_not_name_that_of_the_demo(
    invoke: Invoke, root: Path, index: Path
) -> None:
    """The demo works as ever where somebody has named an index of sessions of their own."""
    invoke("index", "build", *words(root, index))
    result = invoke("index", "status", "--demo", "--json", SESSIONREF_INDEX=str(index))
    with demo_sessions() as demo:
        assert json.loads(result.stdout)["path"] == str(default_path(demo))


def test_the_demo_can_be_indexed(invoke: Invoke, index: Path) -> None:
    """Who has no logs can try the index on those of the demo."""
    assert invoke("index", "build", "--demo", "--index", str(index)).exit_code == 0
    result = invoke("index", "verify", "--demo", "--index", str(index))
    assert result.stdout == "The index says what the logs say.\n"
    assert result.exit_code == 0


def test_refresh_brings_up_to_date(invoke: Invoke, root: Path, index: Path) -> None:
    """A refresh finds what has come, and forgets what has gone."""
    invoke("index", "build", *words(root, index))
    LogBuilder("late").write(root)
    shutil.rmtree(LogBuilder("nowhere").path(root).parent)
    result = invoke("index", "refresh", *words(root, index), "--json")
    refreshed = json.loads(result.stdout)
    assert (refreshed["sessions"], refreshed["removed"]) == (3, 1)
    assert invoke("index", "verify", *words(root, index)).exit_code == 0


def test_refresh_makes_what_is_missing(invoke: Invoke, root: Path, index: Path) -> None:
    """A refresh where there is no index builds it: a timer needs one command only."""
    result = invoke("index", "refresh", *words(root, index))
    assert result.stdout.startswith("The index has 3 sessions")
    assert invoke("index", "status", *words(root, index)).exit_code == 0


def test_a_root_that_cannot_be_listed(invoke: Invoke, tmp_path: Path, index: Path) -> None:
    """Where the logs cannot be listed there is nothing to index: one line, exit code 1."""
    (tmp_path / "file").write_bytes(b"")
    result = invoke("index", "build", *words(tmp_path / "file", index))
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1


def test_status_of_nothing(invoke: Invoke, root: Path, index: Path) -> None:
    """Where there is no index, status says how to make one, and does not make it itself."""
    result = invoke("index", "status", *words(root, index))
    command = f"sessionref index build --index {quote(str(index))} --root {quote(str(root))}"
    assert result.stdout == f"There is no index {index} yet; `{command}` makes one.\n"
    assert result.exit_code == 1
    assert not index.exists()


def test_status_of_nothing_as_json(invoke: Invoke, root: Path, index: Path) -> None:
    """A program is told by a field that there is no index, and by the exit code."""
    result = invoke("index", "status", *words(root, index), "--json")
    assert json.loads(result.stdout) == {
        "root": str(root),
        "path": str(index),
        "exists": False,
        "usable": False,
        "sessions": 0,
        "unreadable": 0,
        "bytes": 0,
        "refreshedAt": None,
        "problem": None,
    }
    assert result.exit_code == 1


def test_status_of_a_good_index(invoke: Invoke, root: Path, index: Path) -> None:
    """Status says where the index lies, what is in it and how old it is."""
    invoke("index", "build", *words(root, index))
    result = invoke("index", "status", *words(root, index))
    facts = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert facts["file"] == str(index)
    assert (facts["sessions"], facts["unreadable"], facts["problem"]) == ("3", "0", "none")
    assert facts["refreshed"].startswith("just now (")
    assert result.exit_code == 0


def test_status_of_a_good_index_as_json(invoke: Invoke, root: Path, index: Path) -> None:
    """A program learns when the last refresh began, and that lookups can use the index."""
    odd = LogBuilder("odd")
    odd.append("x/unknown", {})
    odd.write(root)
    invoke("index", "build", *words(root, index))
    result = invoke("index", "status", *words(root, index), "--json")
    status = json.loads(result.stdout)
    assert (status["exists"], status["usable"], status["problem"]) == (True, True, None)
    assert (status["sessions"], status["unreadable"]) == (4, 1)
    assert status["bytes"] == index.stat().st_size
    assert status["refreshedAt"] > 0
    assert result.exit_code == 0


def test_status_of_an_index_that_was_never_refreshed(
    invoke: Invoke, root: Path, index: Path
) -> None:
    """An index is of no use before its first refresh is complete."""
    index.touch()
    result = invoke("index", "status", *words(root, index))
    assert "refreshed   never" in result.stdout
    assert result.exit_code == 1


def test_verify_needs_an_index(invoke: Invoke, root: Path, index: Path) -> None:
    """There is nothing to compare where there is no index, and none is made for it."""
    result = invoke("index", "verify", *words(root, index))
    assert result.stderr.startswith(f"Error: There is no index {index} yet; ")
    assert result.exit_code == 1
    assert not index.exists()


def test_verify_says_what_differs(invoke: Invoke, root: Path, index: Path) -> None:
    """Each difference is told with its session, its place and what it is."""
    invoke("index", "build", *words(root, index))
    log = LogBuilder("late").write(root)
    result = invoke("index", "verify", *words(root, index))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "1 difference:",
        "",
        "  late",
        f"  {log}",
        "  it is not in the index",
    ]


def test_verify_as_json(invoke: Invoke, root: Path, index: Path) -> None:
    """A program gets the differences as a list, empty where there are none."""
    invoke("index", "build", *words(root, index))
    same = invoke("index", "verify", *words(root, index), "--json")
    assert json.loads(same.stdout) == {"root": str(root), "path": str(index), "differences": []}
    assert same.exit_code == 0
    log = LogBuilder("late").write(root)
    result = invoke("index", "verify", *words(root, index), "--json")
    assert json.loads(result.stdout)["differences"] == [
        {"sessionId": "late", "place": str(log), "problem": "it is not in the index"}
    ]
    assert result.exit_code == 1


def test_drop_deletes(invoke: Invoke, root: Path, index: Path) -> None:
    """Dropping leaves nothing behind, and says so; a second time there is nothing to drop."""
    before = set(index.parent.iterdir())
    invoke("index", "build", *words(root, index))
    first = invoke("index", "drop", *words(root, index))
    assert (first.exit_code, first.stdout) == (0, f"Deleted {index}.\n")
    assert set(index.parent.iterdir()) == before
    second = invoke("index", "drop", *words(root, index))
    assert (second.exit_code, second.stdout) == (0, f"There was no index {index}.\n")


def test_drop_as_json(invoke: Invoke, root: Path, index: Path) -> None:
    """A program learns whether there was an index."""
    index.touch()
    for was_there in (True, False):
        result = invoke("index", "drop", *words(root, index), "--json")
        assert json.loads(result.stdout) == {
            "root": str(root),
            "path": str(index),
            "dropped": was_there,
        }


def test_drop_of_a_bad_index_in_its_usual_place(invoke: Invoke, root: Path) -> None:
    """Where only indexes lie, a damaged one can be dropped as well."""
    index = default_path(root)
    index.parent.mkdir(parents=True)
    index.write_bytes(b"garbage")
    assert invoke("index", "drop", "--root", str(root)).exit_code == 0
    assert not index.exists()


@pytest.mark.parametrize("content", [b"dear diary", None])
def test_drop_leaves_what_is_no_index(
    invoke: Invoke, root: Path, database: Path, content: bytes | None
) -> None:
    """Somebody who mistypes a name loses neither a text nor a database."""
    if content is not None:
        database.write_bytes(content)
    before = database.read_bytes()
    result = invoke("index", "drop", *words(root, database))
    assert result.exit_code == 1
    assert f"{database} is no title index" in result.stderr
    assert database.read_bytes() == before


@pytest.mark.parametrize("command", ["build", "refresh", "verify"])
def test_a_database_of_somebody_else_is_refused(
    invoke: Invoke, root: Path, database: Path, command: str
) -> None:
    """A healthy file of another program is refused in one line and stays as it is."""
    before = database.read_bytes()
    result = invoke("index", command, *words(root, database))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {database}: this title index cannot be used: ")
    assert len(result.stderr.splitlines()) == 1
    assert database.read_bytes() == before


def test_status_says_what_is_the_matter(invoke: Invoke, root: Path, database: Path) -> None:
    """What keeps an index from being used stands in its status, for people and for programs."""
    result = invoke("index", "status", *words(root, database), "--json")
    status = json.loads(result.stdout)
    assert (status["exists"], status["usable"]) == (True, False)
    assert "a database of another program" in status["problem"]
    assert status["problem"] in invoke("index", "status", *words(root, database)).stdout
    assert result.exit_code == 1


def test_a_text_is_put_aside_and_not_lost(invoke: Invoke, root: Path, tmp_path: Path) -> None:
    """What is no database is renamed, in the words of one line, and the build goes on."""
    (tmp_path / "notes").write_bytes(b"dear diary")
    result = invoke("index", "build", *words(root, tmp_path / "notes"))
    assert result.stdout.startswith("The index has 3 sessions")
    assert "it is damaged" in result.stderr
    assert result.exit_code == 0
    [aside] = tmp_path.glob("notes.damaged-*")
    assert aside.name in result.stderr
    assert aside.read_bytes() == b"dear diary"


def test_an_index_of_a_newer_version(invoke: Invoke, root: Path, index: Path) -> None:
    """A newer version's index is refused by a refresh; a build replaces it, for it is a cache."""
    invoke("index", "build", *words(root, index))
    make_newer(index)
    refused = invoke("index", "refresh", *words(root, index))
    assert refused.exit_code == 1
    assert "a newer version of sessionref has written it" in refused.stderr
    assert invoke("index", "build", *words(root, index)).exit_code == 0
    assert invoke("index", "status", *words(root, index)).exit_code == 0


def make_newer(index: Path) -> None:
    with closing(sqlite3.connect(index)) as db, db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('sessionref', 's999_be_newer', '')"
        )


@pytest.mark.parametrize("command", EVERY)
def test_an_index_must_have_a_name(invoke: Invoke, root: Path, command: str) -> None:
    """An empty name is a mistake in a script, and is refused before anything is done."""
    result = invoke("index", command, *words(root, Path("x"))[:-1], "")
    assert result.exit_code == 2
    assert "a file must have a name" in result.stderr


@pytest.mark.parametrize("command", ["build", "refresh"])
def test_a_folder_that_cannot_be_written(
    invoke: Invoke, root: Path, tmp_path: Path, command: str
) -> None:
    """Where an index cannot be made, one line says so."""
    (tmp_path / "file").write_bytes(b"")
    result = invoke("index", command, *words(root, tmp_path / "file" / "titles.sqlite3"))
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1


def test_only_their_owner_can_read_titles(invoke: Invoke, root: Path) -> None:
    """The file is its owner's alone, and so is the folder made for it."""
    if os.name == "nt":
        pytest.skip("Windows has no such permissions")
    invoke("index", "build", "--root", str(root))
    assert default_path(root).stat().st_mode & 0o777 == 0o600
    assert default_path(root).parent.stat().st_mode & 0o777 == 0o700
