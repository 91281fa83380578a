"""Reading the request log of a world, and assertions about it."""

from __future__ import annotations

import http.client
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import convert

from hosting_emulator.sdk import (
    ControlClient,
    ControlRefused,
    HostingEmulator,
    NoSuchName,
    Requests,
    WorldSummary,
)
from hosting_emulator.sdk.request_filters import ImpossibleFilter
from tests.sdk.conftest import client, control
from tests.support.control_samples import exchange, request_page, world
from tests.support.fake_control import FakeControl, refusal
from tests.support.http_world import HttpWorld

__all__ = ["client", "control"]


def failure(assertion: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as caught:
        assertion()
    return str(caught.value)


def golden(text: str, emulator: HostingEmulator) -> str:
    return inspect.cleandoc(text).replace("WORLD", emulator.name)


@pytest.fixture
def logged(api: HttpWorld) -> Requests:
    """The requests of a world that received five."""
    api.set_flag(False, key="flag-1")
    api.set_flag(False, key="flag-1")
    api.set_flag(True, key="flag-1")
    api.set_flag(True, key="flag-2", user="reader")
    api.call("GET", api.project_path("deployment"))
    return api.emulator.requests


# --- Reading ---------------------------------------------------------------------------------


def test_requests_are_listed_oldest_first(logged: Requests):
    assert [request.n for request in logged] == [1, 2, 3, 4, 5]
    assert (len(logged), logged.total) == (5, 5)
    assert logged[-1].path.endswith("/deployment")
    assert [request.n for request in logged[1:3]] == [2, 3]
    assert repr(logged).startswith("<Requests of 'world-")


def test_a_recorded_request_has_what_was_sent_and_received(logged: Requests, api: HttpWorld):
    first, replay, reused, refused, missing = logged

    assert (first.call, first.method, first.user) == ("set_project_powered_by_flag", "PUT", "owner")
    assert first.project == api.emulator.project
    assert (first.body, first.response["enabled"]) == ({"enabled": False}, False)
    assert first.headers["idempotency-key"] == first.idempotency_key == "flag-1"
    assert "IDEMPOTENCY-KEY" in first.headers
    assert first.headers["Authorization"] == "Bearer <redacted>"
    assert first.response_headers["Content-Type"] == "application/json"
    assert [first.replayed, replay.replayed] == [False, True]
    assert (reused.status, reused.code, reused.failed) == (409, "idempotency_key_reused", True)
    (reason,) = refused.why
    assert {"owner", "reader"} <= set(re.findall(r"\w+", reason))
    assert (missing.call, missing.body) == (None, None)


def test_a_recorded_body_that_is_not_json_is_text(api: HttpWorld):
    api.call("PUT", api.project_path("powered-by-flag"), raw=b"enabled=true", key="k")

    assert api.emulator.requests[-1].body == "enabled=true"


def test_a_recorded_request_names_the_fault_that_lost_its_response(api: HttpWorld):
    with (
        api.emulator.fault("empty_response", call="list_deployments"),
        pytest.raises(http.client.RemoteDisconnected),
    ):
        api.deployments()

    [lost] = api.emulator.requests.of(lost=True)

    assert (lost.status, lost.lost, lost.failed) == (0, "empty_response", True)


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"call": "set_project_powered_by_flag"}, [1, 2, 3, 4]),
        ({"user": "reader"}, [4]),
        ({"status": 200, "replayed": False}, [1]),
        ({"code": "forbidden"}, [4]),
        ({"project": "shop"}, [1, 2, 3, 4]),
        ({"project": "blog"}, []),
        ({"key": "flag-1", "failed": True}, [3]),
        ({"method": "get"}, [5]),
        ({"path": "*/deployment"}, [5]),
        ({"lost": False, "user": None}, [1, 2, 3, 4, 5]),
    ],
    ids=str,
)
def test_requests_can_be_filtered(logged: Requests, filters: dict[str, Any], numbers: list[int]):
    assert [request.n for request in logged.of(**filters)] == numbers


def test_from_now_counts_only_later_requests(logged: Requests, api: HttpWorld):
    later = logged.from_now()
    assert (list(later), later.total) == ([], 0)

    api.deployments()

    assert [request.call for request in later] == ["list_deployments"]
    later.assert_made(times=1)
    later.assert_not_made("set_project_powered_by_flag")


def test_from_now_counts_requests_after_a_reset(logged: Requests, api: HttpWorld):
    later = logged.from_now()
    api.emulator.reset()

    api.deployments()

    assert [request.call for request in later] == ["list_deployments"]
    assert later.total == 1
    later.assert_made("list_deployments")


