"""The map of the tests is complete."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent


def test_the_map_names_every_folder_and_module() -> None:
    """Who looks for a test, or for what tests share, finds it on the map."""
    readme = (TESTS / "README.md").read_text(encoding="utf-8")
    modules = [path.name for path in TESTS.glob("*.py")]
    folders = [f"{path.parent.name}/" for path in TESTS.glob("*/test_*.py")]
    assert [name for name in sorted({*modules, *folders}) if f"`{name}`" not in readme] == []
