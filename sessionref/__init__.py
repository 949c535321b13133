"""Bring another conversation into one new message, as a bounded, read-only, untrusted snapshot.

reference/   what a mention says             text -> references
session/     what a log means                lines -> surface, title
snapshot/    what is carried over            surface -> message
storage/     where logs lie                  stores, live sessions, the corpus
discovery/   which sessions match            ranking, the scan
resolver.py  the service on trio;            opening.py puts it together
cli/         the command;                    testing/ checks what others implement
"""

from sessionref.config import ResolverConfig
from sessionref.errors import ErrorCode, SessionReferenceError
from sessionref.model import (
    Candidate,
    PreparedMessage,
    Reference,
    Target,
    TextBlock,
    UserMessage,
)
from sessionref.opening import open_resolver
from sessionref.reference.mentions import format_mention, parse_mentions
from sessionref.reference.uri import decode_uri, encode_uri
from sessionref.resolver import SessionReferenceResolver

__all__ = [
    "Candidate",
    "ErrorCode",
    "PreparedMessage",
    "Reference",
    "ResolverConfig",
    "SessionReferenceError",
    "SessionReferenceResolver",
    "Target",
    "TextBlock",
    "UserMessage",
    "decode_uri",
    "encode_uri",
    "format_mention",
    "open_resolver",
    "parse_mentions",
]
