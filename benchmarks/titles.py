"""Sessions with titles, folders and times for an index, and needles: the same ones each time.

Words and folders are used as often as Zipf's law has it: few of them often, most of them rarely.  A
third of the titles are Chinese, some sessions have no folder, and some were made in bursts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import Final, NamedTuple
from uuid import UUID

__all__ = ["TitledSession", "draw_needles", "titled_sessions"]

_WORDS: Final = 30_000
_HAN: Final = 3_000
_CWDS: Final = 5_000
_YEARS_MS: Final = 3 * 365 * 24 * 3600 * 1000
_START_MS: Final = 1_700_000_000_000

_ONSETS: Final = (
    *("", "b", "br", "c", "ch", "cl", "d", "dr", "f", "g", "h", "l", "m", "n", "p", "pr", "qu"),
    *("r", "s", "sh", "st", "str", "t", "th", "tr", "v", "w"),
)
_NUCLEI: Final = ("a", "e", "e", "i", "o", "u", "ai", "ea", "ie", "ou", "y")
_CODAS: Final = ("", "", "", "ct", "d", "k", "l", "ll", "m", "n", "ng", "nt", "r", "s", "st", "x")
_ENDINGS: Final = ("", "", "", "", "er", "ing", "ed", "ion", "s", "able")


class TitledSession(NamedTuple):
    """One session of the corpus; times in milliseconds since the epoch."""

    id: str
    cwd: str | None
    title: str
    created_at: int


def titled_sessions(count: int, *, seed: int = 1) -> Iterator[TitledSession]:
    """Yield so many sessions, in no order of time; a smaller corpus begins a larger one."""
    words = _Zipf(list(_make_words(Random(seed), _WORDS)))
    han = _Zipf([chr(0x4E00 + 7 * place % 20_000) for place in range(_HAN)])
    cwds = _Zipf(list(_make_cwds(Random(seed), _CWDS, words)))
    random = Random(seed)
    burst = _START_MS
    for _ in range(count):
        session_id = str(UUID(int=random.getrandbits(128), version=4))
        created_at = _START_MS + int(random.random() * _YEARS_MS)
        if random.random() < 0.1:
            burst += random.randrange(400)
            created_at = burst
        cwd = None if random.random() < 0.05 else cwds.draw(random, 1)[0]
        yield TitledSession(session_id, cwd, _make_title(random, words, han), created_at)


def draw_needles(
    sessions: Sequence[TitledSession], count: int, *, seed: int = 1
) -> dict[str, list[str]]:
    """Return so many lower-cased needles of each class, drawn from a sample of the corpus."""
    random = Random(seed)
    latin = [session.title.lower() for session in sessions if session.title.isascii()]
    chinese = [session.title for session in sessions if not session.title.isascii()]
    cwds = [session.cwd.lower() for session in sessions if session.cwd is not None]
    uses = Counter(word for title in latin for word in title.split()).most_common()
    common = [word for word, _ in uses[:50]]
    rare = [word for word, times in uses if times == 1 and len(word) > 5] or common

    def piece(texts: Sequence[str], size: int) -> str:
        text = random.choice([text for text in random.choices(texts, k=9) if len(text) >= size])
        start = random.randrange(len(text) - size + 1)
        return text[start : start + size]

    def absent(size: int) -> str:
        return "".join(random.choices("жλבд€", k=1) + random.choices("aeioustr", k=size - 1))

    classes: dict[str, Callable[[], str]] = {
        "id prefix": lambda: random.choice(sessions).id[: random.choice((4, 6, 8, 12))],
        "rare word": lambda: random.choice(rare),
        "common word": lambda: random.choice(common),
        "phrase": lambda: " ".join(random.choice(latin).split()[1:3]),
        "part of a title": lambda: piece(latin, random.randint(6, 14)),
        "3 characters": lambda: piece(latin, 3),
        "2 characters": lambda: piece(latin, 2),
        "1 character": lambda: piece(latin, 1),
        "Chinese, 4": lambda: piece(chinese, 4).lower(),
        "Chinese, 2": lambda: piece(chinese, 2).lower(),
        "Chinese, 1": lambda: piece(chinese, 1).lower(),
        "part of a folder": lambda: piece(cwds, random.randint(4, 12)),
        "name of a folder": lambda: random.choice(random.choice(cwds).split("/")[2:]),
        "absent, 8": lambda: absent(8),
        "absent, 3": lambda: absent(3),
        "absent, 2": lambda: absent(2),
        "absent, 1": lambda: absent(1),
        "absent, of known letters": lambda: "".join(random.choices("qzxjkvwy", k=8)),
        "empty": lambda: "",
    }
    return {name: [draw() for _ in range(count)] for name, draw in classes.items()}


class _Zipf:
    """Draws from some texts, the n-th of them with a weight of 1/n."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._weights = list(accumulate(1 / rank for rank in range(1, len(texts) + 1)))

    def draw(self, random: Random, count: int) -> list[str]:
        return random.choices(self._texts, cum_weights=self._weights, k=count)


def _make_title(random: Random, words: _Zipf, han: _Zipf) -> str:
    """Return a title of up to 60 characters, or of 8 to 24 Chinese ones and perhaps a word."""
    if random.random() < 1 / 3:
        title = "".join(han.draw(random, random.randint(8, 24)))
        return (
            title if random.random() < 0.7 else f"{title[:4]} {words.draw(random, 1)[0]}{title[4:]}"
        )
    size = random.randint(20, 60)
    title = " ".join(words.draw(random, 12))[:size].rstrip()
    return title[:1].upper() + title[1:]


def _make_words(random: Random, count: int) -> Iterator[str]:
    seen = set[str]()
    while len(seen) < count:
        syllables = 1 + (len(seen) > 300) + (len(seen) > 5_000)
        word = "".join(
            random.choice(part) for _ in range(syllables) for part in (_ONSETS, _NUCLEI, _CODAS)
        ) + random.choice(_ENDINGS)
        if word not in seen:
            seen.add(word)
            yield word


def _make_cwds(random: Random, count: int, words: _Zipf) -> Iterator[str]:
    for place in range(count):
        owner, group, area, project = words.draw(random, 4)
        yield f"/home/{owner}/Projects/{group}/{area}-services/{project}-{place}"
