"""A whole measurement of a small product: what its tests run, what they notice and what they miss."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("coverage")

from mutants import execution
from mutants.coverage_map import CoverageMap, reads_declarations
from mutants.coverage_map import Test as CoveredTest
from mutants.execution import Executor, names_in
from mutants.product import Mutant, Product, Renames
from mutants.samples import Outcome
from mutants.untested_lines import untested_lines
from mutants.working_copy import Run, WorkingCopy

pytestmark = pytest.mark.slow

PRODUCT = """\
LIMIT = 10


def is_allowed(size):
    return size < LIMIT


def double(size):
    if (
        size is not None
        and size is not False
    ):
        return size * 2


def price(size):
    return size + 5


def unused(size):
    return size - 5
"""
TESTS = """\
import os
import subprocess
import sys

from hosting_emulator.sizes import double, is_allowed


def test_a_small_size_is_allowed():
    assert is_allowed(1)


def test_a_size_at_the_limit_is_not_allowed():
    assert not is_allowed(10)


def test_any_size_can_be_doubled():
    double(3)


def test_a_process_prints_a_price():
    program = "from hosting_emulator.sizes import price; print(price(1))"
    output = subprocess.run([sys.executable, "-c", program], env={}, capture_output=True, check=True)
    assert output.stdout == b"6\\n"


def test_the_sample_is_always_the_same():
    assert os.environ["TEST_SAMPLE"] == "0"
"""
RECORD = """\
from hosting_emulator.sizes import double


