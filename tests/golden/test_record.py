"""Whole responses of both APIs: a walk of more than a thousand requests beside its record.

`make record` renews the record after a response was meant to change. The responses of the control
API are also held against its own OpenAPI document.
"""

from __future__ import annotations

import copy
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from openapi_schema_validator import OAS31Validator

from tests.golden.differences import describe_differences, differences_of_values
from tests.golden.reading import read_exchanges
from tests.golden.record import read
from tests.golden.walk import Walk, walk_emulator
from tests.golden.writing import files_of

_DOCUMENT = "/_emulator/openapi.json"
#: Streams, and what is held in tests of its own.
_NOT_WALKED = {
    "/events",
    "/worlds/{world}/events",
    "/metrics",
    "/page-secret",
    "/protected-faults",
    "/protected-faults/{protected_fault}",
    "/observations/{observation}/chapters/{chapter}/requests/{n}",
}


#: Kinds with members that no declaration could name: an effect's own, and a step's own.
_OPEN = {"FaultState", "OutcomeState", "StoryStep"}


@pytest.fixture(scope="module")
def walk() -> Walk:
    return walk_emulator()


@pytest.fixture(scope="module")
def current_files(walk: Walk) -> dict[str, str]:
    return files_of(walk.parts)


def test_each_response_of_the_walk_is_the_recorded_response(current_files: dict[str, str]):
    differences = describe_differences(read(), current_files)

    if differences:
        raise AssertionError(differences)


def test_a_renamed_field_is_reported_with_its_place_and_both_names(current_files: dict[str, str]):
    name = "documents.txt"
    changed = current_files[name].replace('"docs_url":', '"docs_link":', 1)
    assert changed != current_files[name]

    message = describe_differences(current_files, {**current_files, name: changed})

    assert re.search(
        r"documents\.txt #\d+ GET /_emulator/\S+\n  body /\S*docs_url: recorded .*docs_link",
        message,
    )


def test_golden_files_hold_the_whole_body_of_each_response(
    walk: Walk, current_files: dict[str, str]
):
    exchanges = read_exchanges(current_files)

    for part in walk.parts:
        recorded = exchanges[part.title]
        assert len(recorded) == len(part.exchanges)
        for exchange, written in zip(part.exchanges, recorded, strict=True):
            body = part.named_body(exchange)
            assert list(differences_of_values(written.body, body)) == [], written.place


def test_each_response_of_the_control_api_matches_its_document(walk: Walk):
    """With nothing more in it than what the document names, and nothing less."""
    document = next(
        response.json for _, path, response in walk.control_responses if path.endswith(_DOCUMENT)
    )
    closed = _closed(document)
    unseen = {path for path in document["paths"] if "/idp/" not in path}

    for method, path, response in walk.control_responses:
        template = _template(path, document["paths"])
        if template is None:
            assert response.status == 404 or "text/" in response.headers["Content-Type"], path
            continue
        unseen.discard(template)
        operation = document["paths"][template].get(method.lower())
        if operation is None:
            assert response.status == 405
            continue
        span = f"{response.status // 100}XX"
        responses = operation["responses"]
        declared = responses.get(str(response.status)) or responses[span]
        if "content" not in declared:
            assert response.body == b"", path
            continue
        media_type = response.headers["Content-Type"].partition(";")[0]
        assert media_type in declared["content"], (path, media_type)
        if "json" in media_type:
            validator = _validator(closed, declared["content"][media_type]["schema"])
            errors = [
                f"{'/'.join(map(str, error.path))}: {error.message[:300]}"
                for error in validator.iter_errors(response.json)
            ]
            assert not errors, (method, path, errors)

    assert unseen <= _NOT_WALKED, unseen - _NOT_WALKED


def _template(path: str, templates: dict[str, Any]) -> str | None:
    """Return the template of the document that a path fits, the one with most of it spelled out."""
    rest = urlsplit(path).path.removeprefix("/_emulator").rstrip("/")
    fitting = [
        template
        for template in templates
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), rest)
    ]
    return min(fitting, key=lambda template: template.count("{"), default=None)


def _closed(document: dict[str, Any]) -> dict[str, Any]:
    closed = copy.deepcopy(document)
    for name, schema in closed["components"]["schemas"].items():
        if name not in _OPEN and "properties" in schema:
            schema["additionalProperties"] = False
    return closed


def _validator(document: dict[str, Any], schema: dict[str, Any]) -> OAS31Validator:
    return OAS31Validator({**schema, "components": document["components"]})
