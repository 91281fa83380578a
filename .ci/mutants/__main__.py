"""Measures the strength of the tests: makes small changes to the product, and checks whether a test fails.

    make mutants                                     draw and run 150 mutants
    make mutants ARGS='--count 300 --store FILE'     store the sample, with the killer of each mutant
    make mutants ARGS='--sample FILE'                run a stored sample again, and compare
    make mutants ARGS='--sample FILE --functions "hosting_emulator.engine.*"'
    make mutants ARGS=--survivors                    rerun the mutants that survived the previous run

By default, the seed of the draw is the hash of the commit before HEAD. Each result is written to
`.mutants` immediately, so the same command resumes an interrupted run.

Neither mutmut nor cosmic-ray can measure this suite. Mutmut replaces functions with trampolines,
which breaks handlers and commands whose signatures are inspected. It also ignores declarations, and
tests that run the product in another process. Cosmic-ray cannot select tests by coverage, so it
would run the whole suite for each of 150 mutants.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from mutants.coverage_map import CoverageMap
from mutants.equivalents import read_equivalent_mutants
from mutants.execution import BUDGET_S, Executor, run_all
from mutants.product import Identity, Mutant, Product, Renames
from mutants.report import print_comparison, print_result, print_summary
from mutants.samples import Result, append_result, draw, read_results, store_sample
from mutants.working_copy import WorkingCopy

REPOSITORY = Path(__file__).parents[2]


def main() -> int:
    """Run the command, and return its exit code, which is 1 if a mutant survived or was lost."""
    options = _parser().parse_args()
    renames = Renames.read(options.renames) if options.renames else Renames({})
    seed = options.seed or _previous_commit()
    if options.list:
        for mutant in _choose(options, seed, renames)[0]:
            print(f"{mutant.identity}\n{mutant.diff()}")
        return 0
    home: Path = options.home
    copies = working_copies(home, options.workers)
    if not options.as_recorded:
        collect(CoverageMap(REPOSITORY, home / "coverage"), copies)
    if options.collect:
        return 0
    sample, before = _choose(options, seed, renames)
    coverage = CoverageMap(REPOSITORY, home / "coverage")
    executors = [Executor(copy, coverage, renames, options.budget) for copy in copies]
    final = _run(options, seed, sample, executors)
    if options.store:
        store_sample(options.store, final)
    failed = print_summary(final, read_equivalent_mutants())
    if options.sample:
        failed |= print_comparison(before, final, renames)
    return 1 if failed else 0


def _run(
    options: argparse.Namespace, seed: str, sample: Sequence[Mutant], executors: Sequence[Executor]
) -> list[Result]:
    """Run the mutants that have no result yet, and return the results of all mutants."""
    name = f"{options.sample.stem if options.sample else seed[:12]}-{options.functions or 'all'}"
    path = options.home / "results" / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', name)}.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    results = read_results(path)
    waiting = [mutant for mutant in sample if _must_run(mutant, results, options.survivors)]
    print(f"{len(sample)} mutants, {len(waiting)} to run; results: {path}", flush=True)

    def done(result: Result) -> None:
        append_result(path, result)
        results[result.identity] = result
        print_result(result)

    run_all(waiting, executors, done)
    unreliable = _unreliable_killers(executors[0], waiting, results)
    for executor in executors:
        executor.exclude(unreliable)
    run_all([m for m in waiting if results[m.identity].killer in unreliable], executors, done)
    return [results[mutant.identity] for mutant in sample]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--count", type=int, default=150, help="number of mutants to draw (default: 150)")
    add("--seed", help="seed of the draw (default: the hash of the commit before HEAD)")
    add("--sample", type=Path, metavar="FILE", help="run the sample in FILE, and compare")
    add("--store", type=Path, metavar="FILE", help="write the sample and its killers to FILE")
    add("--renames", type=Path, metavar="FILE", help="file with lines OLD_NAME = NEW_NAME")
    add("--functions", metavar="GLOB", help="only run mutants of matching MODULE:NAME functions")
    add("--survivors", action="store_true", help="also rerun mutants that survived")
    add("--fresh", action="store_true", help="discard the results of an earlier run")
    add("--collect", action="store_true", help="only record which tests run which lines")
    add("--as-recorded", action="store_true", help="do not record changed tests again")
    add("--list", action="store_true", help="only list the mutants")
    add("--workers", type=int, default=2, help="mutants to run at the same time (default: 2)")
    add(
        "--budget",
        type=float,
        default=BUDGET_S,
        metavar="SECONDS",
        help="maximum duration of the tests for one mutant",
    )
    add("--home", type=Path, default=REPOSITORY / ".mutants", help="folder for all files")
    return parser


def _previous_commit() -> str:
    command = ["git", "rev-parse", "HEAD~1"]
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.strip()


def working_copies(home: Path, count: int) -> list[WorkingCopy]:
    """Return working copies that are up to date with the checkout."""
    copies = [WorkingCopy(REPOSITORY, home / "copies" / str(n)) for n in range(count)]
    for copy in copies:
        copy.refresh()
    return copies


def collect(coverage: CoverageMap, copies: Sequence[WorkingCopy]) -> None:
    """Record the test files that changed since the last recording. Each copy records one batch at a time."""
    batches = coverage.batches_to_collect()
    waiting = iter(enumerate(batches, 1))
    taking = Lock()

    def work(copy: WorkingCopy) -> None:
        while True:
            with taking:
                number, files = next(waiting, (0, []))
            if not files:
                return
            last_line = coverage.collect(copy, files)
            print(f"recorded {number} of {len(batches)}: {files[0]} ... {last_line}", flush=True)

    with ThreadPoolExecutor(len(copies)) as pool:
        list(pool.map(work, copies))


def _choose(
    options: argparse.Namespace, seed: str, renames: Renames
) -> tuple[list[Mutant], list[Result]]:
    """Return the mutants to run, and the results in the stored sample if there is one.

    A stored mutant whose code no longer exists is replaced by a new mutant in the same package.
    """
    product = Product(REPOSITORY)
    if not options.sample:
        return draw(_matching(product.all_mutants(), options.functions), options.count, seed), []
    before = list(read_results(options.sample).values())
    sample: list[Mutant] = []
    gone: list[Result] = []
    for result in before:
        function = renames.new_name(result.function)
        mutant = product.find(Identity(function, result.operator, result.ordinal))
        if mutant is None:
            gone.append(result)
        else:
            sample.append(mutant)
    for result in gone:
        package = renames.new_name(result.package)
        others = [mutant for mutant in product.all_mutants() if mutant.package == package]
        drawn = {mutant.identity for mutant in sample}
        replacement = draw(others, 1, seed, drawn)
        print(
            f"{result.identity} no longer exists."
            f" Replaced by: {', '.join(str(m.identity) for m in replacement)}"
        )
        sample += replacement
    return list(_matching(sample, options.functions)), before


def _matching(mutants: Iterable[Mutant], pattern: str | None) -> Iterable[Mutant]:
    if pattern is None:
        return mutants
    return (mutant for mutant in mutants if fnmatch.fnmatch(mutant.identity.function, pattern))


def _must_run(mutant: Mutant, results: dict[Identity, Result], survivors: bool) -> bool:
    result = results.get(mutant.identity)
    return result is None or (survivors and not result.is_killed)


def _unreliable_killers(
    executor: Executor, mutants: Sequence[Mutant], results: Mapping[Identity, Result]
) -> list[str]:
    """Return the killers that also fail without a mutant, and therefore prove nothing."""
    killers = {results[mutant.identity].killer for mutant in mutants}
    unreliable = executor.failing_without_mutant({name for name in killers if "::" in name})
    for test in unreliable:
        print(f"excluded, because it also fails without a mutant: {test}")
    return unreliable


if __name__ == "__main__":
    sys.exit(main())
