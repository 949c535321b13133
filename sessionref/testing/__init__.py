"""Fakes for stores, and checks that hold any store or discovery to its protocol.

Whoever implements `SessionStore` or `Discovery` can call the checks in their own tests; a check
raises `AssertionError` with the rule that is broken, what was expected and what came.
"""

from sessionref.testing.checks import check_discovery, check_store
from sessionref.testing.fakes import BlockedStore, FailingStore, ParkedStore, ShieldingStore

__all__ = [
    "BlockedStore",
    "FailingStore",
    "ParkedStore",
    "ShieldingStore",
    "check_discovery",
    "check_store",
]
