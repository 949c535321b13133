"""One bad log among good ones: it is told of, and costs the others nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from logs import LogBuilder, json_line, to_lines, zstd_log
from permissions import needs_permissions, public_folder, unprivileged

from sessionref import Candidate, ErrorCode, Reference, Target, open_resolver
from sessionref.discovery import Diagnostic
from sessionref.errors import (
    ReadFailedError,
    SessionDamagedError,
    SessionUnsupportedError,
    StorageError,
    StoreUnreadableError,
)

TARGET = Target(session_id="target")
BAD = LogBuilder("bad", cwd="/w")
HEADER = BAD.lines()[0]
DIGITS = HEADER.replace(b'"createdAt":1700000000000', b'"createdAt":' + b"9" * 5_000)


def event(seq: int, kind: str = "todo/write", data: object = None) -> bytes:
    return json_line({"type": kind, "seq": seq, "time": 1, "data": data})


END = event(2, "turn/end", {"turn": 1, "reason": {"kind": "completed"}})

HEADLESS = {
    "half a header": [HEADER[:30]],
    "byte order mark": [b"\xef\xbb\xbf" + HEADER],
    "list": [b"[]"],
    "deep": [b"[" * 100_000],
    "5,000 digits": [DIGITS],
    "another's": LogBuilder("other", cwd="/w").lines(),
}
WITH_HEADER = {
    "NaN": [HEADER, event(0), event(1).replace(b'"time":1', b'"time":NaN'), END],
    "cut character": [HEADER, event(0), event(1, "\0")[:-6] + b"\xe6\x87", END],
    "deep": [HEADER, event(0), b"[" * 100_000, END],
    "broken rule": [HEADER, event(0, "user/message")],
}


def write_good(root: Path) -> None:
    for number in (1, 2, 3):
        LogBuilder(f"good {number}", cwd="/w").write(root)


async def look(root: Path) -> tuple[dict[str, Candidate], list[Diagnostic]]:
    """Look twice at the sessions below a root; return all but the three good ones."""
    told: list[Diagnostic] = []
    async with open_resolver(root, on_diagnostic=told.append) as resolver:
        await resolver.list_candidates(TARGET)
        found = await resolver.list_candidates(TARGET)
    candidates = {candidate.session_id: candidate for candidate in found}
    assert all(candidates.pop(f"good {number}").readable for number in (1, 2, 3))
    return candidates, told


async def cause_of_failure(root: Path) -> StorageError:
    """Return why the bad session cannot be prepared."""
    async with open_resolver(root) as resolver:
        with pytest.raises(ReadFailedError) as caught:
            await resolver.prepare(TARGET, "see", [Reference(session_id="bad")])
    assert caught.value.code is ErrorCode.READ_FAILED
    cause = caught.value.__cause__
    assert isinstance(cause, StorageError)
    return cause


def write(root: Path, lines: list[bytes], *, compressed: bool) -> Path:
    data = zstd_log(lines) if compressed else to_lines(lines)
    return BAD.write(root, data, compressed=compressed)


each_encoding = pytest.mark.parametrize("compressed", [False, True], ids=["raw", "zstd"])


@each_encoding
@pytest.mark.parametrize("lines", HEADLESS.values(), ids=HEADLESS)
async def test_a_log_without_a_header(tmp_path: Path, lines: list[bytes], compressed: bool) -> None:
    """Of a log without a sound header only the path is known: it is told of once, as damaged."""
    path = write(tmp_path, lines, compressed=compressed)
    write_good(tmp_path)
    candidates, told = await look(tmp_path)
    assert candidates == {}
    (diagnostic,) = told
    assert (diagnostic.place, diagnostic.session_id) == (str(path), "bad")
    assert isinstance(diagnostic.error, SessionDamagedError)
    assert str(await cause_of_failure(tmp_path)) == str(diagnostic.error)


@each_encoding
async def test_an_empty_log(tmp_path: Path, compressed: bool) -> None:
    """A file of 0 bytes is a damaged log."""
    path = BAD.write(tmp_path, b"", compressed=compressed)
    write_good(tmp_path)
    candidates, (diagnostic,) = await look(tmp_path)
    assert (candidates, diagnostic.place) == ({}, str(path))
    assert isinstance(await cause_of_failure(tmp_path), SessionDamagedError)


@each_encoding
@pytest.mark.parametrize("lines", WITH_HEADER.values(), ids=WITH_HEADER)
async def test_a_log_with_a_header(tmp_path: Path, lines: list[bytes], compressed: bool) -> None:
    """Where the header is good, the session is listed under its id, as unreadable, with reason."""
    path = write(tmp_path, lines, compressed=compressed)
    write_good(tmp_path)
    candidates, (diagnostic,) = await look(tmp_path)
    bad = candidates["bad"]
    assert (bad.label, bad.readable, diagnostic.place) == ("bad", False, str(path))
    assert isinstance(diagnostic.error, SessionDamagedError)
    assert diagnostic.error.line is not None
    assert bad.problem == diagnostic.error.describe()
    assert str(await cause_of_failure(tmp_path)) == str(diagnostic.error)


@each_encoding
async def test_a_log_of_a_newer_version(tmp_path: Path, compressed: bool) -> None:
    """A log of version 99 is unsupported, not damaged, and says so."""
    newer = HEADER.replace(b'"version":0', b'"version":99')
    write(tmp_path, [newer, event(0)], compressed=compressed)
    write_good(tmp_path)
    candidates, (diagnostic,) = await look(tmp_path)
    assert not candidates["bad"].readable
    assert "newer" in (candidates["bad"].problem or "")
    assert isinstance(diagnostic.error, SessionUnsupportedError)
    assert isinstance(await cause_of_failure(tmp_path), SessionUnsupportedError)


def link_to_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


@each_encoding
@pytest.mark.parametrize("make", [Path.mkdir, link_to_nowhere], ids=["folder", "broken link"])
async def test_no_file_at_all(
    tmp_path: Path, compressed: bool, make: Callable[[Path], object]
) -> None:
    """A folder or a broken link in the place of a log is a damaged log."""
    path = BAD.path(tmp_path, compressed=compressed)
    path.parent.mkdir(parents=True)
    make(path)
    write_good(tmp_path)
    candidates, (diagnostic,) = await look(tmp_path)
    assert (candidates, diagnostic.place) == ({}, str(path))
    assert isinstance(await cause_of_failure(tmp_path), SessionDamagedError)


@needs_permissions
@each_encoding
async def test_a_log_that_may_not_be_read(compressed: bool) -> None:
    """Missing permission on one log is told, and the others are listed."""
    with public_folder() as root:
        path = BAD.write(root, compressed=compressed)
        path.chmod(0)
        write_good(root)
        with unprivileged():
            candidates, (diagnostic,) = await look(root)
            cause = await cause_of_failure(root)
    assert (candidates, diagnostic.place) == ({}, str(path))
    assert "Permission denied" in str(cause)


@needs_permissions
async def test_a_root_that_may_not_be_read() -> None:
    """A corpus that cannot be read at all is an error, not an empty list."""
    with public_folder() as root:
        BAD.write(root)
        root.chmod(0o300)
        with unprivileged():
            async with open_resolver(root) as resolver:
                with pytest.raises(StoreUnreadableError, match="Permission denied"):
                    await resolver.list_candidates(TARGET)
