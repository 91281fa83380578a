"""Each option and its ini value."""

from __future__ import annotations

import socket

import pytest

from pytest_hosting_emulator import BackgroundEmulator
from tests.plugin.conftest import Suite

OPTIONS = [
    "url",
    "control-token",
    "server",
    "scenario",
    "clock",
    "seed",
    "vary",
    "vary-only",
    "keep",
    "keep-dir",
    "report",
    "coverage",
    "coverage-append",
]


def set_option(suite: Suite, way: str, name: str, value: str) -> list[str]:
    """Set an option in one of the two ways; return the arguments for pytest."""
    if way == "option":
        return [f"--hosting-emulator-{name}={value}"]
    suite.ini(f"hosting_emulator_{name.replace('-', '_')} = {value}")
    return []


both_ways = pytest.mark.parametrize("way", ["option", "ini"])


def test_the_help_of_pytest_lists_each_option_and_ini_value(suite: Suite):
    output = suite.run("--help").stdout.str()

    assert "hosting emulator (each also as an ini value)" in output
    for name in OPTIONS:
        assert f"--hosting-emulator-{name}" in output
        assert f"hosting_emulator_{name.replace('-', '_')} " in output


@both_ways
def test_the_option_scenario_accepts_a_name_of_the_library(suite: Suite, way: str):
    suite.write(
        test_it="""
        def test_it(hosting_emulator):
            assert hosting_emulator.report_document().scenario
        """
    )
    suite.passes(*set_option(suite, way, "scenario", "stuck-operation"))


@both_ways
def test_the_option_scenario_accepts_a_file(suite: Suite, way: str):
    (suite.path / "slow.yaml").write_text(
        "name: slow\ndescription: Time runs.\nclock: {mode: skip}\n", encoding="utf-8"
    )
    suite.write(
        test_it="def test_it(hosting_emulator): assert hosting_emulator.clock.mode == 'skip'"
    )

    suite.passes(*set_option(suite, way, "scenario", "slow.yaml"))


@both_ways
def test_the_option_clock_sets_the_clock(suite: Suite, way: str):
    suite.write(
        test_it="""
        def test_it(hosting_emulator):
            clock = hosting_emulator.clock.state
            assert (clock.mode, clock.rate) == ("scaled", 60)
        """
    )
    suite.passes(*set_option(suite, way, "clock", "scaled:60"))


def test_the_option_clock_overrides_the_clock_of_the_scenario(suite: Suite):
    suite.write(
        test_it="def test_it(hosting_emulator): assert hosting_emulator.clock.mode == 'skip'"
    )

    suite.passes("--hosting-emulator-scenario=stuck-operation", "--hosting-emulator-clock=skip")


@both_ways
def test_the_option_seed_sets_the_seed(suite: Suite, way: str):
    suite.write(
        test_it="""
        def test_it(hosting_emulator):
            world = hosting_emulator.summary
            assert world.seed == "another"
        """
    )
    suite.passes(*set_option(suite, way, "seed", "another"))


@both_ways
def test_the_option_url_uses_a_running_emulator(
    suite: Suite, way: str, hosting_emulator_server: BackgroundEmulator
):
    """The tests create their worlds in that emulator, and even failed tests leave none behind."""
    url = hosting_emulator_server.base_url
    before = [world.name for world in hosting_emulator_server.control.worlds()]
    suite.write(
        test_it=f"""
        import pytest

        def test_it(hosting_emulator):
            assert hosting_emulator.base_url.startswith({url!r})

        def test_fails(hosting_emulator, hosting_emulator_worlds):
            hosting_emulator.fork()
            hosting_emulator_worlds()
            assert False

        def test_is_left(hosting_emulator):
            pytest.exit("enough")
        """
    )

    result = suite.run(*set_option(suite, way, "url", f"{url}/_emulator/"))

    result.assert_outcomes(passed=1, failed=1)
    assert [world.name for world in hosting_emulator_server.control.worlds()] == before


def test_the_option_url_is_refused_if_nothing_responds(suite: Suite):
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        suite.write(test_it="def test_it(hosting_emulator): pass")

        result = suite.run(f"--hosting-emulator-url={url}")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"hosting emulator: *{url}*"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("way", ["option", "ini", "environment"])
