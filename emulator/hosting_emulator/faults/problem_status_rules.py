"""Refuses an `abort` fault for a single call if that call never returns the status that the fault
sets.
"""

from __future__ import annotations

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import calls_at, problem_status
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.kinds.abort import Abort
from hosting_emulator.faults.possible_rules import possible_calls
from hosting_emulator.world.fault_records import Rule


def check_problem_status(abort: Abort, rule: Rule, assumptions: Assumptions) -> None:
    """Raise DocumentRefused if `rule` matches only one call, and that call cannot return the status
    of `abort`.

    The contract lists the error statuses of set_project_powered_by_flag (contract, section
    Endpoints). A rule that matches several calls is accepted: set_project_powered_by_flag then
    returns a listed status, and the other calls return the status of `abort`.
    """
    if abort.status is None:
        return
    specs = possible_calls(rule, calls_at(assumptions.operation_path))
    if len(specs) != 1:
        return
    spec = specs[0]
    sent_status = problem_status(abort.code, assumptions, spec, abort.status)
    if sent_status == abort.status or abort.status in spec.listed_statuses:
        return
    listed = ", ".join(map(str, spec.listed_statuses))
    message = (
        f"abort status: {spec.call_id} never returns {abort.status}. The contract lists the "
        f"error statuses {listed}. Use a listed status, or leave out `status` to send {sent_status}. To "
        "send a status that the contract forbids, use the respond kind"
    )
    raise DocumentRefused(message, "abort.status")
