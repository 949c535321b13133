"""Each case that looks sessions up does so by the scan and by a title index."""

from __future__ import annotations

import pytest
from indexed import open_indexed


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of a module that opens resolvers twice."""
    if "discovery" in metafunc.fixturenames and hasattr(metafunc.module, "open_resolver"):
        metafunc.parametrize("discovery", ["scan", "index"], indirect=True)


@pytest.fixture(autouse=True)
def discovery(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an index answer lookups where the test is run for it."""
    if getattr(request, "param", None) == "index":
        monkeypatch.setattr(request.module, "open_resolver", open_indexed)
