"""`sessionref uri`: from a session's id to its URI and back."""

from __future__ import annotations

import click

from sessionref.cli.options import json_option
from sessionref.cli.output import print_json
from sessionref.cli.text import one_line
from sessionref.reference.uri import decode_uri, encode_uri

__all__ = ["uri_commands"]


@click.group(name="uri")
def uri_commands() -> None:
    """Turn a session's id into its URI, or back."""


@uri_commands.command(name="encode")
@click.argument("session_id", metavar="ID")
@json_option
def encode_command(session_id: str, *, as_json: bool) -> None:
    """Print the URI of the session with this ID."""
    _print(session_id, encode_uri(session_id), as_json=as_json, shows_uri=True)


@uri_commands.command(name="decode")
@click.argument("uri")
@json_option
def decode_command(uri: str, *, as_json: bool) -> None:
    """Print the id of the session that a URI names.

    Control characters in it are printed as visible escapes; --json has the very id.
    """
    _print(decode_uri(uri), uri, as_json=as_json, shows_uri=False)


def _print(session_id: str, uri: str, *, as_json: bool, shows_uri: bool) -> None:
    if as_json:
        print_json({"sessionId": session_id, "uri": uri})
    else:
        click.echo(uri if shows_uri else one_line(session_id))
