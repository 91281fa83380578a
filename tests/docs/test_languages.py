"""The guide for other languages: its tests in Node run, and so do the examples in each language."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.docs.terminal import Terminals
from tests.examples.programs import need

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "languages.md").read_text(encoding="utf-8")
EXAMPLES = DOCS / "examples"


@pytest.fixture(autouse=True)
def _plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the variable with which Node prints for another test runner."""
    monkeypatch.delenv("NODE_TEST_CONTEXT", raising=False)


def copy_example(language: str, folder: Path) -> None:
    shutil.copytree(EXAMPLES / language, folder, dirs_exist_ok=True)


def test_the_node_tests_of_the_guide_pass(tmp_path: Path):
    need("node")
    shutil.copy(EXAMPLES / "node" / "emulator.mjs", tmp_path)

    with Terminals(tmp_path) as terminals:
        terminals.follow(GUIDE, files=("js",))


def test_the_helper_in_node_does_everything_that_the_guide_lists(tmp_path: Path):
    """The file beside this module uses every function of the helper."""
    need("node")
    shutil.copy(EXAMPLES / "node" / "emulator.mjs", tmp_path)
    shutil.copy(Path(__file__).with_name("helper.test.mjs"), tmp_path)

    with Terminals(tmp_path) as terminals:
        terminals.type("hosting-emulator exec -- node --test")


def test_the_helper_in_node_says_that_no_emulator_runs(tmp_path: Path):
    need("node")
    copy_example("node", tmp_path)

    with Terminals(tmp_path) as terminals:
        terminals.type("node --test | grep 'There is no emulator: run `hosting-emulator exec'")


@pytest.mark.slow
def test_the_example_in_go_passes(tmp_path: Path):
    need("go")
    copy_example("go", tmp_path)

    with Terminals(tmp_path) as terminals:
        terminals.type("hosting-emulator exec -- go test -count=1 ./...")


@pytest.mark.slow
def test_the_example_in_java_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    need("javac")
    copy_example("java", tmp_path)
    hasten_java(tmp_path / "bin", monkeypatch)

    with Terminals(tmp_path) as terminals:
        terminals.type("javac *.java")
        terminals.type(
            'test "$(hosting-emulator exec -- java -cp . DomainsCheck)" = "$(printf \'503\\nsucceeded\')"'
        )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("dotnet") is None, reason="the .NET SDK is not installed")
def test_the_example_in_dotnet_passes(tmp_path: Path):
    copy_example("dotnet", tmp_path)

    with Terminals(tmp_path) as terminals:
        terminals.type("hosting-emulator exec -- dotnet test")


def hasten_java(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run Java without features that only pay in long runs: the second compiler and parallel collection."""
    folder.mkdir()
    for name, prefix in (("java", ""), ("javac", "-J")):
        options = f"{prefix}-XX:TieredStopAtLevel=1 {prefix}-XX:+UseSerialGC"
        script = f'#!/bin/sh\nexec {shutil.which(name)} {options} "$@"\n'
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