def test_the_option_control_token_is_sent(
    suite: Suite,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
    hosting_emulator_server: BackgroundEmulator,
):
    suite.write(
        test_it="""
        def test_it(hosting_emulator_server, hosting_emulator):
            assert hosting_emulator_server.control_token == "only-here"
        """
    )
    url = f"--hosting-emulator-url={hosting_emulator_server.base_url}"
    if way == "environment":
        monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "only-here")
        suite.passes(url)
    else:
        suite.passes(url, *set_option(suite, way, "control-token", "only-here"))


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("keep", "sometimes", "use never, failed or all"),
        ("report", "always", "use failed or never"),
        ("server", "docker", "use thread or process"),
        ("clock", "scaled", "'scaled' *"),
        ("clock", "scaled:fast", "'fast' *"),
        ("clock", "stopped", "'stopped' *"),
        ("url", "localhost:4620", "write an address like http://127.0.0.1:4620"),
        ("scenario", "missing.yaml", "*/missing.yaml"),
    ],
)
def test_an_invalid_option_is_refused_in_one_line(suite: Suite, name: str, value: str, advice: str):
    by_option = suite.run(f"--hosting-emulator-{name}={value}")
    suite.ini(f"hosting_emulator_{name} = {value}")
    by_ini = suite.run()

    assert by_option.ret == by_ini.ret == pytest.ExitCode.USAGE_ERROR
    by_option.stderr.fnmatch_lines([f"ERROR: --hosting-emulator-{name}={value}: {advice}"])
    place = f"(in {suite.path}/tox.ini)"
    by_ini.stderr.fnmatch_lines([f"ERROR: hosting_emulator_{name} = {value} {place}: {advice}"])
    assert len([line for line in by_option.errlines if line]) == 1


def test_an_option_overrides_an_ini_value(suite: Suite):
    suite.ini("hosting_emulator_clock = real")
    suite.write(
        test_it="def test_it(hosting_emulator): assert hosting_emulator.clock.mode == 'skip'"
    )

    suite.passes("--hosting-emulator-clock=skip")


def test_an_emulator_of_another_version_is_reported(
    suite: Suite, hosting_emulator_server: BackgroundEmulator
):
    suite.write(
        conftest="import pytest_hosting_emulator.worlds as w\nw.__version__ = '99.0'\n",
        test_it="def test_passes(hosting_emulator): pass",
    )

    result = suite.run(
        f"--hosting-emulator-url={hosting_emulator_server.base_url}", "-W", "default::UserWarning"
    )

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*is version *, but this plugin is version 99.0. *"])


# --- The app's settings file ---------------------------------------------------------------------

SETTINGS = """\
port: 4711
scenario: own.yaml
seed: ours
clock: real
assume: {accepted_status: 200}
"""
OWN = """\
name: own
description: A studio.
world:
  organizations: [{alias: studio}]
  users: [{alias: ada, organizations: {studio: owner}}]
  projects: [{alias: site, organization: studio}]
"""


def test_worlds_follow_the_settings_file_with_a_frozen_clock(suite: Suite):
    (suite.path / "hosting-emulator.yaml").write_text(SETTINGS, encoding="utf-8")
    (suite.path / "own.yaml").write_text(OWN, encoding="utf-8")
    suite.write(
        test_it="""
        def test_it(hosting_emulator):
            assert [*hosting_emulator.users] == ["ada"]
            summary = hosting_emulator.summary
            assert summary.seed == "ours"
            assert summary.assumptions == {"accepted_status": 200}
            assert hosting_emulator.clock.mode == "frozen"
            assert ":4711" not in hosting_emulator.base_url
        """
    )

    suite.passes()


def test_options_and_ini_values_override_the_settings_file(suite: Suite):
    (suite.path / "hosting-emulator.yaml").write_text("{scenario: nope, seed: file, vary: 5}")
    suite.ini("hosting_emulator_scenario = stuck-operation", "hosting_emulator_vary = 7")
    suite.write(
        test_it="""
        def test_it(hosting_emulator):
            assert hosting_emulator.report_document().scenario == "stuck-operation.yaml"
            assert hosting_emulator.summary.seed == "option"
            assert hosting_emulator.variation.seed == "7"
        """
    )

    suite.passes("--hosting-emulator-seed=option")


def test_a_variation_point_that_is_not_text_is_refused_in_one_line(suite: Suite):
    (suite.path / "hosting-emulator.yaml").write_text("{vary: 7, vary-only: [5]}")
    suite.write(test_it="def test_it(hosting_emulator): pass")

    output = suite.run().stdout.str()

    assert "hosting emulator: there is no variation point '5'" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenario: nope.yaml", "scenario: nope.yaml (in hosting-emulator.yaml)"),
        ("scenaro: ours.yaml", "scenario?"),
    ],
)
def test_an_error_in_the_settings_file_names_the_file(suite: Suite, text: str, message: str):
    (suite.path / "hosting-emulator.yaml").write_text(text)
    suite.write(test_it="def test_it(hosting_emulator): pass")

    output = suite.run().stdout.str()

    assert "hosting-emulator.yaml" in output
    assert message in output
