"""The documentation names all that there is, and what it says to run runs."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from sessionref import ErrorCode, ResolverConfig
from sessionref.cli.application import application

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGES = (
    "sessionref",
    "sessionref.discovery",
    "sessionref.discovery.sqlite",
    "sessionref.errors",
    "sessionref.storage",
    "sessionref.testing",
)


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", PACKAGES)
def test_reference_names_every_public_name(package: str) -> None:
    """What a package offers to be imported stands on the reference page under its full name."""
    reference = page("reference")
    named = set(re.findall(r"\{py:obj\}`~([\w.]+)`", reference))
    offered = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
    if package == "sessionref.errors":
        offered -= {f"{package}.SessionReferenceError", f"{package}.ErrorCode"}
    assert offered <= named


@pytest.mark.parametrize("code", ErrorCode)
@pytest.mark.parametrize("text", [README, page("errors")], ids=["README", "errors"])
def test_error_code_is_explained(code: ErrorCode, text: str) -> None:
    """Each error code has a row in the README's table and in that of the page on errors."""
    assert re.search(rf"^\| `{code}` \| \S", text, re.MULTILINE)


@pytest.mark.parametrize("name", ResolverConfig.model_fields)
def test_setting_is_explained(name: str) -> None:
    """Each setting has a row with its option, its variable and its default, and a description."""
    text = page("configuration")
    default = ResolverConfig.model_fields[name].default
    shown = f"{default:,}" if isinstance(default, int) else "none"
    option, variable = name.replace("_", "-"), name.upper()
    assert f"| `{name}` | `--{option}` | `SESSIONREF_{variable}` | {shown} |" in text
    assert f"\n`{name}`\n: " in text


@pytest.mark.parametrize("command", sorted(application.commands))
def test_command_is_explained(command: str) -> None:
    """Each command stands on the page about the command."""
    assert f"sessionref {command}" in page("cli")


@pytest.mark.parametrize(
    "command",
    ["python -m pip install . && sessionref demo", "python -m pip install tox && tox"],
)
def test_first_screen_has_the_two_commands(command: str) -> None:
    """Who opens the README sees at once how to run the main job, and how to run the tests."""
    assert command in README.splitlines()[:40]


def test_python_in_readme_works_as_pasted(tmp_path: Path) -> None:
    """Each Python block of the README is a program that shows a context message."""
    programs = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert programs
    for program in programs:
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            encoding="utf-8",
            timeout=60,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.endswith("</referenced-sessions>\n")


def test_the_library_fits_into_ten_lines() -> None:
    """The README's program is as short as its heading says."""
    program = re.search(
        r"^## The library in ten lines\n+```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE
    )
    assert program is not None
    assert len([line for line in program[1].splitlines() if line]) == 10


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_python_on_a_page_comes_from_an_example(path: Path) -> None:
    """No page has Python of its own: it includes what runs as an example."""
    assert "```python" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")), ids=lambda path: path.stem)
def test_link_leads_somewhere(path: Path) -> None:
    """Each link from a file that Sphinx does not check leads to a file of the checkout."""
    text = re.sub(
        r"^```.*?^```$|`[^`\n]*`",
        "",
        path.read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_changelog_has_this_version() -> None:
    """The changelog tells what is in the version that is installed."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(version('sessionref'))}\b", changelog, re.MULTILINE)
