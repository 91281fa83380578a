"""The settings file beside an app sets the options of `start`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk.discovery import find_emulator
from hosting_emulator.settings import Settings
from hosting_emulator.settings_model import RULES
from hosting_emulator_cli.commands.start import start
from hosting_emulator_scenarios import FOLDER
from tests.cli.conftest import Run
from tests.docs.markdown import blocks
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.emulator_process import failed_start
from tests.support.fake_bootstrap import FakeBootstrap

#: The example of the page, which is its first YAML.
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
YAML, *_ = [block.text for block in blocks(PAGE.read_text("utf-8")) if block.language == "yaml"]
TOML = """
[project]
name = "an-app"
[tool.hosting-emulator]
port = 4711
scenario = "ours.yaml"
clock = "skip"
allow-origin = ["http://app.test:3000"]
[tool.hosting-emulator.assume]
accepted_status = 200
"""
SAID = Settings(
    port=4711,
    scenario="ours.yaml",
    only_new=True,
    clock="skip",
    assumptions={"accepted_status": "200"},
    allowed_origins=("http://app.test:3000",),
    library=FOLDER,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an app, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["", "# port: 4711\n", "---\n", "{}\n"])
def test_a_file_without_settings_changes_nothing(
    run: Run, bootstrap: FakeBootstrap, text: str
) -> None:
    Path("hosting-emulator.yaml").write_text(text)

    assert run("start").exit_code == 0
    assert bootstrap.settings == [Settings(library=FOLDER)]


@pytest.mark.parametrize(
    ("name", "text"), [("hosting-emulator.yaml", YAML), ("pyproject.toml", TOML)]
)
def test_start_reads_its_settings_from_the_file(
    run: Run, bootstrap: FakeBootstrap, name: str, text: str
) -> None:
    Path(name).write_text(text)

    assert run("start").exit_code == 0

    assert bootstrap.settings == [SAID]


def test_a_commented_table_of_settings_is_ignored(run: Run, bootstrap: FakeBootstrap) -> None:
    Path("pyproject.toml").write_text("# [tool.hosting-emulator]\n# port = 4711\n")

    run("start")

    assert bootstrap.settings == [Settings(library=FOLDER)]


def test_options_override_variables_and_variables_override_the_file(
    run: Run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("hosting-emulator.yaml").write_text("{port: 4711, seed: file, clock: frozen, host: '::1'}")
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "4712")
    monkeypatch.setenv("HOSTING_EMULATOR_SEED", "variable")

    run("start", "--port", "4713")

    [settings] = bootstrap.settings
    assert (settings.port, settings.seed, settings.clock, settings.host) == (
        4713,
        "variable",
        "frozen",
        "::1",
    )


def test_the_option_data_dir_overrides_ephemeral_in_the_file(
    run: Run, bootstrap: FakeBootstrap
) -> None:
    Path("hosting-emulator.yaml").write_text("ephemeral: true")

    run("start")
    run("start", "--data-dir", "kept")

    assert [settings.data_dir for settings in bootstrap.settings] == [None, Path("kept")]


def test_other_commands_and_the_sdk_find_the_emulator_at_the_files_port(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("hosting-emulator.yaml").write_text("port: 4711")

    assert find_emulator().url == "http://127.0.0.1:4711"
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "4620")
    assert find_emulator().url == "http://127.0.0.1:4620"


def test_a_timestamp_in_the_settings_file_needs_no_quotes(
    run: Run, bootstrap: FakeBootstrap
) -> None:
    Path("hosting-emulator.yaml").write_text("at: 2030-01-31T09:30:00Z")

    run("start")

    assert [settings.at for settings in bootstrap.settings] == ["2030-01-31T09:30:00Z"]


def test_an_assumption_with_several_values_reaches_the_emulator_as_json(
    run: Run, bootstrap: FakeBootstrap
) -> None:
    Path("hosting-emulator.yaml").write_text("assume: {accepted_status: [200, 201]}")

    run("start")

    assert [settings.assumptions for settings in bootstrap.settings] == [
        {"accepted_status": "[200, 201]"}
    ]


def test_a_settings_file_that_cannot_be_read_is_an_error(
    run: Run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("hosting-emulator.yaml").write_text("port: 4711")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = run("start")

    assert result.exit_code == 2
    assert result.stderr == "Error: cannot read hosting-emulator.yaml: Permission denied\n"
    assert bootstrap.settings == []


@pytest.fixture
def started_settings(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Collect the settings of emulators that commands would start."""
    started: list[Settings] = []

    def record(chosen: Any, *_: Any, **__: Any) -> Any:
        started.append(chosen.settings)
        return SimpleNamespace(code=0)

    monkeypatch.setattr("hosting_emulator_cli.execution.execute", record)
    monkeypatch.setattr(
        "hosting_emulator_cli.exploration.explore", lambda chosen: record(chosen).code
    )
    monkeypatch.setattr("hosting_emulator_cli.judging.judge", lambda chosen: record(chosen).code)
    return started


