"""Feeds mutated logs to the reader: `tox -e fuzz`, or with libFuzzer's own options.

An input is a byte that chooses the name of a file, a line feed, and what lies in the file; the
seeds are logs of every version.  For some of the bytes an input holds the lines of a compressed log
as they are, so that mutations reach what lies in sound frames.  An exception that is no
`StorageError` ends the run with its input.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Final

import atheris

with atheris.instrument_imports(include=["sessionref"]):
    from logs import LogBuilder, json_line, to_lines, tool_call_block, zstd_frame, zstd_log
    from rewriting import rewrite
    from session_folder import read_folder, write_folder

PLAIN, SOUND_FRAMES, MUTATED_FRAMES = range(3)
STORED: Final = list(product(range(6), (PLAIN, SOUND_FRAMES, MUTATED_FRAMES)))


def main() -> None:
    """Run the fuzzer with the options of the command line."""
    with tempfile.TemporaryDirectory() as scratch:
        root, corpus = Path(scratch, "root"), Path(scratch, "corpus")
        corpus.mkdir()
        for place, seed in enumerate(seeds()):
            (corpus / str(place)).write_bytes(seed)

        def read_one(data: bytes) -> None:
            name, content = stored(data)
            write_folder(root, {name: content})
            read_folder(root)

        atheris.Setup([*sys.argv, str(corpus)], read_one)
        atheris.Fuzz()


def stored(data: bytes) -> tuple[str, bytes]:
    """Return the name and the bytes of the file that an input stands for."""
    version, way = STORED[(data[0] if data else 0) % len(STORED)]
    name = f"session.v{version}.jsonl" if version else "session.jsonl"
    content = data[2:]
    if way == SOUND_FRAMES:
        header, line_feed, rest = content.partition(b"\n")
        content = zstd_frame(header + line_feed) + zstd_frame(rest)
    return name if way == PLAIN else f"{name}.zstd", content


def seeds() -> list[bytes]:
    """Return a log of every version, once for each way of storing it."""
    found = []
    for number, (version, way) in enumerate(STORED[:15]):
        log = seed_log(version)
        other = rewrite(log.header, log.events, version)
        lines = [json_line({"type": "session", **other.header.to_wire()})]
        lines += map(json_line, other.events)
        text = zstd_log(lines) if way == MUTATED_FRAMES else to_lines(lines)
        found.append(bytes([number]) + b"\n" + text)
    return found


def seed_log(version: int) -> LogBuilder:
    """Return a log of version 0 with something of everything, to be rewritten as a version."""
    log = LogBuilder("s", seed_length=3 if version % 2 else None)
    log.start_turn()
    log.start_step()
    log.user("hi")
    for text in "abc":
        log.chunk(text)
    log.assistant("abc", blocks=(tool_call_block("c1"),))
    log.tool_call("c1")
    log.tool_result("c1", "done")
    log.title("T")
    log.checkpoint("sum", log.surface[0], log.surface[1])
    log.assistant("more", blocks=(tool_call_block("c2"),))
    return log


if __name__ == "__main__":
    main()
