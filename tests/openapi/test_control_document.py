"""The control API's OpenAPI document: valid, and with examples that the default world takes.

That each answer is as it says is held by the walk of tests/golden.
"""

from __future__ import annotations

import json
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

#: These want what a document cannot hold: an exported state, an operation that has not ended, an
#: access token, the time to listen.
WITHOUT_EXAMPLE = {
    *("putState", "stepOperation", "listen", "listenToWorlds"),
    *("userinfo", "userinfoPost", "userinfoOfWorld", "userinfoOfWorldPost"),
}
#: What these paths change concerns all worlds of a process: they get an emulator of their own.
OF_THE_PROCESS = ("/observations", "/protected-faults")


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


def test_each_control_operation_succeeds_with_its_examples(
    document: Any, hosting_emulator: HostingEmulator
):
    wrong = []
    for method, path, operation in operations(document):
        if operation["operationId"] in WITHOUT_EXAMPLE:
            continue
        with ExitStack() as stack:
            control = hosting_emulator.control
            if path.startswith(OF_THE_PROCESS):
                control = stack.enter_context(BackgroundEmulator()).control
                control.observe()
                control.post("protected-faults", {"fault": {"latency": {"delay_ms": 1}}})
            world = stack.enter_context(HostingEmulator.fresh(control))
            begin(world)
            if path.startswith(OF_THE_PROCESS):  # whose first chapter is that of the default world
                begin(control.world())
            status, body = ask(world, method, path, operation)
        if status != int(next(iter(operation["responses"]))):
            wrong.append((method, path, status, body[:300]))

    assert not wrong


def begin(world: HostingEmulator) -> None:
    """Give a world a request, a fault and a snapshot."""
    url = world.url("/v1/projects/{project}/deployments")
    with urlopen(Request(url, headers=world.headers())) as answer:
        assert answer.status == 200
    world.snapshot()
    world.control.post(world.control_path("faults"), {"latency": {"delay_ms": 1}})
    world.control.post(world.control_path("outcomes"), {"succeed": {}})


def ask(world: HostingEmulator, method: str, path: str, operation: Any) -> tuple[int, bytes]:
    """Make a request of all the examples that an operation has, and return status and body."""
    given: dict[str, dict[str, Any]] = {"path": {}, "query": {}}
    for parameter in operation.get("parameters", []):
        if "example" in parameter:
            given[parameter["in"]][parameter["name"]] = parameter["example"]
    where = path.format(**given["path"] | {"world": world.name})
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    media_type, sent = next(iter(content.items()), ("", None))
    encode = json.dumps if "json" in media_type else urlencode
    request = Request(
        f"{world.control.control_url}{where}?{urlencode(given['query'])}",
        encode(sent["example"]).encode() if sent else None,
        {"Content-Type": media_type} if sent else {},
        method=method,
    )
    try:
        with urlopen(request) as answer:
            return answer.status, answer.read()
    except HTTPError as refused:
        return refused.code, refused.read()
