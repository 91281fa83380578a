"""Both documents pass the common OpenAPI linters with their recommended rules."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.examples.programs import need
from tests.support.http_world import HttpWorld

pytestmark = pytest.mark.schemathesis

LINTERS = ("@redocly/cli@2", "@stoplight/spectral-cli@6")


@pytest.fixture(scope="module")
def linters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which both linters are installed."""
    need("npm")
    folder = tmp_path_factory.mktemp("linters")
    npm = ["npm", "install", "--no-fund", "--no-audit", "--ignore-scripts", *LINTERS]
    subprocess.run(npm, cwd=folder, check=True, capture_output=True)
    (folder / ".spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    return folder


@pytest.fixture(params=["worlds/{world}/openapi.json", "openapi.json"], ids=["public", "control"])
def document(request: pytest.FixtureRequest, api: HttpWorld, tmp_path: Path) -> Path:
    emulator = api.emulator
    served_document = emulator.control.get(request.param.format(world=emulator.name))
    path = tmp_path / "document.json"
    path.write_text(json.dumps(served_document))
    return path


def findings(linters: Path, *command: str | Path) -> Any:
    """Run a linter and return its JSON output; its exit code is not 0 if it finds anything."""
    tools = linters / "node_modules" / ".bin"
    variables = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    process = subprocess.run(
        [tools / command[0], "lint", *command[1:]],
        cwd=linters,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout, process.stderr
    return json.JSONDecoder().raw_decode(process.stdout.lstrip())[
        0
    ]  # one linter appends a line of text


def test_redocly_finds_no_problem_in_the_documents(linters: Path, document: Path):
    report = findings(linters, "redocly", document, "--format", "json", "--extends", "recommended")

    assert report["problems"] == []


def test_spectral_finds_no_problem_in_the_documents(linters: Path, document: Path):
    rules = linters / ".spectral.yaml"

    problems = findings(linters, "spectral", document, "--format", "json", "--ruleset", rules)

    assert problems == []
