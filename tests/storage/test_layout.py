"""Where a log lies: the names of folders and files, and the ids that they stand for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cwds, javascript_text

from sessionref.javascript import join_surrogates, utf16_units
from sessionref.storage.jsonl.layout import (
    find_logs,
    is_retired_log,
    project_name,
    session_id_of,
    session_name,
)

SAFE = re.compile(r"[A-Za-z0-9._~-]+")


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        (None, "_no-cwd"),
        ("/home/me/app", "--home-me-app--"),
        ("/w/data-hub/api", "--w-data-hub-api--"),
        ("/w/data/hub/api", "--w-data-hub-api--"),
        ("C:\\Work\\App", "--C-Work-App--"),
        ("c:/Work/App/", "--c-Work-App---"),
        ("", "--root--"),
        ("/", "--root--"),
        ("///", "--root--"),
        ("--", "--root--"),
        ("relative", "--relative--"),
        ("/-/x", "--x--"),
        ("/a//b\\:c", "--a-b-c--"),
        ("/a.b_c-d", "--a.b_c-d--"),
        ("~/x", "--~007E-x--"),
        ("/a b", "--a~0020b--"),
        ("/é漢", "--~00E9~6F22--"),
        ("/😀", "--~D83D~DE00--"),
        ("/\ud83d", "--~D83D--"),
        ("/x\n", "--x~000A--"),
        ("/" + "x" * 251, "--" + "x" * 251 + "--"),
        ("/" + "x" * 252, "--" + "x" * 251 + "--"),
        ("/" + "x" * 249 + "é", "--" + "x" * 249 + "~0--"),
    ],
)
def test_a_cwd_has_a_folder(cwd: str | None, name: str) -> None:
    """A cwd becomes a slug, unit by unit, that is cut to 251 characters."""
    assert project_name(cwd) == name


def slug_by_units(cwd: str) -> str:
    """The rule for a slug, read out step by step."""
    slug = ""
    previous = ""
    for unit in map(chr, utf16_units(cwd)):
        if unit in "/\\:":
            slug += "" if previous in {"/", "\\", ":"} else "-"
        elif unit.isascii() and (unit.isalnum() or unit in "._-"):
            slug += unit
        else:
            slug += f"~{ord(unit):04X}"
        previous = unit
    return (slug.lstrip("-") or "root")[:251]


@given(cwds())
def test_a_slug_is_built_unit_by_unit(cwd: str) -> None:
    """The name of a folder is what the rule says, whatever the cwd is."""
    assert project_name(cwd) == f"--{slug_by_units(cwd)}--"


@given(cwds())
def test_a_folder_name_is_safe(cwd: str) -> None:
    """The name of a folder is one step of a path on any system, and never too long."""
    name = project_name(cwd)
    assert SAFE.fullmatch(name)
    assert len(name) <= 255


@pytest.mark.parametrize(
    ("session_id", "name"),
    [
        ("b50d1e78-a124-54e5", "b50d1e78-a124-54e5"),
        ("a.b_c", "a.b_c"),
        (".", "~002E"),
        ("..", "~002E~002E"),
        ("...", "..."),
        (".a", ".a"),
        ("~", "~007E"),
        ("~002E", "~007E002E"),
        ("a/b", "a~002Fb"),
        ("a:b\\c", "a~003Ab~005Cc"),
        (" ", "~0020"),
        ("漢", "~6F22"),
        ("😀", "~D83D~DE00"),
        ("\ud83d", "~D83D"),
        ("\0", "~0000"),
        ("CON", "CON"),
    ],
)
def test_an_id_has_a_folder(session_id: str, name: str) -> None:
    """An id is encoded unit by unit, without loss."""
    assert session_name(session_id) == name
    assert session_id_of(name) == session_id


def test_an_empty_id_has_none() -> None:
    """A session without id has no place."""
    assert session_name("") is None


@given(javascript_text(min_size=1))
def test_a_folder_tells_its_id(session_id: str) -> None:
    """The id comes back from the name, its surrogate pairs joined; the name is safe."""
    name = session_name(session_id)
    assert name is not None
    assert session_id_of(name) == join_surrogates(session_id)
    assert SAFE.fullmatch(name)
    assert name not in {".", ".."}


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a b", "~", "~12", "~00e9", "~0041", "é", "a~", "~002E~002E~002E", "a\n"],
)
def test_another_name_stands_for_no_id(name: str) -> None:
    """What encoding never gives is no session's folder."""
    assert session_id_of(name) is None


@given(st.text("~0123456789ABCDEFabc.-_", max_size=12) | javascript_text())
def test_a_name_stands_for_one_id_at_most(name: str) -> None:
    """A name that stands for an id is the name of that very id."""
    session_id = session_id_of(name)
    assert session_id is None or session_name(session_id) == name


@pytest.mark.parametrize(
    ("names", "logs"),
    [
        (["session.jsonl"], ["session.jsonl"]),
        (["session.jsonl.zstd"], ["session.jsonl.zstd"]),
        (["session.jsonl.zstd", "session.jsonl"], ["session.jsonl", "session.jsonl.zstd"]),
        (["session.json", "session.jsonl.zst", "Session.jsonl", "session.jsonl.tmp", "x"], []),
        ([], []),
    ],
)
def test_only_two_names_are_logs(names: list[str], logs: list[str]) -> None:
    """Whatever else lies in a session's folder is not its log."""
    assert find_logs(names) == logs


@pytest.mark.parametrize(
    ("name", "is_retired"),
    [
        ("a.jsonl", True),
        ("a.jsonl.zstd", True),
        ("session.jsonl", True),
        ("a.json", False),
        ("a.jsonl.tmp", False),
        ("jsonl", False),
    ],
)
def test_a_log_beside_the_folders_is_retired(name: str, is_retired: bool) -> None:
    """Logs once lay in the project folder itself, one file a session."""
    assert is_retired_log(name) is is_retired
