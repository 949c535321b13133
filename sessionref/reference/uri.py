"""The URI of a session: `dsh-session:` and the base64url of the JSON text of its id.

Encoding is a bijection between session ids and URIs; decoding refuses every other spelling.
"""

import base64
import re
from typing import Final

from sessionref.errors import InvalidReferenceError
from sessionref.javascript import json_string

__all__ = ["SCHEME", "decode_uri", "encode_uri"]

SCHEME: Final = "dsh-session:"

_URI: Final = re.compile(re.escape(SCHEME) + r"([A-Za-z0-9_-]+)")


def encode_uri(session_id: str) -> str:
    """Return the one URI that names a session id, whatever characters the id holds.

    The payload is base64url, without padding, of the UTF-8 of the id's JSON text.
    """
    payload = json_string(session_id).encode()
    return SCHEME + base64.urlsafe_b64encode(payload).rstrip(b"=").decode("ascii")


def decode_uri(uri: str) -> str:
    """Return the session id that a URI names.

    Raises `InvalidReferenceError` unless `uri` is exactly what `encode_uri` makes of some id.
    """
    import json  # a start need not pay for it

    match = _URI.fullmatch(uri)
    if match is None:
        raise InvalidReferenceError(value=uri, problem=f"a session URI is {SCHEME} and base64url")
    payload = match[1]
    try:
        session_id = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, RecursionError) as error:
        raise InvalidReferenceError(
            value=uri, problem="the URI does not hold the JSON text of a session id"
        ) from error
    if not isinstance(session_id, str) or encode_uri(session_id) != uri:
        raise InvalidReferenceError(value=uri, problem="the URI is not in its canonical form")
    return session_id
