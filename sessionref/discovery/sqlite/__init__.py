"""Discovery from a SQLite file: an index of titles that is refreshed from the logs.

index        the discovery itself                 text        grams, and bytes that are compared
refreshing   walk, read what changed, forget      rows        a session as a row, ranks
comparing    which logs must be read              writing     put sessions in, take them out
logs         a log to what is kept of it          search      the sessions that have a needle
opened       the file in use, and given up        plans       which way of searching is fast
connections  readers, and one writer              counting    how frequent grams are
schema       the migrations                       verifying   compare with the logs
"""

from sessionref.discovery.sqlite.index import IndexStatus, SqliteTitleIndex
from sessionref.discovery.sqlite.refreshing import RefreshProgress, RefreshReport
from sessionref.discovery.sqlite.verifying import Difference

__all__ = ["Difference", "IndexStatus", "RefreshProgress", "RefreshReport", "SqliteTitleIndex"]
