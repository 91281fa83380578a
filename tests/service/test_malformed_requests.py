"""Valid HTTP requests that a call does not accept: bodies, types, sizes and queries."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.in_process import InProcess
from tests.support.response_checks import expect_problem
from tests.support.wire import wire

JSON = {"Content-Type": "application/json"}
KEY = "Idempotency-Key"
MEBIBYTE = 1024 * 1024


def send_flag(api: CheckedWorld, raw: bytes, **headers: str) -> Response:
    path = api.project_path("powered-by-flag")
    request_headers = {name.replace("_", "-"): value for name, value in headers.items()} or JSON
    return api.call("PUT", path, key="k", raw=raw, headers=request_headers)


NO_OBJECTS = [
    b"",
    b" ",
    b"\n",
    b"{",
    b"}",
    b"[]",
    b"null",
    b"true",
    b"7",
    b'"enabled"',
    b"enabled=true",
    b"{'enabled': true}",
    b"{enabled: true}",
    b'{"enabled": True}',
    b'{"enabled": true,}',
    b'{"enabled": true} x',
    b'{"enabled": true}{"enabled": true}',
    b'{"enabled": true',
    b'{"enabled": tru}',
    b'{"enabled": NaN}',
    b'{"enabled": Infinity}',
    b'{"enabled": -}',
    b'{"enabled": 01}',
    b'{"enabled": true, "enabled": false}',
    b'{"enabled": true, "enabled": true}',
    b'{"enabled": "\xff"}',
    b'{"enabled": "\xc3"}',
    b'\xff\xfe{\x00"\x00',
    '{"enabled": true}'.encode("utf-16"),
    b'\xef\xbb\xbf{"enabled": true}',
    b'{"enabled": "\x00"}',
    b'{"enabled": "a\nb"}',
    b'// no\n{"enabled": true}',
    b"[" * 100_000,
    b'{"enabled":' * 50_000,
    b'{"enabled":' + b"1" * 10_000 + b"}",
    b'{"enabled": 1e999999}',
    b'{"\\ud800": 1, "enabled": true}',
    b"\x00" * 10,
    gzip.compress(b'{"enabled": true}', mtime=0),
]


def test_a_body_that_is_not_a_json_object_is_refused(api: CheckedWorld) -> None:
    for raw in NO_OBJECTS:
        response = send_flag(api, raw)

        assert response.status == 400, raw[:24]
        expect_problem(response, 400, "invalid_request")


@pytest.mark.parametrize(
    "name", ["\\ud800", "\\udc00x", "a\\udfff"], ids=["high", "low", "at the end"]
)
def test_a_name_with_half_a_surrogate_pair_is_refused(api: CheckedWorld, name: str) -> None:
    path = f"/v1/organizations/{api.emulator.organization}/user-api-keys"
    raw = f'{{"name": "{name}"}}'.encode()

    expect_problem(api.call("POST", path, key="k", raw=raw, headers=JSON), 400, "invalid_request")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json-patch+json",
        "application/vnd.api+json",
        "json",
        "*/*",
        ";",
        "text/plain, application/json",
    ],
)
def test_another_content_type_is_refused_by_name(api: CheckedWorld, content_type: str) -> None:
    response = send_flag(api, b'{"enabled": true}', Content_Type=content_type)

    assert "Content-Type" in expect_problem(response, 400, "invalid_request")["detail"]


def test_a_missing_content_type_is_refused_by_name(api: CheckedWorld) -> None:
    with wire(api.emulator.base_url) as connection:
        headers = [
            ("Authorization", f"Bearer {api.emulator.token()}"),
            ("Idempotency-Key", "k"),
        ]
        path = api.project_path("powered-by-flag")
        connection.send_request("PUT", path, headers, b'{"enabled": true}')

        assert (
            "Content-Type"
            in expect_problem(connection.read_response(), 400, "invalid_request")["detail"]
        )


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;",
    ],
)
def test_every_spelling_of_the_content_type_of_json_is_accepted(
    api: CheckedWorld, content_type: str
) -> None:
    assert send_flag(api, b'{"enabled": true}', Content_Type=content_type).status == 200


# --- Size -----------------------------------------------------------------------------------------


def padded(size: int) -> bytes:
    return b'{"enabled": true}'.ljust(size)


def test_a_body_of_one_mebibyte_is_accepted(api: CheckedWorld) -> None:
    assert send_flag(api, padded(MEBIBYTE)).status == 200


def test_a_body_of_more_than_one_mebibyte_is_too_large(api: CheckedWorld) -> None:
    document = expect_problem(send_flag(api, padded(MEBIBYTE + 1)), 400, "payload_too_large")

    assert str(MEBIBYTE) in document["detail"]


def _headers(api: CheckedWorld) -> list[tuple[str, str]]:
    return [
        ("Authorization", f"Bearer {api.emulator.token()}"),
        ("Idempotency-Key", "k"),
        ("Content-Type", "application/json"),
    ]


def test_an_announced_size_is_refused_before_the_body_is_sent(api: CheckedWorld) -> None:
    path = api.project_path("powered-by-flag")
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        connection.send_request("PUT", path, _headers(api), length=10**12)

        expect_problem(connection.read_response(), 400, "payload_too_large")

    assert api.state() == before


def test_a_chunked_body_is_limited_while_it_arrives(api: CheckedWorld) -> None:
    path = api.project_path("powered-by-flag")
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        headers = [*_headers(api), ("Transfer-Encoding", "chunked")]
        connection.send_request("PUT", path, headers, length=-1)
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        connection.send(chunk * 17)

        expect_problem(connection.read_response(), 400, "payload_too_large")

    assert api.state() == before


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_the_limit_holds_for_the_decompressed_body(api: CheckedWorld, pack: object) -> None:
    assert callable(pack)
    encoding = "gzip" if pack is gzip.compress else "deflate"
    bomb = pack(padded(20 * MEBIBYTE))
    assert len(bomb) < MEBIBYTE

    response = send_flag(api, bomb, Content_Type="application/json", Content_Encoding=encoding)

    expect_problem(response, 400, "payload_too_large")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_body_that_cannot_be_decompressed_is_refused(api: CheckedWorld, encoding: str) -> None:
    response = send_flag(
        api, b'{"enabled": true}', Content_Type="application/json", Content_Encoding=encoding
    )

    expect_problem(response, 400, "invalid_request")


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip"])
def test_a_content_encoding_that_is_not_supported_is_named(
    api: CheckedWorld, encoding: str
) -> None:
    response = send_flag(api, b"{}", Content_Type="application/json", Content_Encoding=encoding)

    detail = expect_problem(response, 400, "invalid_request")["detail"]
    assert f"Content-Encoding {encoding!r}" in detail


def test_calls_without_a_body_are_limited_too(api: CheckedWorld) -> None:
    expect_problem(api.apply_domains(raw=b" " * (MEBIBYTE + 1)), 413, "payload_too_large")
    expect_problem(api.ticket(raw=b" " * (MEBIBYTE + 1)), 413, "payload_too_large")


# --- Where no body is expected ---------------------------------------------------------------------


@pytest.mark.parametrize("raw", [b"", b"{}", b"{broken", b"\xff\x00", json.dumps([1]).encode()])
def test_a_body_on_a_call_without_one_is_ignored(api: CheckedWorld, raw: bytes) -> None:
    assert api.apply_domains(raw=raw).status == 202
    assert api.ticket(raw=raw).status == 201


# --- Queries --------------------------------------------------------------------------------------


def test_a_query_of_a_hundred_parameters_is_accepted(api: CheckedWorld) -> None:
    assert api.deployments("?limit=1" + "&a=1" * 99).status == 200


@pytest.mark.parametrize("query", ["?limit=%FF", "?limit=%zz", "?%FF=1", "?" + "&a=1" * 100])
def test_a_broken_query_is_refused(api: CheckedWorld, query: str) -> None:
    expect_problem(api.deployments(query), 400, "invalid_request")


def test_a_header_that_is_not_allowed_twice_is_named(api: CheckedWorld) -> None:
    with wire(api.emulator.base_url) as connection:
        path = f"{connection.prefix}{api.project_path('powered-by-flag')}"
        types = [("Content-Type", "application/json"), ("Content-Type", "text/plain")]
        connection.send_request("PUT", path, [*types, ("Content-Length", "0")])
        response = connection.read_response("PUT")

    problem = expect_problem(response, 400, "invalid_request")
    assert problem["detail"] == (
        "The request has several Content-Type headers, but only one is allowed."
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("Idempotency-Key", b"\xff\xfe"), ("X-Request-Id", b"\xff\xfe"), ("X-Request-Id", b"a\tb")],
)
def test_a_header_that_is_not_text_is_refused_with_a_problem(
    api: CheckedWorld, name: str, value: bytes
) -> None:
    before = api.state()
    with wire(api.emulator.base_url) as connection:
        path = f"{connection.prefix}{api.project_path('powered-by-flag')}"
        head = f"PUT {path} HTTP/1.1\r\nHost: {connection.host}\r\n{name}: ".encode()
        rest = "".join(f"{n}: {v}\r\n" for n, v in _headers(api) if n != name)
        connection.send(head + value + f"\r\n{rest}Content-Length: 2\r\n\r\n{{}}".encode())

        expect_problem(connection.read_response(), 400, "invalid_request")

    assert api.state() == before


@pytest.mark.parametrize(("length", "end"), [(60, "x'."), (61, "x'….")])
def test_a_refusal_quotes_at_most_60_characters_of_the_input(length: int, end: str):
    world = InProcess()

    refused = world.call(
        "PUT",
        world.project_path("powered-by-flag"),
        key="k",
        raw=b"{}",
        headers={"Content-Type": "x" * length},
    )

    quote = f"not '{'x' * 59}{end}"
    assert refused.json["detail"] == f"The Content-Type must be application/json, {quote}"


# --- What a refusal says ---------------------------------------------------------------------------

#: Bodies of a request that sets the flag, and what the refusal says.
FLAG_BODIES = [
    (b"", "The request body is empty; this call needs a JSON object."),
    (b"null", "The request body must be a JSON object, not null."),
    (b"true", "The request body must be a JSON object, not true."),
    (b"false", "The request body must be a JSON object, not false."),
    (b"[]", "The request body must be a JSON object, not an array."),
    (b'""', "The request body must be a JSON object, not a string of 0 characters."),
    (b'"a"', "The request body must be a JSON object, not a string of 1 character."),
    (b"-7.5", "The request body must be a JSON object, not the number -7.5."),
    (
        b"999999999999999",
        "The request body must be a JSON object, not the number 999999999999999.",
    ),
    (b"-1e15", "The request body must be a JSON object, not a large number."),
    (b"{}", "The request body needs the 'enabled' field."),
    (b'{"enabled": true, "x": 1}', "The request body has no field 'x'."),
    (
        b'{"enabled": {}}',
        "The field 'enabled' is invalid: Input should be a valid boolean; the value is an object.",
    ),
]


@pytest.mark.parametrize(("raw", "detail"), FLAG_BODIES)
def test_a_refusal_says_what_is_wrong_with_a_body(raw: bytes, detail: str) -> None:
    world = InProcess()

    refused = world.call(
        "PUT", world.project_path("powered-by-flag"), key="k", raw=raw, headers=JSON
    )

    assert expect_problem(refused, 400, "invalid_request")["detail"] == detail
    assert _assumption_of_refusal(world) is None


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        (
            {},
            "The Idempotency-Key header is required: send 1 to 128 characters, and a new key for "
            "each request that is not a retry.",
        ),
        ({KEY: ""}, "The Idempotency-Key header has 0 characters; it must have 1 to 128."),
        ({KEY: "k" * 129}, "The Idempotency-Key header has 129 characters; it must have 1 to 128."),
        ({KEY: "ä" * 129}, "The Idempotency-Key header has 129 characters; it must have 1 to 128."),
    ],
)
def test_a_refusal_says_what_is_wrong_with_an_idempotency_key(
    headers: dict[str, str], detail: str
) -> None:
    world = InProcess()

    refused = world.call("PUT", world.project_path("domains"), headers=headers)

    assert expect_problem(refused, 400, "invalid_request")["detail"] == detail


@pytest.mark.parametrize("key", ["k", "k" * 128, "ä", "ä" * 128])
def test_an_idempotency_key_has_1_to_128_characters(key: str) -> None:
    world = InProcess()

    response = world.call("PUT", world.project_path("domains"), headers={"Idempotency-Key": key})

    assert response.status == 202


@pytest.mark.parametrize(
    ("path", "detail", "assumption"),
    [
        ("deployments?limit=", "limit must be an integer from 1 to 100.", None),
        ("deployments?limit=1&limit=1", "limit was sent 2 times; send it once.", None),
        (
            "deployments?cursor=x",
            "cursor is not a next_cursor of this project's deployments; omit the parameter to get "
            "the first page.",
            None,
        ),
        ("database/compute?environment=x", "environment must be dev or prod.", None),
        (
            "database/compute",
            "environment is required and must be dev or prod.",
            "missing_environment",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong_with_a_query_parameter(
    path: str, detail: str, assumption: str | None
) -> None:
    world = InProcess()

    refused = world.call("GET", world.project_path(path))

    problem = expect_problem(refused, 400, "invalid_request")
    assert problem["detail"] == f"The query parameter {detail}"
    assert _assumption_of_refusal(world) == assumption


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("?limit=%FF", "The query string is not UTF-8."),
        ("?" + "&a=1" * 100, "The query string has more than 100 parameters."),
    ],
)
def test_a_refusal_says_what_is_wrong_with_a_query(query: str, detail: str) -> None:
    world = InProcess()

    assert world.deployments("?" + "&a=1" * 99).status == 200
    refused = world.deployments(query)

    assert expect_problem(refused, 400, "invalid_request")["detail"] == detail


@pytest.mark.parametrize(
    ("assumption", "method", "path", "options", "detail"),
    [
        (
            "unexpected_body",
            "PUT",
            "domains",
            {"key": "k", "raw": b"{}"},
            "This call takes no request body.",
        ),
        (
            "unknown_query_parameters",
            "GET",
            f"edge-dns?{'x' * 61}=1",
            {},
            f"This call has no query parameter '{'x' * 60}'….",
        ),
        (
            "unknown_body_fields",
            "POST",
            "source:initialize",
            {"key": "k", "body": {"expected_source_generation": 1, "x": 1}},
            "The request body has no field 'x'.",
        ),
    ],
)
def test_input_that_only_an_assumption_refuses_is_refused_with_that_assumption(
    assumption: str, method: str, path: str, options: dict[str, Any], detail: str
) -> None:
    world = InProcess()
    path = world.project_path(path)

    assert world.call(method, path, **options).status < 300
    world.set_assumptions(**{assumption: "refused"})
    refused = world.call(method, path, **options)

    assert expect_problem(refused, 400, "invalid_request")["detail"] == detail
    assert _assumption_of_refusal(world) == assumption


def _assumption_of_refusal(world: InProcess) -> str | None:
    """Return the assumption that the request log names for the latest request."""
    return world.engine.log.after(0)[-1].assumption