def test_no_assertion_about_absent_requests_passes_after_a_reset(logged: Requests, api: HttpWorld):
    later = logged.from_now()
    api.emulator.reset()

    for assertion in (
        lambda: later.assert_not_made("list_deployments"),
        lambda: later.assert_made("list_deployments", times=0),
        later.assert_none_failed,
    ):
        with pytest.raises(AssertionError):
            assertion()


@pytest.mark.parametrize(
    ("filters", "error", "message"),
    [
        ({"call": "list_deployment"}, ValueError, "list_deployments"),
        ({"user": "onwer"}, NoSuchName, "'onwer'.*owner"),
        ({"project": "shpo"}, NoSuchName, "'shpo'.*shop"),
        ({"stauts": 200}, TypeError, "'stauts'.*status"),
    ],
)
def test_an_unknown_name_in_a_filter_is_refused(
    logged: Requests, filters: dict[str, Any], error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        logged.of(**filters)


# --- Asserting -------------------------------------------------------------------------------


def test_assert_made_returns_the_matching_requests(logged: Requests):
    [first] = logged.assert_made("set_project_powered_by_flag", status=200, replayed=False)

    assert first.n == 1


def test_assert_made_passes_for_correct_counts(logged: Requests):
    logged.assert_made("set_project_powered_by_flag", times=4)
    logged.assert_made("set_project_powered_by_flag", at_least=4)
    logged.assert_made("set_project_powered_by_flag", at_most=4)
    logged.assert_made("set_project_powered_by_flag", at_least=1, at_most=5)
    logged.assert_made("apply_project_domains", times=0)
    logged.assert_made("apply_project_domains", at_most=1)
    logged.assert_not_made("apply_project_domains")


def test_assert_made_refuses_times_with_at_least(logged: Requests):
    with pytest.raises(TypeError, match="times is exact: do not give at_least or at_most with it"):
        logged.assert_made(times=1, at_least=1)


def test_assert_made_lists_the_requests_that_it_counted(logged: Requests, api: HttpWorld):
    message = failure(
        lambda: logged.assert_made("set_project_powered_by_flag", key="flag-1", times=1)
    )

    assert message == golden(
        """
        expected set_project_powered_by_flag with the key flag-1 to be made once, but it was made 3 times

        made in world WORLD; > marks the counted requests:
          > #1  PUT  set_project_powered_by_flag    owner   200                         key flag-1
          > #2  PUT  set_project_powered_by_flag    owner   200 replayed                key flag-1
          > #3  PUT  set_project_powered_by_flag    owner   409 idempotency_key_reused  key flag-1
            #4  PUT  set_project_powered_by_flag    reader  403 forbidden               key flag-2
            #5  GET  /v1/projects/…EZXF/deployment  owner   404 resource_not_found
        """,
        api.emulator,
    )


def test_assert_made_explains_why_the_nearest_requests_do_not_match(
    logged: Requests, api: HttpWorld
):
    (reason,) = logged[3].why
    message = failure(
        lambda: logged.assert_made("set_project_powered_by_flag", user="reader", status=200)
    )

    assert message == golden(
        """
        expected set_project_powered_by_flag by reader with the status 200 to be made, but it was never made

        nearest:
          #1 was made by owner
          #2 was made by owner
          #4 got 403 forbidden (REASON)

        made in world WORLD:
            #1  PUT  set_project_powered_by_flag    owner   200                         key flag-1
            #2  PUT  set_project_powered_by_flag    owner   200 replayed                key flag-1
            #3  PUT  set_project_powered_by_flag    owner   409 idempotency_key_reused  key flag-1
            #4  PUT  set_project_powered_by_flag    reader  403 forbidden               key flag-2
            #5  GET  /v1/projects/…EZXF/deployment  owner   404 resource_not_found
        """,
        api.emulator,
    ).replace("REASON", reason)


def test_identical_requests_share_one_line_of_a_failure(api: HttpWorld):
    for _ in range(300):
        api.deployments()
    api.dns()
    requests = api.emulator.requests

    made = failure(lambda: requests.assert_made("get_dns_authorization", times=2))
    failed = failure(lambda: requests.assert_made("list_deployments", times=1))

    assert made.endswith(
        "\n    #1-#300  GET  list_deployments       owner  200 ×300"
        "\n  > #301     GET  get_dns_authorization  owner  200"
    )
    assert "\n  > #1-#300  GET  list_deployments" in failed
    assert len(api.emulator.report().splitlines()) == len(made.splitlines())


def test_identical_failures_share_one_line(api: HttpWorld):
    for _ in range(3):
        api.call("GET", "/v1/nothing")
    api.call("GET", "/v1/nowhere")

    assert failure(api.emulator.requests.assert_none_failed) == inspect.cleandoc(
        """
        expected every request to succeed, but 4 of 4 did not

          #1-#3  GET  /v1/nothing  owner  404 resource_not_found ×3
              no call has this path
          #4     GET  /v1/nowhere  owner  404 resource_not_found
              no call has this path
        """
    )


def test_only_the_latest_failures_are_listed(api: HttpWorld):
    for number in range(21):
        api.call("GET", f"/v1/nothing-{number}")

    lines = failure(api.emulator.requests.assert_none_failed).splitlines()

    assert lines[:3] == [
        "expected every request to succeed, but 21 of 21 did not",
        "",
        "  … 1 earlier request left out",
    ]
    assert lines[3].split()[0] == "#2"


def test_a_recorded_request_is_readable(logged: Requests):
    assert repr(logged[3]) == (f"<RecordedRequest #4 PUT {logged[3].path}: 403 forbidden>")


def test_a_recorded_request_has_only_the_members_that_are_fetched(logged: Requests):
    assert not hasattr(logged[0], "trail")
    assert not hasattr(logged[0], "arrival")


def test_an_operation_in_a_filter_must_exist(ring: Requests, control: FakeControl):
    control.on(
        "GET /worlds/w/operations/01J00000000000000000000000/why", refusal(404, "there is none")
    )
    with pytest.raises(ImpossibleFilter, match="there is no operation 01J00000000000000000000000"):
        ring.assert_not_made(operation="01J00000000000000000000000")

    control.on(
        "GET /worlds/w/operations/01J00000000000000000000000/why", refusal(503, "it is stopping")
    )
    with pytest.raises(ControlRefused, match="it is stopping"):
        ring.assert_not_made(operation="01J00000000000000000000000")


def test_assert_made_names_a_request_with_a_similar_path(logged: Requests):
    message = failure(lambda: logged.assert_made("list_deployments", at_least=2))

    assert message.startswith(
        inspect.cleandoc(
            """
            expected list_deployments to be made at least twice, but it was never made

            nearest:
              #5 matches no call of the API (no call has this path; did you mean HINT?)

            made in world
            """
        ).replace("HINT", "GET /v1/projects/{project_id}/deployments")
    )


def test_assert_not_made_lists_the_requests_that_match(logged: Requests):
    message = failure(lambda: logged.assert_not_made(user="reader"))

    assert message.startswith("expected a request by reader not to be made, but it was made once\n")
    assert "nearest" not in message
    assert "  > #4  PUT " in message


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ({"times": 2}, "to be made twice, but it was made 4 times"),
        ({"at_least": 5}, "to be made at least 5 times, but it was made 4 times"),
        ({"at_most": 1}, "to be made at most once, but it was made 4 times"),
        ({"at_least": 1, "at_most": 3}, "to be made 1 to 3 times, but it was made 4 times"),
    ],
    ids=str,
)
def test_assert_made_names_counts_in_words(logged: Requests, count: dict[str, Any], message: str):
    failure_text = failure(lambda: logged.assert_made("set_project_powered_by_flag", **count))

    assert failure_text.splitlines()[0] == f"expected set_project_powered_by_flag {message}"