def test_the_record():
    assert double(4) == 8
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with an environment that borrows the packages of this one."""
    root = tmp_path_factory.mktemp("repository")
    files = {
        "emulator/hosting_emulator/__init__.py": "",
        "emulator/hosting_emulator/sizes.py": PRODUCT,
        # pytest finds the plugin among the packages that are borrowed.
        "fixtures/pytest_hosting_emulator/__init__.py": "",
        "fixtures/pytest_hosting_emulator/plugin.py": "",
        "tests/test_sizes.py": TESTS,
        "tests/golden/test_record.py": RECORD,
        ".gitignore": "/.venv/\n/.mutants/\n__pycache__/\n",
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    environment = root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    borrowed = sysconfig.get_paths()["purelib"]
    (packages / "_hosting_emulator.pth").write_text(f"{root}/emulator\n{root}/fixtures\n")
    (packages / "borrowed.pth").write_text(f"{borrowed}\n")
    (environment / ".installed-dev").touch()
    return root


@pytest.fixture(scope="module")
def copy(repository: Path) -> WorkingCopy:
    copy = WorkingCopy(repository, repository / ".mutants" / "copies" / "0")
    copy.refresh()
    return copy


@pytest.fixture(scope="module")
def coverage_map(repository: Path, copy: WorkingCopy) -> CoverageMap:
    folder = repository / ".mutants" / "coverage"
    recording = CoverageMap(repository, folder)
    for files in recording.batches_to_collect():
        recording.collect(copy, files)
    return CoverageMap(repository, folder)


def mutant_of(repository: Path, function: str, operator: str) -> Mutant:
    matches = [
        mutant
        for mutant in Product(repository).all_mutants()
        if mutant.identity.function == f"hosting_emulator.sizes:{function}"
        and mutant.identity.operator == operator
    ]
    return matches[0]


@pytest.mark.parametrize(
    ("function", "operator", "outcome", "killer"),
    [
        ("is_allowed", "comparison", Outcome.KILLED, "test_a_size_at_the_limit_is_not_allowed"),
        ("LIMIT", "number plus one", Outcome.KILLED, "test_a_size_at_the_limit_is_not_allowed"),
        ("price", "arithmetic", Outcome.KILLED, "test_a_process_prints_a_price"),
        ("double", "number plus one", Outcome.KILLED_BY_RECORD, "test_the_record"),
        ("unused", "arithmetic", Outcome.NOT_COVERED, ""),
    ],
)
def test_a_mutant_is_run_with_the_tests_of_its_code(
    repository: Path,
    copy: WorkingCopy,
    coverage_map: CoverageMap,
    function: str,
    operator: str,
    outcome: Outcome,
    killer: str,
) -> None:
    mutant = mutant_of(repository, function, operator)

    result = Executor(copy, coverage_map, Renames({})).run(mutant)

    assert (result.outcome, result.killer.rpartition("::")[2]) == (outcome, killer)
    assert (copy.path / mutant.file).read_text() == PRODUCT
    assert (repository / mutant.file).read_text() == PRODUCT


@pytest.mark.parametrize(
    ("file", "function", "is_near"),
    [
        ("tests/contract/test_problems.py", "hosting_emulator.contract.calls:ROWS", True),
        ("tests/engine/test_why.py", "hosting_emulator.contract.calls:ROWS", False),
        ("tests/docs/test_pages.py", "hosting_emulator.contract.calls:ROWS", True),
        ("tests/cli/test_help.py", "hosting_emulator_cli.commands.outcome:<module>", True),
        ("tests/plugin/test_worlds.py", "hosting_emulator_cli.commands.outcome:<module>", False),
        ("tests/lab/replay/test_run.py", "hosting_emulator_lab.replay.run:WORDS", True),
        ("tests/plugin/test_worlds.py", "pytest_hosting_emulator.options:OPTIONS", True),
        (
            "tests/architecture/test_frozen_values.py",
            "hosting_emulator.messages.faults:Fault",
            True,
        ),
        ("tests/plugin/test_tracebacks.py", "hosting_emulator.sdk.clock:__tracebackhide__", True),
        ("tests/plugin/test_tracebacks.py", "hosting_emulator.sdk:__tracebackhide__", True),
        ("tests/plugin/test_tracebacks.py", "hosting_emulator.sdks.clock:__tracebackhide__", False),
        ("tests/plugin/test_tracebacks.py", "hosting_emulator.contract.calls:ROWS", False),
        ("tests/cli/test_printed_commands.py", "hosting_emulator.criteria.words:WORDS", True),
        ("tests/cli/test_printed_commands.py", "hosting_emulator_lab.judge.trials:WORDS", False),
    ],
)
def test_a_declaration_is_read_by_the_tests_of_its_package_its_source_and_documents(
    file: str, function: str, is_near: bool
) -> None:
    assert reads_declarations(CoveredTest(f"{file}::test", 0.1), function) == is_near


def test_nothing_is_recorded_again_until_a_test_changes(
    repository: Path, coverage_map: CoverageMap
) -> None:
    assert coverage_map.missing_files() == []


def test_all_runs_try_the_same_sample(copy: WorkingCopy) -> None:
    run = copy.pytest(["-k", "sample", "tests/test_sizes.py"], timeout=60)

    assert run.exit_code == 0, run.output


def test_a_killer_is_tried_without_a_mutant(copy: WorkingCopy, coverage_map: CoverageMap) -> None:
    executor = Executor(copy, coverage_map, Renames({}))

    assert executor.failing_without_mutant(set(coverage_map.tests)) == []


def test_a_failure_that_does_not_come_again_kills_no_mutant(
    repository: Path, copy: WorkingCopy, coverage_map: CoverageMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    unstable = "tests/test_sizes.py::test_a_small_size_is_allowed"

    def run(arguments: object, *, timeout: float, variables: dict[str, str]) -> Run:
        """Fail the unstable test unless it runs alone."""
        request = json.loads(Path(variables["MUTANTS_REQUEST"]).read_text())
        failed = unstable in request["tests"] and len(request["tests"]) > 1
        if failed:
            Path(request["failure"]).write_text(unstable)
        return Run(1 if failed else 0, "", 0.0)

    monkeypatch.setattr(copy, "pytest", run)
    mutant = mutant_of(repository, "is_allowed", "comparison")

    result = Executor(copy, coverage_map, Renames({})).run(mutant)

    assert result.outcome is Outcome.SURVIVED


def test_a_mutant_is_undecided_if_the_budget_ends_before_its_tests(
    repository: Path, copy: WorkingCopy, coverage_map: CoverageMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy, "pytest", lambda *_, **__: Run(0, "", 0.0))
    monkeypatch.setattr(execution, "runs_of", lambda tests, *_: iter([tests[:1]]))
    mutant = mutant_of(repository, "is_allowed", "comparison")

    result = Executor(copy, coverage_map, Renames({})).run(mutant)

    assert result.outcome is Outcome.UNDECIDED


def test_the_words_of_the_changed_line_and_of_its_function_are_looked_for(repository: Path) -> None:
    assert {"is_allowed", "LIMIT"} <= names_in(mutant_of(repository, "is_allowed", "comparison"))


def test_lines_that_no_test_runs_are_listed(repository: Path, coverage_map: CoverageMap) -> None:
    file = "emulator/hosting_emulator/sizes.py"

    untested = untested_lines(coverage_map, repository / file, file)

    assert untested == [(21, "hosting_emulator.sizes:unused", "return size - 5")]
