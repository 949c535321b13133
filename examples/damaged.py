"""Read a folder in which some logs are not in order, and see what each costs."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from sessionref import SessionReferenceError, Target, open_resolver
from sessionref.discovery import Diagnostic
from sessionref.errors import SessionDamagedError

HEADER = {"type": "session", "createdAt": 1, "delegationDepth": 0, "cwd": "/home/me/app"}
MESSAGE = {"id": "m", "role": "user", "source": {"kind": "user"}}


def prompt(seq: int, text: str) -> str:
    """Return the line of a log that records what a person wrote."""
    data = MESSAGE | {"content": [{"type": "text", "text": text}]}
    record = {"type": "user/message", "seq": seq, "time": 1, "surfaceOp": "append", "data": data}
    return json.dumps(record) + "\n"


def turn_end(seq: int) -> str:
    """Return the line of a log that ends a turn: what stands before it is meant to stay."""
    data = {"turn": 1, "reason": {"kind": "completed"}}
    return json.dumps({"type": "turn/end", "seq": seq, "time": 1, "data": data}) + "\n"


def write_log(root: Path, session_id: str, *lines: str, version: int = 0) -> None:
    """Write a log of some lines."""
    folder = root / "--home-me-app--" / session_id
    folder.mkdir(parents=True)
    header = json.dumps(HEADER | {"id": session_id, "version": version}) + "\n"
    (folder / "session.jsonl").write_text(header + "".join(lines), encoding="utf-8")


async def main(root: Path) -> None:
    """List four logs, of which two cannot be read, and refer to two of them."""
    write_log(root, "good", prompt(0, "All is well."), turn_end(1))
    write_log(root, "torn", prompt(0, "Kept."), prompt(1, "Written while the power fell")[:-9])
    write_log(root, "gap", prompt(0, "One."), prompt(2, "Three."), turn_end(3))
    write_log(root, "newer", version=99)
    (root / "--home-me-app--" / "empty").mkdir()

    def tell(diagnostic: Diagnostic) -> None:
        print(f"diagnostic: {diagnostic.session_id}, {type(diagnostic.error).__name__}")

    target = Target(session_id="new", cwd="/home/me/app")
    async with open_resolver(root, on_diagnostic=tell) as resolver:
        for candidate in await resolver.list_candidates(target):
            print(f"listed: {candidate.session_id}, readable: {candidate.readable}")
        for session_id in ("torn", "gap"):
            try:
                ready = await resolver.prepare(target, "", [{"sessionId": session_id}])
            except SessionReferenceError as error:
                print(f"{session_id}: {error.code}")
                if isinstance(error.__cause__, SessionDamagedError):
                    print(f"  line {error.__cause__.line}: {error.__cause__.reason}")
            else:
                context = ready.to_wire()["additionalContext"]
                print(f"{session_id}: {context['content'][0]['text'].splitlines()[-2]}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        trio.run(main, Path(folder))
