"""The check of the flag switches it on and off, judges the times, and restores its original state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.flag import switch_flag
from hosting_emulator_lab.contract_check.run import CheckRun, UsedKey
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    SILENCE,
    Reply,
    Request,
    new_run,
    problem,
    verdict_of,
)

_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_OFF_KEYS = ("flag.off", "flag.off-refused", "flag.hiding-refused")
_PUT = "PUT /v1/projects/{project_id}/powered-by-flag"


class Server:
    """A server with a flag and a clock. Its mistakes are chosen by the options.

    `hide` is the response to a request to hide the flag, and `secretly` is true if this request
    hides the flag although it is refused. `renews` is true if showing a flag that is shown renews
    its time. `change` changes each result, and `retried` each retry.
    """

    def __init__(
        self,
        *,
        since: datetime | None = None,
        hide: Reply | None = None,
        secretly: bool = False,
        renews: bool = False,
        switches_again: bool = False,
        change: Callable[[dict[str, Any]], object] = lambda _: None,
        change_retry: Callable[[dict[str, Any]], object] = lambda _: None,
        replies: dict[str, Reply] | None = None,
    ) -> None:
        self.shown_at = since
        self.now = _NOON
        self._hide = hide
        self._secretly = secretly
        self._renews = renews
        self._switches_again = switches_again
        self._change = change
        self._change_retry = change_retry
        self._replies = replies or {}
        self._results: dict[str, tuple[bool, dict[str, Any]]] = {}

    def pause(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def __call__(self, request: Request) -> Reply:
        self.now += timedelta(milliseconds=10)
        if request.method == "GET":
            return Reply({"observed_at": self.now.isoformat()})
        if "Authorization" not in request.headers:
            return problem(401, "unauthenticated")
        assert request.body is not None
        enabled = request.body["enabled"]
        key = request.headers["Idempotency-Key"]
        if key in self._replies:
            return self._replies[key]
        if key in self._results:
            first_enabled, document = self._results[key]
            if first_enabled != enabled:
                return problem(409, "idempotency_key_reused")
            if self._switches_again:
                self._switch(enabled)
            retried = dict(document)
            self._change_retry(retried)
            return Reply(retried)
        if not enabled and self._hide is not None:
            if self._secretly:
                self._switch(enabled)
            return self._hide
        self._switch(enabled)
        at = self.shown_at.isoformat() if self.shown_at else None
        document = {"project_id": PROJECT_ID, "enabled": enabled, "enabled_at": at}
        self._change(document)
        self._results[key] = (enabled, document)
        return Reply(document)

    def _switch(self, enabled: bool) -> None:
        if not enabled:
            self.shown_at = None
        elif self.shown_at is None or self._renews:
            self.shown_at = self.now


def checked(server: Server, **options: Any) -> CheckRun:
    run = new_run(server, pause=server.pause, **options)
    run.behavior.record("environment_parameter", "environment")
    switch_flag.make(run)
    return run


def faults(run: CheckRun) -> list[str]:
    return [
        f"{' '.join(row.keys)}: {row.response.purpose if row.response else ''}: {row.fault}"
        for row in run.evidence.differences
        if not row.field.startswith("DatabaseCompute")
    ]


def test_the_flag_is_switched_and_restored() -> None:
    server = Server()

    run = checked(server)

    assert faults(run) == []
    assert server.shown_at is None
    assert run.behavior.values["flag_reenabled"] == "kept"
    assert run.behavior.notes == []
    assert run.used_key == UsedKey("hosting-emulator-check-test-1", "set_project_powered_by_flag")
    assert run.waited_s == 2.2
    assert run.created.lines() == ["the project's flag was switched, and switched back"]
    assert [verdict_of(run, key) for key in _OFF_KEYS] == [
        f"holds: {_PUT} (hide): 200",
        *["skipped: no Free workspace's domain depends on this project's flag"] * 2,
    ]


def test_a_flag_that_was_shown_long_ago_stays_shown() -> None:
    server = Server(since=_NOON - timedelta(days=1))

    run = checked(server)

    assert faults(run) == []
    assert server.shown_at is not None


def test_a_renewed_time_is_observed() -> None:
    assert checked(Server(renews=True)).behavior.values["flag_reenabled"] == "renewed"


_REQUIRED = problem(409, "powered_by_flag_required")
_OTHER = problem(409, "deployment_plan_expired")
_FORBIDDEN = problem(403, "forbidden")
_BUSY = problem(503, "service_unavailable")
_MAY_DEPEND = "a Free workspace's domain may depend on it"


@pytest.mark.parametrize(
    ("hide", "verdicts"),
    [
        (
            _REQUIRED,
            [
                f"skipped: {_PUT} (hide): 409 powered_by_flag_required: {_MAY_DEPEND}",
                f"holds: {_PUT} (hide): 409 powered_by_flag_required",
                f"holds: {_PUT} (hide): 409 powered_by_flag_required",
            ],
        ),
        (
            problem(409, "in_use"),
            [
                f"skipped: {_PUT} (hide): 409 in_use: {_MAY_DEPEND}",
                *[
                    f"undecided: {_PUT} (hide): 409 in_use: "
                    "this code does not say that a Free workspace's domain is the reason"
                ]
                * 2,
            ],
        ),
        (
            _FORBIDDEN,
            [
                f"skipped: {_PUT} (hide): 403 forbidden: "
                "the response does not say whether a Free workspace's domain is the reason",
                f"holds: {_PUT} (show, an Idempotency-Key of 128): 200",
                f"skipped: {_PUT} (hide): 403 forbidden: "
                "the response does not say whether a Free workspace's domain is the reason",
            ],
        ),
        (
            _BUSY,
            [
                f"skipped: {_PUT} (hide): 503 service_unavailable",
                f"holds: {_PUT} (show, an Idempotency-Key of 128): 200",
                f"skipped: {_PUT} (hide): 503 service_unavailable",
            ],
        ),
        (
            problem(400, "invalid_request"),
            [
                f"differs: {_PUT} (hide): 400 invalid_request: it should have succeeded",
                f"holds: {_PUT} (show, an Idempotency-Key of 128): 200",
                f"skipped: {_PUT} (hide): 400 invalid_request",
            ],
        ),
    ],
)
def test_the_code_of_a_refusal_to_hide_says_whether_a_domain_is_the_reason(
    hide: Reply, verdicts: list[str]
) -> None:
    run = checked(Server(hide=hide))

    assert [verdict_of(run, key) for key in _OFF_KEYS] == verdicts
    assert [note for note in run.behavior.notes if "switched back" in note] == [
        "the flag could not be switched back: it was hidden before"
    ]
    assert run.created.lines() == ["the project's flag was switched"]


def hidden_with_time(document: dict[str, Any]) -> None:
    document["enabled_at"] = _NOON.isoformat()


def shown_instead(document: dict[str, Any]) -> None:
    document["enabled"] = True


def hidden_instead(document: dict[str, Any]) -> None:
    document["enabled"] = False


def long_ago(document: dict[str, Any]) -> None:
    if document["enabled"]:
        document["enabled_at"] = "2026-02-01T12:00:00Z"


def no_time(document: dict[str, Any]) -> None:
    document["enabled_at"] = None


_IN_SECRET = "the flag had been hidden although the request was refused"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (
            Server(hide=_REQUIRED, secretly=True),
            [f"flag.off-refused: show, an Idempotency-Key of 128: {_IN_SECRET}"],
        ),
        # Showing the flag renews its time, so the time proves nothing.
        (Server(hide=_REQUIRED, secretly=True, renews=True), []),
        (Server(hide=_FORBIDDEN, secretly=True), []),
        (
            Server(switches_again=True),
            [
                "flag.retry flag.replay: show, an Idempotency-Key of 128: "
                "the retry before this request had switched the flag on"
            ],
        ),
        (
            Server(change_retry=no_time),
            [
                *[
                    f"flag.retry flag.replay: show, {purpose}: it is not the first result"
                    for purpose in ("the same key and body", "the first key and body")
                ]
            ],
        ),
        (
            Server(change=shown_instead),
            ["flag.off flag.enabled: hide: the flag is not hidden"],
        ),
        (
            Server(change=hidden_instead),
            [
                "flag.enabled_at: show: enabled_at is set while hidden",
                "flag.enabled flag.on: show: the flag is not shown",
            ],
        ),
        (
            Server(change=hidden_with_time),
            [
                "flag.enabled_at: hide: enabled_at is set while hidden",
                "flag.off: hide: enabled_at is not null",
            ],
        ),
        (
            Server(change=long_ago),
            [
                "flag.on flag.enabled_at: show, an Idempotency-Key of 128: "
                "enabled_at is not the time of the switch"
            ],
        ),
        (
            Server(change=no_time),
            [
                "flag.on flag.enabled_at: show, an Idempotency-Key of 128: "
                "enabled_at is not a timestamp"
            ],
        ),
    ],
)
def test_each_mistake_of_the_flag_is_reported(server: Server, expected: list[str]) -> None:
    run = checked(server)

    reported = dict.fromkeys(faults(run))
    repeated = [fault for fault in reported if "set while hidden" in fault][1:]
    assert [fault for fault in reported if fault not in repeated] == expected


_HIDDEN = Reply({"project_id": PROJECT_ID, "enabled": False, "enabled_at": None})


@pytest.mark.parametrize(
    ("reused", "fault"),
    [
        (_HIDDEN, "the key was used for another request"),
        (_FORBIDDEN, "its code should be idempotency_key_reused"),
    ],
)
def test_the_key_of_the_first_request_must_be_refused_for_another_body(
    reused: Reply, fault: str
) -> None:
    class RespondsOtherwise(Server):
        def __call__(self, request: Request) -> Reply:
            reply = super().__call__(request)
            return reused if reply.status == 409 else reply

    assert faults(checked(RespondsOtherwise())) == [
        f"flag.reused condition.reused: hide, the same key, another body: {fault}"
    ]


def test_a_refused_key_of_128_characters_shows_nothing_about_the_flag() -> None:
    class RefusesLongKeys(Server):
        def __call__(self, request: Request) -> Reply:
            if len(request.headers.get("Idempotency-Key", "")) == 128:
                return problem(400, "invalid_request")
            return super().__call__(request)

    assert faults(checked(RefusesLongKeys())) == [
        "idempotency-key limit.idempotency-key: show, an Idempotency-Key of 128: "
        "the key is within bounds"
    ]


def test_a_flag_whose_time_is_unknown_stays_shown() -> None:
    server = Server(change=no_time)

    run = checked(server)

    assert server.shown_at is not None
    assert run.behavior.notes == ["the flag's earlier state is unknown: it stays shown"]


def test_a_lost_response_to_the_first_request_is_noted() -> None:
    server = Server(replies={"hosting-emulator-check-test-1": SILENCE})

    run = checked(server)

    assert run.behavior.notes == [
        "whether the flag was switched on is unknown: no response arrived"
    ]
    assert verdict_of(run, "flag.on").startswith("skipped: ")


def test_a_reader_may_not_repeat_the_owners_request() -> None:
    run = checked(Server(), reader_token="reader")

    assert "flag.owner-only auth.roles: show, as a reader, with the owner's key: " in faults(run)[0]


def test_without_patience_the_flag_is_not_shown_once_more() -> None:
    run = checked(Server(), patience_s=1.0)

    assert run.waited_s == 0
    assert "flag_reenabled" not in run.behavior.values
    assert faults(run) == []
