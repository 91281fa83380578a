"""Assumptions that contradict the contract show in pytest's summary of warnings."""

from __future__ import annotations

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
