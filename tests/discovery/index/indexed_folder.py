"""A folder of logs, the file of an index of it, and whether index and scan say the same."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Final

import trio
from logs import LogBuilder

from sessionref import Candidate, Target
from sessionref.discovery import Diagnostic, Discovery, ScanDiscovery
from sessionref.discovery.sqlite import RefreshReport, SqliteTitleIndex
from sessionref.storage import Corpus, JsonlSessionStore

__all__ = ["MARKER", "IndexedFolder", "open_files", "settle"]

MARKER: Final = "words-of-a-message"
"""What each log says, and no index."""

_ELSEWHERE: Final = Target(session_id="elsewhere")
_HERE: Final = Target(session_id="s3", cwd="/w/app")
_QUESTIONS: Final = (
    *((_ELSEWHERE, needle, 50) for needle in ("", "fix", "修", "МИ", "1", "app", "absent")),
    *((_HERE, needle, limit) for needle in ("", "s1") for limit in (3, 50)),
)
_TITLES: Final = ("Fix the parser", "修复 缓存", "МИР", "go-lang")
_CWDS: Final = (None, "/w/app", "/w/修复", "c:\\tmp")
_SETTLING: Final = 0.06


class IndexedFolder:
    """Logs below `root`, their index at `path`, and what was told of it in `diagnostics`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.path = folder / "cache" / "index.sqlite3"
        self.sum = folder / "cache" / "index.sqlite3-sum"
        self.diagnostics: list[Diagnostic] = []
        self._random = Random(1)
        self._scanned: list[list[Candidate]] = []
        self._scanned_tree: object = None

    def fill(self, count: int, first: int = 0) -> list[Path]:
        """Write so many logs; return where they lie."""
        return [self.add(f"s{number}") for number in range(first, first + count)]

    def add(
        self,
        session_id: str,
        title: str | None = None,
        cwd: str | None = None,
        *,
        compressed: bool = False,
    ) -> Path:
        """Write one log, by default with a title and a cwd that others have as well."""
        log = LogBuilder(
            session_id,
            cwd=cwd or self._random.choice(_CWDS),
            created_at=self._random.randrange(10**6),
        )
        log.user(MARKER)
        log.title(title or f"{self._random.choice(_TITLES)} {session_id}")
        return log.write(self.root, compressed=compressed)

    def index(self) -> SqliteTitleIndex:
        """Return an index of the folder, yet to be entered."""
        store = JsonlSessionStore(self.root)
        return SqliteTitleIndex(store, self.path, on_diagnostic=self.diagnostics.append)

    async def build(self) -> RefreshReport:
        """Make the index, refresh it and close it."""
        await settle()
        async with self.index() as index:
            return await index.refresh()

    async def scanned(self) -> list[list[Candidate]]:
        """Return what the scan says to some questions."""
        if self._scanned_tree != self.tree():
            self._scanned_tree = self.tree()
            self._scanned = await _ask(ScanDiscovery(Corpus(JsonlSessionStore(self.root))))
        return self._scanned

    async def is_as_scanned(self, index: Discovery) -> bool:
        """Return whether an index says what the scan says."""
        return await _ask(index) == await self.scanned()

    def remove_index(self) -> None:
        """Delete the index and all that lies beside it."""
        for path in self.path.parent.glob("*"):
            path.unlink()

    def index_problems(self) -> list[str]:
        """Return what was told of the index itself."""
        return [str(each.error) for each in self.diagnostics if each.place == str(self.path)]

    def aside(self) -> list[Path]:
        """Return the damaged files that were set aside, without what lay beside them."""
        found = self.path.parent.glob(f"{self.path.name}.damaged-*")
        return sorted(path for path in found if path.suffix.endswith("Z"))

    def tree(self) -> dict[Path, tuple[int, int, bytes]]:
        """Return what is below the root: each path with its inode, its time and its bytes."""
        return {
            path: (found.st_ino, found.st_mtime_ns, b"" if path.is_dir() else path.read_bytes())
            for path in self.root.parent.rglob("*")
            if path.is_relative_to(self.root)
            for found in [path.stat()]
        }


def open_files(folder: Path) -> list[Path]:
    """Return what below a folder this process has open."""
    links = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
    targets = [link.readlink() for link in links if link.is_symlink()]
    return [target for target in targets if target.is_relative_to(folder)]


async def settle() -> None:
    """Wait until the times of what was written last tell it from what is written next."""
    await trio.sleep(_SETTLING)


async def _ask(discovery: Discovery) -> list[list[Candidate]]:
    return [
        await discovery.list_candidates(target, needle, limit)
        for target, needle, limit in _QUESTIONS
    ]
