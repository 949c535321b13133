"""A JavaScript engine, asked what JavaScript itself makes of a string."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["JavaScript", "open_javascript"]

_PROGRAM = r"""
const mention =
  /@\[((?:\\.|[^\]\\])*)\]\((dsh-session:[^\s)]*)\)|(dsh-session:[A-Za-z0-9_-]+)/gu;
const answers = {
  stringify: (value) => JSON.stringify(value),
  utf8: (text) => Array.from(new TextEncoder().encode(text)),
  isSafeInteger: (json) => Number.isSafeInteger(JSON.parse(json)),
  whiteSpace: () => matching(/\s/),
  notDot: () => matching(/^(?!.)/),
  pieces: (text) => {
    const found = [];
    let done = 0;
    for (const match of text.matchAll(mention)) {
      const label = match[1] === undefined ? null : match[1].replace(/\\(.)/gu, "$1");
      found.push([text.slice(done, match.index), label, match[2] ?? match[3]]);
      done = match.index + match[0].length;
    }
    return [found, text.slice(done)];
  },
};
function matching(pattern) {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
  return units.filter((text) => pattern.test(text)).join("");
}
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [question, ...values] = JSON.parse(line);
  console.log(JSON.stringify(answers[question](...values)));
});
"""


class JavaScript:
    """A running engine; see the program above for what it answers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, question: str, *values: object) -> Any:
        """Return the answer to a question about JSON data."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([question, *values]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def open_javascript() -> Iterator[JavaScript]:
    """Yield an engine; skip the test where Node.js is not installed."""
    command = shutil.which("node")
    if command is None:
        pytest.skip("Node.js is not installed")
    with subprocess.Popen(
        [command, "--eval", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        yield JavaScript(process)
