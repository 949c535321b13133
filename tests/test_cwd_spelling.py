r"""One folder, spelled in several ways: `C:\Work\App`, `c:/Work/App/`, `C:\work\app`."""

from __future__ import annotations

import pytest
from asking import ask, context_of, sources_of
from logs import LogBuilder, store_of

from sessionref import Target, open_resolver

SPELLINGS = ["C:\\Work\\App", "c:/Work/App/", "C:\\work\\app"]


def logs_by_cwd() -> list[LogBuilder]:
    """Return a session for each spelling, the first one oldest, so that age would put it last."""
    return [
        LogBuilder(f"session {place}", cwd=cwd, created_at=1_000 * place)
        for place, cwd in enumerate(SPELLINGS)
    ]


@pytest.mark.parametrize("cwd", SPELLINGS)
async def test_cwds_are_compared_exactly(cwd: str) -> None:
    """Of several spellings, only the target's own counts as its folder and comes first."""
    async with open_resolver(store_of(*logs_by_cwd())) as resolver:
        found = await resolver.list_candidates(Target(session_id="target", cwd=cwd))
    others = [spelling for spelling in reversed(SPELLINGS) if spelling != cwd]
    assert [candidate.cwd for candidate in found] == [cwd, *others]


@pytest.mark.parametrize("place", range(len(SPELLINGS)))
async def test_a_cwd_is_carried_over_as_it_is_stored(place: int) -> None:
    """Neither slashes nor case of a stored cwd are touched."""
    message = context_of(await ask(store_of(*logs_by_cwd()), f"session {place}"))
    assert [source["cwd"] for source in sources_of(message)] == [SPELLINGS[place]]
