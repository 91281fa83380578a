"""Twelve hard scenarios of the library. They expect what the contract says and nothing more.

Therefore their stories take the same course with each seed, and pass if the responses vary.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.sampling import rotating
from tests.support.scenario_files import read_from_library

#: The seeds that are tried, in groups. The ordinary run tries one group, and the next commit another.
SEED_GROUPS = [range(first, first + 6) for first in range(0, 60, 6)]
each_seed_group = pytest.mark.parametrize(
    "seeds", rotating(SEED_GROUPS, 1), ids=lambda seeds: f"seeds {seeds[0]} to {seeds[-1]}"
)
HARD = (
    "race-during-outage",
    "plan-drops-under-a-domain",
    "key-uncertain-then-revealed-once",
    "token-expires-inside-a-poll",
    "ticket-raced-by-two-tabs",
    "two-processes-one-key",
    "maintainer-leaves-mid-operation",
    "dns-expires-behind-a-claim",
    "two-initializations-one-generation",
    "refresh-token-lost",
    "ten-at-once-over-the-limit",
    "everything-stuck-at-once",
)
ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")


def course_of(report: dict[str, Any]) -> tuple[str, ...]:
    """Return what each step did. Ids differ in each world, so they are left out."""
    return tuple(ULID.sub("ID", f"{step['title']}: {step['message']}") for step in report["steps"])


@each_seed_group
@pytest.mark.parametrize("name", HARD)
def test_a_hard_scenario_takes_the_same_course_with_each_seed(name: str, seeds: range) -> None:
    usual_course = course_of(read_from_library(name).run())
    for seed in seeds:
        report = read_from_library(name).run(f"seed {seed}")

        assert report["passed"], (seed, report["steps"][-1])
        assert course_of(report) == usual_course, seed


@each_seed_group
@pytest.mark.parametrize("name", [*HARD, "retries-through-a-flaky-network"])
def test_a_hard_scenario_passes_however_the_responses_vary(name: str, seeds: range) -> None:
    failed_steps = {}
    for seed in seeds:
        report = read_from_library(name).run(f"seed {seed}", variation_seed=str(seed))
        if not report["passed"]:
            failed_steps[seed] = report["steps"][-1]

    assert failed_steps == {}
