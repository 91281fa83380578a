"""Six small clients, one careful and five with a mistake each: all do their job on a good day."""

from __future__ import annotations

import pytest

from tests.examples.programs import run
from tests.support.warm import programs

MISTAKEN = (
    *("no_retry_key", "new_key_on_retry", "ignores_retry_after"),
    *("polls_too_fast", "breaks_on_unknown_status"),
)


@pytest.mark.parametrize(
    ("name", "clock"),
    [("careful", "frozen"), *((name, "skip") for name in ("careful", *MISTAKEN))],
)
def test_every_example_client_does_its_job_without_faults(name: str, clock: str):
    # Time is the world's, and no client may warn.
    command = ("env", "HOSTING_WAIT=clock", str(programs() / "python"), "-W", "error")
    done = run("clients", "--clock", clock, "--", *command, f"{name}.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("46 deployments\nDone.\n")
