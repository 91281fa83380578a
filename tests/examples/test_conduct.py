"""The conduct rules find the mistakes of the example clients and accuse no other client."""

from __future__ import annotations

import re

import pytest

from tests.examples.programs import need, run
from tests.support.warm import programs

#: Scenarios with faults on the way.
SCENARIOS_WITH_FAULTS = (
    "lost-response-key",
    "lost-response-domains",
    "connection-lost",
    "gateway-errors-in-html",
    "rate-limited",
    "slow-and-truncated-bodies",
    pytest.param("flaky-network", marks=pytest.mark.torture),  # the client waits a lot in it
)


def conduct_of(client: str, *arguments: str) -> tuple[int, list[str]]:
    """Run a client that advances the clock instead of sleeping; return exit code and broken rules."""
    command = ("env", "HOSTING_WAIT=clock", str(programs() / "python"), f"{client}.py")
    clock = () if "--scenario" in arguments else ("--clock", "frozen")
    process = run(
        "clients", "--conduct", "error", "--report", "never", *clock, *arguments, "--", *command
    )
    return process.returncode, re.findall(r"^(?:error|warning): .* \[(.*)\]$", process.stderr, re.M)


def test_the_careful_client_has_no_conduct_findings():
    assert conduct_of("careful") == (0, [])


@pytest.mark.parametrize("scenario", SCENARIOS_WITH_FAULTS)
def test_the_careful_client_has_no_conduct_findings_under_faults(scenario: str):
    code, broken_rules = conduct_of("careful", "--scenario", scenario)

    assert broken_rules == []
    assert code in (0, 1)  # giving up is no bad conduct


@pytest.mark.parametrize(
    ("client", "scenario", "rule"),
    [
        ("no_retry_key", "lost-response-flag", "missing-idempotency-key"),
        ("new_key_on_retry", "lost-response-key", "new-key-after-uncertainty"),
        ("ignores_retry_after", "rate-limited", "retried-too-soon"),
        ("polls_too_fast", "", "polled-too-early"),
    ],
)
def test_the_conduct_rules_find_the_mistake_of_a_client(client: str, scenario: str, rule: str):
    code, broken_rules = conduct_of(client, *(("--scenario", scenario) if scenario else ()))

    assert rule in broken_rules
    assert code == 1


@pytest.mark.parametrize(
    ("folder", "program", "command"),
    [("node", "node", ("node", "--test")), ("shell", "curl", ("./smoke.sh",))],
)
def test_the_examples_in_other_languages_have_no_conduct_findings(
    folder: str, program: str, command: tuple[str, ...]
):
    need(program)

    process = run(folder, "--clock", "skip", "--conduct", "error", "--", *command)

    assert (process.returncode, process.stderr) == (0, ""), process.stdout
