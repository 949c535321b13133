"""Names of project folders are lossy, and links between them lead nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from asking import ask, context_of, sources_of
from logs import LogBuilder

from sessionref import Candidate, ErrorCode, SessionReferenceError, Target, open_resolver

each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


async def candidates(root: Path, cwd: str | None = None) -> list[Candidate]:
    async with open_resolver(root) as resolver:
        return await resolver.list_candidates(Target(session_id="t", cwd=cwd))


@each_encoding
async def test_two_cwds_share_a_folder(tmp_path: Path, compressed: bool) -> None:
    """Sessions of two cwds in one project folder keep each its own cwd."""
    for session_id, cwd in [("a", "/w/data-hub/api"), ("b", "/w/data/hub/api")]:
        LogBuilder(session_id, cwd=cwd).write(tmp_path, compressed=compressed)
    assert os.listdir(tmp_path) == ["--w-data-hub-api--"]
    found = await candidates(tmp_path, "/w/data/hub/api")
    assert [(each.session_id, each.cwd) for each in found] == [
        ("b", "/w/data/hub/api"),
        ("a", "/w/data-hub/api"),
    ]
    (source,) = sources_of(context_of(await ask(tmp_path, "a")))
    assert source["cwd"] == "/w/data-hub/api"


@each_encoding
async def test_a_link_leads_nowhere(tmp_path: Path, compressed: bool) -> None:
    """A linked project folder lists nothing twice, and nothing from outside of the root."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    LogBuilder("inside", cwd="/w").write(root, compressed=compressed)
    LogBuilder("secret", cwd="/x").write(outside, compressed=compressed)
    (root / "--again--").symlink_to(root / "--w--")
    (root / "--x--").symlink_to(outside / "--x--")
    assert [each.session_id for each in await candidates(root)] == ["inside"]
    with pytest.raises(SessionReferenceError) as caught:
        await ask(root, "secret")
    assert caught.value.code is ErrorCode.READ_FAILED


async def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    """Where the root leads is the host's choice."""
    LogBuilder("s", cwd="/w").write(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert [each.session_id for each in await candidates(tmp_path / "link")] == ["s"]
    (source,) = sources_of(context_of(await ask(tmp_path / "link", "s")))
    assert source["cwd"] == "/w"
