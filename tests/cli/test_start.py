"""`start` turns options into settings, prints the addresses, and fails in one line."""

import json
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path

import click
import pytest

from hosting_emulator.settings import Settings, StartError
from hosting_emulator_cli.banner import banner
from hosting_emulator_cli.commands.start import start
from hosting_emulator_scenarios import FOLDER
from tests.support.fake_bootstrap import READY, FakeBootstrap


def test_start_without_options_uses_the_default_settings(run, bootstrap: FakeBootstrap):
    result = run("start")

    assert result.exit_code == 0
    assert bootstrap.settings == [Settings(library=FOLDER)]


def test_each_option_of_start_becomes_a_setting(run, bootstrap: FakeBootstrap):
    run(
        *shlex.split(
            "start --host 0.0.0.0 --port 0 --tls-port 4621 --data-dir here "
            "--durability disk --seed 42 --clock scaled:60 --at 2030-01-31T09:30:00Z "
            "--assume rate_limit=100/60s --assume accepted_status=200 "
            "--public-url https://emulator.test --allow-host a --allow-host b "
            "--allow-origin http://a:1 --allow-origin http://b --control-token s3cret "
            "--scenario mine.yaml --watch"
        ),
    )

    assert bootstrap.settings == [
        Settings(
            host="0.0.0.0",
            port=0,
            tls_port=4621,
            data_dir=Path("here"),
            durability="disk",
            seed="42",
            clock="scaled:60",
            at="2030-01-31T09:30:00Z",
            assumptions={"rate_limit": "100/60s", "accepted_status": "200"},
            public_url="https://emulator.test",
            allowed_hosts=("a", "b"),
            allowed_origins=("http://a:1", "http://b"),
            control_token="s3cret",
            library=FOLDER,
            scenario="mine.yaml",
            watch=True,
        )
    ]


def test_the_option_from_becomes_a_setting(run, bootstrap: FakeBootstrap):
    run("start", "--import", "kept.json")

    assert bootstrap.settings == [Settings(library=FOLDER, state=Path("kept.json"))]


def test_a_seed_beside_a_state_applies_from_then_on(run, bootstrap: FakeBootstrap):
    run("start", "--import", "kept.json", "--seed", "42")

    assert [settings.state_seed for settings in bootstrap.settings] == ["42"]


def test_the_option_ephemeral_stores_nothing(run, bootstrap: FakeBootstrap):
    run("start", "--ephemeral")

    assert bootstrap.settings[0].data_dir is None


def test_the_banner_contains_all_that_a_first_request_needs(run, bootstrap: FakeBootstrap):
    result = run("start")

    assert result.stderr == ""
    assert result.stdout == (
        "\n"
        "Hosting emulator is ready\n"
        "\n"
        "  page      http://127.0.0.1:4620/_emulator\n"
        "  base URL  http://127.0.0.1:4620\n"
        "\n"
        "A token of user owner, and a first request:\n"
        "\n"
        "  export HOSTING_TOKEN=eyJ.eyJ.sig\n"
        '  curl -s -H "Authorization: Bearer $HOSTING_TOKEN"'
        " http://127.0.0.1:4620/v1/projects/01PROJ1/deployments\n"
        "\n"
        "`hosting-emulator status` shows the rest, and `hosting-emulator env` prints variables for your "
        "client.\n"
        "Stop with Ctrl-C.\n"
        "\n"
    )


def test_the_banner_lists_all_that_a_user_must_know(monkeypatch: pytest.MonkeyPatch):
    for name in ("URL", "PORT", "WORLD"):
        monkeypatch.delenv(f"HOSTING_EMULATOR_{name}", raising=False)
    ready = replace(
        READY,
        fresh=False,
        log_file="/data/log",
        tls_url="https://localhost:4621",
        ca_file="/data/tls/ca.pem",
        control_token="s3cret",
        armed=("fault-1", "outcome-2"),
        clock="frozen",
        vary="5",
        vary_only=("page-size", "key-order"),
        token="",
        user="",
    )

    assert banner(ready).splitlines() == [
        "",
        "\x1b[1mHosting emulator is ready\x1b[0m",
        "",
        "  page           http://127.0.0.1:4620/_emulator",
        "  base URL       http://127.0.0.1:4620",
        "  dev origins    https://localhost:4621",
        "  their CA       /data/tls/ca.pem",
        "  control token  s3cret",
        "  state          continues from /data",
        "  still armed    fault-1, outcome-2; `hosting-emulator triggers` shows what they do",
        f"  clock          frozen, {READY.now}; `hosting-emulator clock advance 1h` advances the clock",
        "  responses      varied by seed 5, at page-size, key-order only",
        "  token          none: no organization has an owner, so name a user with --user",
        "  log            /data/log",
        "",
        "`hosting-emulator status` shows the rest, and `hosting-emulator env` prints variables for your "
        "client.",
        "Stop with `hosting-emulator stop`.",
    ]


