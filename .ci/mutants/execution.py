"""Runs mutants: for each mutant, runs the tests that cover its code, fastest first, until one fails."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Lock, Thread

from mutants.coverage_map import RECORD_TESTS, CoverageMap, Test, reads_declarations
from mutants.product import Mutant, Renames
from mutants.samples import Outcome, Result
from mutants.working_copy import WorkingCopy

#: The maximum total duration of the tests of one mutant, in seconds, according to their recorded
#: durations.
BUDGET_S = 120.0
#: The maximum number of tests in the first run, which kills most mutants, and their total duration.
_FIRST_COUNT = 30
_FIRST_S = 4.0
_RUN_S = 40.0
#: The maximum duration of a test that runs before the others because it reads the declarations of
#: the package.
_NEAR_S = 0.5
#: A run is killed after this time plus this multiple of its tests' recorded duration.
_PATIENCE_S = 60.0
_PATIENCE_FACTOR = 8
#: Matches a word that is long enough to be rare.
_WORD = re.compile(r"[A-Za-z_]{5,}")


class Executor:
    """Runs mutants in one working copy."""

    def __init__(
        self,
        copy: WorkingCopy,
        coverage: CoverageMap,
        renames: Renames,
        budget_s: float = BUDGET_S,
    ) -> None:
        self._copy = copy
        self._coverage = coverage
        self._renames = renames
        self._budget_s = budget_s
        self._excluded: frozenset[str] = frozenset()
        self._words: dict[str, frozenset[str]] = {}

    def exclude(self, tests: Collection[str]) -> None:
        """Exclude these tests from all further runs."""
        self._excluded |= frozenset(tests)

    def run(self, mutant: Mutant) -> Result:
        """Run the tests of a mutant until one fails or the budget is spent."""
        started = time.monotonic()
        covering = self._without_excluded(self._coverage.tests_of(mutant, self._renames))
        ordinary = [test for test in covering if test.file not in RECORD_TESTS]
        record = [test for test in covering if test.file in RECORD_TESTS]
        neighbors = self._coverage.tests_beside(mutant, self._renames, ordinary)
        beside = self._without_excluded([t for t in neighbors if t.file not in RECORD_TESTS])
        tests_run = 0
        remaining = set(ordinary)
        killer = ""
        with self._copy.changed(mutant.file, mutant.changed_source):
            ordered = self._nearest_first(ordinary, mutant)
            for tests in runs_of(ordered, beside, self._budget_s):
                tests_run += len(tests)
                remaining -= set(tests)
                killer = self._repeated_failure(tests)
                if killer:
                    outcome = Outcome.KILLED
                    break
            else:
                killer = self._repeated_failure(record)
                tests_run += len(record)
                if killer:
                    outcome = Outcome.KILLED_BY_RECORD
                elif remaining:
                    outcome = Outcome.UNDECIDED
                else:
                    outcome = Outcome.SURVIVED if covering else Outcome.NOT_COVERED
        return Result(
            function=mutant.identity.function,
            operator=mutant.identity.operator,
            ordinal=mutant.identity.ordinal,
            package=mutant.package,
            outcome=outcome,
            killer=killer,
            tests_run=tests_run,
            tests_covering=len(covering),
            seconds=round(time.monotonic() - started, 1),
            file=mutant.file,
            line=mutant.change.line,
            diff=mutant.diff(),
        )

    def _nearest_first(self, tests: Sequence[Test], mutant: Mutant) -> list[Test]:
        """Return the tests in the order in which they are most likely to notice the mutant.

        First come the fast tests that read the package's declarations, then the tests in files that
        mention most of the names in the changed line. Otherwise, fast tests come first.
        """
        function = mutant.identity.function
        names = names_in(mutant)
        mentions: dict[str, int] = {}
        for test in tests:
            if test.file not in mentions:
                mentions[test.file] = len(names & self._words_of(test.file))

        def order(test: Test) -> tuple[bool, int, float, str]:
            is_near = test.seconds < _NEAR_S and reads_declarations(test, function)
            return not is_near, -mentions[test.file], test.seconds, test.id

        return sorted(tests, key=order)

    def _words_of(self, file: str) -> frozenset[str]:
        """Return the longer words in a test file."""
        if file not in self._words:
            path = self._copy.path / file
            text = path.read_text("utf-8") if path.is_file() else ""
            self._words[file] = frozenset(_WORD.findall(text))
        return self._words[file]

    def _without_excluded(self, tests: Sequence[Test]) -> list[Test]:
        return [test for test in tests if test.id not in self._excluded]

    def failing_without_mutant(self, tests: Collection[str]) -> list[str]:
        """Return the tests that also fail without a mutant, and therefore prove nothing."""
        failing: list[str] = []
        remaining = [self._coverage.tests[test] for test in sorted(tests)]
        while remaining:
            failure = self._first_failure(remaining)
            if not failure:
                break
            failing.append(failure)
            remaining = [test for test in remaining if test.id != failure]
            if failure not in tests:
                break
        return failing

    def _repeated_failure(self, tests: Sequence[Test]) -> str:
        """Return the first failure that occurs again when its test runs alone.

        A test that fails only after others, or only sometimes, does not prove that it detected the
        mutant.
        """
        remaining = list(tests)
        while remaining:
            failure = self._first_failure(remaining)
            alone = [test for test in remaining if test.id == failure]
            if not alone or len(remaining) == 1 or self._first_failure(alone):
                return failure
            remaining = [test for test in remaining if test.id != failure]
        return ""

    def _first_failure(self, tests: Sequence[Test]) -> str:
        """Run tests until one fails, and return its id.

        Returns "" if all tests pass. If the run itself fails, returns a description of how it ended.
        """
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            request = Path(folder, "request.json")
            failure = Path(folder, "failure.txt")
            content = {"tests": [test.id for test in tests], "failure": str(failure)}
            request.write_text(json.dumps(content), "utf-8")
            files = list(dict.fromkeys(test.file for test in tests))
            arguments = ["-x", "-p", "mutants_pytest_selection", "--tb", "no"]
            run = self._copy.pytest(
                [*arguments, *files],
                timeout=_PATIENCE_S + _PATIENCE_FACTOR * sum(test.seconds for test in tests),
                variables={"MUTANTS_REQUEST": str(request)},
            )
            if failure.exists():
                return failure.read_text("utf-8")
        if run.exit_code is None:
            return f"no end after {run.seconds:.0f} s"
        if run.exit_code in (0, 5):  # 5 means that none of the tests exists any more.
            return ""
        last_line = run.output.strip().rpartition("\n")[2]
        return f"pytest ended with {run.exit_code}: {last_line}"


def runs_of(
    covering: Sequence[Test], beside: Sequence[Test], budget_s: float
) -> Iterator[list[Test]]:
    """Divide tests into runs: first a few fast tests, then two tests of each file, then the rest.

    The `beside` tests come last. They may use values that a covering test computed once.
    """
    waiting = list(covering)
    for select in (_fastest, _two_of_each_file):
        run = select(sorted(waiting, key=lambda test: (test.seconds, test.id)))
        if run:
            yield run
            budget_s -= _seconds(run)
            selected = set(run)
            waiting = [test for test in waiting if test not in selected]
    waiting += sorted(beside, key=lambda test: (test.seconds, test.id))
    while waiting and budget_s > 0:
        run = _at_most(waiting, min(_RUN_S, budget_s))
        yield run
        budget_s -= _seconds(run)
        waiting = waiting[len(run) :]


def names_in(mutant: Mutant) -> frozenset[str]:
    """Return the names and words by which a test may refer to the changed code.

    These are the function's own name, and the longer words in the lines that the mutant changes.
    """
    words = set(_WORD.findall(mutant.identity.function.rpartition(":")[2]))
    for line in mutant.diff().splitlines():
        if line.startswith("-"):
            words.update(_WORD.findall(line))
    return frozenset(words)


def _fastest(tests: Sequence[Test]) -> list[Test]:
    return _at_most(tests[:_FIRST_COUNT], _FIRST_S)


def _two_of_each_file(tests: Sequence[Test]) -> list[Test]:
    counts: dict[str, int] = {}
    selected = []
    for test in tests:
        counts[test.file] = counts.get(test.file, 0) + 1
        if counts[test.file] <= 2:
            selected.append(test)
    return _at_most(selected, _RUN_S)


def _at_most(tests: Sequence[Test], seconds: float) -> list[Test]:
    """Return as many of the first tests as fit into `seconds`, but at least one test."""
    selected: list[Test] = []
    for test in tests:
        if selected and _seconds(selected) + test.seconds > seconds:
            break
        selected.append(test)
    return selected


def _seconds(tests: Sequence[Test]) -> float:
    return sum(test.seconds for test in tests)


def run_all(
    mutants: Sequence[Mutant], executors: Sequence[Executor], done: Callable[[Result], None]
) -> None:
    """Run mutants, one at a time in each working copy. Call `done` with each result."""
    waiting: Queue[Mutant] = Queue()
    for mutant in mutants:
        waiting.put(mutant)
    writing = Lock()
    errors: list[BaseException] = []

    def work(executor: Executor) -> None:
        try:
            while not errors:
                result = executor.run(waiting.get_nowait())
                with writing:
                    done(result)
        except Empty:
            return
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=work, args=(executor,), daemon=True) for executor in executors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
