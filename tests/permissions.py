"""Files that may not be read, also where the tests run as the superuser, who may read anything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["needs_permissions", "public_folder", "unprivileged"]

_NOBODY = 65_534

needs_permissions = pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="files have no permissions on this system"
)


@contextmanager
def public_folder() -> Iterator[Path]:
    """Yield a folder that anybody can reach; pytest's own are closed to all but their owner."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            yield folder
        finally:
            for path in [folder, *folder.rglob("*")]:
                if path.is_dir():
                    path.chmod(0o755)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Let permissions count inside, for every thread."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
