"""Who may ask what, and what must be refused: nobody without a token, nothing that is not in order."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract_check.http import Answer
from hosting_emulator.contract_check.run import PREFIX, Run, check


def _askable(run: Run) -> list[str]:
    """Return the calls that can be made in order: one needs a parameter whose name may be unknown."""
    unnamed = run.name_of("environment_parameter") is None
    return [name for name in CALLS if not (unnamed and name == "read_database_compute")]


@check("nobody may ask without a token")
def unauthenticated(run: Run) -> None:
    """Make each call without one, and one call with what is none."""
    for call_id in _askable(run):
        answer = run.usual(call_id, "without a token", token="")
        run.refused_as("auth.bearer bearer", answer, "auth.unauthenticated", "unauthenticated")
    for about, sent in (
        ("a made-up token", "Bearer hosting-emulator-check"),
        ("another scheme", "Basic aG9zdGluZy1lbXVsYXRvcjpjaGVjaw=="),
    ):
        answer = run.usual(
            "get_dns_authorization", about, token="", headers={"Authorization": sent}
        )
        run.refused_as("auth.bearer auth.kinds", answer, "auth.unauthenticated", "unauthenticated")
    token = run.options.token
    cookies = {"Cookie": f"token={token}; access_token={token}; session={token}"}
    about = "the token in cookies"
    answer = run.usual("get_dns_authorization", about, token="", headers=cookies)
    run.refused("auth.no-cookie", answer)


@check(
    "what a reader may do",
    needs="reader_token",
    judges="flag.owner-only tickets.owner-only auth.roles auth.forbidden compute.readers",
)
def as_reader(run: Run) -> None:
    """Read, and be refused what is the owner's."""
    token = run.options.reader_token
    for call_id, key in (
        ("set_project_powered_by_flag", "flag.owner-only"),
        ("create_dev_access_ticket", "tickets.owner-only"),
    ):
        answer = run.usual(call_id, "as a reader", token=token)
        if answer.code in ("resource_not_found", "organization_required", "unauthenticated"):
            why = f"{answer}: --reader-token is not a reader's of this project"
            run.skips(f"{key} auth.roles auth.forbidden compute.readers", why)
            return
        run.refused_as(f"{key} auth.roles", answer, "auth.forbidden", "forbidden")
    if run.name_of("environment_parameter") is None:
        run.skips("compute.readers", "the query parameter's name is not known")
    else:
        answer = run.usual("read_database_compute", "as a reader", token=token)
        if run.succeeded("compute.readers auth.roles", answer):
            run.holds("compute.readers auth.roles", answer)


@check("who may read")
def roles(run: Run) -> None:
    """Read as each of those whose tokens were given."""
    for call_id, name in {
        "get_dns_authorization": "dns_role",
        "list_deployments": "deployments_role",
    }.items():

        def ask(token: str, about: str, call_id: str = call_id) -> Answer:
            return run.usual(call_id, about, token=token)

        run.least_role(name, ask)


@check("what a stranger sees", needs="outsider_token", judges="")
def as_outsider(run: Run) -> None:
    """Everything lies outside the scope of somebody of another organization."""
    for call_id in _askable(run):
        if call_id == "create_user_api_key":
            continue
        answer = run.usual(call_id, "as an outsider", token=run.options.outsider_token)
        if answer.code in ("unauthenticated", "organization_required"):
            why = f"{answer}: --outsider-token is not of a member of another organization"
            run.skips("condition.missing", why)
            return
        run.refused("condition.missing", answer, "resource_not_found")


@check("a token without an organization", needs="no_organization_token", judges="auth.organization")
def without_organization(run: Run) -> None:
    """Be told to name one."""
    token, about = run.options.no_organization_token, "without an organization"
    answer = run.usual("get_dns_authorization", about, token=token)
    if answer.ok or answer.code in ("resource_not_found", "unauthenticated"):
        why = f"{answer}: whether this call needs an organization is not shown"
        run.skips("auth.organization", why)
    else:
        run.refused("auth.organization", answer, "organization_required")


# --- Requests that are not in order: a server that accepts one is at fault ------------------------


@check("an Idempotency-Key is needed, of 1 to 128 characters")
def idempotency_keys(run: Run) -> None:
    """Make the four calls without one, with an empty one and with one that is too long."""
    for call_id in (spec.call_id for spec in CALLS.values() if spec.idempotent):
        for key, about in (
            (None, "without Idempotency-Key"),
            ("", "Idempotency-Key empty"),
            ("k" * 129, "Idempotency-Key of 129"),
        ):
            answer = run.usual(call_id, about, key=key)
            limit = "" if key is None else "limit.idempotency-key"
            run.wrong_input(f"idempotency-key {limit}", answer)


_WRONG_BODIES: tuple[tuple[str, str, tuple[tuple[Any, str], ...]], ...] = (
    (
        "set_project_powered_by_flag",
        "flag.body flag.request",
        (
            ({}, "an empty body"),
            ({"enabled": "true"}, "enabled a string"),
            ({"enabled": 1}, "enabled a number"),
            ({"enabled": None}, "enabled null"),
            ({"enabled": True, "hosting_emulator_check": 1}, "a property more"),
            ([True], "an array"),
            (b'{"enabled":', "half a body"),
        ),
    ),
    (
        "create_user_api_key",
        "keys.body limit.key-name",
        (({"name": ""}, "name empty"), ({"name": PREFIX.ljust(65, "x")}, "name of 65")),
    ),
    ("create_user_api_key", "keys.body", (({"name": 7}, "name a number"), ({}, "no name"))),
    (
        "initialize_managed_source",
        "source.body",
        (
            ({"expected_source_generation": "0"}, "a string"),
            ({"expected_source_generation": 1.5}, "no integer"),
            ({"expected_source_generation": True}, "a boolean"),
        ),
    ),
)


@check("bodies that are not in order")
def bodies(run: Run) -> None:
    """Send each call with a body something that its body may not be."""
    for call_id, keys, wrong in _WRONG_BODIES:
        for body, about in wrong:
            run.wrong_input(keys, run.usual(call_id, about, body=body))
