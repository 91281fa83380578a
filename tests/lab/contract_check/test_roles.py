"""The checks with the tokens of other users show which roles may make a call."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hosting_emulator_lab.contract_check.checks.roles import (
    call_as_maintainer,
    call_as_outsider,
    call_as_reader,
    call_without_organization,
    read_with_each_role,
)
from hosting_emulator_lab.contract_check.run import CheckRun
from tests.lab.contract_check.scripted_server import (
    Reply,
    Request,
    new_run,
    problem,
    verdict_of,
)

_OK = Reply({})
_FORBIDDEN = problem(403, "forbidden")
_NOT_FOUND = problem(404, "resource_not_found")
_UNKNOWN = problem(401, "unauthenticated")
_BUSY = problem(503, "service_unavailable")
_NO_ORGANIZATION = problem(403, "organization_required")


def run_with(replies: Mapping[str, Reply], **options: str | None) -> CheckRun:
    """Return a run whose server responds by the last part of a path or, if that is missing, by the token."""

    def respond(request: Request) -> Reply:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        ending = request.path.rpartition("/")[2]
        for name in (f"{ending} {token}", ending, token):
            if name in replies:
                return replies[name]
        return _OK

    tokens = {
        f"{role}_token": role for role in ("reader", "maintainer", "outsider", "no_organization")
    }
    run = new_run(respond, **{**tokens, **options})
    run.behavior.record("environment_parameter", "environment")
    run.evidence.working_calls |= {"flag.call", "tickets.call", "keys.call", "compute.call"}
    return run


def own_faults(run: CheckRun) -> list[str]:
    """Return the faults that are not about the documents."""
    return [
        f"{' '.join(row.keys)}: {row.response.call_id if row.response else ''} {row.fault}"
        for row in run.evidence.differences
        if not row.field
    ]


_OWNERS_CALLS = {"powered-by-flag": _FORBIDDEN, "dev-access-tickets": _FORBIDDEN}


def test_a_reader_may_read_compute_and_may_not_make_the_owners_calls() -> None:
    run = run_with(_OWNERS_CALLS)

    call_as_reader.make(run)

    assert own_faults(run) == []
    for key in ("flag.owner-only", "tickets.owner-only", "auth.forbidden", "compute.readers"):
        assert verdict_of(run, key).startswith("holds: ")
    assert "(as a reader)" in verdict_of(run, "auth.roles")


@pytest.mark.parametrize(
    ("replies", "faults"),
    [
        (
            {**_OWNERS_CALLS, "powered-by-flag": _OK},
            [
                "flag.owner-only auth.roles: set_project_powered_by_flag it should have been refused",
            ],
        ),
        (
            {**_OWNERS_CALLS, "dev-access-tickets": problem(400, "resource_exhausted")},
            ["auth.forbidden: create_dev_access_ticket its code should be forbidden"],
        ),
        (
            {**_OWNERS_CALLS, "compute": _FORBIDDEN},
            ["compute.readers auth.roles: read_database_compute it should have succeeded"],
        ),
    ],
)
def test_a_mistake_about_readers_is_reported(replies: dict[str, Reply], faults: list[str]) -> None:
    run = run_with(replies)

    call_as_reader.make(run)

    assert own_faults(run) == faults


@pytest.mark.parametrize("reply", [_NOT_FOUND, _UNKNOWN, _NO_ORGANIZATION])
@pytest.mark.parametrize("role", ["reader", "maintainer"])
def test_a_token_of_a_stranger_shows_nothing_about_roles(role: str, reply: Reply) -> None:
    run = run_with({"powered-by-flag": reply})

    (call_as_reader if role == "reader" else call_as_maintainer).make(run)

    assert own_faults(run) == []
    reason = f"--{role}-token is not from a {role} of this project"
    for key in ("flag.owner-only", "auth.forbidden"):
        assert verdict_of(run, key).startswith("skipped: PUT /v1/projects/")
        assert verdict_of(run, key).endswith(reason)
    if role == "reader":
        assert verdict_of(run, "compute.readers") == f"skipped: {reason}"
        assert verdict_of(run, "auth.roles") == f"skipped: {reason}"
    assert run.requests == 1


def test_a_reader_who_may_read_nothing_is_no_reader() -> None:
    run = run_with({"reader": _FORBIDDEN})

    call_as_reader.make(run)

    assert own_faults(run) == []
    assert verdict_of(run, "compute.readers") == (
        "skipped: --reader-token is not from a reader of this project"
    )


def test_the_name_of_a_required_parameter_must_be_known() -> None:
    run = run_with(_OWNERS_CALLS)
    del run.behavior.values["environment_parameter"]

    call_as_reader.make(run)

    assert verdict_of(run, "compute.readers") == (
        "skipped: the name of the query parameter is unknown"
    )


_ROLE = "dns_role"
_NOTE = "dns_role is maintainer or owner: use --maintainer-token to find out"


@pytest.mark.parametrize(
    ("reader", "maintainer", "role", "notes"),
    [
        (_OK, _OK, "reader", []),
        (_OK, _FORBIDDEN, "reader", []),
        (_FORBIDDEN, _OK, "maintainer", []),
        (_FORBIDDEN, _FORBIDDEN, "owner", []),
        (problem(400, "invalid_request"), _OK, "reader", []),
        (Reply({}, 499), None, "reader", []),
        (Reply({}, 500), None, None, []),
        (None, _OK, None, []),
        (None, _FORBIDDEN, "owner", []),
        (_FORBIDDEN, None, None, [_NOTE]),
        (_BUSY, _OK, None, []),
        (_NOT_FOUND, _OK, None, []),
        (_NOT_FOUND, _FORBIDDEN, "owner", []),
        (_FORBIDDEN, _BUSY, None, [_NOTE]),
        (None, None, None, []),
    ],
)
def test_the_least_role_that_may_read_is_observed(
    reader: Reply | None, maintainer: Reply | None, role: str | None, notes: list[str]
) -> None:
    replies = {"edge-dns reader": reader, "edge-dns maintainer": maintainer}
    run = run_with(
        {name: reply for name, reply in replies.items() if reply is not None},
        reader_token="reader" if reader else None,
        maintainer_token="maintainer" if maintainer else None,
    )

    read_with_each_role.make(run)

    assert run.behavior.values.get(_ROLE) == role
    assert [note for note in run.behavior.notes if _ROLE in note] == notes


def test_an_outsider_finds_no_project_and_may_not_create_keys() -> None:
    run = run_with({"user-api-keys": _FORBIDDEN, "outsider": _NOT_FOUND})

    call_as_outsider.make(run)

    assert own_faults(run) == []
    assert verdict_of(run, "keys.session").startswith("holds: POST")


@pytest.mark.parametrize(
    ("replies", "faults"),
    [
        (
            {"outsider": _NOT_FOUND, "edge-dns": _UNKNOWN},
            [
                "condition.missing: get_dns_authorization other calls accept this token, "
                "so its code should be resource_not_found"
            ],
        ),
        (
            {"outsider": _NOT_FOUND, "edge-dns": _OK},
            ["condition.missing: get_dns_authorization it should have been refused"],
        ),
        (
            {"outsider": _NOT_FOUND, "user-api-keys": _OK},
            ["keys.session: create_user_api_key it should have been refused"],
        ),
    ],
)
def test_a_call_that_knows_an_outsider_is_reported(
    replies: dict[str, Reply], faults: list[str]
) -> None:
    run = run_with(replies)

    call_as_outsider.make(run)

    assert own_faults(run) == faults


@pytest.mark.parametrize("reply", [_UNKNOWN, _NO_ORGANIZATION])
def test_an_outsider_without_an_organization_shows_nothing(reply: Reply) -> None:
    run = run_with({"outsider": reply})

    call_as_outsider.make(run)

    assert own_faults(run) == []
    verdict = verdict_of(run, "condition.missing")
    assert verdict.startswith("skipped: PUT /v1/projects/{project_id}/powered-by-flag (as an")
    assert verdict.endswith("--outsider-token is not from a member of another organization")


_READ = "GET /v1/projects/{project_id}/edge-dns (without an organization)"
_MAY_NEED_NONE = "the contract does not say whether this call needs an organization"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (_NO_ORGANIZATION, f"holds: {_READ}: 403 organization_required"),
        (_FORBIDDEN, f"differs: {_READ}: 403 forbidden: its code should be organization_required"),
        (_UNKNOWN, f"skipped: {_READ}: 401 unauthenticated: {_MAY_NEED_NONE}"),
        (_NOT_FOUND, f"skipped: {_READ}: 404 resource_not_found: {_MAY_NEED_NONE}"),
        (_OK, f"skipped: {_READ}: 200: {_MAY_NEED_NONE}"),
    ],
)
def test_reads_without_an_organization_need_one_or_the_contract_is_silent(
    reply: Reply, verdict: str
) -> None:
    run = run_with({"no_organization": reply})
    run.evidence.working_calls.add("dns.call")

    call_without_organization.make(run)

    assert run.requests == 3
    assert verdict_of(run, "auth.organization").startswith(verdict)
