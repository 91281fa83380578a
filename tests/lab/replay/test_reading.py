"""A file that is not a recording is refused in one line that names the place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from hosting_emulator_lab.replay import (
    RecordRefused,
    ReplayedExchange,
    ReplayReport,
    read_record,
    report_document,
)
from hosting_emulator_lab.replay.recording import RecordedExchange

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


@pytest.mark.parametrize(
    ("document", "phrase"),
    [
        ("text", "this is not a recording of requests"),
        ({"a": 1}, "this is not a recording of requests"),
        ({"log": {}}, "log.entries is missing"),
        ({"log": []}, "log.entries is missing"),
        (har(), "it contains no request to /v1"),
        (har({**FINE, "request": {**FINE["request"], "url": "http://h/x"}}), "#1 GET http://h/x"),
        (har({**FINE, "request": {"method": "GET"}}), "log.entries[0]: url is missing"),
        (har(FINE, {**FINE, "response": None}), "log.entries[1] cannot be read"),
        (har("text"), "log.entries[0] cannot be read"),
        (har({**FINE, "startedDateTime": "noon"}), "'noon'"),
        (
            har({**FINE, "response": {**FINE["response"], "status": "two"}}),
            "log.entries[0] cannot be read: it, or a part of it, has the wrong type",
        ),
        ([], "it contains no request"),
        ([{"n": 1, "path": "/v1"}], "request 1 has no headers and bodies"),
        ([{"n": 1, "request": {}, "response": {}}], "[0]: path is missing"),
        ([7], "[0] cannot be read"),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused(document: Any, phrase: str):
    with pytest.raises(RecordRefused) as error:
        read_record(document)

    assert phrase in str(error.value)
    assert "\n" not in str(error.value)


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


def test_a_recording_needs_only_its_required_fields():
    record = read_record(har(FINE))

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
            "a secret was redacted in its add",
        ),
        ({"url": "http://h/v1/projects/p/edge dns"}, "its address cannot be sent"),
        ({"method": "GET\n"}, "its method cannot be sent"),
        ({"headers": [{"name": "a b", "value": "c"}]}, "one of its headers cannot be sent"),
        ({"headers": [{"name": "a", "value": "b\r\nc: d"}]}, "one of its headers cannot be sent"),
        ({"headers": [{"name": "Idempotency-Key", "value": "<redacted>"}]}, "its header Idempot"),
        ({"postData": {"text": '{"name":"<redacted>"}'}}, "a secret was redacted in its body"),
        ({"postData": {"text": ""}, "bodySize": 9}, "its body is not text"),
        (
            {"postData": {"text": "{", "comment": "Only the beginning of the body is included."}},
            "only a part of its body was recorded",
        ),
        ({"postData": {"text": "{}"}, "bodySize": 2}, None),
    ],
)
def test_a_recorded_request_that_cannot_be_sent_gives_its_reason(members: Any, reason: str | None):
    (request,) = read_record(har({**FINE, "request": {**FINE["request"], **members}})).requests

    assert (request.unsendable is None) if reason is None else (reason in str(request.unsendable))


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
    record = read_record(document)

    (request,) = record.requests
    assert (request.target, request.body) == ("/v1/organizations/o/user-api-keys", b"{}")
    assert request.response is not None
    assert request.response.text == '{"replayed": false}'
    assert record.from_emulator


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


@pytest.mark.parametrize("body", [{"body": "{", "body_cut": True}, {"body": None}])
def test_a_logged_request_with_a_part_of_its_body_cannot_be_sent(body: Any):
    request = read_logged({**LOGGED, "request": {**LOGGED["request"], **body}})

    assert request.unsendable == "only a part of its body was recorded"


def test_a_report_contains_no_status_where_no_response_arrived():
    record = read_record([{**LOGGED, "lost": "connection_reset"}])
    exchange = ReplayedExchange(record.requests[0], None, skipped="its method cannot be sent")

    document = report_document(ReplayReport("shop", [exchange], []), record)

    (request,) = document["requests"]
    assert (request["recorded_status"], request["status"]) == (None, None)
    assert (request["same"], request["skipped"]) == (False, "its method cannot be sent")
    assert (document["sent"], document["differ"], document["skipped"]) == (0, 0, 1)
