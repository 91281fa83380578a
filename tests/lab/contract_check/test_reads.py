"""The checks of reads discover the environment's parameter, and compare reads with each other."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.fresh_observations import read_fresh_observations
from hosting_emulator_lab.contract_check.checks.reads import read_compute, read_dns
from hosting_emulator_lab.contract_check.run import CheckRun
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    Reply,
    Request,
    make_check,
    new_run,
    operations_without_proof,
    problem,
    verdict_of,
)

_DATABASE = {
    "min_cu": 0.25,
    "max_cu": 1,
    "min_memory_gb": 1,
    "max_memory_gb": 4,
    "suspend_timeout_seconds": 300,
    "state": "init",
    "disabled": False,
}
_INVALID = problem(400, "invalid_request")


def compute(environment: str, **members: Any) -> Reply:
    document = {
        "project_id": PROJECT_ID,
        "environment": environment,
        "data_mode": "shared",
        "observed_at": "2026-03-01T12:00:00Z",
        "database": _DATABASE,
        **members,
    }
    return Reply({name: value for name, value in document.items() if value != ...})


class Server:
    """A server of database compute, with its replies by the value of a query parameter."""

    def __init__(self, name: str = "environment", **replies: Reply) -> None:
        self._name = name
        self._replies = {
            "": _INVALID,
            "dev": compute("dev"),
            "prod": compute("prod"),
            "staging": _INVALID,
            **{key.removeprefix("without"): reply for key, reply in replies.items()},
        }
        self.queries: list[str] = []

    def __call__(self, request: Request) -> Reply:
        self.queries.append("&".join(f"{name}={value}" for name, value in request.query.items()))
        return self._replies[request.query.get(self._name, "")]


def faults(run: CheckRun) -> list[str]:
    return [f"{' '.join(row.keys)}: {row.fault}" for row in run.evidence.differences]


def test_both_environments_and_an_unknown_one_are_read() -> None:
    server = Server()

    run = make_check(read_compute, server)

    assert server.queries == ["", "environment=dev", "environment=prod", "environment=staging"]
    assert faults(run) == []
    assert run.behavior.values == {
        "missing_environment": "refused",
        "environment_parameter": "environment",
    }


@pytest.mark.parametrize("name", ["environment", "env", "stage", "target", "database_environment"])
def test_common_names_of_the_environment_are_discovered(name: str) -> None:
    run = make_check(read_compute, Server(name, without=compute("dev")))

    assert run.behavior.values == {"missing_environment": "dev", "environment_parameter": name}


_CHOOSES = (
    "none of environment, env, stage, target, database_environment chooses the environment: "
    "set it with --assume environment_parameter=NAME"
)


@pytest.mark.parametrize(
    ("server", "expected", "verdict"),
    [
        (Server("where"), [], f"skipped: {_CHOOSES}"),
        (Server("where", without=compute("dev")), [], f"skipped: {_CHOOSES}"),
        (
            Server("where", without=Reply({}, 500)),
            [
                "problem-media problem: its media type is application/json",
                "problem request-id: it has no header X-Request-Id",
                "compute.call compute.query: it should have succeeded",
            ],
            "differs",
        ),
        # The name is right although the responses are wrong.
        (
            Server(dev=compute("prod"), prod=compute("dev")),
            [
                "compute.query: it is not the compute of dev",
                "compute.query: it is not the compute of prod",
            ],
            "differs",
        ),
        (
            Server(without=compute("dev"), prod=compute("dev")),
            ["compute.query: it is not the compute of prod"],
            "differs",
        ),
        # Other words than the contract's do not show that the name is right.
        (
            Server(dev=compute("development")),
            ["compute.environment: environment: 'development' is not one of dev, prod"],
            f"skipped: {_CHOOSES}",
        ),
        (
            Server(staging=compute("dev")),
            ["compute.query: it should have been refused"],
            "differs",
        ),
    ],
)
def test_the_environment_in_a_response_shows_the_effect_of_the_parameter(
    server: Server, expected: list[str], verdict: str
) -> None:
    run = make_check(read_compute, server)

    own_faults = dict.fromkeys(fault for fault in faults(run) if "is missing" not in fault)
    assert list(own_faults) == expected
    assert verdict_of(run, "compute.query").startswith(verdict)


_SHARED = "compute.data_mode: data is shared, but dev and prod show different databases"


@pytest.mark.parametrize(
    ("dev", "prod", "expected"),
    [
        ({}, {"database": {**_DATABASE, "max_cu": 2}}, [_SHARED]),
        ({"database": None}, {}, [_SHARED]),
        ({"database": None}, {"database": None}, []),
        ({"database": ...}, {"database": None}, []),
        ({"data_mode": "separate"}, {"database": None}, []),
        ({}, {"database": {**_DATABASE, "state": "x", "pending_state": "y"}}, []),
        (
            {"database": {**_DATABASE, "pending_state": "x"}},
            {"database": {**_DATABASE, "pending_state": "y"}},
            [],
        ),
        ({}, {"database": {**_DATABASE, "branch": "main"}}, []),
        ({}, {"database": {**_DATABASE, "region": "eu"}}, []),
        ({"database": {**_DATABASE, "region": "us"}}, {"database": {**_DATABASE, "region": "eu"}}, [_SHARED]),
    ],
)  # fmt: skip
def test_shared_data_is_in_the_same_database(
    dev: dict[str, Any], prod: dict[str, Any], expected: list[str]
) -> None:
    server = Server(dev=compute("dev", **dev), prod=compute("prod", **prod))

    run = make_check(read_compute, server)

    assert [fault for fault in faults(run) if "is shared" in fault] == expected


_DNS = Reply({"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None})


@pytest.mark.parametrize(
    ("reply", "with_parameter", "values"),
    [
        (_DNS, _DNS, {"unknown_query_parameters": "ignored"}),
        (_DNS, _INVALID, {"unknown_query_parameters": "refused"}),
        (_INVALID, _INVALID, {}),
    ],
)
def test_dns_is_read_with_and_without_an_unknown_parameter(
    reply: Reply, with_parameter: Reply, values: dict[str, str]
) -> None:
    run = make_check(read_dns, lambda request: with_parameter if request.query else reply)

    assert run.behavior.values == values
    if reply == _DNS:
        assert run.unreadable == ""
        assert operations_without_proof(run, "bearer") == "1, 2, 3, 4, 6, 7, 8"
    else:
        assert run.unreadable.endswith(
            "edge-dns: 400 invalid_request: the DNS authorization cannot be read"
        )
        assert faults(run) == ["dns.call: it should have succeeded"]


def test_the_time_at_which_an_access_token_was_issued_is_an_event() -> None:
    claims = b64encode(b'{"iat": 1000}').decode()

    run = make_check(read_dns, lambda _: _DNS, token=f"header.{claims}.signature")

    assert run.times.has_advanced_beyond(1_000_000 - 5_001)
    assert not run.times.has_advanced_beyond(1_000_000 - 5_000)


_DATE = "Sun, 01 Mar 2026 12:00:0{} GMT"


@pytest.mark.parametrize(
    ("second", "dates", "verdict"),
    [
        ({"observed_at": "2026-03-01T12:00:01Z"}, "00", "holds: "),
        ({}, "00", "undecided: the server's clock did not advance in between"),
        ({}, "01", "undecided: observed_at did not advance, although the Date header did"),
        ({}, "0", "undecided: the server's clock did not advance in between"),
        ({"observed_at": ...}, "01", "holds: "),
    ],
)
def test_a_second_read_must_be_a_fresh_observation(
    second: dict[str, Any], dates: str, verdict: str
) -> None:
    replies = [compute("dev"), compute("dev", **second)]
    headers = [{"Date": _DATE.format(digit)} for digit in dates] + [{}]
    waits: list[float] = []
    scripted = [Reply(replies[index].document, 200, headers[index]) for index in (0, 1)]
    run = new_run(lambda _: scripted.pop(0), pause=waits.append)
    run.behavior.record("environment_parameter", "environment")

    read_fresh_observations.make(run)

    assert waits == [2.1]
    observed = verdict_of(run, "compute.observed_at")
    title = "GET /v1/projects/{project_id}/database/compute?environment=dev (again, later): 200: "
    assert observed.replace(title, "").startswith(verdict)


def test_an_observation_from_before_a_later_event_is_stale() -> None:
    run = new_run(lambda _: compute("dev"))
    run.behavior.record("environment_parameter", "environment")
    run.times.record_event(1_772_366_406_000)  # six seconds after the observation

    read_fresh_observations.make(run)

    assert faults(run) == ["compute.observed_at: observed_at is the same as in an earlier response"]


def test_a_second_observation_takes_patience() -> None:
    run = new_run(lambda _: compute("dev"), patience_s=2.0)
    run.behavior.record("environment_parameter", "environment")

    read_fresh_observations.make(run)

    assert run.requests == 1
    assert verdict_of(run, "compute.observed_at") == (
        "undecided: a second observation needs more --patience"
    )
