"""Session logs of any length, shaped like those of real programs and the same for the same seed.

A turn is a prompt and one to four steps; a step streams reasoning, text and, unless it is the last
one, a tool call that is answered by a result.  Half of the bytes are the stream's chunks, as in
recorded logs; in version 0 of the format they are most of the lines, in version 4 they lie in the
answer that they made.  Lengths are log-normal: mostly short, now and then very long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import zstandard

from sessionref.storage.jsonl.layout import project_name, session_name

__all__ = ["CREATED_AT", "Dialogue", "append_turn", "write_logs", "write_session"]

Data = dict[str, Any]

CREATED_AT: Final = 1_767_225_600_000
"""When the first session of a corpus began, in milliseconds since the epoch."""

_PROJECTS: Final = ("/home/dev/app", "/home/dev/data-hub/api", "/home/dev/сайт", None)
_MOST_STEPS: Final = 4
_TOKEN: Final = 5
_WORDS: Final = (
    "the of and to in is that for it as was with be by on not this are or from at which an but "
    "file test parser error return value line cache index reader writer session token schema "
    "src/app/main.py self.assertEqual(a, b) if (x < y) { } => \\n \"quoted\" 'single' `code` "
    "größer naïve переменная 文件 缓存 🙂\n"
)
_MODEL: Final = {"provider": "example", "model": "example-large"}


class Dialogue:
    """The records of one session, made turn by turn until it has enough messages.

    `version` is 0 or 4.  Only prompts and answers count as messages; every answer has text.
    """

    def __init__(self, seed: int, messages: int, version: int = 0) -> None:
        self._random = Random(seed)
        self._is_newer = version == 4
        self._left = messages
        self._seq = 0
        self._turn = 0
        self._time = CREATED_AT + seed
        self._text = " ".join(self._random.choices(_WORDS.split(" "), k=20_000))

    def turns(self) -> Iterator[list[Data]]:
        """Yield the records of each turn in order."""
        while self._left > 0:
            self._turn += 1
            yield list(self._records_of_turn())

    def _records_of_turn(self) -> Iterator[Data]:
        turn = {"turn": self._turn}
        steps = min(self._random.randint(1, _MOST_STEPS), max(self._left - 1, 0))
        self._left -= 1 + steps
        prompt = self._message("user", {"kind": "user"}, [_text(self._prose(120))])
        yield self._event("agent/inbox/spliced", {"target": "next-turn", "inserted": [prompt]})
        yield self._event("turn/start", turn)
        yield self._event("user/message", prompt, surfaceOp="append")
        if self._turn == 1:
            title = {"title": self._prose(30), "messageSeqs": [self._seq - 1]}
            yield self._event("session/title", {**title, "source": {"kind": "provider"}})
            yield self._event("request/header", {"header": {"config": _MODEL}, "reason": "initial"})
        for number in range(1, steps + 1):
            yield from self._records_of_step({**turn, "step": number}, is_last=number == steps)
        yield self._event("turn/end", {**turn, "reason": {"kind": "completed"}})

    def _records_of_step(self, step: Data, *, is_last: bool) -> Iterator[Data]:
        yield self._event("step/start", step)
        yield self._event("request/context", _MODEL)
        first = self._seq
        blocks: list[Data] = [
            {"type": "reasoning", "text": self._prose(200)},
            _text(self._prose(250)),
        ]
        if not is_last:
            arguments = json.dumps({"command": self._prose(60)})
            call = {"id": f"call_{first}", "name": "bash", "arguments": arguments}
            blocks.append({"type": "tool-call", **call})
        streamed = list(self._streamed(step, blocks))
        answer = self._message("assistant", {"kind": "model", **_MODEL}, blocks)
        data: Data = {**step, "message": answer}
        if self._is_newer:
            self._seq = first
            data["stream"] = list(map(_embedded, streamed))
            yield self._event("assistant/message", data, surfaceOp="append")
        else:
            yield from streamed
            sources = list(range(first, self._seq))
            yield self._event("assistant/message", data, surfaceOp="append", sources=sources)
        if not is_last:
            yield from self._tool_records(step, blocks[-1])
        yield self._event("step/end", step)

    def _streamed(self, step: Data, blocks: list[Data]) -> Iterator[Data]:
        for index, block in enumerate(blocks):
            yield from self._stream(step, index, block)
        for chunk in ({"type": "usage"}, {"type": "finish", "reason": {"kind": "stop"}}):
            yield self._event("assistant/chunk", {**step, "chunk": chunk})

    def _stream(self, step: Data, index: int, block: Data) -> Iterator[Data]:
        start = {"type": "block-start", "index": index, "blockType": block["type"]}
        yield self._event("assistant/chunk", {**step, "chunk": start})
        is_call = block["type"] == "tool-call"
        text = block["arguments" if is_call else "text"]
        deltas = [text[place : place + _TOKEN] for place in range(0, len(text), _TOKEN)]
        steps_in_time = self._random.choices((0, 0, 0, 1, 30), k=len(deltas) - 1)
        run: Data = {**step, "index": index, "dt": steps_in_time}
        if is_call:
            run |= {"id": block["id"], "name": block["name"], "args": deltas}
        else:
            run |= {"texts": deltas}
        kind = "tool-call-chunks" if is_call else f"{block['type']}-chunks"
        yield {"type": kind, "seq0": self._seq, "time0": self._time, "data": run}
        self._seq += len(deltas)
        self._time += sum(steps_in_time)
        end = {"type": "block-end", "index": index, "block": block}
        yield self._event("assistant/chunk", {**step, "chunk": end})

    def _tool_records(self, step: Data, call: Data) -> Iterator[Data]:
        called = {"callId": call["id"], "name": call["name"], "arguments": call["arguments"]}
        yield self._event("tool/call", {**step, **called})
        content = [_text(self._prose(400))]
        answer = {"toolCallId": call["id"], "isError": False}
        source = {"kind": "tool", "callId": call["id"]}
        if self._is_newer:
            result = {**self._message("tool", source, content), **answer}
        else:
            block = {"type": "tool-result", **answer, "content": content}
            result = self._message("user", source, [block])
        yield self._event(
            "tool/result",
            {**step, "message": result},
            surfaceOp="append",
            sources=[self._seq - 1],
        )

    def _event(
        self, kind: str, data: Data, *, sources: list[int] | None = None, **members: Any
    ) -> Data:
        event: Data = {"type": kind, "seq": self._seq, "time": self._time, "data": data}
        if sources is not None:
            event["sourceEventSeqs"] = sources
        self._seq += 1
        self._time += self._random.randint(1, 400)
        return event | members

    def _message(self, role: str, source: Data, content: list[Data]) -> Data:
        message_id = f"{self._random.getrandbits(128):032x}"
        return {"id": message_id, "role": role, "source": source, "content": content}

    def _prose(self, median: int) -> str:
        length = max(1, round(median * self._random.lognormvariate(0, 1)))
        start = self._random.randrange(len(self._text) // 2)
        return self._text[start : start + length]


def write_logs(root: Path, count: int, *, compressed: bool, version: int = 0) -> None:
    """Write a corpus of small sessions in several projects below a root."""
    for number in range(count):
        messages = 2 + number % 11
        session_id = f"session-{number:05}"
        write_session(root, session_id, number, messages, compressed=compressed, version=version)


def write_session(
    root: Path,
    session_id: str,
    seed: int,
    messages: int,
    *,
    compressed: bool = False,
    version: int = 0,
) -> Path:
    """Write the log of one session below a root and return its path."""
    cwd = _PROJECTS[seed % len(_PROJECTS)]
    name = session_name(session_id)
    if name is None:
        raise ValueError("a session needs an id")
    folder = root / project_name(cwd) / name
    folder.mkdir(parents=True)
    stem = f"session.v{version}" if version else "session"
    log = folder / f"{stem}.jsonl{'.zstd' if compressed else ''}"
    header: Data = {"type": "session", "version": version, "id": session_id}
    header |= {"createdAt": CREATED_AT + seed, "delegationDepth": 0}
    header |= {} if cwd is None else {"cwd": cwd}
    header |= {"isSeeded": False} if version else {}
    pack = zstandard.ZstdCompressor(write_checksum=True).compress if compressed else bytes
    with log.open("wb") as file:
        file.write(pack(_lines([header])))
        for records in Dialogue(seed, messages, version).turns():
            file.write(pack(_lines(records)))
    return log


def append_turn(log: Path) -> None:
    """Let a session go on for a short turn."""
    is_compressed = log.suffix == ".zstd"
    data = log.read_bytes()
    if is_compressed:
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    last = json.loads(data.split(b"\n")[-2])
    turn = {"turn": last["data"]["turn"] + 1}
    kinds = [("turn/start", turn), ("turn/end", {**turn, "reason": {"kind": "completed"}})]
    records = [
        {"type": kind, "seq": last["seq"] + 1 + number, "time": last["time"] + number, "data": part}
        for number, (kind, part) in enumerate(kinds)
    ]
    pack = zstandard.ZstdCompressor(write_checksum=True).compress if is_compressed else bytes
    with log.open("ab") as file:
        file.write(pack(_lines(records)))


def _embedded(record: Data) -> Data:
    """Return a record of the stream as it lies in the answer from version 2 on."""
    if "seq0" not in record:
        return {"type": "chunk", "time": record["time"], "chunk": record["data"]["chunk"]}
    run = {name: value for name, value in record["data"].items() if name not in ("turn", "step")}
    return {"type": record["type"], "time0": record["time0"], **run}


def _lines(records: list[Data]) -> bytes:
    text = "".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records
    )
    return text.encode()


def _text(text: str) -> Data:
    return {"type": "text", "text": text}
