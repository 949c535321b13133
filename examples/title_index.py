"""Answer lookups from a title index, and tell it of a log that has grown."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import trio

from sessionref import Target, open_resolver
from sessionref.discovery.sqlite import SqliteTitleIndex
from sessionref.storage import Corpus, JsonlSessionStore
from sessionref.testing import check_discovery

NAMES = "1f6b92e5-c3d0-47a8-8e64-d2a05c9b7f13"  # one of the demo's sessions


def append_title(root: Path, title: str) -> None:
    """Give the session a new title, as DSH does: one more line in its log."""
    data = {"title": title, "messageSeqs": [], "source": {"kind": "user"}}
    event = {"type": "session/title", "seq": 16, "time": 1770541300000, "data": data}
    with (root / "_no-cwd" / NAMES / "session.jsonl").open("a", encoding="utf-8") as log:
        log.write(f"{json.dumps(event)}\n")


async def main(folder: Path) -> None:
    """Build an index, look up, append to a log, tell the index, and look up again."""
    root = folder / "sessions"
    with as_file(files("sessionref.cli") / "demo") as demo:
        copytree(demo, root)
    store = JsonlSessionStore(root)
    target = Target(session_id="today", cwd="/home/ana/csv-tool")

    async with SqliteTitleIndex(store, folder / "titles.sqlite3") as index:
        report = await index.refresh()
        print(f"{report.sessions} sessions, {report.read} logs read")

        async with open_resolver(store, discovery=index) as resolver:

            async def look_up(when: str) -> None:
                found = await resolver.list_candidates(target, "christen")
                print(f"{when}: {[candidate.label for candidate in found]}")

            await look_up("as it was")
            append_title(root, "Christen the table command")
            await look_up("the log has grown")
            await index.observe(NAMES)
            await look_up("the index was told")

        await check_discovery(index, Corpus(store))
        print(f"differences from the logs: {len(await index.verify())}")


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        trio.run(main, Path(temporary))
