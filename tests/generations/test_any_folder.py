"""Whatever lies in the folder of a session, it is a session or a storage error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from logs import to_lines, zstd_log
from rewriting import rewrite
from session_folder import read_folder, write_folder
from turns import logs_in_turns

from sessionref.storage.jsonl.layout import find_logs

OUTCOMES = {
    *(f"version {version}" for version in range(5)),
    "SessionDamagedError",
    "SessionUnsupportedError",
    "SessionTooLargeError",
}
NAMES = [
    f"session{number}.jsonl{suffix}"
    for number in ("", ".v0", ".v1", ".v2", ".v3", ".v4", ".v04", ".v5", ".v40")
    for suffix in ("", ".zstd", ".tmp")
]

names = st.sampled_from([*NAMES, "session.lock"]) | st.text("sesion.v0123456789jltd", min_size=1)


@st.composite
def contents(draw: DrawFn) -> bytes:
    """Any bytes, or those of a log in which some were replaced, left out or put in."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=60))
    log = draw(logs_in_turns(max_turns=1))
    log.header = type(log.header)(0, "s", 1)
    lines = rewrite(log.header, log.events, draw(st.integers(0, 4))).lines()
    data = draw(st.sampled_from([to_lines(lines), zstd_log(lines, 3)]))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.integers(0, 20))
        data = data[:start] + draw(st.binary(max_size=4)) + data[end:]
    return data


def is_file_name(name: str) -> bool:
    return name not in {".", ".."}


@given(files=st.dictionaries(names.filter(is_file_name), contents(), max_size=4))
@example(files={})
@example(files={"session.v4.jsonl": b"", "session.v4.jsonl.zstd": b""})
@example(files={"session.v" + "9" * 200 + ".jsonl": b""})
def test_any_folder(files: Mapping[str, bytes]) -> None:
    """Any bytes in files of any name are read or refused; no other exception comes out."""
    with TemporaryDirectory() as root:
        write_folder(Path(root), files)
        outcomes = read_folder(Path(root))
    assert len(outcomes) == bool(find_logs(files))
    assert set(outcomes) <= OUTCOMES