def test_assert_made_names_differences_in_words(api: HttpWorld):
    api.set_flag(False, key="flag-1")
    requests = api.emulator.requests

    def nearest(**filters: Any) -> str:
        message = failure(lambda: requests.assert_made("set_project_powered_by_flag", **filters))
        return message.split("nearest:\n  ")[1].split("\n")[0]

    assert nearest(project="blog") == "#1 was about shop"
    assert nearest(key="flag-2") == "#1 had the key flag-1"
    assert nearest(method="GET") == "#1 had the method PUT"
    assert nearest(replayed=True) == "#1 was not replayed"
    assert nearest(failed=True, status=500) == ("#1 got 200, and was not refused or lost")


def test_assert_made_says_that_the_user_of_a_request_is_unknown(
    client: ControlClient, control: FakeControl
):
    refused = exchange(1, user=None, user_id=None, status=400, code="invalid_request")
    control.on("GET /worlds/w", world("w"))
    control.on("GET /worlds/w/requests?limit=1000&trail=false", request_page(refused))
    requests = client.world("w").requests

    message = failure(lambda: requests.assert_made("get_dns_authorization", user="owner", key="k"))

    assert "\n  #1 was refused before its user was known, and had no key\n" in message


def test_assert_made_says_that_no_request_arrived(hosting_emulator: HostingEmulator):
    message = failure(lambda: hosting_emulator.requests.assert_made("list_deployments"))

    assert message == (
        "expected list_deployments to be made, but it was never made\n\n"
        f"no request has reached this world; its base URL is {hosting_emulator.base_url}"
    )


