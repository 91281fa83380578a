"""Lasting effects: permanent changes in the service's behavior that begin with one of the client's requests.

A wire fault is transient, so a retry succeeds. A lasting effect stays until the end of the run.
Under most lasting effects a client cannot succeed. The client can only stop, report the failure,
and do no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.client_requests import NumberedRequest

#: The fate of the request under a lasting effect: it is `refused`, its operation stays
#: `unfinished`, it is `done` (perhaps late), or its response is `altered`.
RequestEnd: TypeAlias = Literal["refused", "unfinished", "done", "altered"]
#: How a lasting effect is armed: as an outcome of the operations that the call begins, as a fault of
#: the call, as a fault of every call, as a fault that replaces members of the response, as an
#: intervention before the run, or as an operation that another program begins before the run.
ArmedAs: TypeAlias = Literal[
    "outcome", "fault", "fault of every call", "members", "intervention", "earlier operation"
]
#: The number of operations to which a lasting outcome applies. No client starts more.
_UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True)
class LastingEffect:
    """A permanent change in the service's behavior that begins with a certain request.

    `description` is the predicate of a sentence about the request. `call` is the only call to which
    the effect applies. If `call` is empty, the effect applies to all calls. With `of_operations`, it
    applies only to requests that begin an operation.
    """

    request_end: RequestEnd
    description: str
    effect: JsonObject
    armed_as: ArmedAs = "outcome"
    call: str = ""
    of_operations: bool = False

    def suits(self, request: NumberedRequest) -> bool:
        """Return whether the effect can be observed from this request on."""
        if self.call and not (request.call == self.call and request.succeeded):
            return False
        if self.of_operations and not request.begins_operation:
            return False
        match self.armed_as:
            case "outcome":
                return request.begins_operation
            case "members":
                return self._changes_response(request)
            case "intervention" | "earlier operation":
                return self._can_intervene(request)
        return True

    def _changes_response(self, request: NumberedRequest) -> bool:
        """Return whether the effect's members differ from the members of the request's response."""
        response = request.response
        if not isinstance(response, dict):
            return False
        # Leave out later pages that have a next page, because only the first page can be empty, and
        # an empty page has no next page.
        if response.get("next_cursor") and request.number > 1:
            return False
        return any(response.get(name) != value for name, value in self.effect.items())

    def _can_intervene(self, request: NumberedRequest) -> bool:
        """Return whether an intervention before the run first takes effect at the request."""
        if request.exchange.project is None:
            return False
        # The earlier operation begins in the world of the run, and not in a world that a test creates.
        if self.armed_as == "earlier operation" and not request.exchange.is_in_own_world:
            return False
        if self.call:
            return request.number == 1
        return request.begins_operation and not request.project_is_busy

    def document(self, request: NumberedRequest, token: str | None = None) -> JsonObject:
        """Return the protected fault that has the effect from this request on, or an empty document.

        An earlier operation needs no fault.

        If `token` is set, a fault that applies to every call meets only requests with this token.
        """
        match self.armed_as:
            case "outcome":
                # Apply the outcome without limit, so that a client that begins the operation again
                # gets the same outcome.
                rule = {
                    "call": request.call,
                    "skip_first": request.operations_before,
                    "times": _UNLIMITED,
                }
                return {"outcome": {**self.effect, **rule}}
            case "earlier operation":
                return {}
            case "intervention":
                project = request.exchange.project
                return {
                    "intervention": {
                        name: {"project": project, **options}
                        for name, options in self.effect.items()
                    }
                }
            case "fault of every call":
                every_call: JsonObject = {"skip_first": request.position - 1}
                if token:
                    every_call["header"] = {"Authorization": f"Bearer {token}"}
                return {"fault": {**self.effect, **every_call}}
            case "members":
                content = {**request.response, **self.effect}
                if content.get("items") == [] and content.get("next_cursor"):
                    del content["next_cursor"]
                return {"fault": {"respond": {"content": content}, **_rule_from(request)}}
            case "fault":
                return {"fault": {**self.effect, **_rule_from(request)}}


def _rule_from(request: NumberedRequest) -> JsonObject:
    """Return the rule that matches a request and all later requests to its call."""
    return {"call": request.call, "skip_first": request.number - 1}


_NO_ZONE: JsonObject = {"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None}
#: The lasting effects by word. The most revealing effects come first. Each state of a reconciliation
#: lasts long enough for a poll to see it.
LASTING_EFFECTS: Mapping[str, LastingEffect] = {
    "fail": LastingEffect("refused", "starts an operation that fails", {"fail": {}}),
    "value_lost": LastingEffect(
        "done",
        "creates a key whose value is lost with the response: a replay has null instead",
        {"connection_reset": {}, "times": 1, "after_commit": True},
        "fault",
        "create_user_api_key",
    ),
    "outage": LastingEffect(
        "refused",
        "gets service_unavailable, and so does every later request",
        {"abort": {"code": "service_unavailable"}},
        "fault of every call",
    ),
    "stick": LastingEffect("unfinished", "starts an operation that never ends", {"stick": {}}),
    "database_null": LastingEffect(
        "altered",
        "shows no database",
        {"database": None},
        "members",
        "read_database_compute",
    ),
    "no_zone": LastingEffect(
        "altered",
        "shows no zone",
        _NO_ZONE,
        "members",
        "get_dns_authorization",
    ),
    "empty_list": LastingEffect(
        "altered",
        "lists nothing",
        {"items": []},
        "members",
        "list_deployments",
    ),
    "cancel": LastingEffect("refused", "starts an operation that is cancelled", {"cancel": {}}),
    "exhaust": LastingEffect(
        "refused",
        "starts an operation that needs reconciliation twice, and then fails",
        {"reconcile": {"attempts": 2, "then": "exhaust", "each": "1s"}},
    ),
    "fail_retryable": LastingEffect(
        "refused",
        "starts an operation that fails with an error whose retryable is true",
        {"fail": {"retryable": True}},
    ),
    "token_expired": LastingEffect(
        "refused",
        "gets unauthenticated: the token has expired",
        {"abort": {"code": "unauthenticated"}},
        "fault of every call",
    ),
    "blocked": LastingEffect(
        "unfinished",
        "starts an operation that waits for another one that never ends",
        {"hold_claim": {}},
        "intervention",
    ),
    "queued": LastingEffect(
        "done",
        "starts an operation that waits until another one has succeeded",
        {},
        "earlier operation",
    ),
    "limited": LastingEffect(
        "refused",
        "gets rate_limited with Retry-After every time it is sent",
        {"abort": {"code": "rate_limited", "retry_after_seconds": 1}},
        "fault",
    ),
    # Longer than the pauses that clients usually make, so that a client that shortens the wait is seen.
    "long_limit": LastingEffect(
        "done",
        "gets rate_limited once, with 6 seconds in Retry-After",
        {"abort": {"code": "rate_limited", "retry_after_seconds": 6}, "times": 1},
        "fault",
    ),
    "reconcile": LastingEffect(
        "done",
        "starts an operation that needs reconciliation twice, and then succeeds",
        {"reconcile": {"attempts": 2, "each": "1s"}},
    ),
    "long": LastingEffect(
        "done",
        "starts an operation that takes long, and then succeeds",
        {"succeed": {"queued": "10m", "running": "20m"}},
    ),
    # The contract does not close an operation, so a part of it may have a state of its own.
    "nested_state": LastingEffect(
        "done",
        "starts an operation, and responses have a nested object with the state succeeded",
        {"alter": {"set": {"/build": {"state": "succeeded"}}}},
        "fault of every call",
        of_operations=True,
    ),
    "never_suspends": LastingEffect(
        "altered",
        "shows a database with suspend_timeout_seconds -1, which means never suspend",
        {"alter": {"set": {"/database/suspend_timeout_seconds": -1}}},
        "fault",
        "read_database_compute",
    ),
    "default_suspend": LastingEffect(
        "altered",
        "shows a database with suspend_timeout_seconds 0, which means the provider's default",
        {"alter": {"set": {"/database/suspend_timeout_seconds": 0}}},
        "fault",
        "read_database_compute",
    ),
    # Add more deployments than the largest page holds (contract, section Limits).
    "another_page": LastingEffect(
        "altered",
        "returns one more page",
        {"add_deployments": {"count": 101}},
        "intervention",
        "list_deployments",
    ),
}
#: The refusals for which a retry cannot help, by word, such as `abort:forbidden`.
_REFUSALS = {
    f"abort:{code}": LastingEffect(
        "refused",
        f"gets {code} every time it is sent",
        {"abort": {"code": code}},
        "fault",
    )
    for code, problem in PROBLEMS.items()
    if not problem.retryable
}


def lasting_effect(word: str) -> LastingEffect | None:
    """Return the lasting effect that a fault's word names.

    Returns None if the word names a wire fault, which is transient.
    """
    return LASTING_EFFECTS.get(word) or _REFUSALS.get(word)
