"""What a seed assumes where an answer of the contract is fixed for a world as a whole.

Only assumptions that nobody has chosen by hand are drawn, and always to another value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hosting_emulator.contract.assumptions import DEFAULTS, PERMISSIONS, Assumptions
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.variation.drawing import drawn
from hosting_emulator.variation.points import ASSUMED, Point
from hosting_emulator.world.records import Variation

_PROFILES = ("timed 3s 12s", "timed 5s 20s", "timed 1s 25s", "timed 12s 9s")
_PERMISSIONS = (
    "read:projects write:projects write:domains read:deploys read:db read:dns dev".split(),
    [f"hosting/{name.replace('.', ':')}/v2" for name in PERMISSIONS],
    [name.replace(".", "_").upper() for name in PERMISSIONS],
)
#: Other statuses by code.
STATUSES: dict[str, tuple[int, ...]] = {
    "organization_required": (400,),
    "powered_by_flag_required": (403,),
    "etag_mismatch": (412,),
    "interactive_login_required": (401,),
    "api_key_permissions_unavailable": (403, 409),
    "api_key_creation_uncertain": (500, 504),
    "compute_performance_unavailable": (502, 504),
    "insufficient_organization_credits": (403, 409),
    "paid_plan_required": (403,),
    "project_budget_exceeded": (403, 409),
    "compute_performance_paid_required": (403,),
    "database_write_pending": (423, 503),
    "compute_change_pending": (423, 503),
    "confirmation_expired": (410, 412),
    "confirmation_invalid": (409, 422),
    "deployment_plan_expired": (410, 412),
    "promotion_invalid_target": (422,),
    "project_handle_invalid": (422,),
    "project_handle_taken": (422,),
    "migration_filename_noncanonical": (422,),
    "mail_domain_conflict": (422,),
    "project_export_not_ready": (404, 425),
}


def draw_assumptions(
    variation: Variation, assumptions: Assumptions, kept: Collection[str]
) -> dict[str, Any]:
    """Return the assumptions that a variation draws, by name; those in `kept` are left alone.

    So are those that differ from their defaults: somebody has chosen them.
    """
    found: dict[str, Any] = {}
    for point in ASSUMED:
        if variation.only is not None and point.id not in variation.only:
            continue
        if drawn(variation.seed, point.id, "whether") % 3 == 0:
            continue
        for name in point.assumptions:
            if name not in kept and getattr(assumptions, name) == getattr(DEFAULTS, name):
                found[name] = _drawn(variation.seed, point.id, name)
    return found


def _drawn(seed: str, point: str, name: str) -> Any:
    if name == "problem_statuses":
        return _statuses(seed, point)
    choices = _OTHERS[name]
    return choices[drawn(seed, point, "which", name) % len(choices)]


def _statuses(seed: str, point: str) -> dict[str, int]:
    found = {}
    for code, statuses in STATUSES.items():
        which = drawn(seed, point, "which", code)
        if which % 3:
            found[code] = statuses[which // 3 % len(statuses)]
    return found


_OTHERS: dict[str, tuple[Any, ...]] = {
    "accepted_status": (200, 201),
    "key_created_status": (200,),
    "key_replayed_status": (201,),
    "ticket_created_status": (200,),
    "deployment_order": ("oldest_first",),
    "key_permissions": _PERMISSIONS,
    "source_creates_deployment": (False,),
    "source_profile": _PROFILES,
    "domains_profile": _PROFILES,
    "operation_replay": ("current",),
    "flag_reenabled": ("renewed",),
    "unknown_body_fields": ("refused",),
    "unexpected_body": ("refused",),
    "unknown_query_parameters": ("refused",),
    "malformed_project_id": ("invalid_request",),
}
#: Points whose assumption shows only where it decided the answer, which the core has noted.
_NOTED = {
    *("flag_reenabled", "unknown_body_fields", "unexpected_body", "unknown_query_parameters"),
    "malformed_project_id",
}


def listed_statuses(
    call: str | None, variation: Variation, statuses: Mapping[str, int]
) -> dict[str, int]:
    """Return the statuses of problems that an answer to a call may have.

    None that was drawn takes a call that lists its statuses to another one. One that somebody chose
    since stays chosen.
    """
    spec = ALL_CALLS.get(call or "")
    if spec is None or not spec.listed_statuses:
        return dict(statuses)
    drawn = variation.assumed.get("problem_statuses", {})
    return {
        code: status
        for code, status in statuses.items()
        if status in spec.listed_statuses or drawn.get(code) != status
    }


class Answered(NamedTuple):
    """What is known of an answer, beside its body. `call` None: no call has the path.

    `assumption` is one that the core has noted to have decided it.
    """

    call: str | None
    status: int
    code: str | None
    replayed: bool
    assumption: str | None = None


def assumed_points(variation: Variation, assumptions: Assumptions, answered: Answered) -> list[str]:
    """Return the points at which an answer differs for what the variation has assumed.

    What was assumed otherwise since, by hand, does not count.
    """
    return [
        point.id
        for point in ASSUMED
        if not point.calls or answered.call in point.calls
        for name in _still_assumed(point, variation, assumptions)[:1]
        if (
            answered.assumption == name
            if name in _NOTED
            else _shows(point.id, getattr(assumptions, name), answered)
        )
    ]


def _still_assumed(point: Point, variation: Variation, assumptions: Assumptions) -> list[str]:
    return [
        name
        for name in point.assumptions
        if name in variation.assumed and getattr(assumptions, name) != getattr(DEFAULTS, name)
    ]


def _shows(point: str, assumed: Any, answered: Answered) -> bool:
    if point == "problem-status":
        code = answered.code
        return code is not None and answered.status == assumed.get(code) != PROBLEMS[code].status
    if not 200 <= answered.status < 300:
        return False
    if point.endswith("-status"):  # an answer that was remembered has the status of then
        again = answered.call == "create_user_api_key" and answered.replayed
        return answered.status == assumed and again == (point == "key-replayed-status")
    return answered.replayed or point != "operation-replay"
