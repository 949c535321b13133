"""Whatever happens to the logs, the index answers as the scan does."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

import trio
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule
from logs import LogBuilder, json_line, zstd_frame

from sessionref import Candidate, Target
from sessionref.discovery import ScanDiscovery
from sessionref.discovery.sqlite import SqliteTitleIndex
from sessionref.storage import Corpus, JsonlSessionStore, LiveSession, LiveSessions

_Result = TypeVar("_Result")

HOSTILE = (
    "aAbB %_\"*-:'()[]^~\\/.\0\n\u2028\ud800\udfff\U0001f600"  # what SQL, FTS5 and JSON mind
    "МИРмир漢字修复缓存ᏣᎳꮳᲐაΣσςİıſẞßK"  # words, and odd upper and lower case
)
TITLES = st.text(HOSTILE, max_size=8) | st.sampled_from(["quick ok", "go-lang", "修复 缓存", "МИР"])
CWDS = st.sampled_from([None, "/w", "/W/мир", "/w/修复", "c:\\tmp", "/w\ud800"])
IDS = st.sampled_from(["a", "b", "A", "修", "мир", "x\ud83d", "İ", "a.b", "~"])
TIMES = st.integers(0, 3) | st.integers(0, 2**53 - 1)
LIMITS = (1, 2, 50)
SETTLING = 0.06


class IndexInThread:
    """An index and a scan of the same folder, in a run of trio of their own."""

    def __init__(self, root: Path, path: Path, live: LiveSessions) -> None:
        self._root, self._path, self._live = root, path, live
        self._is_open = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._run,))
        self._thread.start()
        self._is_open.wait()

    def call(self, function: Callable[..., Awaitable[_Result]], *args: Any) -> _Result:
        """Return what an async function returns there."""
        return trio.from_thread.run(function, *args, trio_token=self._token)

    def close(self) -> None:
        """End the run."""
        trio.from_thread.run_sync(self._leave.set, trio_token=self._token)
        self._thread.join()

    async def both(
        self, target: Target, query: str, limit: int
    ) -> tuple[list[Candidate], list[Candidate]]:
        """Return what the index says and what the scan says."""
        scan = ScanDiscovery(Corpus(JsonlSessionStore(self._root), self._live))
        return (
            await self.index.list_candidates(target, query, limit),
            await scan.list_candidates(target, query, limit),
        )

    async def _run(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._leave = trio.Event()
        async with SqliteTitleIndex(
            JsonlSessionStore(self._root), self._path, live=self._live
        ) as self.index:
            self._is_open.set()
            await self._leave.wait()


class Histories(RuleBasedStateMachine):
    """A folder of logs that people and programs do things to, and an index that has to keep up."""

    logs: Bundle[Path] = Bundle("logs")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp())
        self.root = self.folder / "root"
        self.live = LiveSessions()
        self.needles = {"", "a", "修", "ok", "zz", "K"}
        self.builders: dict[Path, LogBuilder] = {}
        self.rests: dict[Path, bytes] = {}
        self.open_index()

    def teardown(self) -> None:
        self.thread.close()
        shutil.rmtree(self.folder)

    def open_index(self) -> None:
        self.thread = IndexInThread(self.root, self.folder / "index.sqlite3", self.live)

    @rule(target=logs, session_id=IDS, cwd=CWDS, title=TITLES, time=TIMES, compressed=st.booleans())
    def begin(
        self, session_id: str, cwd: str | None, title: str, time: int, compressed: bool
    ) -> Path:
        """A session begins, or one more log of it comes into being."""
        log = LogBuilder(session_id, cwd=cwd, created_at=time)
        log.user("hello")
        path = log.write(self.root, compressed=compressed)
        self.builders[path] = log
        self.rests.pop(path, None)
        self.set_title(path, title, torn=False)
        return path

    @rule(path=logs, title=TITLES, torn=st.booleans())
    def set_title(self, path: Path, title: str, torn: bool) -> None:
        """A title is appended, now and then only a part of it."""
        log = self.builders.get(path)
        if log is None or not path.exists() or path in self.rests:
            return
        log.title(title)
        self.needles |= {title, title[:2], title[-1:], title.swapcase()}
        data = json_line(log.events[-1]) + b"\n"
        data = zstd_frame(data) if path.suffix == ".zstd" else data
        cut = len(data) // 2 if torn else len(data)
        with path.open("ab") as file:
            file.write(data[:cut])
        if torn:
            self.rests[path] = data[cut:]

    @rule(path=logs)
    def complete(self, path: Path) -> None:
        """What was torn is written to its end."""
        if path.exists() and path in self.rests:
            with path.open("ab") as file:
                file.write(self.rests.pop(path))

    @rule(path=logs, share=st.floats(0, 1))
    def truncate(self, path: Path, share: float) -> None:
        """A log loses its end."""
        if path.exists():
            os.truncate(path, int(path.stat().st_size * share))
            self.builders.pop(path, None)

    @rule(path=logs, share=st.floats(0, 1), byte=st.integers(0, 255), old_time=st.booleans())
    def change_byte(self, path: Path, share: float, byte: int, old_time: bool) -> None:
        """A byte of a log is another one, and its time perhaps the same."""
        if path.exists() and path.stat().st_size:
            before = path.stat()
            data = bytearray(path.read_bytes())
            data[min(int(len(data) * share), len(data) - 1)] = byte
            path.write_bytes(data)
            if old_time:
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.builders.pop(path, None)

    @rule(path=logs, title=TITLES, in_place=st.booleans())
    def replace(self, path: Path, title: str, in_place: bool) -> None:
        """A log is written anew, into the same file or another one."""
        log = self.builders.get(path)
        if log is None or not path.parent.exists():
            return
        self.needles.add(title)
        self.rests.pop(path, None)
        other = LogBuilder(log.header.id, cwd=log.header.cwd, created_at=log.header.created_at)
        other.user("hello, once more")
        other.title(title)
        data = other.to_zstd() if path.suffix == ".zstd" else other.to_bytes()
        if not in_place:
            path.unlink(missing_ok=True)
        path.write_bytes(data)
        self.builders[path] = other

    @rule(target=logs, path=consumes(logs), name=st.sampled_from(["--w--", "_no-cwd", "--x--"]))
    def move(self, path: Path, name: str) -> Any:
        """A session's folder is moved into another project."""
        place = self.root / name / path.parent.name
        if not path.parent.exists() or place.exists():
            return path
        place.parent.mkdir(parents=True, exist_ok=True)
        path.parent.rename(place)
        self.builders.pop(path, None)
        self.rests.pop(path, None)
        return place / path.name

    @rule(path=consumes(logs), whole=st.booleans())
    def delete(self, path: Path, whole: bool) -> None:
        """A log is deleted, or the folder that it lies in."""
        self.builders.pop(path, None)
        self.rests.pop(path, None)
        if whole:
            shutil.rmtree(path.parent, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    @rule(seconds=st.integers(0, 2**31))
    def restore_times(self, seconds: int) -> None:
        """The whole tree is given other times, as a backup does."""
        for path in self.root.rglob("*.jsonl*"):
            os.utime(path, (seconds, seconds))

    @rule(session_id=IDS, cwd=CWDS, title=TITLES, time=TIMES)
    def go_live(self, session_id: str, cwd: str | None, title: str, time: int) -> None:
        """A host opens a session, which may disagree with what is stored of it."""
        log = LogBuilder(session_id, cwd=cwd, created_at=time)
        log.title(title)
        self.needles.add(title)
        self.live.open(LiveSession(log.header, log.events))

    @rule(path=logs, title=TITLES)
    def take_up(self, path: Path, title: str) -> None:
        """A host opens a session that is stored, and gives it a title at once."""
        log = self.builders.get(path)
        if log is not None:
            live = LiveSession(log.header, list(log.events))
            other = LogBuilder()
            other.title(title)
            live.events.append({**other.events[0], "seq": len(live.events)})
            self.needles.add(title)
            self.live.open(live)

    @rule(session_id=IDS)
    def close_live(self, session_id: str) -> None:
        """A host closes a session."""
        self.live.close(session_id)

    @rule()
    def reopen(self) -> None:
        """The program that has the index ends, and another one starts."""
        self.thread.close()
        self.open_index()

    @rule(path=logs)
    def observe(self, path: Path) -> None:
        """A host tells of a session whose log it knows to have changed."""
        log = self.builders.get(path)
        if log is not None:
            self.thread.call(self.thread.index.observe, log.header.id)

    @rule(cwd=CWDS, session_id=IDS, wait=st.sampled_from([True, True, False]))
    def refresh(self, cwd: str | None, session_id: str, wait: bool) -> None:
        """After a refresh, the index says what the scan says, whatever is asked."""
        if wait:
            time.sleep(SETTLING)  # else no revision is old enough to be relied on
        self.thread.call(self.thread.index.refresh)
        target = Target(session_id=session_id, cwd=cwd)
        for needle in sorted(self.needles):
            answers = []
            for limit in LIMITS:
                found, expected = self.thread.call(self.thread.both, target, needle, limit)
                assert found == expected, needle
                answers.append(found)
            assert all(answers[-1][: len(answer)] == answer for answer in answers)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
