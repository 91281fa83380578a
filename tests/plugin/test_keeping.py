"""Files of worlds: which worlds are written, where, with which names, and how they are opened again."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from pytest_hosting_emulator.verdicts import file_name
from tests.plugin.conftest import Suite
from tests.support import warm
from tests.support.emulator_process import emulator

TESTS = """
import pytest
from calling import apply_domains

def test_passes(hosting_emulator):
    pass

def test_fails(hosting_emulator):
    apply_domains(hosting_emulator)
    assert False

@pytest.fixture
def fails_after(hosting_emulator):
    yield
    assert False

def test_teardown(fails_after):
    pass

@pytest.mark.xfail
def test_as_expected(hosting_emulator):
    assert False
"""


def stored_names(folder: Path) -> list[str]:
    """Return the names of the files without the digest at the end of each."""
    return sorted(re.sub(r"-[0-9a-f]{8}\.json$", "", path.name) for path in folder.iterdir())


@pytest.mark.parametrize("way", ["option", "ini"])
def test_the_worlds_of_failed_tests_are_kept(suite: Suite, way: str):
    suite.write(test_it=TESTS)
    suite.ini(*(["hosting_emulator_keep = failed"] if way == "ini" else []))

    result = suite.run(*(["--hosting-emulator-keep=failed"] if way == "option" else []))

    folder = suite.path / "hosting-emulator-worlds"
    assert stored_names(folder) == ["test_it-test_fails", "test_it-test_teardown"]
    result.stdout.fnmatch_lines(
        [
            "kept: hosting-emulator start --ephemeral --import hosting-*/test_it-test_fails-*.json",
            "hosting emulator: 2 worlds are kept in hosting-emulator-worlds",
        ]
    )


def test_the_worlds_of_all_tests_can_be_kept(suite: Suite):
    suite.write(test_it=TESTS)

    result = suite.run("--hosting-emulator-keep=all", "--hosting-emulator-report=never")

    names = ["as_expected", "fails", "passes", "teardown"]
    assert stored_names(suite.path / "hosting-emulator-worlds") == [
        f"test_it-test_{n}" for n in names
    ]
    result.stdout.fnmatch_lines(["hosting emulator: 4 worlds are kept in hosting-emulator-worlds"])


def test_no_world_is_written_to_disk_by_default(suite: Suite):
    suite.write(test_it=TESTS)

    output = suite.run().stdout.str()

    assert not (suite.path / "hosting-emulator-worlds").exists()
    assert "kept" not in output


@pytest.mark.parametrize("way", ["option", "ini"])
def test_the_folder_of_kept_worlds_is_relative_to_its_configuration(suite: Suite, way: str):
    """An option is relative to the current folder, and an ini value to the root of the tests."""
    suite.write(test_it=TESTS)
    suite.ini(*(["hosting_emulator_keep_dir = kept/here"] if way == "ini" else []))
    inner = suite.pytester.mkdir("inner")
    option = ["--hosting-emulator-keep-dir=kept/here"] if way == "option" else []
    plugins = ["-p", "hosting_emulator", "-p", "no:cacheprovider"]

    result = warm.run(
        [sys.executable, "-m", "pytest", *plugins, "--hosting-emulator-keep=failed", "..", *option],
        cwd=inner,
    )

    folder = (inner if way == "option" else suite.path) / "kept" / "here"
    assert len(stored_names(folder)) == 2, result.stdout
    folder_name = "kept/here" if way == "option" else str(folder)
    assert f"hosting emulator: 2 worlds are kept in {folder_name}\n" in result.stdout


def test_the_file_of_a_kept_world_is_replaced_only_by_the_same_test(suite: Suite):
    """The test names are alike, and two workers run the parametrized tests twice."""
    suite.write(
        test_it="""
        import pytest

        @pytest.mark.parametrize("text", ["a/b", "a-b", "a:b", "a b", "\\u00e4", "x" * 300])
        def test_it(hosting_emulator, text):
            assert False

        @pytest.mark.parametrize("turn", [1, 2])
        def test_more(hosting_emulator, hosting_emulator_worlds, turn):
            hosting_emulator_worlds()
            hosting_emulator_worlds()
            assert False
        """
    )
    folder = suite.path / "hosting-emulator-worlds"
    for _ in range(2):
        result = suite.run(*suite.workers(2), "--hosting-emulator-keep=failed")
        result.stdout.fnmatch_lines(["hosting emulator: 12 worlds are kept in *"])

    assert len(stored_names(folder)) == 12
    for path in folder.iterdir():
        assert json.loads(path.read_bytes())["kind"] == "hosting-emulator state"


def test_names_of_kept_files_are_short_plain_and_unique():
    tests = ["a.py::t[x/y]", "a.py::t[x-y]", "a/b.py::t", "a-b.py::t", f"a.py::t[{'x' * 500}]", "ä"]
    names = [file_name(test, world) for test in tests for world in ("", "shop", "shop-2")]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,140}", name) for name in names)
    assert file_name(tests[0], "") == file_name(tests[0], "")


def test_an_error_of_the_folder_for_kept_worlds_fails_no_test(suite: Suite):
    suite.write(test_it=TESTS)
    (suite.path / "taken").write_text("no folder", encoding="utf-8")

    result = suite.run("--hosting-emulator-keep=failed", "--hosting-emulator-keep-dir=taken")

    result.assert_outcomes(passed=2, failed=1, xfailed=1, errors=1)
    result.stdout.fnmatch_lines(["hosting emulator: 2 worlds could not be saved in *taken: *"])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_folder_that_cannot_be_written_is_reported_once_for_all_tests(suite: Suite, workers: int):
    suite.write(
        test_it="""
        import pytest

        @pytest.mark.parametrize("n", range(8))
        def test_fails(hosting_emulator, n):
            assert False
        """
    )
    (suite.path / "taken").write_text("no folder", encoding="utf-8")
    more_options = suite.workers(workers) if workers else ()

    result = suite.run(
        *more_options, "--hosting-emulator-keep=failed", "--hosting-emulator-keep-dir=taken"
    )

    result.assert_outcomes(failed=8)
    lines = [line for line in result.outlines if "could not be saved" in line]
    assert len(lines) == 1
    assert "8 worlds" in lines[0]


def test_a_kept_world_can_be_opened(suite: Suite):
    """The printed command starts an emulator that continues where the test ended."""
    suite.write(test_it=TESTS)
    result = suite.run("--hosting-emulator-keep=failed", "-k", "test_fails")
    line = next(line for line in result.outlines if line.startswith("kept: "))
    command = shlex.split(line.removeprefix("kept: hosting-emulator "))

    assert command[0] == "start"
    with emulator(*command[1:], "--ephemeral", cwd=suite.path) as process:
        path = "worlds/default/operations?unfinished=true"
        operations = process.client().control("GET", path)["items"]

    assert [operation["kind"] for operation in operations] == ["apply_project_domains"]


def test_a_world_of_a_passed_test_that_cannot_be_kept_is_reported(suite: Suite):
    suite.write(test_it="def test_passes(hosting_emulator): pass")
    (suite.path / "hosting-emulator-worlds").write_text("in the way")

    result = suite.run("--hosting-emulator-keep=all")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["hosting emulator: 1 world could not be saved in *hosting-emulator-worlds: *"]
    )


def test_a_world_of_an_emulator_that_the_test_stopped_cannot_be_kept(suite: Suite):
    suite.write(
        test_it="""
        def test_fails(hosting_emulator, hosting_emulator_server):
            hosting_emulator_server.stop()
            assert False
        """
    )

    result = suite.run("--hosting-emulator-keep=failed")

    result.stdout.fnmatch_lines(
        ["hosting emulator: 1 world could not be saved in *hosting-emulator-worlds: no emulator *"]
    )
    assert not list((suite.path / "hosting-emulator-worlds").iterdir())
