"""Compares the whole responses of a walk through both APIs with their record.

The walk has more than a thousand requests. `make record` renews the record after an intended change
of a response. The responses of the control API are also checked against its own OpenAPI document.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from tests.golden.differences import describe_differences, differences_of_values
from tests.golden.reading import read_exchanges
from tests.golden.record import read
from tests.golden.walk import Walk, walk_emulator
from tests.golden.writing import files_of
from tests.support.control_types import ControlTypes

_DOCUMENT = "/_emulator/openapi.json"
#: Streams, and paths that have tests of their own.
_NOT_WALKED = {
    "/events",
    "/worlds/{world}/events",
    "/metrics",
    "/page-secret",
    "/protected-faults",
    "/protected-faults/{protected_fault}",
    "/observations/{observation}/chapters/{chapter}/requests/{n}",
}


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
        recorded_exchanges = exchanges[part.title]
        assert len(recorded_exchanges) == len(part.exchanges)
        for exchange, recorded in zip(part.exchanges, recorded_exchanges, strict=True):
            body = part.named_body(exchange)
            assert list(differences_of_values(recorded.body, body)) == [], recorded.title


def test_each_response_of_the_control_api_matches_its_document(walk: Walk):
    """It has no member that the served document does not name, and lacks none that it must have."""
    document = next(
        response.json for _, path, response in walk.control_responses if path.endswith(_DOCUMENT)
    )
    types = ControlTypes(document)
    unseen_templates = {template for template in types.templates if "/idp/" not in template}

    for method, path, response in walk.control_responses:
        target = urlsplit(path).path.removeprefix("/_emulator").rstrip("/")
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        template = types.template(target)
        if template is None:
            assert response.status == 404 or "text/" in media_type, path
            continue
        unseen_templates.discard(template)
        if not types.has_request(method, target):
            assert response.status == 405, (method, path)
            continue
        body = response.json if "json" in media_type else response.body or None
        request = f"{method} {target}"
        mismatches = types.response_mismatches(request, response.status, media_type, body)
        assert not mismatches, (method, path, mismatches)

    assert unseen_templates <= _NOT_WALKED, unseen_templates - _NOT_WALKED
