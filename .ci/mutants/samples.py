"""Samples of mutants: drawn with a seed, stored with the killer of each mutant, and read again."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from mutants.product import Identity, Mutant


class Outcome(StrEnum):
    """The outcome of a mutant's run."""

    KILLED = "killed"
    #: Only golden files differed, so the next renewal of the golden files would hide the difference.
    KILLED_BY_RECORD = "killed only by the record"
    SURVIVED = "survived"
    #: The time budget ended before every test that runs the code had run.
    UNDECIDED = "undecided"
    NOT_COVERED = "not covered"


@dataclass(frozen=True)
class Result:
    """The outcome of a mutant, and the test that killed it."""

    function: str
    operator: str
    ordinal: int
    package: str
    outcome: Outcome
    #: The id of the test that failed, or a description of how the run ended.
    killer: str
    #: The numbers of tests that ran, and of tests that cover the changed code.
    tests_run: int
    tests_covering: int
    seconds: float
    file: str
    line: int
    diff: str

    @property
    def identity(self) -> Identity:
        return Identity(self.function, self.operator, self.ordinal)

    @property
    def is_killed(self) -> bool:
        return self.outcome is Outcome.KILLED


def draw(
    mutants: Iterable[Mutant], count: int, seed: str, drawn: Collection[Identity] = ()
) -> list[Mutant]:
    """Draw mutants from each package in proportion to its share of the lines that have mutants.

    First a line is drawn, then an operator, then a mutant, so a line with many texts is not drawn
    more often than other lines. Mutants in `drawn` are skipped.
    """
    lines: defaultdict[str, defaultdict[tuple[str, int], list[Mutant]]]
    lines = defaultdict(lambda: defaultdict(list))
    for mutant in mutants:
        lines[mutant.package][mutant.file, mutant.change.line].append(mutant)
    shares = quotas({package: len(found) for package, found in lines.items()}, count)
    sample: list[Mutant] = []
    for package, share in shares.items():
        sample += _draw_from(lines[package], share, f"{seed} {package}", drawn)
    return sample


def _draw_from(
    lines: Mapping[tuple[str, int], list[Mutant]],
    count: int,
    seed: str,
    drawn: Collection[Identity],
) -> list[Mutant]:
    generator = random.Random(seed)
    places = sorted(lines)
    generator.shuffle(places)
    sample: list[Mutant] = []
    for place in places:
        if len(sample) == count:
            break
        candidates = _shuffled(lines[place], generator)
        if any(mutant.identity in drawn for mutant in candidates):
            continue
        valid = next((mutant for mutant in candidates if mutant.is_valid()), None)
        if valid is not None:
            sample.append(valid)
    return sample


def _shuffled(mutants: list[Mutant], generator: random.Random) -> list[Mutant]:
    """Return the mutants of a line in random order. Each operator is equally likely to be first."""
    operators = sorted({mutant.identity.operator for mutant in mutants})
    generator.shuffle(operators)
    shuffled = list(mutants)
    generator.shuffle(shuffled)
    shuffled.sort(key=lambda mutant: operators.index(mutant.identity.operator))
    return shuffled


def quotas(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Divide a count in proportion to sizes. The rest is given to the largest remainders."""
    total = sum(sizes.values())
    if not total:
        return {}
    shares = {name: size * count // total for name, size in sorted(sizes.items())}
    by_remainder = sorted(shares, key=lambda name: (-(sizes[name] * count % total), name))
    for name in by_remainder[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def read_results(path: Path) -> dict[Identity, Result]:
    """Read a file of results, with one JSON object per line. The latest result of a mutant counts."""
    if not path.exists():
        return {}
    results = {}
    for line in path.read_text("utf-8").splitlines():
        content = json.loads(line)
        result = Result(**{**content, "outcome": Outcome(content["outcome"])})
        results[result.identity] = result
    return results


def append_result(path: Path, result: Result) -> None:
    """Write a result to the file immediately, so that an interrupted run can be resumed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def store_sample(path: Path, results: Iterable[Result]) -> None:
    """Write a sample and its killers, sorted by name, for use with `--sample` in a later run."""
    rows = sorted(results, key=lambda result: result.identity)
    path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), "utf-8")
