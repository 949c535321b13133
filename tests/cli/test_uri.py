"""`sessionref uri`: from ids to URIs and back."""

from __future__ import annotations

import json

import pytest
from cli.invoking import Invoke

from sessionref import encode_uri


def test_encoding(invoke: Invoke) -> None:
    """An id becomes its one URI."""
    assert invoke("uri", "encode", "a").stdout == "dsh-session:ImEi\n"


def test_decoding(invoke: Invoke) -> None:
    """A URI becomes its id."""
    assert invoke("uri", "decode", "dsh-session:ImEi").stdout == "a\n"


def test_a_decoded_id_is_only_shown(invoke: Invoke) -> None:
    """An id cannot act on the terminal that it is printed on."""
    result = invoke("uri", "decode", encode_uri("evil\x1b\x07\x9b\ns \ud83d"))
    assert result.stdout == "evil\\x1b\\x07\\x9b\\x0as \\ud83d\n"


@pytest.mark.parametrize("direction", ["encode", "decode"])
@pytest.mark.parametrize("session_id", ["a", "\x1b\n", "漢 \ud83d"])
def test_json_holds_both(invoke: Invoke, direction: str, session_id: str) -> None:
    """With `--json` either way prints the very id and its URI."""
    uri = encode_uri(session_id)
    argument = session_id if direction == "encode" else uri
    result = invoke("uri", direction, argument, "--json")
    assert json.loads(result.stdout_bytes.decode()) == {"sessionId": session_id, "uri": uri}


def test_a_uri_that_is_none(invoke: Invoke) -> None:
    """What does not decode is an error with its stable code."""
    result = invoke("uri", "decode", "dsh-session:AAAA")
    assert result.exit_code == 1
    assert "SESSION_REFERENCE_INVALID_REFERENCE" in result.stderr
