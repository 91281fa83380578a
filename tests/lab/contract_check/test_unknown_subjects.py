"""The check requests projects and an organization that do not exist."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.unknown_subjects import request_unknown_subjects
from hosting_emulator_lab.contract_check.run import UNUSED_ID
from tests.lab.contract_check.scripted_server import (
    ORGANIZATION_ID,
    PROJECT_ID,
    Reply,
    Request,
    faults_of,
    make_check,
    problem,
)

_NOT_FOUND = problem(404, "resource_not_found")


def test_each_call_is_made_about_a_subject_that_does_not_exist() -> None:
    paths: list[str] = []

    def respond(request: Request) -> Reply:
        paths.append(request.path)
        return _NOT_FOUND

    run = make_check(request_unknown_subjects, respond)

    *unknown, malformed = (path.split("/")[3] for path in paths)
    assert set(unknown) == {UNUSED_ID}
    assert not {PROJECT_ID, ORGANIZATION_ID, UNUSED_ID, ""} & {malformed}
    assert {path.split("/")[2] for path in paths} == {"projects", "organizations"}
    assert faults_of(run) == []


def test_a_subject_that_does_not_exist_must_not_be_found() -> None:
    run = make_check(request_unknown_subjects, lambda _: problem(403, "forbidden"))

    faults = {row.fault for row in run.evidence.differences}
    assert faults == {"its code should be resource_not_found"}


@pytest.mark.parametrize(
    ("base_url", "link", "docs_url"),
    [
        ("https://api.example", "https://docs.example/v1", "https://docs.example/v1"),
        ("http://127.0.0.1:4620/worlds/a/", "http://127.0.0.1:4620/_emulator/docs", "own"),
        ("https://api.example", "http://x/_emulator/docs", "http://x/_emulator/docs"),
    ],
)
def test_the_address_of_the_documentation_is_observed(
    base_url: str, link: str, docs_url: str
) -> None:
    document = {**_NOT_FOUND.document, "type": f"{link}/errors/resource-not-found"}
    reply = Reply(document, 404, _NOT_FOUND.headers)

    run = make_check(request_unknown_subjects, lambda _: reply, base_url=base_url)

    assert run.behavior.values["docs_url"] == docs_url


@pytest.mark.parametrize(
    ("reply", "values", "faults"),
    [
        (_NOT_FOUND, {"malformed_project_id": "not_found"}, []),
        (problem(400, "invalid_request"), {"malformed_project_id": "invalid_request"}, []),
        (problem(422, "invalid_request"), {}, []),
        (problem(503, "service_unavailable"), {}, []),
        (Reply(b"[]"), {}, ["it should have been refused"]),
    ],
)
def test_a_refusal_of_a_malformed_id_is_observed(
    reply: Reply, values: dict[str, Any], faults: list[str]
) -> None:
    def respond(request: Request) -> Reply:
        return _NOT_FOUND if UNUSED_ID in request.path else reply

    run = make_check(request_unknown_subjects, respond)

    observed = {name: value for name, value in run.behavior.values.items() if "malformed" in name}
    assert observed == values
    assert [row.fault for row in run.evidence.differences if "ulid" in row.keys] == faults