@pytest.mark.parametrize("command", ["exec", "explore", "judge"])
def test_commands_that_run_a_command_read_the_settings_of_the_world(
    run: Run, started_settings: list[Settings], command: str
) -> None:
    Path("hosting-emulator.yaml").write_text(YAML + "data-dir: kept\n")

    assert run(command, "--", "true").exit_code == 0

    [settings] = started_settings
    assert (settings.scenario, settings.clock, settings.assumptions) == (
        "ours.yaml",
        "skip",
        {"accepted_status": "200"},
    )
    assert (settings.port, settings.data_dir, settings.allowed_origins) == (0, None, ())


@pytest.mark.parametrize("command", ["exec", "explore"])
def test_options_of_exec_and_explore_override_the_file(
    run: Run, started_settings: list[Settings], command: str
) -> None:
    Path("hosting-emulator.yaml").write_text(
        "{scenario: ours.yaml, clock: skip, at: 2030-01-31T09:30:00Z, seed: file}"
    )

    run(command, "--import", "state.json", "--", "tool", "--scenario", "x")
    run(command, "--scenario", "theirs.yaml", "--clock", "frozen", "--", "true")

    first, second = started_settings
    assert (first.scenario, first.clock, first.at, first.seed) == (None, None, None, "file")
    assert (second.scenario, second.clock, second.at) == ("theirs.yaml", "frozen", None)


def test_a_state_in_a_variable_overrides_the_scenario_of_the_file(
    run: Run, bootstrap: FakeBootstrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("hosting-emulator.yaml").write_text("{scenario: ours.yaml, clock: skip, seed: file}")
    monkeypatch.setenv("HOSTING_EMULATOR_IMPORT", "state.json")

    run("start")

    [settings] = bootstrap.settings
    assert (settings.scenario, settings.clock, settings.seed) == (None, None, "file")


def test_each_lasting_option_of_start_is_a_setting() -> None:
    options = {max(option.opts, key=len).removeprefix("--") for option in start.params}
    once = {"detach", "import", "json", "quiet", "ready-file", "replace", "salvage"}

    assert options - once == set(RULES)


def test_doctor_shows_where_each_value_came_from(
    run: Run, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    Path("hosting-emulator.yaml").write_text(
        "{data-dir: kept, control-token: s3cret, assume: {accepted_status: 200}, "
        "log-requests: true, watch: false}"
    )
    monkeypatch.setenv("HOSTING_EMULATOR_CLOCK", "skip")

    findings = json.loads(
        run("doctor", "--json", "--port", "0", "--url", "http://127.0.0.1:1").stdout
    )["findings"]

    assert {finding["seen"] for finding in findings if finding["check"] == "settings"} == {
        "`--data-dir kept` comes from hosting-emulator.yaml.",
        "`--log-requests` comes from hosting-emulator.yaml.",
        "`--watch false` comes from hosting-emulator.yaml.",
        "`--clock skip` comes from the variable HOSTING_EMULATOR_CLOCK.",
        "`--assume accepted_status=200` comes from hosting-emulator.yaml.",
        "`--control-token (hidden)` comes from hosting-emulator.yaml.",
    }
    assert any("kept does not exist yet" in finding["seen"] for finding in findings)


def test_doctor_notes_a_variable_that_no_command_reads(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_PROT", "4711")
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "checkout")

    findings = json.loads(
        run("doctor", "--json", "--port", "0", "--url", "http://127.0.0.1:1").stdout
    )["findings"]

    [observation] = [finding["seen"] for finding in findings if finding["check"] == "settings"]
    assert "HOSTING_EMULATOR_PROT" in observation
    assert "HOSTING_EMULATOR_PORT?" in observation


def test_doctor_reports_settings_that_start_refuses(run: Run) -> None:
    Path("hosting-emulator.yaml").write_text("prot: 4711")

    result = run("doctor", "--json", "--port", "0", "--url", "http://127.0.0.1:1")

    assert result.exit_code == 1
    assert "setting 'prot'" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenario: ours.yaml", "ours.yaml:3:1: unknown field 'prot'"),
        ("assume: {accepted_status: 299}", "assumption accepted_status cannot be '299'"),
        ("public-url: ftp://x", "--public-url 'ftp://x' is not a URL"),
        ("user: nobody", "there is no user with the alias or id 'nobody'"),
        ("{port: 4711, tls-port: 4711}", "--tls-port 4711 is also the port of --port"),
        ("watch: true", "--watch needs --scenario with a file"),
        ("allow-origin: ours", "--allow-origin 'ours' is not an origin"),
        ("{at: 2030-01-31T09:30:00Z, scenario: admission}", "--at cannot be used with a scenario"),
    ],
)
def test_doctor_reports_the_message_with_which_start_refuses_its_settings(
    run: Run, text: str, message: str
) -> None:
    Path("ours.yaml").write_text("name: ours\ndescription: Our world.\nprot: 1\n")
    Path("hosting-emulator.yaml").write_text(text)

    failed = failed_start(cwd=Path.cwd(), timeout=30)
    report = json.loads(run("doctor", "--json", "--url", "http://127.0.0.1:1").stdout)

    refusal = failed.stderr.splitlines()[-1].removeprefix("Error: ")
    problems = [
        finding["seen"]
        for finding in report["findings"]
        if (finding["check"], finding["verdict"]) == ("settings", "problem")
    ]
    assert (failed.returncode, report["ok"]) == (2, False)
    assert message in refusal
    assert problems == [f"`start` would fail: {refusal}"]
    assert list(Path().glob(".hosting-emulator/worlds/*")) == []


