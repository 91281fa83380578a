"""Who may ask what, and what must be refused: nobody without a token, nothing that is not in order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract_check.clauses import CALL_CLAUSES
from hosting_emulator.contract_check.http import Answer
from hosting_emulator.contract_check.run import PREFIX, Run, check

_UNKNOWN = ("auth.unauthenticated", "unauthenticated")


def nobody(run: Run, ask: Callable[..., Answer]) -> None:
    """Ask with no token, and with those that nobody issued. `ask` is told why, and the token."""
    run.refused_as("auth.bearer bearer", ask("without a token", token=""), *_UNKNOWN)
    for about, token in run.strangers().items():
        run.refused_as("auth.bearer auth.kinds", ask(about, token=token), *_UNKNOWN)


def others_replay(
    run: Run, ask: Callable[..., Answer], refused: Callable[[Answer], object]
) -> None:
    """Send a request under its own key again, as nobody and as an outsider, who must be `refused`."""
    answer = ask("the same key, without a token", token="")
    run.refused_as("auth.bearer bearer", answer, *_UNKNOWN)
    if (outsider := run.options.outsider_token) is not None:
        refused(ask("the same key, as an outsider", token=outsider))


@check()
def unauthenticated(run: Run) -> None:
    """Make each call without a token, and with what is none."""
    for call_id in run.askable():
        nobody(run, partial(run.usual, call_id))
    headers = {"Authorization": "Basic aG9zdGluZy1lbXVsYXRvcjpjaGVjaw=="}
    answer = run.read("another scheme", token="", headers=headers)
    run.refused_as("auth.bearer auth.kinds", answer, *_UNKNOWN)
    token = run.options.token
    cookies = {"Cookie": f"token={token}; access_token={token}; session={token}"}
    run.refused("auth.no-cookie", run.read("the token in cookies", token="", headers=cookies))


@check(
    needs="reader_token",
    judges="flag.owner-only tickets.owner-only auth.roles auth.forbidden compute.readers",
)
def as_reader(run: Run) -> None:
    """A reader is refused what is the owner's, and may read."""
    token, about, reads = run.options.reader_token, "as a reader", "compute.readers auth.roles"
    stranger = "--reader-token is not from a reader of this project"
    if not _is_refused_owners_calls(run, token, "reader"):
        run.skips(reads, stranger)
        return
    for call_id in (id_ for id_, spec in CALLS.items() if spec.role == "reader"):
        if call_id not in run.askable():
            run.skips("compute.readers", "the query parameter's name is not known")
            continue
        answer = run.usual(call_id, about, token=token)
        if answer.code == "forbidden" == run.read(about, token=token).code:
            run.skips(reads, stranger)
        elif run.succeeded(reads, answer):
            run.holds(reads, answer)


@check(needs="maintainer_token", judges="flag.owner-only tickets.owner-only")
def as_maintainer(run: Run) -> None:
    """A maintainer is refused what is the owner's."""
    _is_refused_owners_calls(run, run.options.maintainer_token, "maintainer")


def _is_refused_owners_calls(run: Run, token: str | None, role: str) -> bool:
    for call_id in (id_ for id_, spec in CALLS.items() if spec.role == "owner"):
        key = CALL_CLAUSES[call_id][0].replace(".call", ".owner-only")
        answer = run.usual(call_id, f"as a {role}", token=token)
        if answer.code in ("resource_not_found", "organization_required", "unauthenticated"):
            why = f"{answer}: --{role}-token is not from a {role} of this project"
            run.skips(f"{key} auth.forbidden", why)
            return False
        run.refused_as(f"{key} auth.roles", answer, "auth.forbidden", "forbidden")
    return True


@check()
def roles(run: Run) -> None:
    """Read as each of those whose tokens were given."""
    for call_id, spec in CALLS.items():
        if spec.method == "GET" and spec.role != "reader":
            run.least_role(call_id)


@check(needs="outsider_token")
def as_outsider(run: Run) -> None:
    """Everything lies outside the scope of somebody of another organization."""
    for call_id in run.askable():
        answer = run.usual(call_id, "as an outsider", token=run.options.outsider_token)
        if answer.code in ("unauthenticated", "organization_required"):
            why = f"{answer}: --outsider-token is not from a member of another organization"
            run.skips("condition.missing", why)
            return
        if CALLS[call_id].subject == "organization":
            run.refused("keys.session", answer)
        else:
            run.missing(answer)


@check(needs="no_organization_token", judges="auth.organization")
def without_organization(run: Run) -> None:
    """Somebody whose token names no organization is told to name one."""
    token, about = run.options.no_organization_token, "without an organization"
    for call_id in (id_ for id_ in run.askable() if CALLS[id_].method == "GET"):
        answer = run.usual(call_id, about, token=token)
        if answer.ok or answer.code in ("resource_not_found", "unauthenticated"):
            why = f"{answer}: the contract does not say whether this call needs an organization"
            run.skips("auth.organization", why)
        else:
            run.refused("auth.organization", answer, "organization_required")


# --- Requests that are not in order: a server that accepts one is at fault ------------------------


@check()
def idempotency_keys(run: Run) -> None:
    """Make calls that need an Idempotency-Key without one, and with ones out of bounds."""
    for call_id in (spec.call_id for spec in CALLS.values() if spec.idempotent):
        for key, about, limit in (
            (None, "without Idempotency-Key", ""),
            ("", "Idempotency-Key empty", "limit.idempotency-key"),
            ("k" * 129, "Idempotency-Key of 129", "limit.idempotency-key"),
        ):
            run.wrong_input(f"idempotency-key {limit}", run.usual(call_id, about, key=key))


#: Bodies that are not in order, and what is wrong with each: by the bodies' resource and clauses.
_WRONG_BODIES: dict[tuple[str, str], tuple[tuple[Any, str], ...]] = {
    ("SetPoweredByFlagRequest", "flag.body flag.request"): (
        ({}, "an empty body"),
        ({"enabled": "true"}, "enabled a string"),
        ({"enabled": 1}, "enabled a number"),
        ({"enabled": None}, "enabled null"),
        ({"enabled": True, "hosting_emulator_check": 1}, "a property more"),
        ([True], "an array"),
        (b'{"enabled":', "half a body"),
        (b"", "no body"),
    ),
    ("CreateUserApiKeyRequest", "keys.body limit.key-name"): (
        ({"name": ""}, "name empty"),
        ({"name": PREFIX.ljust(65, "x")}, "name of 65"),
    ),
    ("CreateUserApiKeyRequest", "keys.body"): (({"name": 7}, "name a number"), ({}, "no name")),
    ("InitializeManagedSourceRequest", "source.body"): (
        ({"expected_source_generation": "0"}, "a string"),
        ({"expected_source_generation": 1.5}, "no integer"),
        ({"expected_source_generation": True}, "a boolean"),
    ),
}


@check()
def bodies(run: Run) -> None:
    """Send each call that has a body something that the body may not be."""
    for (resource, keys), wrong in _WRONG_BODIES.items():
        call_id = next(id_ for id_, spec in CALLS.items() if spec.body == resource)
        for body, about in wrong:
            run.wrong_input(keys, run.usual(call_id, about, body=body))
