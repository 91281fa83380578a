"""What the emulator says is what it said: a walk of a thousand requests, held byte for byte.

Whoever means to change an answer writes the record anew with `make record`. The control API's answers
are held against its own OpenAPI document as well.
"""

from __future__ import annotations

import copy
import difflib
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from openapi_schema_validator import OAS31Validator

from tests.golden.walk import RECORD, Walk, record

_SHOWN = 60
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
    return record()


def test_each_answer_of_the_walk_is_the_one_on_record(walk: Walk, tmp_path):
    kept = RECORD.read_text("utf-8").splitlines()

    if walk.lines != kept:
        whole = tmp_path / "walk.txt"
        whole.write_text("\n".join(walk.lines), "utf-8")
        raise AssertionError(_difference(kept, walk) + f"\n\nThe whole walk: {whole}")


def test_each_answer_of_the_control_api_is_as_its_document_says(walk: Walk):
    """With nothing more in it than what the document names, and nothing less."""
    document = next(answer.json for _, path, answer in walk.answers if path.endswith(_DOCUMENT))
    closed = _closed(document)
    unseen = {path for path in document["paths"] if "/idp/" not in path}

    for method, path, answer in walk.answers:
        template = _template(path, document["paths"])
        if template is None:
            assert answer.status == 404 or "text/" in answer.headers["Content-Type"], path
            continue
        unseen.discard(template)
        told = document["paths"][template].get(method.lower())
        if told is None:
            assert answer.status == 405
            continue
        span = f"{answer.status // 100}XX"
        found = told["responses"].get(str(answer.status)) or told["responses"][span]
        if "content" not in found:
            assert answer.body == b"", path
            continue
        media_type = answer.headers["Content-Type"].partition(";")[0]
        assert media_type in found["content"], (path, media_type)
        if "json" in media_type:
            validator = _validator(closed, found["content"][media_type]["schema"])
            wrong = [
                f"{'/'.join(map(str, error.path))}: {error.message[:300]}"
                for error in validator.iter_errors(answer.json)
            ]
            assert not wrong, (method, path, wrong)

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


def _difference(kept: list[str], walk: Walk) -> str:
    """Return the first lines that differ, and the whole answer of the first of them."""
    lines = list(difflib.unified_diff(kept, walk.lines, "on record", "now", n=1, lineterm=""))
    first = next((n for n, (a, b) in enumerate(zip(kept, walk.lines, strict=False)) if a != b), 0)
    answer = walk.whole.get(first, "")
    return "\n".join([*lines[:_SHOWN], "", "The first answer that differs, whole:", answer[:4000]])
