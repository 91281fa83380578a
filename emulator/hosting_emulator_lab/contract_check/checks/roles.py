"""Makes calls as users with other roles, from another organization, or without an organization."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.calls import ALL_CALLS, CALLS, CallName
from hosting_emulator_lab.contract_check.clauses import CLAUSES, clause_of_call
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.refusal_codes import ACCESS_CODES, BUSY_CODES
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun

_READER_KEYS = (
    "flag.owner-only",
    "tickets.owner-only",
    "auth.roles",
    "auth.forbidden",
    "compute.readers",
)
#: Codes that show that a token does not belong to a member of the project.
_STRANGER_CODES = ("resource_not_found", "organization_required", "unauthenticated")
#: Codes that do not show whether a role may make a call.
_UNCLEAR_CODES = ACCESS_CODES | BUSY_CODES | {"resource_not_found"}


@declare_check(needs="reader_token", judges=_READER_KEYS)
def call_as_reader(run: CheckRun) -> None:
    """Make the owner's calls and the readers' calls as a reader."""
    token = run.options.reader_token
    wrong_token = "--reader-token is not from a reader of this project"
    if not _refuses_owner_calls(run, token, "reader"):
        run.evidence.skips(("compute.readers", "auth.roles"), wrong_token)
        return
    for call_id in _calls_of_role("reader"):
        keys: tuple[str, ...] = ("auth.roles",)
        if clause_of_call(call_id, "readers") in CLAUSES:
            keys = (clause_of_call(call_id, "readers"), "auth.roles")
        if call_id not in run.callable_ids():
            run.evidence.skips(keys, "the name of the query parameter is unknown")
            continue
        response = run.call(call_id, "as a reader", token=token)
        if response.code == "forbidden" == run.read("as a reader", token=token).code:
            run.evidence.skips(keys, wrong_token)
        elif run.expect.success(keys, response):
            run.evidence.holds(keys, response)


@declare_check(needs="maintainer_token")
def call_as_maintainer(run: CheckRun) -> None:
    """Make the owner's calls as a maintainer."""
    _refuses_owner_calls(run, run.options.maintainer_token, "maintainer")


def _calls_of_role(role: str) -> Iterator[CallName]:
    return (spec.call_id for spec in CALLS.values() if spec.role == role)


def _refuses_owner_calls(run: CheckRun, token: str | None, role: str) -> bool:
    """Judge whether the owner's calls are refused. Return False if the token has a different role."""
    for call_id in _calls_of_role("owner"):
        key = clause_of_call(call_id, "owner-only")
        response = run.call(call_id, f"as a {role}", token=token)
        if response.code in _STRANGER_CODES:
            reason = f"{response}: --{role}-token is not from a {role} of this project"
            run.evidence.skips((key, "auth.forbidden"), reason)
            return False
        run.expect.refusal_with_code((key, "auth.roles"), response, "auth.forbidden", "forbidden")
    return True


@declare_check()
def read_with_each_role(run: CheckRun) -> None:
    """Make the reads for which the contract states no role, as each role for which there is a token."""
    for spec in CALLS.values():
        if spec.method == "GET" and spec.role != "reader":
            record_least_role(run, spec.call_id)


def record_least_role(
    run: CheckRun,
    call_id: CallName,
    send: Callable[[str, str], ServerResponse] | None = None,
) -> None:
    """Record the lowest of the roles reader, maintainer and owner that may make a call.

    `send` makes the call with a token and a purpose. By default, the call has no special options.
    """
    call_role = ALL_CALLS[call_id].role
    assert isinstance(call_role, AssumedRole)
    responses = _responses_by_role(run, call_id, send)
    refused = [role for role, response in responses.items() if response.code == "forbidden"]
    allowed = [role for role, response in responses.items() if _is_allowed(response)]
    if allowed:
        if allowed[0] == "reader" or "reader" in refused:
            run.behavior.record(call_role.assumption, allowed[0])
    elif "maintainer" in refused:
        run.behavior.record(call_role.assumption, "owner")
    elif refused:
        run.behavior.note(
            f"{call_role.assumption} is maintainer or owner: use --maintainer-token to find out"
        )


def _responses_by_role(
    run: CheckRun, call_id: CallName, send: Callable[[str, str], ServerResponse] | None
) -> dict[str, ServerResponse]:
    """Make a call as a reader and as a maintainer, if there are tokens for them."""
    tokens = {"reader": run.options.reader_token, "maintainer": run.options.maintainer_token}
    responses = {}
    for role, token in tokens.items():
        if not token:
            continue
        purpose = f"as a {role}"
        if send is None:
            responses[role] = run.call(call_id, purpose, token=token)
        else:
            responses[role] = send(token, purpose)
    return responses


def _is_allowed(response: ServerResponse) -> bool:
    return response.code not in _UNCLEAR_CODES and 0 < response.status < 500


@declare_check(needs="outsider_token")
def call_as_outsider(run: CheckRun) -> None:
    """Make each call as a user of another organization, who must not find the project."""
    token = run.options.outsider_token
    responses = [run.call(call_id, "as an outsider", token=token) for call_id in run.callable_ids()]
    if all(response.code in ("unauthenticated", "organization_required") for response in responses):
        run.evidence.skips(
            "condition.missing",
            f"{responses[0]}: --outsider-token is not from a member of another organization",
        )
        return
    for response in responses:
        if ALL_CALLS[response.call_id].subject == "organization":
            run.expect.refusal("keys.session", response)
        elif response.code == "unauthenticated":
            run.evidence.differs(
                "condition.missing",
                response,
                "other calls accept this token, so its code should be resource_not_found",
            )
        else:
            run.expect.not_found(response)


@declare_check(needs="no_organization_token", judges=("auth.organization",))
def call_without_organization(run: CheckRun) -> None:
    """Make each read with a token that names no organization."""
    token = run.options.no_organization_token
    for call_id in run.callable_ids():
        if CALLS[call_id].method != "GET":
            continue
        response = run.call(call_id, "without an organization", token=token)
        if response.ok or response.code in ("resource_not_found", "unauthenticated"):
            run.evidence.skips(
                "auth.organization",
                f"{response}: the contract does not say whether this call needs an organization",
            )
        else:
            run.expect.refusal("auth.organization", response, "organization_required")
