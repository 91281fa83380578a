"""The check of operations polls each of them until it ends, and judges each response."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.polling_operations import (
    poll_as_others,
    poll_operations,
    poll_remaining_operations,
)
from hosting_emulator_lab.contract_check.run import CheckRun
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    Reply,
    Request,
    new_run,
    problem,
    verdict_of,
)

_ID = "01KJFYX1AR0002R33RZ3WT0001"
_OTHER_ID = "01KJFYX1AR0002R33RZ3WT0002"
_DEPLOYMENT_ID = "01KJFYX1AR0002R33RZ3WT0003"
_AT = "2026-03-01T12:00:00Z"


def operation(state: str = "queued", **members: Any) -> Reply:
    """Return an operation. A member with the value `...` is left out."""
    progress: dict[str, Any] = {
        "phase": "queued",
        "project_id": PROJECT_ID,
        "observed_at": _AT,
        "suggested_action": "Poll again.",
        "next_poll_after_seconds": 2,
        **members.pop("progress", {}),
    }
    document = {
        "id": _ID,
        "state": state,
        "created_at": _AT,
        "updated_at": _AT,
        "progress": progress,
        **members,
    }
    return Reply({name: value for name, value in document.items() if value != ...})


_QUEUED, _RUNNING = operation(), operation("running")
_SUCCEEDED = operation("succeeded", result={})


class Server:
    """A server that accepts an operation and sends a list of responses to polls.

    The last response is repeated. Deployments are in the list `deployments`.
    """

    def __init__(
        self,
        *polls: Reply,
        accepted: Reply = _QUEUED,
        replayed: Reply | None = None,
        deployments: list[dict[str, Any]] | None = None,
        location: str = "",
        path: str = f"/v1/operations/{_ID}",
    ) -> None:
        self._polls = list(polls)
        self._accepted = [accepted, replayed or accepted]
        self._deployments = deployments or []
        self._location = location
        self._path = path
        self.paths: list[str] = []

    def __call__(self, request: Request) -> Reply:
        self.paths.append(request.path)
        if request.path.endswith("/domains"):
            reply = self._accepted.pop(0)
            return Reply(reply.document, 202, {"Location": self._location})
        if request.path.endswith("/deployments"):
            return Reply({"items": self._deployments})
        if request.path != self._path:
            return problem(404, "resource_not_found")
        return self._polls.pop(0) if len(self._polls) > 1 else self._polls[0]


def checked(server: Server, **options: Any) -> tuple[CheckRun, list[float]]:
    """Start an operation and poll it. Return the run and the waits."""
    waits: list[float] = []
    run = new_run(server, pause=waits.append, **options)

    def apply(purpose: str = "") -> Any:
        return run.call("apply_project_domains", purpose, key="k")

    run.accept(apply(), apply)
    poll_operations.make(run)
    return run, waits


def faults(run: CheckRun) -> list[str]:
    return [f"{' '.join(row.keys)}: {row.fault}" for row in run.evidence.differences]


def test_an_operation_is_polled_until_it_ends_and_once_more() -> None:
    server = Server(_QUEUED, _QUEUED, _RUNNING, _SUCCEEDED)

    run, waits = checked(server)

    assert server.paths == [
        f"/v1/projects/{PROJECT_ID}/domains",
        *[f"/v1/operations/{_ID}"] * 5,
        f"/v1/projects/{PROJECT_ID}/domains",
    ]
    assert waits == [2, 2]
    assert faults(run) == []
    assert run.behavior.values == {
        "accepted_status": 202,
        "operation_path": "/v1/operations/{operation_id}",
        "operation_replay": "first_response",
    }
    assert run.behavior.notes == []
    assert verdict_of(run, "durable").startswith("holds: ")


@pytest.mark.parametrize(
    ("seconds", "waits"),
    [(7, [7.0]), (0, []), (-1, [1.0]), ("2", [1.0]), (True, [1.0]), (1.5, [1.0]), (None, [1.0])],
)
def test_the_operation_says_how_long_to_wait_until_the_next_poll(
    seconds: Any, waits: list[float]
) -> None:
    running = operation("running", progress={"next_poll_after_seconds": seconds})

    run, actual_waits = checked(Server(running, running, _SUCCEEDED))

    assert actual_waits == waits
    assert run.waited_s == sum(waits)


def test_a_poll_that_is_due_after_the_patience_is_not_sent() -> None:
    later = operation("running", progress={"next_poll_after_seconds": 10**12})

    run, waits = checked(Server(later), patience_s=100.0)

    assert waits == []
    reason = "an operation had not ended within --patience"
    assert run.behavior.notes == [reason]
    for key in ("operation.result", "operation.error", "error-object"):
        assert verdict_of(run, key) == f"skipped: {reason}"
    assert "operation_replay" not in run.behavior.values


def test_an_operation_that_ends_before_the_first_wait_ends_immediately() -> None:
    run, waits = checked(Server(_SUCCEEDED, _SUCCEEDED))

    assert waits == []
    assert run.behavior.values["domains_profile"] == "immediate"


def test_operations_without_a_deployment_show_nothing_about_deployments() -> None:
    run, _ = checked(Server(_SUCCEEDED))

    assert verdict_of(run, "operation.deployment_id") == (
        "skipped: no operation that was started created a deployment"
    )


def test_the_replay_of_an_ended_operation_may_show_its_current_state() -> None:
    run, _ = checked(Server(_SUCCEEDED, replayed=_SUCCEEDED))

    assert run.behavior.values["operation_replay"] == "current"


def test_an_operation_that_had_ended_when_it_was_accepted_shows_nothing_about_its_replay() -> None:
    run, _ = checked(Server(_SUCCEEDED, accepted=_SUCCEEDED))

    assert "operation_replay" not in run.behavior.values


@pytest.mark.parametrize("replayed", [operation(id=_OTHER_ID), problem(409, "etag_mismatch")])
def test_a_replay_with_another_result_shows_nothing_about_the_state(replayed: Reply) -> None:
    run, _ = checked(Server(_SUCCEEDED, replayed=replayed))

    assert "operation_replay" not in run.behavior.values


def test_an_operation_that_runs_and_is_queued_again_is_noted() -> None:
    run, _ = checked(Server(_RUNNING, _RUNNING, _QUEUED, _SUCCEEDED))

    assert faults(run) == []
    assert run.behavior.notes == [
        "GET /v1/operations/01KJFYX1AR0002R33RZ3WT0001 (apply_project_domains, poll 2): 200: "
        "it was running and is queued again; the contract shows no transitions"
    ]


_WITH_DEPLOYMENT = operation(deployment_id=_DEPLOYMENT_ID)
_ENDED_WITH_DEPLOYMENT = operation("succeeded", deployment_id=_DEPLOYMENT_ID, result={})


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (
            Server(operation(id=_OTHER_ID), operation("succeeded", id=_OTHER_ID)),
            ["durable operation.id: it is another operation"],
        ),
        (
            Server(operation("succeeded", created_at="2026-03-01T11:59:59Z")),
            ["operation.times: created_at has changed"],
        ),
        (
            Server(_SUCCEEDED, _SUCCEEDED, operation("failed")),
            ["durable: it had ended as succeeded"],
        ),
        (
            Server(
                operation("succeeded", result={"a": 1}),
                operation("succeeded", result={"a": 1}),
                operation("succeeded", result={"a": 2}),
            ),
            ["durable: it had ended with another result"],
        ),
        (
            Server(_SUCCEEDED, _SUCCEEDED, problem(404, "resource_not_found")),
            ["durable: it should have succeeded"],
        ),
        (
            Server(_SUCCEEDED, _SUCCEEDED, operation("failed", reconciliation={})),
            ["durable operation.reconciliation: it had ended as succeeded"],
        ),
        (
            Server(operation("failed"), accepted=_SUCCEEDED),
            ["durable: it had ended as succeeded"],
        ),
        (
            Server(_QUEUED, operation(blocking_operation_id=_ID), _SUCCEEDED),
            ["states.blocking: it waits for itself"],
        ),
        (
            Server(_QUEUED, operation(blocking_operation_id=_OTHER_ID), _SUCCEEDED),
            ["operation.blocking_operation_id: the operation that it names does not exist"],
        ),
        (
            Server(_SUCCEEDED, accepted=_WITH_DEPLOYMENT),
            ["operation.deployment_id: it does not name its deployment in every state"],
        ),
        (
            Server(
                _ENDED_WITH_DEPLOYMENT,
                problem(404, "resource_not_found"),
                accepted=_WITH_DEPLOYMENT,
            ),
            ["durable: it should have succeeded"],
        ),
        (
            Server(_ENDED_WITH_DEPLOYMENT),
            ["operation.deployment_id: it does not name its deployment in every state"],
        ),
        (Server(_ENDED_WITH_DEPLOYMENT, accepted=_WITH_DEPLOYMENT), []),
        (
            Server(
                _ENDED_WITH_DEPLOYMENT,
                accepted=_WITH_DEPLOYMENT,
                deployments=[{"id": _DEPLOYMENT_ID.lower(), "operation_id": _OTHER_ID}],
            ),
            ["deployment.operation_id: the deployment names another operation"],
        ),
        (
            Server(
                _ENDED_WITH_DEPLOYMENT,
                accepted=_WITH_DEPLOYMENT,
                deployments=[{"id": _OTHER_ID}],
            ),
            ["operation.deployment_id: the list lacks the deployment"],
        ),
        (
            Server(
                _ENDED_WITH_DEPLOYMENT,
                accepted=_WITH_DEPLOYMENT,
                deployments=[{"id": _OTHER_ID}, {"operation_id": _ID}],
            ),
            [],
        ),
    ],
)
def test_each_mistake_of_an_operation_is_reported_once(server: Server, expected: list[str]) -> None:
    run, _ = checked(server)

    own_keys = ("durable", "operation.", "states.blocking", "deployment.operation_id")
    own_faults = [
        fault
        for fault in dict.fromkeys(faults(run))
        if fault.startswith(own_keys) and not fault.endswith(("is missing", "is not a Ulid"))
    ]
    assert own_faults == expected


@pytest.mark.parametrize(
    ("location", "polled_path", "assumed", "observed"),
    [
        (f"https://api.example/v1/jobs/{_ID}", f"/v1/jobs/{_ID}", {}, "/v1/jobs/{operation_id}"),
        (
            f"/v1/projects/{PROJECT_ID}/jobs/{_ID}",
            f"/v1/projects/{PROJECT_ID}/jobs/{_ID}",
            {},
            "/v1/projects/{project_id}/jobs/{operation_id}",
        ),
        (
            "",
            f"/v1/projects/{PROJECT_ID}/operations/{_ID}",
            {},
            "/v1/projects/{project_id}/operations/{operation_id}",
        ),
        (f"/v2/jobs/{_ID}", f"/v1/operations/{_ID}", {}, "/v1/operations/{operation_id}"),
        ("/v1/jobs/latest", f"/v1/operations/{_ID}", {}, "/v1/operations/{operation_id}"),
        (f"/v1/é/{_ID}", f"/v1/operations/{_ID}", {}, "/v1/operations/{operation_id}"),
        (
            "",
            f"/v1/tasks/{_ID}",
            {"operation_path": "/v1/tasks/{operation_id}"},
            "/v1/tasks/{operation_id}",
        ),
    ],
)
def test_the_path_of_operations_is_discovered(
    location: str, polled_path: str, assumed: dict[str, str], observed: str
) -> None:
    server = Server(_SUCCEEDED, location=location, path=polled_path)

    run, _ = checked(server, assumed=assumed)

    assert run.operation_path == run.behavior.values["operation_path"] == observed
    assert faults(run) == []


def test_an_address_that_does_not_contain_the_id_of_the_operation_is_not_requested() -> None:
    server = Server(_SUCCEEDED, location="/v1/jobs/latest")

    checked(server)

    assert "/v1/jobs/latest" not in server.paths


def test_an_id_of_any_characters_is_part_of_the_path_of_an_operation() -> None:
    accepted = operation("succeeded", id="a/b?c")
    server = Server(accepted, accepted=accepted, path="/v1/operations/a%2Fb%3Fc")

    run, _ = checked(server)

    assert run.operation_path == "/v1/operations/{operation_id}"


def test_an_operation_must_not_be_older_than_an_event_before_it_was_started() -> None:
    server = Server(_SUCCEEDED)
    run = new_run(server)
    run.times.record_event(2_000_000_000_000)

    run.accept(run.call("apply_project_domains"), partial(run.call, "apply_project_domains"))

    assert "operation.times: created_at is earlier than events before the request" in faults(run)


@pytest.mark.parametrize("path", ["/v1/operations/{operation_id}", ""])
def test_the_remaining_operations_are_polled_to_their_end_if_their_path_is_known(path: str) -> None:
    server = Server(_RUNNING, _SUCCEEDED)
    run = new_run(server)
    ended = Server(accepted=operation("succeeded", id=_OTHER_ID))
    for accepting in (ended, server):
        run.created.add(new_run(accepting).call("apply_project_domains"), None)
    run.states[_OTHER_ID] = "succeeded"
    run.operation_path = path

    poll_remaining_operations.make(run)

    assert server.paths[1:] == ([f"/v1/operations/{_ID}"] * 2 if path else [])


def test_an_operation_may_wait_for_one_that_the_check_did_not_start() -> None:
    server = Server(_QUEUED, operation(blocking_operation_id=_OTHER_ID), _SUCCEEDED)

    def respond(request: Request) -> Reply:
        if request.path.endswith(_OTHER_ID):
            return operation("running", id=_OTHER_ID)
        return server(request)

    run = new_run(respond)
    run.accept(run.call("apply_project_domains"), partial(run.call, "apply_project_domains"))
    poll_operations.make(run)

    assert [fault for fault in faults(run) if "blocking" in fault] == []


@pytest.mark.parametrize(
    ("outsider_token", "purposes"),
    [(None, ["no such operation"]), ("outsider", ["as an outsider", "no such operation"])],
)
def test_an_operation_must_not_be_found_by_others_or_if_it_does_not_exist(
    outsider_token: str | None, purposes: list[str]
) -> None:
    server = Server(_SUCCEEDED)

    def find_everything(request: Request) -> Reply:
        return _SUCCEEDED if "/operations/" in request.path else server(request)

    run = new_run(find_everything, outsider_token=outsider_token, reader_token="reader")
    run.accept(run.call("apply_project_domains"), partial(run.call, "apply_project_domains"))
    run.operation_path = "/v1/operations/{operation_id}"

    poll_as_others.make(run)

    assert purposes == [
        row.response.purpose
        for row in run.evidence.differences
        if row.response is not None and row.keys == ("condition.missing",)
    ]
    assert "auth.bearer bearer: it should have been refused" in faults(run)
    assert run.behavior.values["operation_role"] == "reader"


def test_operations_without_a_known_path_are_not_polled() -> None:
    run, _ = checked(Server(_SUCCEEDED, path="/v1/tasks"))

    assert run.operation_path == ""
    assert verdict_of(run, "operation.result").startswith("skipped: where to poll operations")
