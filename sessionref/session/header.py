"""The first line of a log: who the session is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

from sessionref.errors import SessionDamagedError, SessionUnsupportedError
from sessionref.javascript import join_surrogates, safe_integer
from sessionref.session.generations import NEWEST_VERSION, Generation, find_generation
from sessionref.session.json_line import line_decoder

__all__ = [
    "MAX_HEADER_BYTES",
    "SessionHeader",
    "parse_header",
    "read_header",
    "require_version",
]

MAX_HEADER_BYTES: Final = 2**20
"""The longest header line that is read: listing a folder must not depend on what lies in it."""

_SHORT: Final = 2**10

_RETIRED_MEMBERS: Final = frozenset({"sandboxMode", "approvalPolicy"})


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """Who a session is: the first line of its log.

    `created_at` is in milliseconds since the epoch; `origin` is "subagent" or None.  A session that
    started with events of another one has `seed_length` of them up to version 1, and `is_seeded`
    from version 2 on.
    """

    version: int
    id: str
    created_at: int
    delegation_depth: int = 0
    cwd: str | None = None
    parent_session: str | None = None
    seed_length: int | None = None
    origin: Literal["subagent"] | None = None
    agent_preset: str | None = None
    is_seeded: bool | None = None

    def joined(self) -> SessionHeader:
        """Return the header with the halves of surrogate pairs joined, as parsed JSON has them."""
        return replace(
            self,
            id=join_surrogates(self.id),
            cwd=None if self.cwd is None else join_surrogates(self.cwd),
            parent_session=(
                None if self.parent_session is None else join_surrogates(self.parent_session)
            ),
        )

    def to_wire(self) -> dict[str, Any]:
        """Return the header as JSON data with the names of the log, absent members left out."""
        members = {
            "version": self.version,
            "id": self.id,
            "createdAt": self.created_at,
            "cwd": self.cwd,
            "parentSession": self.parent_session,
            "seedLength": self.seed_length,
            "isSeeded": self.is_seeded,
            "origin": self.origin,
            "delegationDepth": self.delegation_depth,
            "agentPreset": self.agent_preset,
        }
        return {name: value for name, value in members.items() if value is not None}


def read_header(line: bytes) -> SessionHeader:
    """Return the header that the first line of a log holds, without its line feed.

    Raises what `parse_header` raises, and `SessionDamagedError` if the line is not JSON.
    """
    if len(line) > MAX_HEADER_BYTES:
        raise _damaged(f"the header is longer than {MAX_HEADER_BYTES:,} bytes")
    return _read_short(line) if len(line) <= _SHORT else _read(line)


def _read(line: bytes) -> SessionHeader:
    try:
        value = line_decoder()(line)
    except ValueError as error:
        raise _damaged(f"the header is not JSON: {error}") from error
    return parse_header(value)


# A listing reads the header of a log, and then so does whoever reads its title or messages.
_read_short = lru_cache(8192)(_read)


def parse_header(value: object) -> SessionHeader:
    """Return the header that JSON data describes, of whatever version it is.

    The version is judged before anything else: what looks like damage in a header of a version
    that is not read raises `SessionUnsupportedError`, else it raises `SessionDamagedError`.
    """
    if type(value) is not dict:
        raise _damaged("the header is not a JSON object")
    version = safe_integer(value.get("version"))
    if version is None or version < 0:
        raise _damaged("the header has no version")
    try:
        return _members(value, version)
    except SessionDamagedError as error:
        if find_generation(version) is not None:
            raise
        raise _unsupported(version) from error


def require_version(version: int, named: int | None = None) -> Generation:
    """Return the rules that a log of a version is read by; `named` is the version of its name.

    Raises `SessionUnsupportedError` for a version that is not read, and `SessionDamagedError` if
    the log's name tells another one.
    """
    generation = find_generation(version)
    if generation is None:
        raise _unsupported(version)
    if named not in (None, version):
        raise _damaged(f"the header is of version {version}, the name of version {named}")
    return generation


def _members(value: Mapping[str, object], version: int) -> SessionHeader:
    if value.get("type") != "session":
        raise _damaged('the first line is not a header: its type is not "session"')
    for name in _RETIRED_MEMBERS & value.keys():
        raise _damaged(f"the header may not hold {name}")
    if value.get("origin", "subagent") != "subagent":
        raise _damaged('the header\'s origin is not "subagent"')
    seed_length, is_seeded = _seed(value, version)
    return SessionHeader(
        version=version,
        id=_string(value, "id"),
        created_at=_natural(value, "createdAt"),
        delegation_depth=_natural(value, "delegationDepth"),
        cwd=_string(value, "cwd") if "cwd" in value else None,
        parent_session=_string(value, "parentSession") if "parentSession" in value else None,
        seed_length=seed_length,
        origin="subagent" if "origin" in value else None,
        agent_preset=_string(value, "agentPreset") if "agentPreset" in value else None,
        is_seeded=is_seeded,
    )


def _seed(value: Mapping[str, object], version: int) -> tuple[int | None, bool | None]:
    """Return what a header says of its seed, each in the versions that know it: length and mark."""
    generation = find_generation(version)
    if generation is None:
        return None, None
    if not generation.has_seed_mark:
        return _natural(value, "seedLength") if "seedLength" in value else None, None
    if "seedLength" in value:
        raise _damaged("the header may not hold seedLength")
    is_seeded = value.get("isSeeded")
    if type(is_seeded) is not bool:
        raise _damaged("the header's isSeeded is not true or false")
    return None, is_seeded


def _unsupported(version: int) -> SessionUnsupportedError:
    return SessionUnsupportedError(
        reason=(
            f"format version {version} was written by a newer program: this library reads up to "
            f"version {NEWEST_VERSION}"
        ),
        direction="newer",
        line=1,
        byte=0,
    )


def _string(value: Mapping[str, object], name: str) -> str:
    member = value.get(name)
    if isinstance(member, str):
        return member
    raise _damaged(f"the header's {name} is not a string")


def _natural(value: Mapping[str, object], name: str) -> int:
    number = safe_integer(value.get(name))
    if number is not None and number >= 0:
        return number
    raise _damaged(f"the header's {name} is not an integer from 0 to 2^53 - 1")


def _damaged(reason: str) -> SessionDamagedError:
    return SessionDamagedError(reason=reason, line=1, byte=0)
