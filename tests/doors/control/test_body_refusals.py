"""A body that the control API refuses is explained in a sentence about the body or its field."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.http_world import HttpWorld

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
