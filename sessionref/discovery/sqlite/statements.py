"""The statements of a search.

Those that find sessions give hits, which are rank, created_at and id, in the order of the ranks
from `:first` to `:last`.
"""

# ruff: noqa: S608 - statements are put together from each other alone

from __future__ import annotations

from typing import Final

__all__ = [
    "BY_CWD",
    "BY_GRAMS",
    "BY_WALKING",
    "CWDS",
    "CWDS_BY_GRAMS",
    "IN_ONE_CWD",
    "NTH",
    "NTH_IN_ONE_CWD",
    "ONE_CWD",
]

_IN_TEXT: Final = """(instr(coalesce(session.id_lower, session.id), :needle)
    OR instr(coalesce(session.title_lower, session.title, x''), :needle))"""
_IN_CWD: Final = "instr(coalesce(cwd.path_lower, cwd.path), :needle)"
_HIT: Final = "SELECT session.rank, session.created_at, session.id"
_WANTED: Final = "session.id <> :target AND session.cwd IS NOT :passed_over"

BY_GRAMS: Final = f"""
    {_HIT} FROM session_gram CROSS JOIN session ON session.rank = session_gram.rowid
    WHERE session_gram MATCH :grams AND session_gram.rowid BETWEEN :first AND :last
        AND {_WANTED} AND {_IN_TEXT}
    ORDER BY session_gram.rowid"""
# The ranks are sorted before anything else is read of their rows.
BY_CWD: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT rank FROM session INDEXED BY session_cwd
        WHERE cwd IN (SELECT value FROM json_each(:cwds)) AND rank BETWEEN :first AND :last
        ORDER BY rank)
    {_HIT} FROM found CROSS JOIN session ON session.rank = found.rank
    WHERE {_WANTED}"""
BY_WALKING: Final = f"""
    {_HIT} FROM session LEFT JOIN cwd ON cwd.key = session.cwd
    WHERE session.rank BETWEEN :first AND :last
        AND {_WANTED} AND ({_IN_TEXT} OR {_IN_CWD})
    ORDER BY session.rank"""
IN_ONE_CWD: Final = f"""
    {_HIT} FROM session INDEXED BY session_cwd
    WHERE cwd = :cwd AND rank BETWEEN :first AND :last
        AND session.id <> :target AND (:is_in_cwd OR {_IN_TEXT})
    ORDER BY rank"""
CWDS: Final = f"SELECT key, sessions FROM cwd WHERE {_IN_CWD}"
CWDS_BY_GRAMS: Final = f"""
    SELECT key, sessions FROM cwd_gram CROSS JOIN cwd ON cwd.key = cwd_gram.rowid
    WHERE cwd_gram MATCH :grams AND {_IN_CWD}"""
ONE_CWD: Final = f"SELECT key, sessions, {_IN_CWD} FROM cwd WHERE path = :path"
NTH: Final = "SELECT rank FROM session WHERE rank >= :first ORDER BY rank LIMIT 1 OFFSET :steps"
NTH_IN_ONE_CWD: Final = """
    SELECT rank FROM session INDEXED BY session_cwd WHERE cwd = :cwd AND rank >= :first
    ORDER BY rank LIMIT 1 OFFSET :steps"""
