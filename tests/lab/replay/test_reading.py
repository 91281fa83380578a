"""A file that is not a recording is refused in one line that names the place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator_lab.replay import (
    Recording,
    RecordRefused,
    ReplayedExchange,
    ReplayReport,
    read_record,
    report_document,
)
from hosting_emulator_lab.replay.comparison import ResponseDifference
from hosting_emulator_lab.replay.recording import (
    RecordedExchange,
    RecordedResponse,
    RecordedWorld,
    Sender,
)

FINE: dict[str, Any] = {
    "startedDateTime": "2026-01-01T00:00:00Z",
    "request": {"method": "GET", "url": "http://h/v1/projects/p/edge-dns", "headers": []},
    "response": {"status": 200, "headers": [], "content": {"size": 2, "text": "{}"}},
}


#: An exchange of the emulator's request log.
LOGGED: dict[str, Any] = {
    "n": 1,
    "at": "2026-01-01T00:00:00Z",
    "method": "POST",
    "path": "/v1/organizations/o/user-api-keys",
    "query": "",
    "call": "create_user_api_key",
    "user_id": "",
    "user": None,
    "status": 201,
    "lost": None,
    "request": {"headers": [], "body": "{}", "body_bytes": 2, "body_cut": False},
    "response": {"headers": [], "body": '{"replayed": false}', "body_cut": False},
}


def har(*entries: Any, **log: Any) -> Any:
    return {"log": {"version": "1.2", "entries": list(entries), **log}}


WRONG_TYPE = "it, or a part of it, has the wrong type (string, number, list, object)"
NO_RECORDING = (
    "this is not a recording of requests: give an HTTP Archive, such as "
    "`hosting-emulator requests har` or a browser's network panel writes"
)
NO_ARCHIVE = "log.entries is missing: this is not an HTTP Archive 1.2"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("text", NO_RECORDING),
        ({"a": 1}, NO_RECORDING),
        ({"log": {}}, NO_ARCHIVE),
        ({"log": []}, NO_ARCHIVE),
        (har(), "it contains no request to /v1"),
        (
            har({**FINE, "request": {**FINE["request"], "url": "http://h/x?y"}}),
            "it contains no request to /v1: #1 GET http://h/x is not one",
        ),
        (har({**FINE, "request": {"method": "GET"}}), "log.entries[0]: url is missing"),
        (har(FINE, {**FINE, "response": None}), f"log.entries[1] cannot be read: {WRONG_TYPE}"),
        (har("text"), f"log.entries[0] cannot be read: {WRONG_TYPE}"),
        (har(FINE, "text"), f"log.entries[1] cannot be read: {WRONG_TYPE}"),
        (
            har({**FINE, "startedDateTime": "noon" * 30}),
            f"log.entries[0] cannot be read: '{'noon' * 20}' is not a timestamp: "
            "write it like 2026-01-31T09:30:00Z",
        ),
        (
            har({**FINE, "response": {**FINE["response"], "status": "two"}}),
            f"log.entries[0] cannot be read: {WRONG_TYPE}",
        ),
        (
            har(FINE, _world={"at": "noon"}),
            "log._world cannot be read: 'noon' is not a timestamp: "
            "write it like 2026-01-31T09:30:00Z",
        ),
        ([], "it contains no request"),
        (
            [{"n": 1, "path": "/v1"}],
            "request 1 has no headers and bodies: write the record with "
            "`hosting-emulator requests har`, or with `requests list --json --whole`",
        ),
        ([{"n": 1, "request": {}, "response": {}}], "[0]: path is missing"),
        ([LOGGED, 7], f"[1] cannot be read: {WRONG_TYPE}"),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused(document: Any, message: str):
    with pytest.raises(RecordRefused) as error:
        read_record(document)

    assert str(error.value) == message


# --- Whole recordings -----------------------------------------------------------------------------


def test_a_recording_of_the_emulator_contains_its_world_and_the_senders():
    posted = {"mimeType": "application/json", "text": '{"enabled": true}'}
    entry = {
        "startedDateTime": "2026-01-01T00:00:00.999999Z",
        "_number": 7,
        "_call": "set_project_powered_by_flag",
        "_user": "owner",
        "_principal": {
            "user": "01",
            "organization": "02",
            "interactive": True,
            "api_key": "03",
            "permissions": ["p"],
        },
        "request": {
            "method": "PUT",
            "url": "http://h/worlds/w/v1/projects/p/powered-by-flag?a=b",
            "headers": [{"name": "Origin", "value": "b"}],
            "postData": posted,
            "bodySize": 17,
        },
        "response": {
            "status": 201,
            "headers": [{"name": "A", "value": "c"}],
            "content": {"size": 2, "text": "{}"},
        },
    }
    redeemed = {**entry, "_number": 8, "_call": "redeem_ticket"}
    lost = {**entry, "_number": 9, "_lost": "timeout", "_principal": None, "_call": None}
    world: dict[str, Any] = {
        "name": "w",
        "at": "2026-01-01T00:00:00Z",
        "began_at": "2025-01-01T00:00:00Z",
        "assumptions": {"accepted_status": 200},
        "organizations": {"acme": "02"},
        "users": {"owner": "01"},
        "projects": {"shop": "p"},
    }
    creator = {"name": "hosting-emulator"}

    record = read_record(
        har(entry, redeemed, lost, creator=creator, _world=world, _state={"tables": {}})
    )

    first = RecordedExchange(
        n=7,
        at_ms=1_767_225_600_999,
        method="PUT",
        target="/v1/projects/p/powered-by-flag?a=b",
        headers=(("Origin", "b"),),
        body=b'{"enabled": true}',
        sender=Sender(
            "01",
            alias="owner",
            organization="02",
            interactive=True,
            api_key="03",
            permissions=("p",),
        ),
        response=RecordedResponse(201, (("A", "c"),), "{}"),
        call="set_project_powered_by_flag",
    )
    assert record == Recording(
        requests=(first, replace(first, n=9, sender=None, response=None, call=None)),
        from_emulator=True,
        world=RecordedWorld(**world),
        state={"tables": {}},
        left_out=("#8 PUT http://h/worlds/w/v1/projects/p/powered-by-flag",),
    )


def test_a_recording_of_a_browser_contains_the_calls_without_the_headers_of_its_page():
    call: dict[str, Any] = {
        "startedDateTime": "2026-01-01T01:00:00.5+01:00",
        "_call": "get_operation",
        "request": {
            "method": "PUT",
            "url": "https://h/api/v1/projects/p/powered-by-flag",
            "headers": [
                {"name": "Origin", "value": "b"},
                {"name": "SEC-Fetch-Mode", "value": "cors"},
                {"name": ":authority", "value": "h"},
                {"name": "Idempotency-Key", "value": "k"},
            ],
            "postData": {"mimeType": "text/plain", "text": "//4=", "encoding": "base64"},
        },
        "response": {"status": 0, "headers": []},
    }
    preflight = {**call, "request": {**call["request"], "method": "OPTIONS"}}
    long_address = {**FINE, "request": {**FINE["request"], "url": f"http://h/{'x' * 200}"}}

    record = read_record(har(preflight, long_address, call, _state=7))

    assert record == Recording(
        requests=(
            RecordedExchange(
                n=3,
                at_ms=1_767_225_600_500,
                method="PUT",
                target="/v1/projects/p/powered-by-flag",
                headers=(("Idempotency-Key", "k"), ("Content-Type", "text/plain")),
                body=b"\xff\xfe",
                sender=None,
                response=None,
                call="set_project_powered_by_flag",
            ),
        ),
        from_emulator=False,
        left_out=(
            f"#1 GET http://h/{'x' * 91}",
            "#2 OPTIONS https://h/api/v1/projects/p/powered-by-flag",
        ),
    )


@pytest.mark.parametrize(
    ("headers", "types"),
    [
        ([], ["application/json"]),
        ([{"name": "content-type", "value": "text/plain"}], ["text/plain"]),
    ],
)
def test_a_missing_content_type_header_is_taken_from_the_recorded_body(
    headers: Any, types: list[str]
):
    posted = {"mimeType": "application/json", "text": '{"enabled": true}'}
    request = {**FINE["request"], "method": "PUT", "headers": headers, "postData": posted}

    (recorded,) = read_record(har({**FINE, "request": request})).requests

    assert [value for name, value in recorded.headers if name.lower() == "content-type"] == types


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:00Z", "2026-01-01"])
def test_a_recording_needs_only_its_required_fields(moment: str):
    record = read_record(har({**FINE, "startedDateTime": moment}))

    (request,) = record.requests
    assert (request.target, request.at_ms) == ("/v1/projects/p/edge-dns", 1_767_225_600_000)
    assert (record.from_emulator, request.authorization) == (False, None)


def test_requests_of_a_recording_are_sorted_by_time():
    later = {**FINE, "startedDateTime": "2026-01-01T00:00:01Z"}

    record = read_record(har(later, FINE))

    assert [request.at_ms % 2000 for request in record.requests] == [0, 1000]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"size": 2, "text": "e30=", "encoding": "base64"}, "{}"),
        ({"size": 2, "text": "/w==", "encoding": "base64"}, None),
        ({"size": 2, "text": "!", "encoding": "base64"}, None),
        ({"size": 2, "text": "e3!0=", "encoding": "base64"}, None),
        ({"size": 9}, None),
        ({"size": 9, "text": ""}, None),
        ({"size": 0, "text": ""}, ""),
        (
            {"size": 99_999, "text": "{", "comment": "Only the beginning of the body is included."},
            None,
        ),
    ],
)
def test_a_partly_recorded_response_has_no_text(content: Any, text: str | None):
    response = {"status": 200, "headers": [], "content": content}
    (request,) = read_record(har({**FINE, "response": response})).requests

    assert request.response is not None
    assert request.response.text == text


def test_an_aborted_request_has_no_response():
    aborted = {"status": 0, "headers": [], "content": {"size": 0}}
    (request,) = read_record(har({**FINE, "response": aborted})).requests

    assert request.response is None


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"url": "http://h/v1/projects/p/edge-dns?q=<redacted>"},
            "a secret was redacted in its address",
        ),
        ({"url": "http://h/v1/projects/p/edge dns"}, "its address cannot be sent"),
        ({"method": "GET\n"}, "its method cannot be sent"),
        ({"headers": [{"name": "a b", "value": "c"}]}, "one of its headers cannot be sent"),
        ({"headers": [{"name": "a", "value": "b\r\nc: d"}]}, "one of its headers cannot be sent"),
        (
            {"headers": [{"name": "Idempotency-Key", "value": "<redacted>"}]},
            "what looks like a secret was redacted in its header Idempotency-Key",
        ),
        (
            {"headers": [{"name": "X-Trace", "value": "zz... (8000 bytes)"}]},
            "only the beginning of its header X-Trace was recorded",
        ),
        ({"headers": [{"name": "Cookie", "value": "zz... (8000 bytes)"}]}, None),
        ({"postData": {"text": '{"name":"<redacted>"}'}}, "a secret was redacted in its body"),
        ({"postData": {"text": ""}, "bodySize": 9}, "its body was not recorded"),
        ({"bodySize": 9}, "its body was not recorded"),
        ({"bodySize": None}, None),
        (
            {"postData": {"text": "{", "comment": "Only the beginning of the body is included."}},
            "only a part of its body was recorded",
        ),
        ({"postData": {"text": "{}"}, "bodySize": 2}, None),
        ({"postData": {"text": ""}, "bodySize": 0}, None),
        ({"postData": {"text": ""}}, None),
    ],
)
def test_a_recorded_request_that_cannot_be_sent_gives_its_reason(members: Any, reason: str | None):
    (request,) = read_record(har({**FINE, "request": {**FINE["request"], **members}})).requests

    assert request.unsendable == reason


@pytest.mark.parametrize(
    "document",
    [
        {**LOGGED, "method": "OPTIONS", "path": "*", "call": None},
        har(
            {**FINE, "request": {"method": "OPTIONS", "url": "http://h", "headers": []}},
            creator={"name": "hosting-emulator"},
        ),
    ],
    ids=["exchange", "har"],
)
def test_a_request_without_a_path_is_not_sent(document: Any):
    (request,) = read_record(document).requests

    assert (request.target, request.unsendable) == ("*", "its address has no path")


def paths_in(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner: Any = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    for name, value in inner:
        yield from paths_in(value, (*path, name))


def with_junk(document: Any, path: tuple[Any, ...], junk: Any) -> Any:
    copy = deepcopy(document)
    parent = copy
    for name in path[:-1]:
        parent = parent[name]
    parent[path[-1]] = junk
    return copy


def test_a_recorded_world_may_have_no_times():
    world = read_record(har(FINE, _world={"name": "w"})).world

    assert (world.name, world.at, world.began_at) == ("w", None, None)


FULL = har(
    {
        **FINE,
        "request": {
            **FINE["request"],
            "headers": [{"name": "a", "value": "b"}],
            "postData": {"text": "{}"},
            "bodySize": 2,
        },
        "_number": 1,
        "_user": "owner",
        "_principal": {"user": "01", "organization": "02", "permissions": ["p"]},
    },
    creator={"name": "hosting-emulator"},
    _world={
        "name": "w",
        "at": "2026-01-01",
        "organizations": {},
        "users": {"a": "b"},
        "projects": {},
    },
)


JUNK: tuple[Any, ...] = (None, 7, -1.5, True, "x", "\x00", [], [[]], {}, {"a": 1})


@pytest.mark.parametrize("path", list(paths_in(FULL)), ids=lambda path: ".".join(map(str, path)))
def test_junk_anywhere_in_a_recording_is_accepted_or_refused_in_one_line(path: tuple[Any, ...]):
    messages = []
    for junk in JUNK:
        try:
            assert read_record(with_junk(FULL, path, junk)).requests
        except RecordRefused as refused:
            messages.append(str(refused))

    assert [message for message in messages if "\n" in message or not message] == []


# --- Exchanges of the request log -----------------------------------------------------------------


def read_logged(*items: Any) -> RecordedExchange:
    """Read exchanges of the request log that stand for one request."""
    (request,) = read_record(list(items)).requests
    return request


@pytest.mark.parametrize("document", [LOGGED, [LOGGED], {"items": [LOGGED]}])
def test_exchanges_of_the_log_are_read_alone_in_a_list_and_in_a_page(document: Any):
    exchange = RecordedExchange(
        n=1,
        at_ms=1_767_225_600_000,
        method="POST",
        target="/v1/organizations/o/user-api-keys",
        headers=(),
        body=b"{}",
        sender=None,
        response=RecordedResponse(201, (), '{"replayed": false}'),
        call="create_user_api_key",
    )
    assert read_record(document) == Recording((exchange,), from_emulator=True)


def test_exchanges_of_the_log_are_sorted_and_name_their_senders():
    redeemed = {**LOGGED, "n": 1, "call": "redeem_ticket"}
    later = {**LOGGED, "n": 3, "query": "a=b", "user_id": "01", "user": "owner"}
    no_body = {"headers": [["a", "b"]], "body": "", "body_bytes": 0, "body_cut": False}
    earlier = {**LOGGED, "n": 2, "user_id": "02", "request": no_body}

    first, second = read_record([later, redeemed, earlier]).requests

    assert (first.n, first.sender, first.body) == (2, Sender("02", interactive=True), None)
    assert first.headers == (("a", "b"),)
    assert second.sender == Sender("01", alias="owner", interactive=True)
    assert second.target == "/v1/organizations/o/user-api-keys?a=b"


def test_the_response_to_a_request_that_was_delivered_twice_is_the_one_that_arrived():
    first = {**LOGGED, "discarded": True}
    unrelated = {**LOGGED, "n": 2, "second_delivery_of": 9, "status": 202}
    second = {**LOGGED, "n": 3, "second_delivery_of": 1, "status": 200}

    response = read_logged(first, unrelated, second).response

    assert response is not None
    assert response.status == 200


@pytest.mark.parametrize("members", [{"lost": "connection_reset"}, {"status": 0}])
def test_a_lost_response_of_the_log_did_not_arrive(members: Any):
    assert read_logged({**LOGGED, **members}).response is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"body": "{", "body_cut": True}, "only a part of its body was recorded"),
        ({"body": "", "body_cut": True}, "its body was not recorded"),
        ({"body": None}, "its body was not recorded"),
    ],
)
def test_a_logged_request_without_its_whole_body_cannot_be_sent(body: Any, reason: str):
    request = read_logged({**LOGGED, "request": {**LOGGED["request"], **body}})

    assert request.unsendable == reason


def test_a_report_describes_each_request_and_counts_them():
    record = read_record([{**LOGGED, "lost": "connection_reset"}])
    record = replace(record, left_out=("#2 GET http://h/x",))
    [recorded] = record.requests
    response = RecordedResponse(200, (), "{}")
    difference = ResponseDifference("response", "(no response)", "status 200")
    exchanges = [
        ReplayedExchange(recorded, None),
        ReplayedExchange(recorded, response, (difference,)),
        ReplayedExchange(recorded, None, skipped="its method cannot be sent"),
    ]

    document = report_document(ReplayReport("shop", exchanges, ["A note."]), record)

    request = {
        "n": 1,
        "method": "POST",
        "path": "/v1/organizations/o/user-api-keys",
        "recorded_status": None,
        "status": None,
        "same": True,
        "skipped": None,
        "differences": [],
    }
    difference_document = {
        "at": "response",
        "recorded": "(no response)",
        "replayed": "status 200",
    }
    assert document == {
        "world": "shop",
        "sent": 2,
        "differ": 1,
        "skipped": 1,
        "left_out": ["#2 GET http://h/x"],
        "notes": ["A note."],
        "requests": [
            request,
            {**request, "status": 200, "same": False, "differences": [difference_document]},
            {**request, "same": False, "skipped": "its method cannot be sent"},
        ],
    }
