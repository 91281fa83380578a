"""The rules of conduct find what is a mistake in the example clients, and accuse nobody else."""

from __future__ import annotations

import re

import pytest

from tests.examples.programs import need, run
from tests.support.warm import programs

#: Scenarios in which something goes wrong on the way.
TROUBLED = (
    *("lost-response-key", "lost-response-domains", "connection-lost", "gateway-errors-in-html"),
    *("rate-limited", "slow-and-truncated-bodies"),
    pytest.param("flaky-network", marks=pytest.mark.torture),  # it makes the client wait a lot
)


def conduct_of(client: str, *arguments: str) -> tuple[int, list[str]]:
    """Run a client that moves the world's time instead of sleeping: exit code and rules broken."""
    command = ("env", "HOSTING_WAIT=clock", str(programs() / "python"), f"{client}.py")
    clock = () if "--scenario" in arguments else ("--clock", "frozen")
    done = run(
        "clients", "--conduct", "error", "--report", "never", *clock, *arguments, "--", *command
    )
    return done.returncode, re.findall(r"^(?:error|warning): .* \[(.*)\]$", done.stderr, re.M)


def test_the_careful_client_has_no_conduct_findings():
    assert conduct_of("careful") == (0, [])


@pytest.mark.parametrize("scenario", TROUBLED)
def test_the_careful_client_has_no_conduct_findings_under_faults(scenario: str):
    code, broken = conduct_of("careful", "--scenario", scenario)

    assert broken == []
    assert code in (0, 1)  # it may not get through, but that is no bad conduct


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
    code, broken = conduct_of(client, *(("--scenario", scenario) if scenario else ()))

    assert rule in broken
    assert code == 1


@pytest.mark.parametrize(
    ("folder", "program", "command"),
    [("node", "node", ("node", "--test")), ("shell", "curl", ("./smoke.sh",))],
)
def test_the_examples_in_other_languages_have_no_conduct_findings(
    folder: str, program: str, command: tuple[str, ...]
):
    need(program)

    done = run(folder, "--clock", "skip", "--conduct", "error", "--", *command)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
