"""Prints results, survivors, and mutants that were killed in a stored sample and now survive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mutants.product import Identity, Renames
from mutants.samples import Outcome, Result


def print_result(result: Result) -> None:
    """Print one line about a mutant's result."""
    reason = result.killer or f"{result.tests_run} of {result.tests_covering} tests"
    print(f"{result.outcome}: {result.identity} ({reason}, {result.seconds:.0f} s)", flush=True)


def print_summary(results: Sequence[Result], equivalents: Mapping[Identity, str]) -> bool:
    """Print the survivors and the counts. Returns whether there is an unexplained survivor."""
    survivors = [result for result in results if not result.is_killed]
    unexplained = [result for result in survivors if result.identity not in equivalents]
    for result in unexplained:
        print(f"\n{result.outcome}: {result.file}:{result.line}, {result.identity}")
        print(
            f"{result.diff}\n({result.tests_run} tests ran; {result.tests_covering} run this code)"
        )
    counts = Counter(result.outcome for result in results)
    equivalent = len(survivors) - len(unexplained)
    counting = len(results) - equivalent
    print()
    for outcome in Outcome:
        print(f"{counts[outcome]:5} {outcome}")
    print(f"{equivalent:5} of the survivors are equivalent")
    if counting:
        share = 100 * counts[Outcome.KILLED] / counting
        seconds = sum(result.seconds for result in results) / len(results)
        print(f"{share:5.1f} % of those that count are killed; {seconds:.1f} s for each mutant")
        undecided = sum(result.outcome is Outcome.UNDECIDED for result in unexplained)
        if 0 < undecided < counting:
            share = 100 * counts[Outcome.KILLED] / (counting - undecided)
            print(
                f"{share:5.1f} % of those that are decided are killed (a longer --budget decides more)"
            )
    return bool(unexplained)


def print_comparison(before: Sequence[Result], after: Sequence[Result], renames: Renames) -> bool:
    """Print the mutants that were killed before and now survive. Returns whether there are any."""
    present = {result.identity: result for result in after}
    lost = []
    for result in before:
        function = renames.new_name(result.function)
        now = present.get(Identity(function, result.operator, result.ordinal))
        if now is not None and result.is_killed and not now.is_killed:
            lost.append((result, now))
    for result, now in lost:
        print(f"lost: {now.identity}, previously killed by {result.killer}")
    print(f"{len(lost):5} lost compared with the stored sample")
    return bool(lost)
