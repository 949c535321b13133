"""Indexes in memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import apsw
import pytest

from sessionref._migrations import migrate


@pytest.fixture(scope="session")
def new_index(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], apsw.Connection]:
    """A function that makes an empty index of the newest schema, in memory."""
    path = tmp_path_factory.mktemp("index") / "index.db"
    migrate(path)
    with closing(apsw.Connection(str(path))) as empty:
        schema = empty.serialize("main")

    def make() -> apsw.Connection:
        connection = apsw.Connection(":memory:")
        connection.deserialize("main", schema)
        return connection

    return make


@pytest.fixture
def index(new_index: Callable[[], apsw.Connection]) -> apsw.Connection:
    """An empty index."""
    return new_index()
