"""The examples are complete programs, and the documentation shows what they really print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_prints_what_the_documentation_shows(example: Path, tmp_path: Path) -> None:
    """An example runs from any folder without a warning, and prints the output kept beside it."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (FOLDER / "output" / f"{example.stem}.txt").read_text(encoding="utf-8")


def test_no_output_outlives_its_example() -> None:
    """Each kept output is that of an example that is still there."""
    outputs = {path.stem for path in (FOLDER / "output").iterdir()}
    assert outputs == {example.stem for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_is_on_a_page(example: Path) -> None:
    """What each example prints is shown on a page of the documentation."""
    pages = "".join(page.read_text(encoding="utf-8") for page in FOLDER.glob("../docs/*.md"))
    assert f"{{literalinclude}} ../examples/output/{example.stem}.txt" in pages
