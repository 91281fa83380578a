"""The OpenAPI document of the control API is valid, and its examples succeed in the default world.

The walk of tests/golden checks that each response matches the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from hosting_emulator.sdk import HostingEmulator
from pytest_hosting_emulator import BackgroundEmulator

#: These need what a document cannot contain: an exported state, an unfinished operation, an access
#: token, time to listen.
WITHOUT_EXAMPLE = {
    "putState",
    "stop",
    "stepOperation",
    "listen",
    "listenToWorlds",
    "userinfo",
    "userinfoPost",
    "userinfoOfWorld",
    "userinfoOfWorldPost",
}
#: These paths affect all worlds of a process, so they get an emulator of their own.
PROCESS_WIDE_PATHS = ("/observations", "/protected-faults")


@pytest.fixture
def document(hosting_emulator: HostingEmulator) -> Any:
    return hosting_emulator.control.get("openapi.json")


def operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield method, path and the rest of each operation."""
    for path, item in document["paths"].items():
        yield from ((method.upper(), path, operation) for method, operation in item.items())


def test_the_control_document_is_valid(document: Any):
    OpenAPIV31SpecValidator(document).validate()


def test_every_schema_of_the_control_document_is_referenced(document: Any):
    text = json.dumps(document)

    names = document["components"]["schemas"]

    assert not [name for name in names if f'"#/components/schemas/{name}"' not in text]


def descriptions(part: Any) -> Iterator[str]:
    """Yield all descriptions in a part of a document."""
    if isinstance(part, list):
        for item in part:
            yield from descriptions(item)
    elif isinstance(part, dict):
        if isinstance(part.get("description"), str):
            yield part["description"]
        for member in part.values():
            yield from descriptions(member)


@pytest.mark.parametrize("path", ["openapi.json", "contract/scenario-schema.json"])
def test_no_description_contains_a_code_block_of_markdown(
    hosting_emulator: HostingEmulator, path: str
):
    document = hosting_emulator.control.get(path)

    texts = list(descriptions(document))

    assert any("\n\n" in text for text in texts)
    assert not [text for text in texts if "\n    " in text]