def test_doctor_looks_for_the_user_in_the_stored_world(run: Run) -> None:
    """`start` continues with this world, so the scenario in the file adds no user."""
    Path("hosting-emulator.yaml").write_text("{user: ada, scenario: ours.yaml}")
    Path("ours.yaml").write_text(
        "name: ours\ndescription: Our world.\nworld: {users: [{alias: ada}]}\n"
    )
    with emulator_in_thread(data_dir=Path(".hosting-emulator")):
        pass

    with_stored_world = run("doctor", "--json", "--url", "http://127.0.0.1:1")
    without_stored_world = run(
        "doctor", "--json", "--url", "http://127.0.0.1:1", "--data-dir", "other"
    )

    assert "no user with the alias or id 'ada'" in with_stored_world.stdout
    assert "no user with the alias or id 'ada'" not in without_stored_world.stdout


@pytest.mark.parametrize(("port", "is_refused"), [("4711", True), ("4712", False)])
def test_doctor_compares_the_tls_port_of_its_option_with_the_port_of_start(
    run: Run, port: str, is_refused: bool
) -> None:
    Path("hosting-emulator.yaml").write_text("port: 4711")

    result = run("doctor", "--json", "--url", "http://127.0.0.1:1", "--tls-port", port)

    assert ("is also the port of --port" in result.stdout) == is_refused


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("port: 1\nclock: a: b\n", ":2:9: "),
        ("port: [1\nclock: skip\n", ":2:6: "),
        ("a: \x01", ": "),
    ],
)
def test_a_settings_file_that_is_not_yaml_is_refused_at_its_position(
    run: Run, text: str, position: str
) -> None:
    Path("hosting-emulator.yaml").write_text(text)

    result = run("start")

    assert result.exit_code == 2
    assert f"hosting-emulator.yaml{position}this is not YAML: " in result.stderr


@pytest.mark.parametrize("name", ["nope.yaml", "nope"])
def test_doctor_reports_a_missing_scenario(run: Run, name: str) -> None:
    Path("hosting-emulator.yaml").write_text(f"scenario: {name}")

    result = run("doctor", "--json", "--port", "0", "--url", "http://127.0.0.1:1")

    assert result.exit_code == 1
    assert "`start` would fail" in result.stdout
    assert "nope" in result.stdout


def test_a_binary_file_of_another_tool_is_ignored(run: Run, bootstrap: FakeBootstrap) -> None:
    Path("pyproject.toml").write_bytes(b'[tool.other]\nname = "\xff"\n')

    assert run("start").exit_code == 0

    assert bootstrap.settings == [Settings(library=FOLDER)]
