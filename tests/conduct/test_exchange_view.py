"""A view of an exchange says what its client can know, and how two exchanges relate in time."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.contract.calls import ALL_CALLS
from tests.support.in_process import InProcess
from tests.support.logged_exchanges import connection_between, logged_exchange, passage_between

LONG = "x" * 300


@pytest.fixture(scope="module")
def api() -> InProcess:
    """A world that received call 1, the change of a flag."""
    api = InProcess()
    api.set_flag(True, key="key-1")
    return api


def view(api: InProcess, use: ConnectionUse | None = None, **members: Any) -> ExchangeView:
    """Return a view of the exchange, on a connection of its own unless `use` is given."""
    if "call" in members:
        members["spec"] = ALL_CALLS.get(members["call"])
    entry = logged_exchange(api, **members)
    return ExchangeView(entry, use or ConnectionUse(connection_between(1)))


# --- What the client received ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "succeeded", "uncertain"),
    [
        (0, None, False, True),
        (1, None, False, False),
        (199, None, False, False),
        (200, None, True, False),
        (202, None, True, False),
        (299, None, True, False),
        (300, None, False, False),
        (409, "forbidden", False, False),
        (403, "api_key_creation_uncertain", False, True),
        (499, None, False, False),
        (500, None, False, True),
        (503, "service_unavailable", False, True),
    ],
)
@pytest.mark.parametrize("lost", [None, "connection_reset"])
@pytest.mark.parametrize("is_abandoned", [False, True])
def test_a_result_is_certain_only_with_the_whole_response_and_a_clear_status(
    api: InProcess,
    status: int,
    code: str | None,
    lost: str | None,
    is_abandoned: bool,
    succeeded: bool,
    uncertain: bool,
):
    passage = passage_between(2, 5, closed=4 if is_abandoned else 0)
    exchange = view(api, status=status, code=code, lost=lost, passage=passage)

    is_received = lost is None and not is_abandoned
    assert (exchange.is_abandoned, exchange.is_received) == (is_abandoned, is_received)
    assert exchange.succeeded == (succeeded and is_received)
    assert exchange.is_uncertain == (uncertain or not is_received)


def test_a_request_without_a_socket_is_never_abandoned(api: InProcess):
    exchange = view(api, passage=None)

    assert (exchange.is_abandoned, exchange.is_received) == (False, True)


# --- What was sent --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "key", "mutation_key"),
    [
        (None, None, None),
        (b"", "", None),
        (b"key-2", "key-2", "key-2"),
        (b"\xff", "\\xff", "\\xff"),
    ],
)
def test_only_a_mutation_of_a_known_user_has_a_mutation_key(
    api: InProcess, value: bytes | None, key: str | None, mutation_key: str | None
):
    headers = [(b"Authorization", b"Bearer t")]
    if value is not None:
        headers.append((b"Idempotency-KEY", value))
    principal = view(api).entry.principal

    mutation = view(api, raw_headers=headers)
    read = view(api, raw_headers=headers, call="get_dns_authorization")
    unknown_path = view(api, raw_headers=headers, call=None)
    anonymous = view(api, raw_headers=headers, principal=type(principal)("", None))

    assert [each.key for each in (mutation, read, unknown_path, anonymous)] == [key] * 4
    assert mutation.mutation_key == mutation_key
    assert read.mutation_key is unknown_path.mutation_key is anonymous.mutation_key is None
    assert (unknown_path.spec, unknown_path.call) == (None, None)
    assert (anonymous.user, mutation.user) == (None, api.user_id("owner"))
    assert mutation.credentials == b"Bearer t"


def test_long_keys_and_credentials_are_compared_whole_without_being_kept(api: InProcess):
    def views(end: str) -> ExchangeView:
        text = f"{LONG}{end}".encode()
        return view(api, raw_headers=[(b"Idempotency-Key", text), (b"Authorization", text)])

    first, same, other = views("a"), views("a"), views("b")

    assert (first.key, first.credentials) == (same.key, same.credentials)
    assert first.key != other.key
    assert first.credentials != other.credentials
    assert len(first.credentials) == 256 + 64
    assert view(api, raw_headers=[(b"Authorization", b"x" * 256)]).credentials == b"x" * 256


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({}, "set_project_powered_by_flag"),
        ({"call": None, "path": "/v1/x"}, "PUT /v1/x"),
        ({"call": None, "path": f"/{LONG}"}, f"PUT /{LONG}"[: 4 + 120]),
    ],
)
def test_a_request_is_named_by_its_call_or_by_its_method_and_path(
    api: InProcess, members: dict[str, Any], name: str
):
    assert view(api, **members).name == name


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("", {}),
        ("a=1&b=&a=2", {"a": "2", "b": ""}),
        ("a=%20%2F", {"a": " /"}),
        ("a=%ff", {"a": "\ufffd"}),
    ],
)
def test_query_parameters_are_decoded_and_empty_ones_stay(
    api: InProcess, query: str, parameters: dict[str, str]
):
    assert view(api, query=query).query == parameters


@pytest.mark.parametrize(
    ("members", "other_members", "is_same"),
    [
        ({}, {}, True),
        ({"method": "PUT"}, {"method": "POST"}, False),
        ({"path": "/v1/a%62"}, {"path": "/v1/ab"}, True),
        ({"path": "/v1/a"}, {"path": "/v1/b"}, False),
        ({"query": "a=1"}, {"query": "a=2"}, False),
        ({"query": f"a={LONG}1"}, {"query": f"a={LONG}2"}, False),
        ({"body": b'{"a": 1, "b": 2}'}, {"body": b'{"b":2,"a":1}'}, True),
        ({"body": b'{"a": 1}'}, {"body": b'{"a": 2}'}, False),
        ({"body": b"[1, 2]"}, {"body": b"[1,2]"}, False),
        ({"body": b'{"a": 1'}, {"body": b'{"a":1'}, False),
        ({"body": b'{"a": 1}', "call": None}, {"body": b'{"a":1}', "call": None}, True),
    ],
)
def test_requests_are_the_same_if_method_path_query_and_content_are_equal(
    api: InProcess, members: dict[str, Any], other_members: dict[str, Any], is_same: bool
):
    def identity(changes: dict[str, Any]) -> object:
        length = len(changes.get("body", view(api).entry.body))
        return view(api, **changes, body_bytes=length).request_identity

    assert (identity(members) == identity(other_members)) == is_same


@pytest.mark.parametrize(
    ("body", "length", "document"),
    [
        (b'{"a": 1}', 8, {"a": 1}),
        (b'{"a": 1}', 9, None),
        (b"", 0, None),
        (b"{", 1, None),
        (b"[]", 2, []),
    ],
)
def test_a_body_is_read_as_json_only_if_it_is_complete(
    api: InProcess, body: bytes, length: int, document: object
):
    exchange = view(api, body=body, body_bytes=length, response_body=body, response_bytes=length)

    assert exchange.request_body == exchange.response_body == document


@pytest.mark.parametrize(
    ("members", "operation", "shows_end"),
    [
        ({}, True, True),
        ({"response_body": b'{"id": "o", "state": "running"}'}, True, False),
        ({"response_body": b'{"id": "o", "state": []}'}, True, False),
        ({"response_body": b'{"id": "o"}'}, True, False),
        ({"response_body": b'{"id": 1, "state": "succeeded"}'}, False, False),
        ({"response_body": b'{"state": "succeeded"}'}, False, False),
        ({"response_body": b"[]"}, False, False),
        ({"status": 404}, False, False),
        ({"lost": "timeout"}, False, False),
        ({"call": "get_dns_authorization"}, False, False),
        ({"call": None}, False, False),
    ],
)
def test_a_received_operation_may_show_its_end(
    api: InProcess, members: dict[str, Any], operation: bool, shows_end: bool
):
    changes = {
        "call": "get_operation",
        "status": 200,
        "response_body": b'{"id": "o", "state": "succeeded"}',
        **members,
    }
    exchange = view(api, **changes, response_bytes=len(changes["response_body"]))

    assert (exchange.operation is not None) == operation
    assert exchange.shows_end == shows_end


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [([], None), ([("Retry-After", "5")], 5), ([("Retry-After", "soon")], None)],
)
def test_a_wait_is_requested_in_whole_seconds(
    api: InProcess, headers: list[tuple[str, str]], seconds: int | None
):
    assert view(api, response_headers=headers).retry_after_s == seconds


# --- How two exchanges relate ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ({"passage": passage_between(1, 4)}, {"passage": passage_between(2, 3)}, True),
        ({"passage": passage_between(1, 3)}, {"passage": passage_between(2, 4)}, True),
        ({"passage": passage_between(1, 2)}, {"passage": passage_between(3, 4)}, False),
        ({"passage": passage_between(1)}, {"passage": passage_between(3, 4)}, True),
        # The client stops waiting when it closes the connection.
        ({"passage": passage_between(1, closed=2)}, {"passage": passage_between(3, 4)}, False),
        ({"passage": passage_between(1, 6, 2)}, {"passage": passage_between(3, 4)}, False),
        (
            {"passage": passage_between(1, 2, 5), "lost": "timeout"},
            {"passage": passage_between(3, 4)},
            True,
        ),
        # Without a socket, the times count. Every request ends after it began.
        ({"real_ms": 0, "late_ms": 10}, {"real_ms": 5, "late_ms": 10}, True),
        ({"real_ms": 0, "late_ms": 5}, {"real_ms": 5, "late_ms": 5}, False),
        ({"real_ms": 0, "late_ms": 10, "lost": "timeout"}, {"real_ms": 5, "late_ms": 9}, False),
        (
            {"real_ms": 0, "late_ms": 10, "passage": passage_between(1, 2)},
            {"real_ms": 5, "late_ms": 10},
            True,
        ),
    ],
)
def test_requests_overlap_if_each_arrived_before_the_other_ended(
    api: InProcess, first: dict[str, Any], second: dict[str, Any], overlap: bool
):
    one, other = (view(api, **{"passage": None, **members}) for members in (first, second))

    assert one.overlaps(other) is overlap
    assert other.overlaps(one) is overlap


def test_requests_on_one_connection_never_overlap(api: InProcess):
    use = ConnectionUse(connection_between(1))
    first = view(api, use, passage=passage_between(1, 4))
    second = view(api, use, passage=passage_between(2, 3))

    assert first.overlaps(second) is second.overlaps(first) is False


@pytest.mark.parametrize(
    ("earlier", "later", "may_react"),
    [
        ({"passage": passage_between(1, 2)}, {"passage": passage_between(3)}, True),
        ({"passage": passage_between(1, 3)}, {"passage": passage_between(2)}, False),
        ({"passage": passage_between(1)}, {"passage": passage_between(2)}, False),
        ({"passage": passage_between(1, closed=2)}, {"passage": passage_between(3)}, True),
        (
            {"passage": passage_between(1, 2, 5), "lost": "timeout"},
            {"passage": passage_between(4)},
            False,
        ),
        ({"real_ms": 0, "late_ms": 5}, {"real_ms": 5}, True),
        ({"real_ms": 0, "late_ms": 5}, {"real_ms": 4}, False),
        ({"real_ms": 0, "late_ms": 5, "lost": "timeout"}, {"real_ms": 4}, True),
        ({"real_ms": 0, "late_ms": 5}, {"real_ms": 4, "passage": passage_between(3)}, False),
        ({"real_ms": 0, "late_ms": 5, "passage": passage_between(1, 2)}, {"real_ms": 5}, True),
    ],
)
def test_a_client_may_react_to_a_response_that_was_sent_before(
    api: InProcess, earlier: dict[str, Any], later: dict[str, Any], may_react: bool
):
    first, second = (view(api, **{"passage": None, **members}) for members in (earlier, later))

    assert second.may_react_to(first) is may_react


@pytest.mark.parametrize(
    ("real_ms", "ended", "crossed"),
    [
        (99, 0, True),
        (100, 0, True),
        (149, 0, True),
        (150, 0, False),
        (100, 7, False),
        (149, 7, False),
        (149, 9, True),
        (99, 7, True),
    ],
)
def test_a_request_within_50_milliseconds_on_an_open_connection_may_have_crossed_a_response(
    api: InProcess, real_ms: int, ended: int, crossed: bool
):
    first_use = ConnectionUse(connection_between(1, ended))
    second_use = ConnectionUse(connection_between(8))
    first = view(api, first_use, real_ms=90, late_ms=10)
    second = view(api, second_use, real_ms=real_ms)

    assert second.crossed(first) is crossed
    assert view(api, first_use, real_ms=real_ms).crossed(first) is False


@pytest.mark.parametrize(
    ("apart_ms", "limit", "is_beside"),
    [(49, {}, True), (50, {}, False), (-49, {}, True), (-50, {}, False), (70, {"ms": 71}, True)],
)
def test_requests_within_50_milliseconds_on_two_connections_are_beside_each_other(
    api: InProcess, apart_ms: int, limit: dict[str, int], is_beside: bool
):
    use = ConnectionUse(connection_between(1))
    first = view(api, use, real_ms=1000)
    second = view(api, real_ms=1000 + apart_ms)

    assert second.is_beside(first, **limit) is is_beside
    assert view(api, use, real_ms=1000 + apart_ms).is_beside(first, **limit) is False


@pytest.mark.parametrize(
    ("world_ms", "real_ms", "waited"),
    [
        (5000, 0, True),
        (4999, 0, False),
        (0, 4980, True),
        (0, 4979, False),
        (4999, 4979, False),
    ],
)
def test_the_longer_of_world_time_and_real_time_counts_as_the_wait(
    api: InProcess, world_ms: int, real_ms: int, waited: bool
):
    first = view(api, at_ms=1000, real_ms=90, late_ms=10)
    second = view(api, came_ms=1000 + world_ms, real_ms=100 + real_ms)

    assert second.waits_ms(first) == (world_ms, real_ms)
    assert second.waited(first, 5000) is waited
    assert second.shown_wait(first) == f"{max(world_ms, real_ms) / 1000:.2f} s"


def test_a_request_before_a_response_did_not_wait(api: InProcess):
    first = view(api, at_ms=1000, real_ms=90, late_ms=10)
    second = view(api, came_ms=900, real_ms=95)

    assert second.shown_wait(first) == "0.00 s"


@pytest.mark.parametrize(
    ("since_ms", "world_ms", "repeats", "key", "closes", "knowledge"),
    [
        (60, 0, 0, False, False, "maybe"),
        (60, 0, 1, False, False, "surely"),
        (999, 0, 0, False, False, "maybe"),
        (1000, 0, 0, False, False, "surely"),
        (60, 0, 0, True, False, "surely"),
        (10, 0, 9, True, False, "no"),
        (10, 0, 3, False, True, "maybe"),
        (10, 0, 4, False, True, "surely"),
        (49, 0, 1, False, True, "maybe"),
        (50, 0, 1, False, True, "surely"),
        # A frozen clock may have moved between the requests.
        (0, 2000, 0, False, False, "surely"),
        (10, 2000, 0, False, False, "surely"),
        (-1, 2000, 0, False, False, "no"),
    ],
)
def test_two_connections_belong_to_one_client_by_key_time_or_repetition(
    api: InProcess,
    since_ms: int,
    world_ms: int,
    repeats: int,
    key: bool,
    closes: bool,
    knowledge: str,
):
    headers = [(b"Idempotency-Key", b"k")] if key else []
    first_use = ConnectionUse(connection_between(1, 2 if closes else 0))
    second_use = ConnectionUse(connection_between(3))
    first = view(api, first_use, at_ms=0, real_ms=90, late_ms=10, raw_headers=headers)
    first.repeat_count = repeats
    times = {"came_ms": world_ms, "real_ms": 100 + since_ms}
    second = view(api, second_use, **times, raw_headers=headers)

    assert second.knows_response(first) == knowledge
    assert second.repeat_count == (0 if knowledge == "no" else repeats + 1)


@pytest.mark.parametrize(("since_ms", "knowledge"), [(-1, "no"), (0, "surely"), (5, "surely")])
def test_a_client_knows_the_earlier_responses_on_its_connection(
    api: InProcess, since_ms: int, knowledge: str
):
    use = ConnectionUse(connection_between(1))
    first = view(api, use, at_ms=0, real_ms=90, late_ms=10)
    second = view(api, use, came_ms=0, real_ms=100 + since_ms)

    assert second.knows_response(first) == knowledge


@pytest.mark.parametrize(
    ("uses_of_first", "uses_of_second", "is_followed", "knowledge"),
    [(0, 0, False, "surely"), (1, 0, False, "maybe"), (0, 1, False, "no"), (0, 0, True, "no")],
)
def test_a_connection_that_others_may_use_shows_no_single_client(
    api: InProcess, uses_of_first: int, uses_of_second: int, is_followed: bool, knowledge: str
):
    first_use = ConnectionUse(connection_between(1), count=uses_of_first)
    second_use = ConnectionUse(connection_between(3), count=uses_of_second)
    first = view(api, first_use, at_ms=0, real_ms=90, late_ms=10)
    if is_followed:
        first_use.last = first.n + 1
    second = view(api, second_use, came_ms=0, real_ms=2000)

    assert second.knows_response(first) == knowledge
