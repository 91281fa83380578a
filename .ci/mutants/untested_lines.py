"""Measures the share of the product's statements that tests run, and lists the lines that no test runs.

    make coverage
    make coverage ARGS='--at-least 97'

It uses the recording that also selects the tests of a mutant. The recording covers the test process
and every process that it starts, except processes that are killed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from coverage import Coverage
from coverage.parser import PythonParser

from mutants.__main__ import REPOSITORY, collect, working_copies
from mutants.coverage_map import CoverageMap
from mutants.equivalents import UNTESTED_LINES, read_untested_lines
from mutants.product import Product, functions_of, module_name


def main() -> int:
    """Run the command, and return its exit code.

    The exit code is 1 if a line is neither run by a test nor explained. With --at-least, only the
    share of statements that tests run counts.
    """
    parser = argparse.ArgumentParser(prog="make coverage", description=__doc__.partition("\n")[0])
    parser.add_argument("--home", type=Path, default=REPOSITORY / ".mutants")
    parser.add_argument(
        "--at-least", type=float, metavar="PERCENT", help="fail only if the share is smaller"
    )
    options = parser.parse_args()
    home: Path = options.home
    coverage_map = CoverageMap(REPOSITORY, home / "coverage")
    if coverage_map.missing_files():
        collect(coverage_map, working_copies(home, 2))
        coverage_map = CoverageMap(REPOSITORY, home / "coverage")
    explained = read_untested_lines()
    met: set[tuple[str, str]] = set()
    count = 0
    statement_count = 0
    untested_count = 0
    for file in Product(REPOSITORY).files():
        untested = untested_lines(coverage_map, REPOSITORY / file, file)
        statement_count += len(statements_of(REPOSITORY / file))
        untested_count += len(untested)
        met |= {(function, text) for _, function, text in untested} & explained.keys()
        unexplained = [line for line in untested if line[1:] not in explained]
        count += len(unexplained)
        for number, function, text in unexplained:
            print(f"{file}:{number}: {function}: {text}")
    for function, text in sorted(explained.keys() - met):
        print(f"{UNTESTED_LINES.name} explains a line that a test runs or that is gone:")
        print(f"  {function}: {text}")
    print(f"\n{count} lines that no test runs, without an explanation; {len(met)} with one")
    share = 100 * (1 - untested_count / statement_count)
    print(f"Tests run {share:.1f} % of {statement_count:,} statements.")
    if options.at_least is not None:
        return 1 if share < options.at_least else 0
    return 1 if count or explained.keys() - met else 0


def statements_of(path: Path) -> Sequence[int]:
    """Return the lines of a file's statements, except statements that only a type checker reads."""
    coverage = Coverage(data_file=None, config_file=False)
    coverage.exclude(r"if TYPE_CHECKING:")
    coverage.exclude(r"\.\.\.$")
    _, statements, _, _, _ = coverage.analysis2(str(path))
    return statements


def untested_lines(coverage_map: CoverageMap, path: Path, file: str) -> list[tuple[int, str, str]]:
    """Return the line, function and text of each statement in a file that no test runs."""
    source = path.read_text("utf-8")
    texts = source.splitlines()
    parser = PythonParser(text=source)
    parser.parse_source()
    # The first line of a long condition is only a keyword and a bracket, which no recording names.
    tested = parser.first_lines(coverage_map.tested_lines(file, source))
    module = module_name(file)
    functions = functions_of(source).values()
    untested = []
    for number in statements_of(path):
        if number in tested or (texts[number - 1].endswith("(") and number + 1 in tested):
            # Python records a condition in parentheses only for its own lines.
            continue
        around = [function for function in functions if number in function.body_lines]
        innermost = max(around, key=lambda function: function.first_line, default=None)
        name = innermost.name if innermost else "<module>"
        untested.append((number, f"{module}:{name}", texts[number - 1].strip()))
    return untested


if __name__ == "__main__":
    sys.exit(main())