def test_the_banner_names_only_what_an_earlier_run_left_armed():
    assert "armed" not in banner(replace(READY, fresh=True, armed=("fault-1",)))
    assert "armed" not in banner(replace(READY, fresh=False, armed=()))


def test_the_banner_of_a_world_without_users_or_projects_has_other_lines(
    run, bootstrap: FakeBootstrap
):
    bootstrap.ready = replace(READY, project_id="")
    assert "http://127.0.0.1:4620/_emulator/idp/userinfo\n" in run("start").stdout

    bootstrap.ready = replace(READY, token="", user="")
    out = run("start").stdout
    assert "token     none: no organization has an owner" in out
    assert "curl" not in out


def test_commands_in_the_banner_name_the_address_where_this_is_needed(
    run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch
):
    bootstrap.ready = replace(READY, local_url="http://127.0.0.1:4711")
    assert "`hosting-emulator status --url http://127.0.0.1:4711`" in run("start").stdout

    monkeypatch.setenv("HOSTING_EMULATOR_URL", "http://127.0.0.1:4711")
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "checkout")
    assert "`hosting-emulator env --world default`" in run("start").stdout


def test_start_prints_one_object_as_json(run, bootstrap: FakeBootstrap):
    result = run("start", "--json")

    assert json.loads(result.stdout) == json.loads(json.dumps(asdict(READY)))
    assert result.stderr == ""


def test_start_prints_nothing_with_quiet(run, bootstrap: FakeBootstrap):
    result = run("start", "--quiet")

    assert (result.stdout, result.stderr, result.exit_code) == ("", "", 0)


