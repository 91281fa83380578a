"""A world of one's own, in which nobody is called as in the default world."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hosting_emulator_cli.main import cli as hosting_emulator
from tests.crash.process import emulator

OWN = """\
name: own
description: A studio and its people.
world:
  organizations:
    - {alias: zebra}
    - {alias: atelier}
  people:
    - {alias: nora, organizations: {atelier: owner}}
    - {alias: mia, organizations: {zebra: owner}}
    - {alias: ola, organizations: {zebra: member}, projects: {website: reader}}
  projects:
    - {alias: website, organization: zebra, deployments: 2}
    - {alias: api, organization: zebra}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


def cli(*words: str, url: str) -> str:
    done = CliRunner().invoke(hosting_emulator, [*words, "--url", url])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_start_env_and_token_speak_for_the_first_owner_and_the_first_project(own: Path) -> None:
    with emulator("--ephemeral", "--scenario", str(own)) as process:
        ready = process.ready
        found = json.loads(cli("env", "--json", url=process.ready["base_url"]))

        assert ready["person"] == "mia"
        assert ready["token"]
        names = process.client().control("GET", "worlds/default")
        projects = {one["alias"]: one["id"] for one in names["projects"]}
        organizations = {one["alias"]: one["id"] for one in names["organizations"]}
        assert list(projects) == ["website", "api"]
        for shown in (ready["project_id"], found["HOSTING_PROJECT_ID"]):
            assert shown == projects["website"]
        for shown in (ready["organization_id"], found["HOSTING_ORGANIZATION_ID"]):
            assert shown == organizations["zebra"]
        assert cli("token", url=process.ready["base_url"]).startswith("eyJ")


def test_start_as_somebody_else(own: Path) -> None:
    with emulator("--ephemeral", "--scenario", str(own), "--as", "nora") as process:
        assert process.ready["person"] == "nora"