def test_assert_none_failed_passes_if_all_succeeded(api: HttpWorld):
    api.deployments()

    api.emulator.requests.assert_none_failed()


def test_assert_none_failed_lists_the_failed_requests(logged: Requests):
    (reason,) = logged[3].why
    assert failure(logged.assert_none_failed) == inspect.cleandoc(
        """
        expected every request to succeed, but 3 of 5 did not

          #3  PUT  set_project_powered_by_flag    owner   409 idempotency_key_reused
              the key was first used by set_project_powered_by_flag, which got 200
          #4  PUT  set_project_powered_by_flag    reader  403 forbidden
              REASON
          #5  GET  /v1/projects/…EZXF/deployment  owner   404 resource_not_found
              no call has this path; did you mean GET /v1/projects/{project_id}/deployments?
        """
    ).replace("REASON", reason)


# --- When the log has dropped requests -------------------------------------------------------


@pytest.fixture
def ring(control: FakeControl, client: ControlClient) -> Requests:
    """The requests of a world whose log holds the last 1,000 of 1,234."""
    plain = {
        "call": "list_deployments",
        "path": "/v1/projects/01P/deployments",
        "project": "01P",
    }
    logged = [exchange(n, **plain) for n in range(1234, 234, -1)]
    full_page = request_page(*logged, total=1234)
    control.on("GET /worlds/w/requests?limit=1000&trail=false", full_page)
    control.on("GET /worlds/w/requests?limit=1", request_page(logged[0], total=1234))
    return HostingEmulator(client, convert(world("w"), WorldSummary)).requests


def test_no_count_is_proved_if_requests_have_left_the_log(ring: Requests):
    ring.assert_made("list_deployments", at_least=1000)

    message = failure(lambda: ring.assert_made("list_deployments", times=1000))

    assert message == (
        "expected list_deployments to be made 1,000 times, but this can no longer be checked: the log "
        "keeps only the last 1,000 requests, and has dropped 234 older requests\n"
        "among the last requests, it was made 1,000 times\n"
        "call `requests.from_now()` shortly before the requests that you count"
    )
    assert "never made" in failure(lambda: ring.assert_not_made("get_operation"))


def test_requests_that_left_the_log_leave_no_proof_that_none_failed(ring: Requests):
    assert failure(ring.assert_none_failed) == (
        "expected every request to succeed, but this can no longer be checked: earlier requests were "
        "dropped from the log; call `requests.from_now()` later, or assert more often"
    )

    ring.from_now().assert_none_failed()


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ({"at_least": 2, "at_most": 1}, "at_least must not be greater than at_most"),
        ({"times": -1}, "times must be a whole number, 0 or greater, not -1"),
        ({"times": True}, "times must be a whole number, 0 or greater, not True"),
        ({"at_least": 1.5}, "at_least must be a whole number, 0 or greater, not 1.5"),
        ({"at_most": "2"}, "at_most must be a whole number, 0 or greater, not '2'"),
    ],
)
def test_a_count_that_no_requests_can_have_is_refused(
    ring: Requests, count: dict[str, Any], message: str
):
    with pytest.raises(ImpossibleFilter, match=f"^{message}$"):
        ring.assert_made("list_deployments", **count)


def test_assert_made_shows_the_end_of_a_full_log(ring: Requests):
    message = failure(lambda: ring.assert_made("list_deployments", times=1))

    assert message.endswith(
        "\n    … 234 earlier requests left out"
        "\n  > #235-#1234  GET  list_deployments  owner  200 ×1,000"
    )


def test_from_now_counts_exactly_with_a_full_log(ring: Requests):
    ring.from_now().assert_not_made("list_deployments")


def test_the_body_of_a_request_that_left_the_log_is_refused(ring: Requests, control: FakeControl):
    with pytest.raises(ControlRefused) as refused:
        _ = ring[0].body

    assert refused.value.status == 404
