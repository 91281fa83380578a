"""`env` prints variables that each shell can read, and `token` prints only a token."""

import json
import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli import client_variables
from hosting_emulator_cli.client_variables import with_variables
from hosting_emulator_cli.shell_syntax import export_lines
from tests.support.control_samples import API_KEY, INFO, TOKEN, world
from tests.support.fake_bootstrap import READY
from tests.support.fake_control import FakeControl

HARD = {"A": "plain-1.2/x:y", "B": 'it\'s $HOME "and" `x` \\ more # not'}


#: The payload is {"org_id": "01ORGPAID"}.
TOKEN_OF_PAID = "eyJ.eyJvcmdfaWQiOiAiMDFPUkdQQUlEIn0.sig"


def respond(control: FakeControl, name: str = "default", token: str = TOKEN["access_token"]):
    control.on("GET /info", INFO)
    control.on(f"GET /worlds/{name}", world(name))
    control.on(f"POST /worlds/{name}/tokens", {**TOKEN, "access_token": token})


def test_env_prints_exports(ask, control: FakeControl):
    respond(control)

    result = ask("env")

    assert result.stdout.splitlines() == [
        "export HOSTING_BASE_URL=http://127.0.0.1:4620",
        "export HOSTING_DEV_BASE_URL=http://localhost:4620",
        "export HOSTING_TOKEN=eyJ.eyJ.sig",
        "export HOSTING_ORGANIZATION_ID=01ORGFREE",
        "export HOSTING_PROJECT_ID=01PROJ1",
        "export HOSTING_CONTROL_URL=http://127.0.0.1:4620/_emulator",
        "export HOSTING_ISSUER_URL=http://127.0.0.1:4620/_emulator/idp",
        "export HOSTING_EMULATOR_URL=http://127.0.0.1:4620",
        "export HOSTING_EMULATOR_WORLD=default",
    ]
    assert result.stderr == ""


def test_env_names_the_organization_and_project_of_the_user(ask, control: FakeControl):
    respond(control, token=TOKEN_OF_PAID)

    variables = json.loads(ask("env", "--user", "reader", "--json").stdout)

    assert variables["HOSTING_ORGANIZATION_ID"] == "01ORGPAID"
    assert variables["HOSTING_PROJECT_ID"] == "01PROJ2"
    sent_bodies = control.bodies("POST /worlds/default/tokens")
    assert sent_bodies == [{"user": "reader"}]


def test_env_accepts_an_organization_and_a_project(ask, control: FakeControl):
    respond(control, token=TOKEN_OF_PAID)

    variables = json.loads(
        ask("env", "--organization", "paid", "--project", "shop", "--json").stdout
    )

    assert variables["HOSTING_ORGANIZATION_ID"] == "01ORGPAID"
    assert variables["HOSTING_PROJECT_ID"] == "01PROJ1"
    sent_bodies = control.bodies("POST /worlds/default/tokens")
    assert sent_bodies == [{"organization": "paid"}]


@pytest.mark.parametrize("name", ["second", "blog", "01PROJ2"])
def test_env_accepts_an_alias_a_handle_or_an_id_of_a_project(ask, control: FakeControl, name: str):
    respond(control)

    variables = json.loads(ask("env", "--project", name, "--json").stdout)

    assert variables["HOSTING_PROJECT_ID"] == "01PROJ2"


def test_env_lists_the_projects_when_it_refuses_an_unknown_one(ask, control: FakeControl):
    respond(control)

    result = ask("env", "--project", "nope")

    assert result.exit_code == 2
    assert (
        result.stderr == "Error: world default has no project nope; its projects are: shop, blog\n"
    )


def test_env_refuses_a_world_without_projects(ask, control: FakeControl):
    respond(control)
    control.on("GET /worlds/default", world(projects=[]))

    result = ask("env")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == ("Error: world default has no project yet; its projects are: none\n")


@pytest.mark.parametrize(
    ("variables", "exceptions"),
    [
        ({}, None),
        ({"HTTP_PROXY": "http://proxy.test"}, "127.0.0.1,localhost,::1"),
        (
            {"https_proxy": "http://proxy.test", "no_proxy": "x.test"},
            "x.test,127.0.0.1,localhost,::1",
        ),
        ({"ALL_PROXY": "http://proxy.test", "NO_PROXY": "localhost"}, "localhost,127.0.0.1,::1"),
    ],
)
def test_a_command_under_a_proxy_reaches_this_machine_directly(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], exceptions: str | None
):
    for name in os.environ:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    environment = with_variables({})

    assert environment.get("no_proxy") == environment.get("NO_PROXY") == exceptions


