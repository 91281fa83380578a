"""Conduct, explore and vary together find each client's mistake and do not accuse the careful client."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.examples.programs import HERE
from tests.support import warm

CLIENTS = HERE / "clients"
#: The findings for each client: verdicts, conduct rules, failures in varied worlds.
EXPECTED_FINDINGS = {
    "careful": set[str](),
    "no_retry_key": {"failed", "missing-idempotency-key"},
    "new_key_on_retry": {"doubled", "new-key-after-uncertainty"},
    "ignores_retry_after": {"repeated", "retried-too-soon"},
    "polls_too_fast": {"polled-too-early"},
    "breaks_on_unknown_status": {"varied"},
}

Main = Callable[[dict[str, str]], int]


@pytest.fixture
def main_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Main]:
    """Return the main function of a client, to run it in this process."""
    monkeypatch.syspath_prepend(CLIENTS)

    def main_of(name: str) -> Main:
        class_name = name.title().replace("_", "")
        main: Main = getattr(import_module(name), class_name).main
        return main

    return main_of


def variables(emulator: HostingEmulator) -> dict[str, str]:
    return {
        "HOSTING_BASE_URL": emulator.base_url,
        "HOSTING_TOKEN": emulator.token("owner"),
        "HOSTING_PROJECT_ID": emulator.project,
        "HOSTING_ORGANIZATION_ID": emulator.organization,
        "HOSTING_CONTROL_URL": emulator.control.control_url,
        "HOSTING_EMULATOR_WORLD": emulator.name,
        "HOSTING_WAIT": "clock",
    }


def explored(name: str, *options: str) -> tuple[int, Any]:
    """Explore a client whose waiting advances the clock; return exit code and report."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_")}
    client = (str(warm.programs() / "python"), f"{name}.py")
    process = warm.run(
        [warm.COMMAND, "explore", *options, "--json", "--", *client],
        cwd=CLIENTS,
        env=variables | {"HOSTING_WAIT": "clock"},
        timeout=300,
    )
    assert process.stdout, process.stderr
    return process.returncode, json.loads(process.stdout)


def accused_of(report: Any) -> set[str]:
    """Return the verdicts that accuse the client, and the broken conduct rules."""
    runs = [report["clean"], *report["points"]]
    rules = {finding.partition(":")[0] for run in runs for finding in run["conduct"]}
    # The careful client exits with 0 and prints that a key's value is lost: explore reads no words.
    accused_of_nothing = {"survived", "gave up", "unclear"}
    # An error of conduct makes a run misbehave; its rule is among the others here.
    accused_of_nothing.add("misbehaved")
    return rules | {point["verdict"] for point in report["points"]} - accused_of_nothing


def fails_varied(main: Main, emulator: HostingEmulator, seeds: range) -> list[str]:
    """Run a client in a varied world for each seed; return the seeds with which it failed."""
    failed = []
    for seed in map(str, seeds):
        with HostingEmulator.fresh(emulator.control, vary=seed) as varied:
            try:
                code = main(variables(varied))
            except Exception as error:
                failed.append(f"{seed}: {error!r}")
                continue
            if code:
                failed.append(seed)
            varied.conduct.assert_clean()
    return failed


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED_FINDINGS)
def test_each_client_is_accused_of_exactly_its_own_mistake(
    name: str, main_of: Callable[[str], Main], hosting_emulator: HostingEmulator
):
    _, report = explored(
        name,
        "--clock",
        "frozen",
        "--call",
        "create_user_api_key",
        "--faults",
        "connection_reset,abort:rate_limited,limited",
    )
    accusations = accused_of(report)
    if name in ("careful", "breaks_on_unknown_status"):  # the others are careful in the same way
        accusations |= (
            {"varied"} if fails_varied(main_of(name), hosting_emulator, range(5)) else set()
        )

    assert accusations == EXPECTED_FINDINGS[name]


def test_the_careful_client_passes_in_varied_worlds(
    main_of: Callable[[str], Main], hosting_emulator: HostingEmulator
):
    assert fails_varied(main_of("careful"), hosting_emulator, range(100, 115)) == []


@pytest.mark.torture
def test_the_careful_client_passes_two_hundred_seeds(
    main_of: Callable[[str], Main], hosting_emulator: HostingEmulator
):
    assert fails_varied(main_of("careful"), hosting_emulator, range(200)) == []


@pytest.mark.torture
def test_the_careful_client_survives_every_fault_that_can_be_judged():
    code, report = explored("careful")

    unclear = [point["trial"] for point in report["points"] if point["verdict"] == "unclear"]
    # It exits with 0 after it printed that the value of the key is lost: explore reads no words.
    assert {name.partition("/")[0] for name in unclear} == {"create_user_api_key#1"}
    assert (code, accused_of(report)) == (2, set())
    assert len(report["points"]) > 150
