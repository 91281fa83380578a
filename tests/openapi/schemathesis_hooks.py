"""Hooks for schemathesis: new Idempotency-Keys, and rules that a schema cannot state.

Loaded by schemathesis in its own process (`schemathesis_run.run` names this file in its configuration).
"""

import atexit
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis

from hosting_emulator.contract.calls import CURSOR

#: `hidden`: statuses and codes to remove from the document. `counts`: the file for the counts.
SETTINGS: dict[str, Any] = json.loads(os.environ["EMULATOR_FUZZING"])
COUNTS: Counter[str] = Counter()


@atexit.register
def keep_counts() -> None:
    Path(SETTINGS["counts"]).write_text(json.dumps(COUNTS), "utf-8")


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Give each call its own Idempotency-Keys: a key shared by all would be refused as reused."""
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "Idempotency-Key":
                    keys = {f"{operation['operationId']}-{number}" for number in range(3)}
                    parameter["examples"] = {key: {"value": key} for key in sorted(keys)}
                    del parameter["schema"]["examples"]
            hide(operation["responses"])


def hide(responses: dict[str, Any]) -> None:
    """Remove statuses and examples from the document, to see whether that is noticed."""
    for name in SETTINGS["hidden"]:
        responses.pop(name, None)
        for response in responses.values():
            for content in response["content"].values():
                content.get("examples", {}).pop(name, None)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Count all responses and those with status 404."""
    COUNTS["all"] += 1
    COUNTS["missing"] += response.status_code == 404


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Keep every failure except two kinds that no document can prevent.

    A request may be refused for a rule that no schema can state; or the body may name a missing
    resource that is not the one just created.
    """
    failure_type = type(failure).__name__
    if failure_type == "EnsureResourceAvailability":
        return response.json()["title"] not in NAMED_IN_BODIES
    if failure_type != "RejectedPositiveData":
        return True
    problem = response.json()
    return not (is_made_up(problem) or is_beyond_a_schema(problem))


def is_made_up(problem: dict[str, Any]) -> bool:
    """Return whether a problem refuses a cursor that no page returned.

    The contract calls the cursor opaque, so its schema can only state its characters.
    """
    return problem.get("code") == "invalid_request" and CURSOR.complaint in str(problem["detail"])


def is_beyond_a_schema(problem: dict[str, Any]) -> bool:
    """Return whether the control API refuses the meaning of a request and not its shape.

    Examples are words of the contract or of a world (an alias, a permission, a rule), texts with a
    grammar of their own, and members that exclude each other.
    """
    if problem.get("error") in ("invalid_grant", "invalid_request", "unsupported_grant_type"):
        return True  # the required fields of a form depend on its grant
    title = problem.get("title", "")
    detail = problem.get("detail", "")
    return title in NO_SHAPE or (title == "Bad request" and not detail.startswith("the body "))


#: Titles of refusals by the control API that concern a name in the body.
NAMED_IN_BODIES = {
    "No such user",
    "No such project",
    "No such organization",
    "No such operation",
    "No such commit",
    "Scenario refused",
}
#: Titles of refusals that concern the meaning.
NO_SHAPE = {
    "Assumption refused",
    "Cannot stop",
    "Clock refused",
    "Fault refused",
    "Outcome refused",
    "Intervention refused",
    "Scenario refused",
    "State refused",
    "Variation refused",
    "Unknown permission",
    "Bad call",
    "Bad status",
    "Bad since",
    "Bad until",
    "Bad off",
    "Bad only",
    "Bad clock",
    "Bad timestamp",
    "Bad duration",
}


@schemathesis.check
def problem_is_documented(ctx: Any, response: Any, case: Any) -> None:
    """Fail on an incomplete problem, or one that the document does not name for this call and status."""
    if response.status_code < 400:
        return
    problem = response.json()
    documented = case.operation.definition.raw["responses"].get(str(response.status_code))
    if documented is None:  # a check of schemathesis reports this
        return
    examples = documented["content"]["application/problem+json"].get("examples")
    if examples is None:  # the control API has no codes
        return
    codes = {code_of(name) for name in examples}
    assert problem["code"] in codes, f"{problem['code']} is not documented, only {codes}"
    assert problem["status"] == response.status_code
    assert response.headers["x-request-id"] == [problem["request_id"]]
    retry_after_s = problem.get("retry_after_seconds")
    assert response.headers.get("retry-after", []) == (
        [] if retry_after_s is None else [str(retry_after_s)]
    )


def code_of(example: str) -> str:
    """Return the code of an example: its name, without the status of a call that lists its own."""
    special = {"wrong_method": "invalid_request", "broken_request": "invalid_request"}
    return special.get(example, example.rstrip("_0123456789"))
