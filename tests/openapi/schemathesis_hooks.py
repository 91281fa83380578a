"""What schemathesis is told beyond the document: ids that exist, and what a schema cannot say.

Loaded by schemathesis in its own process (`fuzzing.run` names this file in its configuration).
"""

import json
import os
from typing import Any

import schemathesis

#: `path`: values by parameter. `hidden`: statuses and codes to take out of the document.
TOLD: dict[str, Any] = json.loads(os.environ["EMULATOR_FUZZING"])


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Give the examples and the coverage phase ids of the world, so that they reach deep paths.

    They get idempotency keys too, others for each call: one key for all would be refused as reused.
    """
    for item in raw_schema["paths"].values():
        for operation in item.values():
            keys = [f"{operation['operationId']}-{number}" for number in range(3)]
            values = {**TOLD["path"], "Idempotency-Key": keys}
            for parameter in operation["parameters"]:
                add_examples(parameter, values.get(parameter["name"], []))
            hide(operation["responses"])


def add_examples(parameter: dict[str, Any], values: list[Any]) -> None:
    if values:
        parameter["examples"] = {f"sample{n}": {"value": v} for n, v in enumerate(values[:3])}
        parameter["schema"] = {k: v for k, v in parameter["schema"].items() if k != "examples"}


def hide(responses: dict[str, Any]) -> None:
    """Make the document wrong on purpose, to see whether that is noticed."""
    for name in TOLD["hidden"]:
        responses.pop(name, None)
        for response in responses.values():
            for content in response["content"].values():
                content.get("examples", {}).pop(name, None)


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Keep every failure but one kind: a cursor that was made up is not data that must be accepted.

    The contract calls the cursor opaque, from the preceding page: its schema can give its
    characters only, and the emulator refuses those that no page gave.
    """
    made_up = (
        type(failure).__name__ == "RejectedPositiveData"
        and case.operation.definition.raw["operationId"] == "listDeployments"
        and response.json()["code"] == "invalid_request"
        and "is not the next_cursor of a page" in response.json()["detail"]
    )
    return not made_up


@schemathesis.check
def problem_is_documented(ctx: Any, response: Any, case: Any) -> None:
    """Fail on a problem that the document does not name for this call and status, or half told."""
    if response.status_code < 400:
        return
    found = response.json()
    documented = case.operation.definition.raw["responses"].get(str(response.status_code))
    if documented is None:  # told by a check of schemathesis
        return
    examples = documented["content"]["application/problem+json"]["examples"]
    codes = {code_of(name) for name in examples}
    assert found["code"] in codes, f"{found['code']} is not documented, only {codes}"
    assert found["status"] == response.status_code
    assert response.headers["x-request-id"] == [found["request_id"]]
    told = found.get("retry_after_seconds")
    assert response.headers.get("retry-after", []) == ([] if told is None else [str(told)])


def code_of(example: str) -> str:
    """Return the code of an example: its name, without the status of a call that lists its own."""
    special = {"wrong_method": "invalid_request", "broken_request": "invalid_request"}
    return special.get(example, example.rstrip("_0123456789"))
