"""What schemathesis is told beyond a document: new idempotency keys, and what a schema cannot say.

Loaded by schemathesis in its own process (`schemathesis_run.run` names this file in its configuration).
"""

import atexit
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis

#: `hidden`: statuses and codes to take out of the document. `answers`: the file to count answers in.
TOLD: dict[str, Any] = json.loads(os.environ["EMULATOR_FUZZING"])
ANSWERS: Counter[str] = Counter()


@atexit.register
def keep_counts() -> None:
    Path(TOLD["answers"]).write_text(json.dumps(ANSWERS), "utf-8")


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Give each call idempotency keys of its own: one key for all would be refused as reused."""
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "Idempotency-Key":
                    keys = {f"{operation['operationId']}-{number}" for number in range(3)}
                    parameter["examples"] = {key: {"value": key} for key in sorted(keys)}
                    del parameter["schema"]["examples"]
            hide(operation["responses"])


def hide(responses: dict[str, Any]) -> None:
    """Make the document wrong on purpose, to see whether that is noticed."""
    for name in TOLD["hidden"]:
        responses.pop(name, None)
        for response in responses.values():
            for content in response["content"].values():
                content.get("examples", {}).pop(name, None)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Count the answers, and those that say that there is no such thing."""
    ANSWERS["all"] += 1
    ANSWERS["missing"] += response.status_code == 404


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Keep every failure but of two kinds that no document could keep a client from.

    Data is refused for what no schema can say; or something is missing that the body names, and not
    the resource that was made just before.
    """
    kind = type(failure).__name__
    if kind == "EnsureResourceAvailability":
        return response.json()["title"] not in NAMED_IN_BODIES
    if kind != "RejectedPositiveData":
        return True
    found = response.json()
    return not (is_made_up(found) or is_beyond_a_schema(found))


def is_made_up(found: dict[str, Any]) -> bool:
    """Tell of a cursor that no page gave.

    The contract calls it opaque, from the preceding page: its schema can give its characters only.
    """
    return found.get("code") == "invalid_request" and "is not the next_cursor of a page" in str(
        found["detail"]
    )


def is_beyond_a_schema(found: dict[str, Any]) -> bool:
    """Tell of what the control API refuses for its sense, not for its shape.

    That are words of the contract or of a world (an alias, a permission, a rule), texts with a
    grammar of their own, and members that do not go together.
    """
    if found.get("error") in ("invalid_grant", "invalid_request", "unsupported_grant_type"):
        return True  # what a form must hold depends on its grant
    title, detail = found.get("title", ""), found.get("detail", "")
    return title in NO_SHAPE or (title == "Bad request" and not detail.startswith("the body "))


#: Titles of refusals by the control API that name what a body names.
NAMED_IN_BODIES = {
    *("No such user", "No such project", "No such organization", "No such operation"),
    *("No such commit", "Scenario refused"),
}
#: Titles of refusals for sense.
NO_SHAPE = {
    *(
        "Assumption refused",
        "Clock refused",
        "Fault refused",
        "Outcome refused",
        "Intervention refused",
    ),
    *("Scenario refused", "State refused", "Variation refused", "Unknown permission"),
    *("Bad call", "Bad status", "Bad since", "Bad until", "Bad off", "Bad only"),
    *("Bad clock", "Bad timestamp", "Bad duration"),
}


@schemathesis.check
def problem_is_documented(ctx: Any, response: Any, case: Any) -> None:
    """Fail on a problem that the document does not name for this call and status, or half told."""
    if response.status_code < 400:
        return
    found = response.json()
    documented = case.operation.definition.raw["responses"].get(str(response.status_code))
    if documented is None:  # told by a check of schemathesis
        return
    examples = documented["content"]["application/problem+json"].get("examples")
    if examples is None:  # the control API has no codes
        return
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
