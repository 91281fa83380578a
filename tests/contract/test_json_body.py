"""JSON is read strictly: what the standard allows, and a clear reason for refusing the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosting_emulator.contract.json_body import JsonRefused, read_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(document=DOCUMENTS, ascii_only=st.booleans())
def test_every_json_document_is_read(document, ascii_only):
    body = json.dumps(document, ensure_ascii=ascii_only).encode()

    assert read_json(body) == document


@given(body=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_reason(body):
    why = "a value"
    try:
        read_json(body)
    except JsonRefused as refused:
        why = str(refused)
    assert why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is not JSON: Expecting value at line 1, column 1"),
        (b"{", "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b"[1,]", "is not JSON"),
        (b"{} {}", "Extra data at line 1, column 4"),
        (b"nul", "is not JSON"),
        (b"NaN", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"\xff\xfe{}", "is not UTF-8 \\(byte 0\\)"),
        (b'{"a": "\xc3"}', "is not UTF-8"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b'{"a": 1, "a": 2}', "contains the name 'a' twice"),
        (b'{"o": {"x": 1, "\\u0078": 2}}', "contains the name 'x' twice"),
        (b'"\\ud800"', "half of a surrogate pair"),
        (b'{"\\udfff": 1}', "half of a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 5_000, "too many digits"),
        (b"1e999", "too large"),
        (b"[-1E+400]", "too large"),
        (b'"a\nb"', "is not JSON"),
        (b'"\x00"', "is not JSON"),
        (b"\x00", "is not JSON"),
        (b"+1", "is not JSON"),
        (b"01", "is not JSON"),
        (b".5", "is not JSON"),
        (b"0x10", "is not JSON"),
    ],
)
def test_a_body_that_is_not_json_is_refused_with_the_reason(body, why):
    with pytest.raises(JsonRefused, match=why):
        read_json(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'"\\ud83d\\ude00"', "😀"),
        (b" \r\n\t1 ", 1),
        (b"1e-999", 0.0),
        (b'"\\u0000"', "\0"),
        (b"-0", 0),
    ],
)
def test_unusual_json_is_read(body, value):
    assert read_json(body) == value


@pytest.mark.parametrize("body", [b"1.0", b"1e0", b"10E-1"])
def test_a_whole_number_is_an_integer_in_every_notation(body):
    value = read_json(body)

    assert (value, type(value)) == (1, int)
