"""The rows of the tables that describe the public contract: calls, problems and assumptions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc


class CallRow(ControlMessage, frozen=True, kw_only=True):
    """A call of the public API."""

    call_id: Annotated[str, doc("The name of the call.")]
    operation_id: Annotated[str, doc("The operationId in the OpenAPI document.")]
    method: Annotated[str, doc("The method.")]
    path: Annotated[str, doc("The path, with the names of its parameters in braces.")]
    subject: Annotated[str, doc("The kind of resource that the path identifies.")]
    summary: Annotated[str, doc("A short description of the call.")]
    description: Annotated[str, doc("What the call does.")]
    idempotent: Annotated[bool, doc("Whether the call requires an Idempotency-Key.")]
    interactive: Annotated[bool, doc("Whether the call requires an interactive login.")]
    response: Annotated[str, doc("The name of the resource that the call returns.")]
    body: Annotated[list[JsonObject], doc("The fields of the request body.")]
    query: Annotated[list[JsonObject], doc("The query parameters.")]
    role: Annotated[str, doc("The project role that a user needs to make the call.")]
    permission: Annotated[
        str | None,
        doc(
            "The permission that an API key needs to make the call; null if API keys cannot "
            "make it."
        ),
    ]
    success: Annotated[int, doc("The status of a successful response.")]
    codes: Annotated[list[str], doc("The problem codes that the call can return.")]


class ProblemRow(ControlMessage, frozen=True, kw_only=True):
    """A problem code of the public API."""

    code: Annotated[str, doc("The code.")]
    status: Annotated[int, doc("The HTTP status.")]
    retryable: Annotated[bool, doc("The value of `retryable`: whether a retry may succeed.")]
    title: Annotated[str, doc("A short name for the problem.")]
    suggested_action: Annotated[str, doc("The `suggested_action` of the problem.")]
    meaning: Annotated[str, doc("What the problem means.")]
    when: Annotated[str, doc("When the emulator sends the problem.")]
    advice: Annotated[str, doc("What a client should do.")]
    specified: Annotated[list[str], doc("The members that have values specified by the contract.")]


class AssumptionRow(ControlMessage, frozen=True, kw_only=True):
    """An assumption that a world makes about a point on which the contract is silent."""

    name: Annotated[str, doc("The name of the assumption.")]
    value: Annotated[Any, doc("The assumption's value in this world.")]
    default: Annotated[Any, doc("The default value.")]
    alternatives: Annotated[
        list[Any] | Literal["any"],
        doc("The allowed values other than the default, or `any` if there is no list of values."),
    ]
    outside_the_letter: Annotated[list[str], doc("The values that contradict the contract.")]
    contradicts: Annotated[
        str, doc("The sentence of the contract that the values in `outside_the_letter` contradict.")
    ]
    warning: Annotated[
        str, doc("A warning if the value contradicts the contract, and otherwise empty.")
    ]
    about: Annotated[str, doc("What the emulator assumes.")]
    sentence: Annotated[str, doc("The sentence of the contract that leaves the point open.")]
    fixed: Annotated[str, doc("Why a user cannot set the assumption; empty if a user can.")]
