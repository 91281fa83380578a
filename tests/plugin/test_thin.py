"""The plugin costs nothing noticeable in a run that does not use it."""

from __future__ import annotations

from tests.plugin.conftest import Suite

HEAVY = [
    "aiohttp",
    "asyncio",
    "hosting_emulator",
    "msgspec",
    "pydantic",
    "ssl",
    "http.client",
    "json.tool",
]
LOADED = f"""
import sys

def test_it():
    heavy = {HEAVY!r}
    assert [name for name in heavy if name in sys.modules] == []
"""


def test_a_run_that_does_not_use_the_plugin_imports_nothing_of_the_emulator(suite: Suite):
    suite.write(test_it=LOADED)

    suite.passes(cold=True)


def test_a_failed_run_that_does_not_use_the_plugin_does_not_mention_it(suite: Suite):
    suite.write(test_it="def test_it(): assert False")

    result = suite.run("--hosting-emulator-keep=all")

    result.assert_outcomes(failed=1)
    assert "hosting emulator" not in result.stdout.str()
    assert not (suite.path / "hosting-emulator-worlds").exists()


def test_importing_the_plugin_imports_nothing_else(suite: Suite):
    suite.write(
        alone=f"""
        import sys
        import pytest_hosting_emulator

        heavy = [*{HEAVY!r}, "pytest", "_pytest"]
        assert [name for name in heavy if name in sys.modules] == []
        assert "BackgroundEmulator" in dir(pytest_hosting_emulator)
        assert pytest_hosting_emulator.HostingEmulator.__module__.startswith("hosting_emulator.")
        assert not hasattr(pytest_hosting_emulator, "Nothing")
        assert [name for name in ("pytest", "aiohttp", "asyncio") if name in sys.modules] == []
        """
    )
    result = suite.pytester.runpython(suite.path / "alone.py")

    assert result.ret == 0, result.stderr.str()


def test_a_disabled_plugin_leaves_nothing(suite: Suite):
    suite.write(
        test_it="""
        import sys

        def test_it(request):
            assert not [name for name in sys.modules if "hosting_emulator" in name]

        def test_without(hosting_emulator):
            pass
        """
    )

    fixtures = suite.run("--fixtures", plugin="no:hosting_emulator")
    markers = suite.run("-p", "no:hosting_emulator", "--markers", plugin="no:hosting_emulator")
    tried = suite.run(plugin="no:hosting_emulator", cold=True)

    assert "hosting_emulator" not in fixtures.stdout.str()
    assert "hosting_scenario" not in markers.stdout.str()
    tried.assert_outcomes(passed=1, errors=1)
    tried.stdout.fnmatch_lines(["E *fixture 'hosting_emulator' not found"])
    refused = suite.run("--hosting-emulator-keep=all", plugin="no:hosting_emulator")
    refused.stderr.fnmatch_lines(["*unrecognized arguments: --hosting-emulator-keep=all"])


def test_the_plugin_lists_its_fixtures_and_marks_with_explanations(suite: Suite):
    fixtures = suite.run("--fixtures").stdout.str()
    markers = suite.run("--markers").stdout.str()

    for name in ("", "_listen_address", "_scenario", "_server", "_worlds"):
        definition, _, words = fixtures.partition(f"\nhosting_emulator{name} ")[2].partition("\n")
        assert "pytest_hosting_emulator/plugin.py" in definition
        assert words.strip()
    assert "@pytest.mark.hosting_scenario(name, **overrides)" in markers