def test_the_ready_file_exists_while_the_emulator_runs(
    run, bootstrap: FakeBootstrap, tmp_path: Path
):
    path = tmp_path / "ready.json"
    observations: list[tuple[object, int]] = []
    bootstrap.while_running = lambda: observations.append(
        (json.loads(path.read_text(encoding="utf-8")), path.stat().st_mode & 0o777)
    )

    run("start", "--quiet", "--ready-file", str(path))

    assert observations == [(json.loads(json.dumps(asdict(READY))), 0o600)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_target", [True, False])
def test_the_ready_file_replaces_a_link(
    run, bootstrap: FakeBootstrap, tmp_path: Path, has_target: bool
):
    """An attacker may have created the link to read the token or to overwrite a file of the user."""
    path = tmp_path / "ready.json"
    target = tmp_path / "theirs"
    if has_target:
        target.write_text("kept")
    path.symlink_to(target)
    observations: list[tuple[bool, int]] = []
    bootstrap.while_running = lambda: observations.append(
        (path.is_symlink(), path.lstat().st_mode & 0o777)
    )

    run("start", "--quiet", "--ready-file", str(path))

    assert observations == [(False, 0o600)]
    assert (target.read_text() == "kept") if has_target else not target.exists()


def test_an_existing_ready_file_becomes_private(run, bootstrap: FakeBootstrap, tmp_path: Path):
    path = tmp_path / "ready.json"
    path.write_text("{}")
    path.chmod(0o666)
    modes: list[int] = []
    bootstrap.while_running = lambda: modes.append(path.stat().st_mode & 0o777)

    run("start", "--quiet", "--ready-file", str(path))

    assert modes == [0o600]


def test_the_ready_file_of_an_earlier_run_is_deleted_first(
    run, bootstrap: FakeBootstrap, tmp_path: Path, monkeypatch
):
    path = tmp_path / "ready.json"
    path.write_text("from an earlier run", encoding="utf-8")
    observations: list[bool] = []

    def run_unready(settings: Settings, announce: object, *, is_published: bool) -> None:
        observations.append(path.exists())

    monkeypatch.setattr(sys.modules["hosting_emulator.bootstrap"], "run", run_unready)

    run("start", "--ready-file", str(path))

    assert observations == [False]


def test_a_failed_start_keeps_the_ready_file_of_the_running_emulator(
    run, bootstrap: FakeBootstrap, tmp_path: Path
):
    path = tmp_path / "ready.json"
    path.write_text("of the one that runs", encoding="utf-8")
    bootstrap.error = StartError("port 4620 is in use")

    run("start", "--ready-file", str(path))

    assert path.read_text(encoding="utf-8") == "of the one that runs"


def test_a_ready_file_that_somebody_replaced_is_not_deleted(
    run, bootstrap: FakeBootstrap, tmp_path: Path
):
    path = tmp_path / "ready.json"
    bootstrap.while_running = lambda: path.write_text("theirs", encoding="utf-8")

    run("start", "--ready-file", str(path))

    assert path.read_text(encoding="utf-8") == "theirs"


def test_an_error_of_start_is_one_line(run, bootstrap: FakeBootstrap):
    bootstrap.error = StartError("port 4620 is in use; choose another with --port")

    result = run("start")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: port 4620 is in use; choose another with --port\n"


@pytest.mark.parametrize(
    ("typed", "variable", "message", "origin"),
    [
        ([], "SCENARIO", "nosuch: unknown scenario", "the variable …_SCENARIO: "),
        ([], "ASSUME", "assumption default_page_size cannot be '0'", "the variable …_ASSUME: "),
        (["--port", "4711"], "PORT", "port 4711 is in use", ""),
        ([], "SEED", "port 4620 is in use", ""),
    ],
)
def test_an_error_of_start_names_the_variable_that_caused_it(
    run,
    bootstrap: FakeBootstrap,
    monkeypatch: pytest.MonkeyPatch,
    typed: list[str],
    variable: str,
    message: str,
    origin: str,
):
    values = {"ASSUME": "default_page_size=0", "PORT": "4712"}
    monkeypatch.setenv(f"HOSTING_EMULATOR_{variable}", values.get(variable, "nosuch"))
    bootstrap.error = StartError(message)

    result = run("start", *typed)

    assert result.stderr == f"Error: {origin.replace('…', 'HOSTING_EMULATOR')}{message}\n"


def test_ctrl_c_prints_no_traceback(run, bootstrap: FakeBootstrap):
    def interrupt() -> None:
        raise KeyboardInterrupt

    bootstrap.while_running = interrupt

    result = run("start", "--quiet")

    assert result.exit_code == 130
    assert result.stderr.strip() == ""


def test_start_reads_the_control_token_from_a_variable(run, bootstrap: FakeBootstrap, monkeypatch):
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "s3cret")

    run("start", "--quiet")

    assert bootstrap.settings[0].control_token == "s3cret"


def test_start_reads_each_option_from_a_variable(
    run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """A service container of a CI can set only variables."""
    for name, value in {
        "PORT": "4711",
        "HOST": "0.0.0.0",
        "DATA_DIR": str(tmp_path / "kept"),
        "DURABILITY": "disk",
        "CLOCK": "frozen",
        "AT": "2030-01-31T09:30:00Z",
        "ASSUME": "accepted_status=200 rate_limit=100/60s",
        "TLS_PORT": "0",
        "QUIET": "1",
    }.items():
        monkeypatch.setenv(f"HOSTING_EMULATOR_{name}", value)

    result = run("start", "--port", "4800")

    assert result.stdout == ""
    [settings] = bootstrap.settings
    assert (settings.port, settings.host, settings.durability) == (4800, "0.0.0.0", "disk")
    assert settings.data_dir == tmp_path / "kept"
    assert (settings.clock, settings.tls_port) == ("frozen", 0)
    assert settings.assumptions["rate_limit"] == "100/60s"


def test_no_two_options_share_a_variable():
    parameters = [option for option in start.params if isinstance(option, click.Option)]

    assert all(str(option.envvar).startswith("HOSTING_EMULATOR_") for option in parameters)
    assert len({option.envvar for option in parameters}) == len(parameters)
