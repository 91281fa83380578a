"""Six small clients, one careful and five with one mistake each, do their job without faults."""

from __future__ import annotations

import pytest

from tests.examples.programs import run
from tests.support.warm import programs

FAULTY_CLIENTS = (
    "no_retry_key",
    "new_key_on_retry",
    "ignores_retry_after",
    "polls_too_fast",
    "breaks_on_unknown_status",
)


@pytest.mark.parametrize(
    ("name", "clock"),
    [("careful", "frozen"), *((name, "skip") for name in ("careful", *FAULTY_CLIENTS))],
)
def test_every_example_client_does_its_job_without_faults(name: str, clock: str):
    # Waiting advances the clock of the world, and no client may print a warning.
    command = ("env", "HOSTING_WAIT=clock", str(programs() / "python"), "-W", "error")
    process = run("clients", "--clock", clock, "--", *command, f"{name}.py")

    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.endswith("46 deployments\nDone.\n")
