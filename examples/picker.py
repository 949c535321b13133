"""Pick a session in a terminal while every key starts a lookup and cancels the one before it.

`python picker.py ROOT` picks one of the sessions below a folder, with your keys: letters search,
Tab moves to the next line, Enter picks, Escape gives up.  Without a folder, a script presses the
keys and the sessions are made up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import trio
from trio.testing import wait_all_tasks_blocked

from sessionref import Candidate, SessionReferenceResolver, Target, open_resolver
from sessionref.reference.visible import visible
from sessionref.storage import MemorySessionStore, SessionHeader, SessionStore
from sessionref.testing import ParkedStore

TAB, ENTER, ESCAPE, BACKSPACE = "\t", "\n", "\x1b", "\x7f"


class Picker:
    """What a person types, and what was found for it; `show` is told whenever either changes."""

    def __init__(
        self, resolver: SessionReferenceResolver, target: Target, show: Callable[[str], None]
    ) -> None:
        self._resolver = resolver
        self._target = target
        self._show = show
        self._query = ""
        self._found: list[Candidate] | None = None  # None while a lookup is on its way
        self._place = 0
        self._lookup = trio.CancelScope()

    async def pick(self, keys: trio.abc.ReceiveChannel[str]) -> Candidate | None:
        """Return the session that the keys pick, None if they give up."""
        async with trio.open_nursery() as nursery:
            self._search(nursery, "")
            async for key in keys:
                if key == ESCAPE:
                    break
                if key == TAB and self._found:
                    self._place = (self._place + 1) % len(self._found)
                    self._draw()
                elif key == ENTER and self._found:
                    nursery.cancel_scope.cancel()
                    return self._found[self._place]
                elif key == BACKSPACE:
                    self._search(nursery, self._query[:-1])
                elif key.isprintable():
                    self._search(nursery, self._query + key)
            nursery.cancel_scope.cancel()
        return None

    def _search(self, nursery: trio.Nursery, query: str) -> None:
        self._lookup.cancel()
        self._lookup = trio.CancelScope()
        self._query, self._found, self._place = query, None, 0
        nursery.start_soon(self._look_up, self._lookup, query)

    async def _look_up(self, scope: trio.CancelScope, query: str) -> None:
        with scope:
            found = await self._resolver.list_candidates(self._target, query, limit=5)
            if not scope.cancel_called:  # a key may have come after the answer
                self._found = found
                self._draw()
        if scope.cancelled_caught:
            self._show(f"(the lookup of {query!r} was cancelled)")

    def _draw(self) -> None:
        lines = [f"@{self._query}"]
        for place, candidate in enumerate(self._found or []):
            problem = "" if candidate.readable else " (cannot be read)"
            mark = ">" if place == self._place else " "
            lines.append(f"{mark} {visible(candidate.label)}{problem}")
        self._show("\n".join(lines))


async def send_typed(keys: trio.abc.SendChannel[str]) -> None:
    """Send the keys that a person presses (where there is a Unix terminal)."""
    while True:
        await trio.lowlevel.wait_readable(sys.stdin)
        for key in os.read(sys.stdin.fileno(), 64).decode(errors="ignore"):
            await keys.send(key)


@contextmanager
def single_keys() -> Iterator[None]:
    """Let the terminal hand over each key at once."""
    import termios  # only where there is a Unix terminal
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def redraw(text: str) -> None:
    """Show a text on a cleared screen."""
    sys.stdout.write(f"\x1b[2J\x1b[H{text}\n")
    sys.stdout.flush()


async def run(
    source: str | SessionStore,
    send_keys: Callable[[trio.abc.SendChannel[str]], Awaitable[None]],
    show: Callable[[str], None],
) -> None:
    """Pick one of the sessions of a source with the keys that are sent, and print its mention."""
    sender, keys = trio.open_memory_channel[str](0)
    async with open_resolver(source) as resolver, trio.open_nursery() as nursery:
        nursery.start_soon(send_keys, sender)
        picked = await Picker(resolver, Target(session_id="new"), show).pick(keys)
        nursery.cancel_scope.cancel()
    print("Nothing was picked." if picked is None else f"Picked: {picked.mention}")


def made_up() -> MemorySessionStore:
    """Return a store of three sessions."""
    store = MemorySessionStore()
    for age, title in enumerate(["Sourdough", "Rye bread", "Sour cherry cake"]):
        data = {"title": title, "messageSeqs": [], "source": {"kind": "user"}}
        titled = {"type": "session/title", "seq": 0, "time": 0, "data": data}
        store.put(SessionHeader(version=0, id=f"s{age}", created_at=age), [titled])
    return store


async def play() -> None:
    """Press some keys faster than the store answers, then pick at leisure."""
    store = ParkedStore(made_up())  # its calls wait until they are released

    async def press(keys: trio.abc.SendChannel[str]) -> None:
        for key in ("s", "o", "u", None, TAB, ENTER):
            await wait_all_tasks_blocked()
            if key is None:
                store.release()
            else:
                await keys.send(key)

    await run(store, press, print)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with single_keys():
            trio.run(run, sys.argv[1], send_typed, redraw)
    else:
        trio.run(play)
