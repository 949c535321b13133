"""Logs under construction: as events, as lines, as bytes, and as files below a root."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

from sessionref.session.fold import SessionLog, fold_events
from sessionref.session.header import SessionHeader
from sessionref.session.runs import pack_runs
from sessionref.storage import MemorySessionStore
from sessionref.storage.jsonl.layout import project_name, session_name

__all__ = [
    "LogBuilder",
    "json_line",
    "log_path",
    "store_of",
    "text_block",
    "to_lines",
    "tool_call_block",
    "zstd_frame",
    "zstd_log",
]


class LogBuilder:
    """A log of version 0 under construction: each method appends one event and returns its seq.

    `surface` holds the seqs that the model would see.  `header` takes the fields of
    `SessionHeader` beside those that have a default here.
    """

    def __init__(
        self, session_id: str = "source", *, created_at: int = 1_700_000_000_000, **header: Any
    ) -> None:
        self.header = SessionHeader(version=0, id=session_id, created_at=created_at, **header)
        self.events: list[dict[str, Any]] = []
        self.surface: list[int] = []

    def append(self, kind: str, data: object, **members: object) -> int:
        """Append any event; `members` are those beside type, seq, time and data."""
        seq = len(self.events)
        time = self.header.created_at + seq
        self.events.append({"type": kind, "seq": seq, "time": time, "data": data, **members})
        return seq

    def user(self, *texts: str, kind: str = "user", **source: object) -> int:
        """Append a user message of one block for each text; its source says who wrote it."""
        return self._append_to_surface("user/message", self._user(texts, kind, source))

    def assistant(self, *texts: str, blocks: tuple[Mapping[str, Any], ...] = ()) -> int:
        """Append an answer of the model: a block for each text, and further blocks behind them."""
        source = {"kind": "model", "provider": "p", "model": "m"}
        content = [*map(text_block, texts), *blocks]
        message = {"id": self._id(), "role": "assistant", "source": source, "content": content}
        data = {"turn": 1, "step": 1, "message": message}
        return self._append_to_surface("assistant/message", data)

    def tool_result(self, call_id: str, text: str, *, is_error: bool = False) -> int:
        """Append the result of a tool call."""
        block = {
            "type": "tool-result",
            "toolCallId": call_id,
            "isError": is_error,
            "content": [text_block(text)],
        }
        source = {"kind": "tool", "callId": call_id}
        message = {"id": self._id(), "role": "user", "source": source, "content": [block]}
        return self._append_to_surface("tool/result", {"turn": 1, "step": 1, "message": message})

    def start_turn(self, turn: int = 1) -> int:
        """Append the start of a turn."""
        return self.append("turn/start", {"turn": turn})

    def end_turn(self, turn: int = 1, kind: str = "completed") -> int:
        """Append the end of a turn, for a reason of a kind."""
        return self.append("turn/end", {"turn": turn, "reason": {"kind": kind}})

    def start_step(self, step: int = 1) -> int:
        """Append the start of a step of turn 1."""
        return self.append("step/start", {"turn": 1, "step": step})

    def end_step(self, step: int = 1) -> int:
        """Append the end of a step of turn 1."""
        return self.append("step/end", {"turn": 1, "step": step})

    def tool_call(self, call_id: str) -> int:
        """Append the start of a tool."""
        call = {"callId": call_id, "name": "bash", "arguments": "{}"}
        return self.append("tool/call", {"turn": 1, "step": 1, **call})

    def chunk(self, text: str) -> int:
        """Append a piece of text that the model streams."""
        delta = {"type": "text-delta", "index": 0, "text": text}
        return self.append("assistant/chunk", {"turn": 1, "step": 1, "chunk": delta})

    def title(self, title: str, kind: str = "user") -> int:
        """Append a title, set by a person, a model ("provider") or for want of one ("fallback")."""
        data = {"title": title, "messageSeqs": [], "source": {"kind": kind}}
        return self.append("session/title", data)

    def checkpoint(self, text: str, start: int, end: int) -> int:
        """Append what a compaction leaves of the surface from `start` to `end` inclusive."""
        first, last = self.surface.index(start), self.surface.index(end)
        source = {"plugin": "compact", "compactionId": f"c{len(self.events)}"}
        seq = self.append(
            "user/message",
            self._user((text,), "plugin", source),
            surfaceOp={"op": "replace", "start": start, "end": end},
            sourceEventSeqs=self.surface[first : last + 1],
        )
        self.surface[first : last + 1] = [seq]
        return seq

    def log(self) -> SessionLog:
        """Return what the events so far mean."""
        return fold_events(self.header, self.events)

    def lines(self, *, packed: bool = False) -> list[bytes]:
        """Return the lines of the log, the header first, without line feeds."""
        header = {"type": "session", **self.header.to_wire()}
        records = pack_runs(self.events) if packed else self.events
        return [json_line(header), *map(json_line, records)]

    def to_bytes(self) -> bytes:
        """Return the log as it lies in a file without compression."""
        return to_lines(self.lines())

    def to_zstd(self, lines_per_frame: int | None = None) -> bytes:
        """Return the log as it lies in a compressed file, by default in two frames."""
        return zstd_log(self.lines(), lines_per_frame)

    def path(self, root: Path, *, compressed: bool = False) -> Path:
        """Return where the log belongs below a root."""
        return log_path(root, self.header.id, self.header.cwd, compressed=compressed)

    def write(self, root: Path, data: bytes | None = None, *, compressed: bool = False) -> Path:
        """Write the log, or `data` in its place, to where it belongs, and return its path."""
        if data is None:
            data = self.to_zstd() if compressed else self.to_bytes()
        path = self.path(root, compressed=compressed)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def _append_to_surface(self, kind: str, data: object) -> int:
        seq = self.append(kind, data, surfaceOp="append")
        self.surface.append(seq)
        return seq

    def _user(
        self, texts: tuple[str, ...], kind: str, source: Mapping[str, object]
    ) -> dict[str, Any]:
        return {
            "id": self._id(),
            "role": "user",
            "source": {"kind": kind, **source},
            "content": [text_block(text) for text in texts],
        }

    def _id(self) -> str:
        return f"message-{len(self.events)}"


def store_of(*logs: LogBuilder) -> MemorySessionStore:
    """Return a store that holds the logs as they are now."""
    store = MemorySessionStore()
    for log in logs:
        store.put(log.header, log.events)
    return store


def text_block(text: str) -> dict[str, Any]:
    """Return a content block that carries visible text."""
    return {"type": "text", "text": text}


def tool_call_block(call_id: str) -> dict[str, Any]:
    """Return a content block in which the model calls a tool."""
    return {"type": "tool-call", "id": call_id, "name": "bash", "arguments": "{}"}


def json_line(value: object) -> bytes:
    """Return one line of JSON as a JavaScript program writes it, without its line feed."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")  # which spells a surrogate as JSON does


def to_lines(lines: Iterable[bytes]) -> bytes:
    """Return lines of a log as bytes, each with its line feed."""
    return b"".join(line + b"\n" for line in lines)


def zstd_frame(data: bytes) -> bytes:
    """Return a zstd frame with a checksum, as a writer appends it."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def zstd_log(lines: Sequence[bytes], lines_per_frame: int | None = None) -> bytes:
    """Return a compressed log: a frame for the header, then frames of so many lines or of all."""
    header, *rest = lines
    size = lines_per_frame or len(rest) or 1
    batches = [rest[start : start + size] for start in range(0, len(rest), size)]
    return b"".join(zstd_frame(to_lines(batch)) for batch in [[header], *batches])


def log_path(
    root: Path,
    session_id: str,
    cwd: str | None = None,
    *,
    version: int = 0,
    compressed: bool = False,
) -> Path:
    """Return where the log of a session belongs below a root."""
    folder = session_name(session_id)
    assert folder is not None, "a session without id has no place in a folder"
    name = f"session.v{version}.jsonl" if version else "session.jsonl"
    return root / project_name(cwd) / folder / (f"{name}.zstd" if compressed else name)
