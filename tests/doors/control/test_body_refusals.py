"""A body that the control API refuses is explained in a sentence about the body or its field."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.http_client import HttpClient
from tests.support.http_world import HttpWorld

#: More bytes than a body may have.
LARGE = 1024 * 1024 + 1
REFUSALS: list[tuple[str, Any, str]] = [
    ("worlds", {"nam": "x"}, "the body has no field 'nam'; did you mean name?"),
    (
        "worlds/{world}/clock/advance",
        {"x": "3s"},
        "the body has no field 'x'; the fields are by, to, until_operation",
    ),
    ("worlds", {"clock": {"mod": "skip"}}, "clock has no field 'mod'; did you mean mode?"),
    ("worlds/{world}/rewind", {}, "the field 'commit' is missing in the body"),
    ("worlds", {"name": 3}, "name must be a string"),
    ("worlds", [], "the body must be a JSON object"),
    ("worlds/{world}/faults", {"timeout": {}, "times": "2"}, "times must be a whole number"),
    (
        "worlds/{world}/faults",
        {"timeout": {}, "header": {"X": 1}},
        "header: each value must be a string",
    ),
    (
        "worlds/{world}/interventions",
        {"add": {"projects": [{"alias": "x", "organization": "acme", "flags": True}]}},
        "add.projects.0 has no field 'flags'; did you mean flag?",
    ),
]


@pytest.mark.parametrize(("path", "body", "detail"), REFUSALS)
def test_a_refused_body_is_explained_in_a_sentence(
    api: HttpWorld, path: str, body: Any, detail: str
) -> None:
    control = api.emulator.control

    with pytest.raises(ControlRefused) as refused:
        control.ask("POST", path.format(world=api.emulator.name), body)

    assert refused.value.detail == detail


@pytest.mark.parametrize(
    ("body", "status"), [(b"not gzip", 400), (gzip.compress(bytes(LARGE)), 413)]
)
def test_a_body_that_cannot_be_decoded_is_a_bad_request_and_a_long_one_is_too_large(
    api: HttpWorld, body: bytes, status: int
) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    target = f"/_emulator/worlds/{api.emulator.name}/clock/advance"

    with HttpClient(api.emulator.base_url) as client:
        response = client.send("POST", target, body, headers)

    assert response.status == status
