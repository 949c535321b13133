"""Let sessionref read the conversations that a program keeps in its own database.

The store reads one SQLite file through the standard library.  Each call opens the database in a
worker thread and closes it there, so that a cancelled call leaves nothing open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import trio

from sessionref import Target, open_resolver
from sessionref.errors import SessionNotFoundError, StorageError, StoreUnreadableError
from sessionref.storage import (
    LiveSession,
    SessionHeader,
    SessionLog,
    SessionStore,
    StoredSession,
    TitleReading,
)
from sessionref.testing import check_store

CHATS = "SELECT id, folder, started, title FROM chat"
LINES = "SELECT role, said FROM line WHERE chat = ? ORDER BY number"

Result = TypeVar("Result")


class ChatStore:
    """A `SessionStore` of the tables `chat` and `line`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def list_sessions(self) -> AsyncIterator[Sequence[StoredSession]]:
        """Yield all chats in one batch; nothing that was said is read."""
        rows = await self._ask(lambda db: db.execute(f"{CHATS} ORDER BY started").fetchall())
        yield [self._describe(header_of(row)) for row in rows]

    async def find_session(self, session_id: str) -> StoredSession:
        """Return one chat, else raise `SessionNotFoundError`."""
        return self._describe(header_of(await self._ask(lambda db: find_chat(db, session_id))))

    async def read_log(self, session: StoredSession) -> SessionLog:
        """Return what a chat means, from one state of the database."""

        def read(db: sqlite3.Connection) -> tuple[Any, list[Any]]:
            db.execute("BEGIN")  # what is read from here on belongs together
            chat = find_chat(db, session.session_id or "")
            return chat, db.execute(LINES, [session.session_id]).fetchall()

        chat, lines = await self._ask(read)
        return await LiveSession(header_of(chat), to_events(chat["title"], lines)).read_log()

    async def read_titles(self, sessions: Sequence[StoredSession]) -> Sequence[TitleReading]:
        """Return the titles of chats, in their order; one that fails fails alone."""
        return [await self._read_title(session) for session in sessions]

    async def _read_title(self, session: StoredSession) -> TitleReading:
        try:
            return TitleReading((await self.read_log(session)).title)
        except StorageError as error:
            return TitleReading(error=error)

    def _describe(self, header: SessionHeader) -> StoredSession:
        place = f"{self._path}, chat {header.id}"
        return StoredSession(place=place, session_id=header.id, header=header)

    async def _ask(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        def run() -> Result:
            try:
                with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)) as db:
                    db.row_factory = sqlite3.Row
                    return work(db)
            except sqlite3.Error as error:
                raise StoreUnreadableError(path=str(self._path), reason=str(error)) from error

        return await trio.to_thread.run_sync(run, abandon_on_cancel=True)


def find_chat(db: sqlite3.Connection, session_id: str) -> Any:
    """Return the row of one chat, else raise `SessionNotFoundError`."""
    row = db.execute(f"{CHATS} WHERE id = ?", [session_id]).fetchone()
    if row is None:
        raise SessionNotFoundError(session_id=session_id)
    return row


def header_of(row: sqlite3.Row) -> SessionHeader:
    """Return who a chat is."""
    return SessionHeader(version=0, id=row["id"], cwd=row["folder"], created_at=row["started"])


def to_events(title: str, lines: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a chat as the events of a session log: its title, then what was said."""
    titled = {"title": title, "messageSeqs": [], "source": {"kind": "user"}}
    events: list[dict[str, Any]] = [{"type": "session/title", "seq": 0, "time": 0, "data": titled}]
    for seq, (role, said) in enumerate(lines, start=1):
        message = {"id": f"m{seq}", "role": role, "content": [{"type": "text", "text": said}]}
        if role == "user":
            data: dict[str, Any] = message | {"source": {"kind": "user"}}
        else:
            source = {"kind": "model", "provider": "example", "model": "example"}
            data = {"turn": 1, "step": 1, "message": message | {"source": source}}
        events.append(
            {"type": f"{role}/message", "seq": seq, "time": 0, "surfaceOp": "append", "data": data}
        )
    return events


def fill(path: Path) -> None:
    """Make a database with two chats, as the program that owns it would."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE chat (id TEXT PRIMARY KEY, folder TEXT, started INT, title TEXT)")
        db.execute("CREATE TABLE line (chat TEXT, number INT, role TEXT, said TEXT)")
        chats = [("c1", "/home/me/shop", 1, "Prices"), ("c2", None, 2, "Opening hours")]
        db.executemany("INSERT INTO chat VALUES (?, ?, ?, ?)", chats)
        said = [
            ("c1", 1, "user", "What does a roll cost?"),
            ("c1", 2, "assistant", "45 cents."),
            ("c2", 1, "user", "When do we open on Sunday?"),
            ("c2", 2, "assistant", "At eight."),
        ]
        db.executemany("INSERT INTO line VALUES (?, ?, ?, ?)", said)


async def main(path: Path) -> None:
    """Check the store, and refer to a session that lies in it."""
    store: SessionStore = ChatStore(path)  # a type checker compares the class with the protocol
    await check_store(store)
    print("The store keeps what the protocol promises.")
    target = Target(session_id="new", cwd="/home/me/shop")
    async with open_resolver(store) as resolver:
        for candidate in await resolver.list_candidates(target):
            print(f"{candidate.session_id}  {candidate.label}")
        ready = await resolver.prepare(target, "Print a price list", [{"sessionId": "c1"}])
    print(ready.to_wire()["additionalContext"]["content"][0]["text"].splitlines()[-2])


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        fill(Path(folder) / "chats.db")
        trio.run(main, Path(folder) / "chats.db")