@pytest.mark.parametrize("path", ["openapi.json", "contract/scenario-schema.json"])
def test_a_description_is_a_sentence_or_a_phrase_in_lower_case(
    hosting_emulator: HostingEmulator, path: str
):
    document = hosting_emulator.control.get(path)
    headings = {tag["description"] for tag in document.get("tags", ())}

    texts = {text.rstrip("\n") for text in descriptions(document)} - headings

    assert texts
    assert [text for text in texts if re.match("[a-z*]", text) and text.endswith(".")] == []
    assert [text for text in texts if re.match("[^a-z*]", text) and not text.endswith(".")] == []


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all schemas in a schema, the schema itself first."""
    if isinstance(schema, list):
        for item in schema:
            yield from parts_of(item)
    elif isinstance(schema, dict):
        if not all(isinstance(part, dict) for part in schema.values()):
            yield schema
        for part in schema.values():
            yield from parts_of(part)


def test_the_schemas_of_the_control_document_suit_client_generators(document: Any):
    """Each rule is about a generator that would write code that does not compile or is wrong."""
    schemas = list(parts_of(document["components"]["schemas"]))
    unions = [part.get("anyOf", part.get("oneOf", ())) for part in schemas]

    assert len(schemas) > 100
    assert [part for part in schemas if "$ref" in part and len(part) > 1] == []
    assert [part for part in schemas if "default" in part or "prefixItems" in part] == []
    assert [part for part in schemas if "enum" in part and "type" not in part] == []
    assert [part for part in schemas if part.get("type") == "array" and "items" not in part] == []
    for union in unions:
        choices = [choice for choice in union if choice.get("type") != "null"]
        assert len(choices) < 2 or not any(choice.get("type") == "array" for choice in choices)
        assert not choices or any(set(choice) != {"required"} for choice in choices)


def success_schema(operation: Any) -> Any:
    """Return the schema of the JSON body of a success, or None if a success has no JSON body."""
    response = next(iter(operation["responses"].values()))
    return response.get("content", {}).get("application/json", {}).get("schema")


def test_the_control_document_names_the_response_that_can_be_null(
    document: Any, hosting_emulator: HostingEmulator
):
    nullable = [
        path
        for _, path, operation in operations(document)
        if {"type": "null"} in (success_schema(operation) or {}).get("anyOf", ())
    ]

    assert nullable == ["/worlds/{world}/variation"]
    assert hosting_emulator.control.get(hosting_emulator.control_path("variation")) is None


@pytest.mark.parametrize("member", ["NewClock.at", "ClockChange.at", "Advance.to"])
def test_the_control_document_marks_a_timestamp_in_a_request(document: Any, member: str):
    schema, name = member.split(".")
    choices = document["components"]["schemas"][schema]["properties"][name]["anyOf"]

    assert {"type": "string", "format": "date-time"} in choices


@pytest.mark.parametrize("path", ["requests", "requests.har", "events"])
def test_the_filters_of_requests_are_documented_as_query_parameters(document: Any, path: str):
    parameters = document["paths"][f"/worlds/{{world}}/{path}"]["get"]["parameters"]
    documented = {item["name"] for item in parameters if item["in"] == "query"}

    assert {"call", "status", "user", "project", "since", "before", "text", "after"} <= documented


def test_a_number_outside_its_documented_bounds_is_refused_by_its_name(
    document: Any, hosting_emulator: HostingEmulator
):
    refusals = []
    for method, path, operation in operations(document):
        if path.startswith(PROCESS_WIDE_PATHS):
            continue
        for parameter in operation.get("parameters", ()):
            schema = parameter["schema"]
            if parameter["in"] == "query" and schema.get("type") == "integer":
                for number in (schema["minimum"] - 1, schema["maximum"] + 1):
                    query = {**parameter, "example": number}
                    status, body = send_examples(
                        hosting_emulator, method, path, {**operation, "parameters": [query]}
                    )
                    title = json.loads(body)["title"]
                    refusals.append((path, status, title, f"Bad {parameter['name']}"))

    assert len(refusals) >= 10
    assert [row for row in refusals if row[1] != 400 or row[2] != row[3]] == []


def test_a_number_at_its_documented_bounds_is_accepted(
    document: Any, hosting_emulator: HostingEmulator
):
    path = "/worlds/{world}/requests"
    operation = document["paths"][path]["get"]
    (limit,) = (item for item in operation["parameters"] if item["name"] == "limit")
    bounds = (limit["schema"]["minimum"], limit["schema"]["maximum"])

    queries = [{**operation, "parameters": [{**limit, "example": number}]} for number in bounds]

    assert bounds == (1, 1000)
    for query in queries:
        assert send_examples(hosting_emulator, "GET", path, query)[0] == 200


def test_each_control_operation_succeeds_with_its_examples(
    document: Any, hosting_emulator: HostingEmulator
):
    failures = []
    for method, path, operation in operations(document):
        if operation["operationId"] in WITHOUT_EXAMPLE:
            continue
        with ExitStack() as stack:
            control = hosting_emulator.control
            if path.startswith(PROCESS_WIDE_PATHS):
                control = stack.enter_context(BackgroundEmulator()).control
                control.observe()
                control.post("protected-faults", {"fault": {"latency": {"delay_ms": 1}}})
            world = stack.enter_context(HostingEmulator.fresh(control))
            populate(world)
            if path.startswith(
                PROCESS_WIDE_PATHS
            ):  # the first chapter is that of the default world
                populate(control.world())
            status, body = send_examples(world, method, path, operation)
        if status != int(next(iter(operation["responses"]))):
            failures.append((method, path, status, body[:300]))

    assert not failures


def populate(world: HostingEmulator) -> None:
    """Give a world a request, a fault and a snapshot."""
    url = world.url("/v1/projects/{project}/deployments")
    with urlopen(Request(url, headers=world.headers())) as response:
        assert response.status == 200
    world.snapshot()
    world.control.post(world.control_path("faults"), {"latency": {"delay_ms": 1}})
    world.control.post(world.control_path("outcomes"), {"succeed": {}})


def send_examples(
    world: HostingEmulator, method: str, path: str, operation: Any
) -> tuple[int, bytes]:
    """Send a request with all the examples of an operation and return status and body."""
    parameters: dict[str, dict[str, Any]] = {"path": {}, "query": {}}
    for parameter in operation.get("parameters", []):
        if "example" in parameter:
            parameters[parameter["in"]][parameter["name"]] = parameter["example"]
    filled_path = path.format(**parameters["path"] | {"world": world.name})
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    media_type, media = next(iter(content.items()), ("", None))
    encode = json.dumps if "json" in media_type else urlencode
    request = Request(
        f"{world.control.control_url}{filled_path}?{urlencode(parameters['query'])}",
        encode(media["example"]).encode() if media else None,
        {"Content-Type": media_type} if media else {},
        method=method,
    )
    try:
        with urlopen(request) as response:
            return response.status, response.read()
    except HTTPError as refused:
        return refused.code, refused.read()
