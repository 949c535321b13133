"""The URI of a session: a bijection between session ids and URIs."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import javascript_text, joined_text

from sessionref import ErrorCode, decode_uri, encode_uri
from sessionref.errors import InvalidReferenceError
from sessionref.javascript import join_surrogates

SCHEME = "dsh-session:"
URI_CHARACTERS = "ABCIMabimz0159-_+/=.: \n"


def uri_of(payload: bytes) -> str:
    return SCHEME + base64.urlsafe_b64encode(payload).rstrip(b"=").decode()


def payload_of(uri: str) -> bytes:
    encoded = uri.removeprefix(SCHEME)
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


@st.composite
def damaged_uris(draw: st.DrawFn) -> str:
    """A URI with one piece of it replaced, inserted or removed."""
    uri = encode_uri(draw(javascript_text(max_size=8)))
    start = draw(st.integers(0, len(uri)))
    end = draw(st.integers(start, min(start + 3, len(uri))))
    return uri[:start] + draw(st.text(URI_CHARACTERS, max_size=3)) + uri[end:]


def spelled_payloads() -> st.SearchStrategy[bytes]:
    """The JSON of a string or of other data, in other spellings than JavaScript's."""
    data = javascript_text(max_size=6) | st.none() | st.integers() | st.lists(st.just("a"))
    return st.builds(
        lambda value, ascii_only, space: space + json.dumps(value, ensure_ascii=ascii_only) + space,
        data,
        st.booleans(),
        st.sampled_from(["", "", " ", "\n"]),
    ).map(lambda text: text.encode("utf-8", "surrogatepass"))


@given(javascript_text())
def test_decoding_gives_back_what_was_encoded(session_id: str) -> None:
    """Any string is an id; what comes back is the same JavaScript string, its pairs joined."""
    assert decode_uri(encode_uri(session_id)) == join_surrogates(session_id)


@given(javascript_text())
def test_both_spellings_of_a_pair_have_one_uri(session_id: str) -> None:
    """A pair of surrogates kept apart names the same session as the one character."""
    assert encode_uri(session_id) == encode_uri(join_surrogates(session_id))


@given(joined_text(), joined_text())
def test_different_ids_have_different_uris(one: str, other: str) -> None:
    """No URI names two sessions."""
    assume(one != other)
    assert encode_uri(one) != encode_uri(other)


@given(javascript_text())
def test_a_uri_holds_json_in_url_safe_characters(session_id: str) -> None:
    """The payload is unpadded base64url of the UTF-8 of a JSON string."""
    uri = encode_uri(session_id)
    assert set(uri.removeprefix(SCHEME)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )
    assert json.loads(payload_of(uri).decode()) == join_surrogates(session_id)


@pytest.mark.parametrize(
    ("session_id", "payload"),
    [
        ("", b'""'),
        ("H", b'"H"'),
        ('a"b\\c/d', b'"a\\"b\\\\c/d"'),
        ("\b\t\n\v\f\r\x1f\x7f", b'"\\b\\t\\n\\u000b\\f\\r\\u001f\x7f"'),
        ("\u2028é漢😀", b'"\xe2\x80\xa8\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"'),
        ("\ud83d", b'"\\ud83d"'),
        ("\ude00\ud83d", b'"\\ude00\\ud83d"'),
        ("\ud83d\ude00", b'"\xf0\x9f\x98\x80"'),
        ("<>?", b'"<>?"'),
    ],
)
def test_the_payload_is_what_javascript_writes(session_id: str, payload: bytes) -> None:
    """The JSON text escapes what JSON.stringify escapes and nothing else."""
    assert encode_uri(session_id) == uri_of(payload)


@given(
    damaged_uris()
    | spelled_payloads().map(uri_of)
    | st.binary(max_size=12).map(uri_of)
    | st.text(URI_CHARACTERS, max_size=12).map(SCHEME.__add__)
    | javascript_text()
)
def test_decoding_accepts_nothing_that_encoding_does_not_make(uri: str) -> None:
    """A text either names an id whose URI it is, or it is refused."""
    try:
        session_id = decode_uri(uri)
    except InvalidReferenceError:
        return
    assert encode_uri(session_id) == uri


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param("", id="nothing"),
        pytest.param("Ikgi", id="no scheme"),
        pytest.param("dsh-session:", id="no payload"),
        pytest.param("DSH-session:Ikgi", id="scheme in upper case"),
        pytest.param(" dsh-session:Ikgi", id="space before"),
        pytest.param("dsh-session:Ikgi\n", id="line feed behind"),
        pytest.param("dsh-session:Ikgi=", id="padding"),
        pytest.param("dsh-session:IkgiA", id="length that base64 never has"),
        pytest.param("dsh-session:IkEiB", id="a character too many"),
        pytest.param("dsh-session:IkFCIh", id="bits behind the last byte"),
        pytest.param(uri_of(b'"\xff"'), id="not UTF-8"),
        pytest.param(uri_of(b'"\xed\xa0\xbd"'), id="surrogate in UTF-8"),
        pytest.param(uri_of(b'"\xc1\x81"'), id="overlong UTF-8"),
        pytest.param(uri_of(b'\xef\xbb\xbf"H"'), id="byte order mark"),
        pytest.param(uri_of('"H"'.encode("utf-16")), id="UTF-16"),
        pytest.param(uri_of('"H"'.encode("utf-32-be")), id="UTF-32"),
        pytest.param(uri_of(b"H"), id="not JSON"),
        pytest.param(uri_of(b'"H'), id="half of JSON"),
        pytest.param(uri_of(b'"H" "H"'), id="two values"),
        pytest.param(uri_of(b'"\n"'), id="raw control character"),
        pytest.param(uri_of(b'"\\x48"'), id="unknown escape"),
        pytest.param(uri_of(b"null"), id="null"),
        pytest.param(uri_of(b"17"), id="number"),
        pytest.param(uri_of(b"NaN"), id="NaN"),
        pytest.param(uri_of(b'["H"]'), id="list"),
        pytest.param(uri_of(b' "H"'), id="white space"),
        pytest.param(uri_of(b'"\\u0048"'), id="needless escape"),
        pytest.param(uri_of(b'"\\/"'), id="escaped slash"),
        pytest.param(uri_of(b'"\\u001F"'), id="escape in upper case"),
        pytest.param(uri_of(b'"\\u000a"'), id="long escape where there is a short one"),
        pytest.param(uri_of(b'"\\ud83d\\ude00"'), id="escaped pair"),
        pytest.param(uri_of(b"[" * 100_000), id="deep nesting"),
        pytest.param(uri_of(b"9" * 5_000), id="endless number"),
        pytest.param("dsh-session:\ud83d", id="surrogate"),
        pytest.param("dsh-session:Ikg\u0131", id="letter that is not ASCII"),
    ],
)
def test_any_other_spelling_is_refused(uri: str) -> None:
    """Only the canonical URI of an id is accepted; the error has the stable code and the text."""
    with pytest.raises(InvalidReferenceError) as caught:
        decode_uri(uri)
    assert caught.value.code == ErrorCode.INVALID_REFERENCE
    assert caught.value.value == uri
