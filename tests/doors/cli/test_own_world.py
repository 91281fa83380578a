"""A world with other users, organizations and projects than the default world."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hosting_emulator_cli.main import cli as hosting_emulator
from tests.support.checked_world import CheckedWorld
from tests.support.emulator_process import Process, emulator

OWN = """\
name: own
description: A studio and its users.
world:
  organizations:
    - {alias: zebra}
    - {alias: atelier}
  users:
    - {alias: nora, organizations: {atelier: owner}}
    - {alias: mia, organizations: {zebra: owner}}
    - {alias: ola, organizations: {zebra: member}, projects: {website: reader}}
  projects:
    - {alias: website, organization: zebra, deployments: 2}
    - {alias: api, organization: zebra}
"""


@pytest.fixture
def own_scenario(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


def cli(*words: str, url: str) -> str:
    result = CliRunner().invoke(hosting_emulator, [*words, "--url", url])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_start_env_and_token_use_the_first_owner_and_the_first_project(own_scenario: Path) -> None:
    with emulator("--ephemeral", "--scenario", str(own_scenario)) as process:
        ready = process.ready
        environment = json.loads(cli("env", "--json", url=process.ready["base_url"]))

        assert ready["user"] == "mia"
        assert ready["token"]
        names = process.client().control("GET", "worlds/default")
        projects = {row["alias"]: row["id"] for row in names["projects"]}
        organizations = {row["alias"]: row["id"] for row in names["organizations"]}
        assert list(projects) == ["website", "api"]
        for id_in_use in (ready["project_id"], environment["HOSTING_PROJECT_ID"]):
            assert id_in_use == projects["website"]
        for id_in_use in (ready["organization_id"], environment["HOSTING_ORGANIZATION_ID"]):
            assert id_in_use == organizations["zebra"]
        assert cli("token", url=process.ready["base_url"]).startswith("eyJ")


def test_start_can_name_another_user(own_scenario: Path) -> None:
    with emulator("--ephemeral", "--scenario", str(own_scenario), "--user", "nora") as process:
        assert process.ready["user"] == "nora"


VALUES = [f"phk_{name}sKeyForTestsItIsNoSecret".ljust(47, "0") for name in ("Mia", "Ola", "Nora")]
KEYS = f"""{OWN}
  keys: [{{user: mia, value: {VALUES[0]}}}]
timeline:
  - at: 1s
    intervene: {{add: {{keys: [{{user: ola, value: {VALUES[1]}}}]}}}}
"""


def test_keys_with_chosen_values_survive_a_restart_and_their_values_are_not_stored(
    tmp_path: Path,
) -> None:
    file = tmp_path / "keys.yaml"
    data_directory = tmp_path / "kept"
    file.write_text(KEYS, encoding="utf-8")
    arguments = ("--data-dir", str(data_directory), "--clock", "frozen")

    with emulator(*arguments, "--scenario", str(file)) as process:
        cli("world", "add", "key", "nora", "--value", VALUES[2], url=process.base_url)
        cli("clock", "advance", "1m", url=process.base_url)
        assert statuses_by_key(process) == [200, 200, 404]
        process.kill()
    texts = [path.read_bytes() for path in data_directory.rglob("*") if path.is_file()]
    assert any(b"sha256:" in text for text in texts)
    assert not [value for value in VALUES for text in texts if value[4:24].encode() in text]

    with emulator(*arguments) as process:
        assert statuses_by_key(process) == [200, 200, 404]
        cli("world", "reset", url=process.base_url)
        assert statuses_by_key(process) == [200, 401, 401]


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        (
            "world:\n  users:\n  - alias: zoe\n    email: 5\n",
            "4:12: users.0.email must be a string",
        ),
        ("users:\n- alias: zoe\n  color: red\n", "3:3: users.0 has no field 'color'; "),
        ("users: 5\n", "1:8: users must be a list"),
        ("projects:\n- alias: p\n", "2:3: the field 'organization' is missing in projects.0"),
        ("users: []\nusrs: []\n", "2:1: a world has no field 'usrs' "),
        ("users:\n- alias: zoe\n- alias: owner\n", "3:10: users.1.alias: the alias 'owner' is "),
        (
            "users:\n- alias: zoe\n  organizations: {no: owner}\n",
            "3:19: users.0.organizations.no: there is no organization 'no'",
        ),
        ("users: []\n", "1:1: give at least one of organizations, users, projects and keys"),
        ("name: own\nworld: [zoe]\n", "2:1: there is no world here"),
    ],
)
def test_a_mistake_in_a_file_of_records_is_reported_with_line_and_column(
    tmp_path: Path, api: CheckedWorld, content: str, mistake: str
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(content, encoding="utf-8")
    words = ["world", "add", "--file", str(file), "--world", api.emulator.name]

    result = CliRunner().invoke(
        hosting_emulator, [*words, "--url", api.emulator.control.control_url]
    )

    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {file}:{mistake}")


def statuses_by_key(process: Process) -> list[int]:
    """Return the status that the first project sends for each key (nora is in another organization)."""
    project = process.client().control("GET", "worlds/default")["projects"][0]["id"]
    path = f"/v1/projects/{project}/deployments"
    client = process.client()
    return [
        client.send("GET", path, headers={"Authorization": f"Bearer {value}"}).status
        for value in VALUES
    ]
