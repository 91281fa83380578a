"""The roles that each call requires, and what a user outside the access scope can learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedCalls
from tests.support.response_checks import expect_problem, without_request_id

NOWHERE = "01JGFJJZ000000000000000000"
Call = Callable[..., Response]


def past_operation(world: CheckedCalls, project: str) -> str:
    """Return the id of an operation that exists in a project."""
    project_id = world.project_id(project)
    operations = world.state()["tables"]["operations"].values()
    return next(row["id"] for row in operations if row["project_id"] == project_id)


def poll(world: CheckedCalls, project: str = "shop", **options: Any) -> Response:
    """Poll an operation that exists in a project."""
    return world.poll(past_operation(world, project), **options)


CALLS: dict[str, Call] = {
    "1 flag": lambda world, **options: world.set_flag(True, **options),
    "2 source": lambda world, **options: world.initialize(1, **options),
    "4 domains": lambda world, **options: world.apply_domains(**options),
    "5 dns": lambda world, **options: world.dns(**options),
    "6 deployments": lambda world, **options: world.deployments(**options),
    "7 ticket": lambda world, **options: world.ticket(**options),
    "8 compute": lambda world, **options: world.compute(**options),
    "poll": poll,
}
ALL = set(CALLS)
READS = {"5 dns", "6 deployments", "8 compute", "poll"}
#: User, project, the calls that succeed, and the refusal of all others.
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


@pytest.mark.over_http
@pytest.mark.parametrize(
    ("user", "project", "allowed", "otherwise"),
    MATRIX,
    ids=[f"{row[0]} at {row[1]}" for row in MATRIX],
)
def test_each_role_may_make_exactly_the_calls_of_its_project_role(
    world: CheckedCalls,
    user: str,
    project: str,
    allowed: set[str],
    otherwise: tuple[int, str],
) -> None:
    for name, call in CALLS.items():
        response = call(world, user=user, project=project)

        if name in allowed:
            assert response.status in (200, 201, 202), name
        else:
            expect_problem(response, *otherwise)


@pytest.mark.over_http
def test_a_request_without_a_token_is_unauthenticated_on_every_call(world: CheckedCalls) -> None:
    for call in CALLS.values():
        expect_problem(call(world, user=None), 401, "unauthenticated")


@pytest.mark.over_http
@pytest.mark.parametrize(
    ("user", "organization", "status"),
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
    world: CheckedCalls, user: str, organization: str, status: int
) -> None:
    assert world.create_key(user=user, organization=organization).status == status


# --- Outside and missing look the same -----------------------------------------------------------


#: Method, path below `/v1` with a place for an id, and body.
REQUESTS: dict[str, tuple[str, str, Any]] = {
    "1 flag": ("PUT", "projects/{}/powered-by-flag", {"enabled": True}),
    "2 source": ("POST", "projects/{}/source:initialize", {"expected_source_generation": 1}),
    "4 domains": ("PUT", "projects/{}/domains", None),
    "5 dns": ("GET", "projects/{}/edge-dns", None),
    "6 deployments": ("GET", "projects/{}/deployments", None),
    "7 ticket": ("POST", "projects/{}/dev-access-tickets", None),
    "8 compute": ("GET", "projects/{}/database/compute?environment=dev", None),
    "poll": ("GET", "operations/{}", None),
}
KEYS = "/v1/organizations/{}/user-api-keys"


def send_with_id(world: CheckedCalls, name: str, subject_id: str, user: str = "owner") -> Response:
    """Make a call with any id in its path."""
    method, path, body = REQUESTS[name]
    key = None if method == "GET" else world.new_key()
    return world.call(method, f"/v1/{path.format(subject_id)}", user=user, key=key, body=body)


def create_key_at(world: CheckedCalls, organization_id: str) -> Response:
    """Create a key in an organization with any id."""
    path = KEYS.format(organization_id)
    return world.call("POST", path, key=world.new_key(), body={"name": "ci"})


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("user", "project"), [("outsider", "shop"), ("member", "docs"), ("owner", "garden")]
)
def test_a_project_outside_the_access_scope_looks_like_a_missing_one(
    world: CheckedCalls, user: str, project: str, name: str
) -> None:
    subject_id = past_operation(world, project) if name == "poll" else world.project_id(project)

    outside = send_with_id(world, name, subject_id, user)

    expect_problem(outside, 404, "resource_not_found")
    for missing_id in (NOWHERE, "short", "%F0%9F%94%91"):
        missing = send_with_id(world, name, missing_id, user)
        assert without_request_id(missing) == without_request_id(outside)


@pytest.mark.over_http
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
    world: CheckedCalls, options: dict[str, Any]
) -> None:
    options = {"key": "k", "user": "outsider", **options}

    outside, missing = (
        world.call("PUT", f"/v1/projects/{project}/powered-by-flag", **options)
        for project in (world.project_id(), NOWHERE)
    )

    assert without_request_id(outside) == without_request_id(missing)


def test_the_idempotency_key_of_another_user_reveals_nothing(world: CheckedCalls) -> None:
    # given that the owner has used a key that a stranger guesses
    world.apply_domains(key="guessed")

    outside = world.apply_domains(key="guessed", user="outsider")

    expect_problem(outside, 404, "resource_not_found")


def test_an_organization_outside_the_access_scope_looks_like_a_missing_one(
    world: CheckedCalls,
) -> None:
    outside = create_key_at(world, world.organization_id("hobby"))

    missing = create_key_at(world, NOWHERE)
    malformed = create_key_at(world, "x")

    expect_problem(outside, 404, "resource_not_found")
    assert without_request_id(outside) == without_request_id(missing)
    assert without_request_id(outside) == without_request_id(malformed)


def test_a_missing_session_is_not_reported_outside_the_own_organization(
    world: CheckedCalls,
) -> None:
    """Only inside an organization does a caller learn that a session is needed."""
    token = world.token("owner", interactive=False)

    expect_problem(world.create_key(token=token, organization="hobby"), 404, "resource_not_found")


def test_an_id_of_another_kind_of_resource_is_not_found(world: CheckedCalls) -> None:
    # given ids that exist, each of another kind of resource
    organization_id = world.organization_id()
    project_id = world.project_id()

    responses = [
        send_with_id(world, "5 dns", organization_id),
        create_key_at(world, project_id),
        send_with_id(world, "poll", project_id),
    ]

    for response in responses:
        expect_problem(response, 404, "resource_not_found")


def test_each_request_checks_the_current_role(world: CheckedCalls) -> None:
    role = {"project": "shop", "user": "reader"}
    expect_problem(world.set_flag(False, user="reader"), 403, "forbidden")

    world.intervene("set_role", **role, role="owner")
    assert world.set_flag(False, user="reader").status == 200

    world.intervene("set_role", **role, role="none")
    expect_problem(world.set_flag(False, user="reader"), 404, "resource_not_found")
