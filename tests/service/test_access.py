"""Who may make which call, and what somebody outside can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import problem, without_request_id

NOWHERE = "01JGFJJZ000000000000000000"
Call = Callable[..., Response]


def poll(api: CheckedWorld, project: str = "shop", **options: Any) -> Response:
    """Poll an operation that exists in a project."""
    operations = api.state()["tables"]["operations"].values()
    project_id = api.emulator.projects[project]
    found = next(o["id"] for o in operations if o["project_id"] == project_id)
    return api.poll(found, **options)


CALLS: dict[str, Call] = {
    "1 flag": lambda api, **options: api.set_flag(True, **options),
    "2 source": lambda api, **options: api.initialize(1, **options),
    "4 domains": lambda api, **options: api.apply_domains(**options),
    "5 dns": lambda api, **options: api.dns(**options),
    "6 deployments": lambda api, **options: api.deployments(**options),
    "7 ticket": lambda api, **options: api.ticket(**options),
    "8 compute": lambda api, **options: api.compute(**options),
    "poll": poll,
}
ALL = set(CALLS)
READS = {"5 dns", "6 deployments", "8 compute", "poll"}
#: person, project, the calls that succeed, what the others are answered.
MATRIX: list[tuple[str, str, set[str], tuple[int, str]]] = [
    ("owner", "shop", ALL, (403, "forbidden")),
    ("owner", "docs", ALL, (403, "forbidden")),  # an organization's owner owns its projects
    ("member", "shop", ALL - {"1 flag", "7 ticket"}, (403, "forbidden")),
    ("reader", "shop", READS, (403, "forbidden")),
    ("member", "docs", set(), (404, "resource_not_found")),  # in the organization, without a role
    ("outsider", "shop", set(), (404, "resource_not_found")),
    ("outsider", "garden", ALL, (403, "forbidden")),
    ("owner", "garden", set(), (404, "resource_not_found")),
    ("no-organization", "shop", set(), (403, "organization_required")),
]


@pytest.mark.parametrize(
    ("who", "project", "allowed", "otherwise"),
    MATRIX,
    ids=[f"{row[0]} at {row[1]}" for row in MATRIX],
)
def test_each_role_may_make_exactly_the_calls_of_its_project_role(
    api: CheckedWorld,
    who: str,
    project: str,
    allowed: set[str],
    otherwise: tuple[int, str],
) -> None:
    for name, call in CALLS.items():
        response = call(api, who=who, project=project)

        if name in allowed:
            assert response.status in (200, 201, 202), name
        else:
            problem(response, *otherwise)


def test_a_request_without_a_token_is_unauthenticated_on_every_call(api: CheckedWorld) -> None:
    for call in CALLS.values():
        problem(call(api, who=None), 401, "unauthenticated")


@pytest.mark.parametrize(
    ("who", "organization", "status"),
    [
        ("owner", "acme", 201),
        ("member", "acme", 201),
        ("reader", "acme", 201),
        ("outsider", "hobby", 201),
        ("outsider", "acme", 404),
        ("owner", "hobby", 404),
        ("no-organization", "acme", 403),
    ],
)
def test_only_members_of_an_organization_create_keys_there(
    api: CheckedWorld, who: str, organization: str, status: int
) -> None:
    assert api.create_key(who=who, organization=organization).status == status


# --- Outside and missing look the same -----------------------------------------------------------


def _at(api: CheckedWorld, subject_id: str, name: str, **options: Any) -> Response:
    """Make a call on any id."""
    if name == "poll":
        return api.poll(subject_id, **options)
    api.emulator.projects["any"] = subject_id
    return CALLS[name](api, project="any", **options)


def _outside(api: CheckedWorld, name: str, project: str) -> str:
    if name != "poll":
        return api.emulator.projects[project]
    operations = api.state()["tables"]["operations"].values()
    project_id = api.emulator.projects[project]
    return next(o["id"] for o in operations if o["project_id"] == project_id)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("who", "project"), [("outsider", "shop"), ("member", "docs"), ("owner", "garden")]
)
def test_a_project_outside_the_access_scope_looks_like_a_missing_one(
    api: CheckedWorld, who: str, project: str, name: str
) -> None:
    outside = _at(api, _outside(api, name, project), name, who=who)

    responses = [_at(api, subject, name, who=who) for subject in (NOWHERE, "short", "%F0%9F%94%91")]

    problem(outside, 404, "resource_not_found")
    for missing in responses:
        assert without_request_id(missing) == without_request_id(outside)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"raw": b"{", "headers": {"Content-Type": "application/json"}}, id="bad JSON"),
        pytest.param({"body": {"enabled": "no"}}, id="bad body"),
        pytest.param({"body": {"enabled": True}, "key": None}, id="no key"),
        pytest.param({"body": {"enabled": True}, "headers": {"X-Request-Id": "x" * 200}}, id="id"),
    ],
)
def test_an_invalid_request_does_not_reveal_whether_a_project_exists(
    api: CheckedWorld, options: dict[str, Any]
) -> None:
    options = {"key": "k", "who": "outsider", **options}

    outside, missing = (
        api.call("PUT", f"/v1/projects/{project}/powered-by-flag", **options)
        for project in (api.emulator.project, NOWHERE)
    )

    assert without_request_id(outside) == without_request_id(missing)


def test_the_idempotency_key_of_another_user_reveals_nothing(api: CheckedWorld) -> None:
    # given that the owner has used a key that a stranger guesses
    api.apply_domains(key="guessed")

    outside = api.apply_domains(key="guessed", who="outsider")

    problem(outside, 404, "resource_not_found")


def test_an_organization_outside_the_access_scope_looks_like_a_missing_one(
    api: CheckedWorld,
) -> None:
    organizations = api.emulator.organizations
    outside = api.create_key(organization="hobby")
    organizations["nowhere"], organizations["bad"] = NOWHERE, "x"

    missing = api.create_key(organization="nowhere")
    malformed = api.create_key(organization="bad")

    assert without_request_id(outside) == without_request_id(missing)
    assert without_request_id(outside) == without_request_id(malformed)


def test_a_missing_session_is_not_reported_outside_the_own_organization(api: CheckedWorld) -> None:
    """Only inside an organization does a caller learn that a session is needed."""
    token = api.emulator.token("owner", interactive=False)

    problem(api.create_key(token=token, organization="hobby"), 404, "resource_not_found")


def test_an_id_of_another_kind_of_resource_is_not_found(api: CheckedWorld) -> None:
    # given ids that exist, each in another place
    organization, project = api.emulator.organization, api.emulator.project

    api.emulator.projects["org"] = organization
    api.emulator.organizations["proj"] = project

    problem(api.dns(project="org"), 404, "resource_not_found")
    problem(api.create_key(organization="proj"), 404, "resource_not_found")
    problem(api.poll(project), 404, "resource_not_found")


def test_each_request_checks_the_current_role(api: CheckedWorld) -> None:
    state = api.state()
    reader = next(p for p, row in state["tables"]["people"].items() if row["alias"] == "reader")
    key = f"{api.emulator.project}/{reader}"
    problem(api.set_flag(False, who="reader"), 403, "forbidden")

    state["tables"]["grants"][key]["role"] = "owner"
    api.load(state)
    assert api.set_flag(False, who="reader").status == 200

    state = api.state()
    del state["tables"]["grants"][key]
    api.load(state)
    problem(api.set_flag(False, who="reader"), 404, "resource_not_found")
