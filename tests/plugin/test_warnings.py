"""Warnings about assumptions that contradict the contract, and about variables that nothing reads."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Suite


def test_a_world_outside_the_contract_warns(suite: Suite) -> None:
    suite.write(
        test_it="""
            import pytest

            @pytest.mark.hosting_scenario(assumptions={"idempotency_retention": "24h"})
            def test_marked(hosting_emulator): pass

            def test_set(hosting_emulator):
                hosting_emulator.set_assumptions({"listed_statuses": "open"})

            def test_usual(hosting_emulator):
                hosting_emulator.set_assumptions({"accepted_status": 200})
        """
    )

    result = suite.run("-W", "default::UserWarning")

    result.assert_outcomes(passed=3, warnings=2)
    result.stdout.fnmatch_lines_random(
        [
            "*AssumptionWarning: The assumption idempotency_retention=24h contradicts*",
            "*AssumptionWarning: The assumption listed_statuses=open contradicts*",
        ]
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_a_variable_that_nothing_reads_is_reported_once(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_PROT", "4711")
    suite.write(
        test_it="""
            from hosting_emulator.sdk import HostingEmulator

            def test_fixture(hosting_emulator):
                url = hosting_emulator.control.control_url
                HostingEmulator.fresh(url).close()

            def test_other(hosting_emulator): pass
        """
    )

    result = suite.run(*(suite.workers(workers) if workers else ()))

    result.assert_outcomes(passed=2)
    warning = "Warning: nothing reads the variable HOSTING_EMULATOR_PROT; did you mean HOSTING_EMULATOR_PORT?"
    assert [line for line in [*result.outlines, *result.errlines] if "PROT" in line] == [warning]
