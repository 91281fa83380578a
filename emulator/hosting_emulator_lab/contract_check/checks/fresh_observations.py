"""Reads database compute twice: each response must be a fresh observation."""

from __future__ import annotations

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse, http_date
from hosting_emulator_lab.contract_check.run import CheckRun

_COMPUTE = next(spec.call_id for spec in CALLS.values() if spec.response == "DatabaseCompute")
_KEY = "compute.observed_at"
#: A wait in seconds after which a Date header certainly shows a different time.
_NEXT_DATE_S = 2.1


@declare_check()
def read_fresh_observations(run: CheckRun) -> None:
    """Read database compute twice, some time apart, and compare the times of observation."""
    if _COMPUTE not in run.callable_ids():
        return
    first = run.call(_COMPUTE, "to compare its observed_at")
    if not first.ok or moment(first["observed_at"]) is None:
        return
    if not run.wait(_NEXT_DATE_S):
        run.evidence.cannot_decide(_KEY, "a second observation needs more --patience")
        return
    second = run.call(_COMPUTE, "again, later")
    if not second.ok or moment(second["observed_at"]) is None:
        return
    if first["observed_at"] != second["observed_at"]:
        run.evidence.holds(_KEY, second)
    elif run.times.has_advanced_beyond(moment(second["observed_at"])):
        run.evidence.differs(_KEY, second, "observed_at is the same as in an earlier response")
    elif _date_moved(first, second):
        reason = "observed_at did not advance, although the Date header did"
        run.evidence.cannot_decide(_KEY, f"{second}: {reason}")
    else:
        reason = "the server's clock did not advance in between"
        run.evidence.cannot_decide(_KEY, f"{second}: {reason}")


def _date_moved(first: ServerResponse, second: ServerResponse) -> bool:
    """Return whether the Date headers of two responses are at least a second apart."""
    first_ms = http_date(first.header("Date") or "")
    second_ms = http_date(second.header("Date") or "")
    return first_ms is not None and second_ms is not None and second_ms - first_ms >= 1_000
