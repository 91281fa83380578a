"""Twelve hard scenarios of the library. They expect what the contract says and nothing more.

Therefore their stories take the same course with each seed, and pass if the responses vary.
"""

from __future__ import annotations

import re

import pytest

from tests.support.scenario_files import read_from_library

#: How many seeds the ordinary run tries, and how many `make torture`.
seed_counts = pytest.mark.parametrize(
    "seed_count", [6, pytest.param(60, marks=pytest.mark.torture)]
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


@seed_counts
@pytest.mark.parametrize("name", HARD)
def test_a_hard_scenario_takes_the_same_course_with_each_seed(name: str, seed_count: int) -> None:
    courses: set[tuple[str, ...]] = set()
    for seed in range(seed_count):
        report = read_from_library(name).run(f"seed {seed}")
        assert report["passed"], (seed, report["steps"][-1])
        lines = [f"{step['title']}: {step['said']}" for step in report["steps"]]
        courses.add(tuple(ULID.sub("ID", line) for line in lines))

    assert len(courses) == 1


@seed_counts
@pytest.mark.parametrize("name", [*HARD, "retries-through-a-flaky-network"])
def test_a_hard_scenario_passes_however_the_responses_vary(name: str, seed_count: int) -> None:
    failed_steps = {}
    for seed in range(seed_count):
        report = read_from_library(name).run(f"seed {seed}", variation_seed=str(seed))
        if not report["passed"]:
            failed_steps[seed] = report["steps"][-1]

    assert failed_steps == {}