@pytest.mark.parametrize("token", [None, "secret"])
def test_a_command_gets_the_control_token_only_if_one_is_required(
    monkeypatch: pytest.MonkeyPatch, token: str | None
):
    monkeypatch.setattr(client_variables, "world_variables", lambda *_: {"HOSTING_TOKEN": "t"})
    handle: Any = SimpleNamespace(token=lambda user: "t")

    variables = client_variables.command_variables(
        handle, replace(READY, control_token=token), None, ()
    )

    assert variables.get("HOSTING_EMULATOR_CONTROL_TOKEN") == token


def test_env_names_both_servers_of_another_world(ask, control: FakeControl):
    respond(control, "ci-1")

    variables = json.loads(ask("env", "--world", "ci-1", "--json").stdout)

    assert variables["HOSTING_BASE_URL"] == "http://127.0.0.1:4620/worlds/ci-1"
    assert variables["HOSTING_DEV_BASE_URL"] == "http://localhost:4620/worlds/ci-1"
    assert variables["HOSTING_EMULATOR_WORLD"] == "ci-1"


def test_env_names_the_dev_origins_and_their_authority(ask, control: FakeControl, tmp_path: Path):
    ca_file = tmp_path / "ca.pem"
    ca_file.touch()
    respond(control)
    control.on("GET /info", {**INFO, "tls_port": 4621, "ca_file": str(ca_file)})

    variables = json.loads(ask("env", "--json").stdout)

    assert variables["HOSTING_TLS_URL"] == "https://localhost:4621"
    assert variables["HOSTING_CA_FILE"] == str(ca_file)


def test_env_leaves_out_an_authority_that_is_not_on_this_machine(ask, control: FakeControl):
    respond(control)
    control.on("GET /info", {**INFO, "tls_port": 4621, "ca_file": "/of/the/container/ca.pem"})

    variables = json.loads(ask("env", "--json").stdout)

    assert "HOSTING_TLS_URL" in variables
    assert "HOSTING_CA_FILE" not in variables


def test_env_leaves_out_the_dev_origins_of_another_machine(ask, control: FakeControl):
    respond(control)
    remote = {"base_url": "http://build.example:4620", "tls_port": 4621, "ca_file": None}
    control.on("GET /info", {**INFO, **remote})

    variables = json.loads(ask("env", "--json").stdout)

    assert "HOSTING_TLS_URL" not in variables


def test_sh_reads_back_the_exported_values():
    script = export_lines(HARD, "sh") + '\nprintf %s "$B"'

    completed = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)

    assert completed.stdout == HARD["B"]


@pytest.mark.parametrize(
    ("shell", "plain", "hard"),
    [
        ("sh", "export A=plain-1.2/x:y", "export B='it'\"'\"'s $HOME \"and\" `x` \\ more # not'"),
        (
            "fish",
            "set -gx A 'plain-1.2/x:y'",
            "set -gx B 'it\\'s $HOME \"and\" `x` \\\\ more # not'",
        ),
        (
            "powershell",
            "$env:A = 'plain-1.2/x:y'",
            "$env:B = 'it''s $HOME \"and\" `x` \\ more # not'",
        ),
        ("dotenv", "A=plain-1.2/x:y", 'B="it\'s \\$HOME \\"and\\" `x` \\\\ more # not"'),
    ],
)
def test_env_quotes_values_for_each_shell(shell: str, plain: str, hard: str):
    assert export_lines(HARD, shell).splitlines() == [plain, hard]


def test_token_prints_only_the_token(ask, control: FakeControl):
    control.on("POST /worlds/default/tokens", TOKEN)

    result = ask("token")

    assert (result.stdout, result.stderr) == ("eyJ.eyJ.sig\n", "")
    sent_bodies = control.bodies("POST /worlds/default/tokens")
    assert sent_bodies == [{"interactive": True}]


def test_token_creates_an_api_key_with_the_option_api_key(ask, control: FakeControl):
    control.on("POST /worlds/default/api-keys", API_KEY)

    plain = ask("token", "--api-key")
    less = ask(
        *shlex.split(
            "token --api-key --user reader --organization free --json --permission dns.read "
            "--permission projects.read"
        ),
    )

    assert (plain.stdout, plain.stderr) == ("phk_new\n", "")
    assert json.loads(less.stdout) == API_KEY
    assert control.bodies("POST /worlds/default/api-keys") == [
        {},
        {"user": "reader", "organization": "free", "permissions": ["dns.read", "projects.read"]},
    ]
