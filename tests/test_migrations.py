"""The title index's schema steps, by way of the library and of the `sqlite-utils` command."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from sessionref import _migrations
from sessionref._migrations import migrate
from sessionref._migrations.migrations import steps

STEPS_FILE = Path(_migrations.__file__).with_name("migrations.py")


def read_rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def read_schema(path: Path) -> list[tuple[Any, ...]]:
    return read_rows(path, "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")


def run_migrate_command(path: Path) -> None:
    command = [sys.executable, "-m", "sqlite_utils", "migrate", str(path), str(STEPS_FILE)]
    subprocess.run(command, check=True)


def test_a_fresh_index_names_its_application(tmp_path: Path) -> None:
    """A file that was just migrated says whose it is and that it may be deleted."""
    migrate(tmp_path / "index.db")
    rows = read_rows(tmp_path / "index.db", "SELECT key, value FROM sessionref_index")
    about = dict(rows)
    assert about["application"] == "sessionref"
    assert "can be deleted" in about["purpose"]


def test_the_command_makes_the_same_schema(tmp_path: Path) -> None:
    """`sqlite-utils migrate` and the library leave files with the same schema and rows."""
    migrate(tmp_path / "by-library.db")
    run_migrate_command(tmp_path / "by-command.db")
    for query in ["SELECT * FROM sessionref_index", "SELECT name FROM _sqlite_migrations"]:
        by_library = read_rows(tmp_path / "by-library.db", query)
        assert read_rows(tmp_path / "by-command.db", query) == by_library
    assert read_schema(tmp_path / "by-command.db") == read_schema(tmp_path / "by-library.db")


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    """Neither way touches an index that has had every step: not one byte differs."""
    path = tmp_path / "index.db"
    migrate(path)
    before = path.read_bytes()
    migrate(path)
    run_migrate_command(path)
    assert path.read_bytes() == before


def test_several_at_once_apply_each_step_once(tmp_path: Path) -> None:
    """Callers that meet at a fresh index all succeed, and each step is recorded once."""
    path = tmp_path / "index.db"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(migrate, [path] * 8))
    names = read_rows(path, "SELECT name FROM _sqlite_migrations")
    assert sorted(set(names)) == sorted(names)


def test_a_failing_step_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """An error takes back all steps of the call, the record of applied steps included."""
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sessionref_index (unlike)")
    before = read_schema(path)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(path)
    assert read_schema(path) == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """Migrating something else than a database raises, and the file keeps its bytes."""
    path = tmp_path / "index.db"
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        migrate(path)
    assert path.read_bytes() == b"not a database, " * 100


def test_an_index_of_the_first_step_gets_the_others(tmp_path: Path) -> None:
    """A file from before there were sessions in it ends with the schema of a fresh one."""
    old, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    with closing(Database(str(old))) as db:
        steps.apply(db, stop_before="s002_hold_sessions")
    assert "session" not in {name for _, name, _ in read_schema(old)}
    migrate(old)
    migrate(fresh)
    assert read_schema(old) == read_schema(fresh)


def test_tables_mind_types(tmp_path: Path) -> None:
    """No column takes a text for a blob: a comparison of the two would find nothing, silently."""
    path = tmp_path / "index.db"
    migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        for insert in (
            "INSERT INTO cwd (path) VALUES ('/w')",
            "INSERT INTO name (name) VALUES ('n')",
            "INSERT INTO fault (place, problem) VALUES ('p', x'00')",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
                connection.execute(insert)
