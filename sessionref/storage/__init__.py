"""Where sessions lie: the protocol of a store, the stores that the library brings, and the corpus.

protocol   what a store must promise
jsonl      the logs that DSH writes, in a folder
memory     sessions in memory
live       sessions that a host holds open
corpus     live sessions before stored ones
"""

from sessionref.session.fold import SessionLog
from sessionref.session.header import SessionHeader
from sessionref.storage.corpus import Corpus, CorpusSession
from sessionref.storage.jsonl.store import JsonlSessionStore
from sessionref.storage.live import LiveSession, LiveSessions
from sessionref.storage.memory import MemorySessionStore
from sessionref.storage.protocol import Revision, SessionStore, StoredSession, TitleReading

__all__ = [
    "Corpus",
    "CorpusSession",
    "JsonlSessionStore",
    "LiveSession",
    "LiveSessions",
    "MemorySessionStore",
    "Revision",
    "SessionHeader",
    "SessionLog",
    "SessionStore",
    "StoredSession",
    "TitleReading",
]
