"""The first contact decides whether a check of the server would show anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator_lab.contract_check import CheckOptions, CheckRefused, Report, check
from hosting_emulator_lab.contract_check.address import Address, Unreachable
from hosting_emulator_lab.contract_check.run import PREFIX
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    SILENCE,
    Reply,
    Request,
    new_run,
    problem,
)

_NOT_FOUND = problem(404, "resource_not_found")


def checked(respond: Callable[[Request], Reply], **overrides: Any) -> Report:
    """Make all checks."""
    options = new_run(respond, **overrides).options
    assert isinstance(options, CheckOptions)
    return check(options)


def by_path(**replies: Reply) -> Callable[[Request], Reply]:
    """Respond by the last part of the path, or with an empty object."""
    return lambda request: replies.get(request.path.rpartition("/")[2], Reply({}))


def silent_after(count: int) -> Callable[[Request], Reply]:
    """Send no response after a number of responses."""
    remaining = [Reply({})] * count
    return lambda _: remaining.pop() if remaining else SILENCE


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        (
            by_path(deployments=problem(401, "unauthenticated")),
            "https://api.example refuses the token of --token (401)",
        ),
        (
            lambda _: Reply(b"<p>", 200, {"Content-Type": "text/html; charset=utf-8"}),
            "(https://api.example: 200, text/html)",
        ),
        (
            lambda _: Reply(b"", 302, {"Content-Type": ""}),
            "(https://api.example: 302, no media type)",
        ),
        (
            lambda _: _NOT_FOUND,
            f"https://api.example finds no project {PROJECT_ID} with this token (404): "
            "is --project right?",
        ),
    ],
)
def test_a_server_whose_check_would_show_nothing_is_refused(
    respond: Callable[[Request], Reply], message: str
) -> None:
    with pytest.raises(CheckRefused) as refusal:
        checked(respond)

    assert str(refusal.value).endswith(message)


@pytest.mark.parametrize(
    "respond",
    [
        lambda _: Reply(b" null "),
        lambda _: Reply([]),
        by_path(deployments=Reply(b"<p>")),
        by_path(deployments=_NOT_FOUND),
        lambda _: problem(404, "not_found"),
    ],
)
def test_a_server_with_one_json_response_about_the_project_is_checked(
    respond: Callable[[Request], Reply],
) -> None:
    assert checked(respond)["summary"]["differs"] > 0


@pytest.mark.parametrize(
    ("overrides", "beginning"),
    [
        ({"project_id": "shop"}, "--project: "),
        ({"connect": Address, "ca_file": __file__}, f"--ca-file: {__file__} contains no PEM"),
        (
            {"connect": Address, "ca_file": f"{__file__}.missing"},
            f"--ca-file: cannot read {__file__}.missing: no such file or directory",
        ),
    ],
)
def test_options_that_cannot_be_used_are_refused_before_the_first_request(
    overrides: dict[str, Any], beginning: str
) -> None:
    requests: list[Request] = []

    def respond(request: Request) -> Reply:
        requests.append(request)
        return Reply({})

    with pytest.raises(CheckRefused) as refusal:
        checked(respond, **overrides)

    assert str(refusal.value).startswith(beginning)
    assert requests == []


@pytest.mark.parametrize("run_id", ["", "mine"])
def test_two_checks_share_no_idempotency_key_unless_they_have_the_same_id(run_id: str) -> None:
    keys: list[set[str]] = []

    def respond(request: Request) -> Reply:
        keys[-1].add(request.headers.get("Idempotency-Key", ""))
        return Reply({})

    for _ in range(2):
        keys.append(set())
        checked(respond, run_id=run_id)

    first, second = ({key for key in sent if key.startswith(PREFIX)} for sent in keys)
    assert len(first) > 10
    assert first & second == (first if run_id else set())


def test_a_server_that_cannot_be_reached_is_refused_with_the_reason() -> None:
    def respond(_: Request) -> Reply:
        raise Unreachable("connection refused")

    with pytest.raises(CheckRefused, match=r"^https://api\.example cannot be reached: conn"):
        checked(respond)


@pytest.mark.parametrize(("count", "requests"), [(0, 3), (1, 4), (9, 12)])
def test_a_server_that_falls_silent_stops_the_check(count: int, requests: int) -> None:
    report = checked(silent_after(count))

    reason = "the server did not respond to 3 requests in a row"
    assert report["requests"] == requests
    assert report["notes"][0] == f"the check was stopped: {reason}"
    (cause,) = [cause for cause in report["causes"] if "paths" in cause["sentences"]]
    assert cause["cause"] == reason


@pytest.mark.parametrize(
    ("respond", "unchecked"),
    [
        (by_path(), None),
        (lambda _: Reply([]), "200"),
        (lambda _: problem(503, "service_unavailable"), "503 service_unavailable"),
        (silent_after(0), "no response within 10 s"),
    ],
)
def test_a_check_without_any_success_shows_nothing(
    respond: Callable[[Request], Reply], unchecked: str | None
) -> None:
    report = checked(respond)

    if unchecked is None:
        assert report["unchecked"] is None
    else:
        assert report["unchecked"] == (
            f"No request succeeded (GET /v1/projects/{{project_id}}/edge-dns: {unchecked}): "
            "nothing could be checked."
        )


@pytest.mark.parametrize(
    ("base_url", "zone"),
    [
        ("https://api.example", "dev.example"),
        ("https://api.example/worlds/dev", "example"),
        ("https://api.example/worlds/dev/v1/", "example"),
        ("https://api.example/worlds/dev/more", "dev.example"),
        ("https://api.example/worlds/ev", "dev.example"),
    ],
)
def test_the_zone_of_dev_origins_contains_no_name_of_a_world(base_url: str, zone: str) -> None:
    ticket = Reply({"origin": "https://dev-calm-green-lake.dev.example"}, 201)

    report = checked(
        by_path(**{"dev-access-tickets": ticket}), base_url=base_url, allow=frozenset(["tickets"])
    )

    assert report["assumptions"]["dev_zone"] == zone
    (row,) = (row for row in report["observed"] if row["name"] == "dev_zone")
    assert row["observed"] == zone
    assert report["base_url"] == base_url
    assert report["allowed"] == ["tickets"]
