"""The conditions on the world under which a fault or an outcome acts.

The `conditions` module evaluates these conditions.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from hosting_emulator.world.record_base import DataMode, Plan, WorldRecord

DnsStatus = Literal["not_authorized", "pending", "authorized", "expired", "revoked"]
DatabaseStatus = Literal["init", "ready", "suspended", "resizing", "failed", "absent"]
_Count = Annotated[int, Meta(ge=1)] | None
_DnsStatuses = DnsStatus | tuple[DnsStatus, ...] | None
_DatabaseStates = DatabaseStatus | tuple[DatabaseStatus, ...] | None


def _described(description: str, **bounds: Any) -> Meta:
    return Meta(description=description, **bounds)


class Condition(WorldRecord, frozen=True, gc=False, rename={"not_": "not"}):
    """Conditions on a request's project and organization. All of them must hold.

    A condition on a project does not hold for a request that names no project. For such a request,
    a project condition under `not` therefore holds.
    """

    dns: Annotated[_DnsStatuses, _described("the status of the project's DNS authorization")] = None
    zone: Annotated[bool | None, _described("whether a DNS zone is bound to the project")] = None
    plan: Annotated[Plan | None, _described("the organization's plan")] = None
    credits_below: Annotated[_Count, _described("the organization has fewer credits than this")] = (
        None
    )
    claim: Annotated[
        Literal["free", "held"] | None,
        _described("whether an operation holds the project's mutation claim"),
    ] = None
    flag: Annotated[bool | None, _described("whether the project's powered-by flag is on")] = None
    domain: Annotated[bool | None, _described("whether the project has its own domain")] = None
    deployed: Annotated[bool | None, _described("whether a deployment of the project is ready")] = (
        None
    )
    database: Annotated[
        _DatabaseStates, _described("the state of the project's production database")
    ] = None
    database_change: Annotated[
        bool | None, _described("whether a change to the production database is in progress")
    ] = None
    provider: Annotated[
        Literal["working", "failing"] | None,
        _described("whether the provider of one of the project's databases is failing"),
    ] = None
    data_mode: Annotated[
        DataMode | None, _described("whether the two environments share a database")
    ] = None
    not_: Annotated[Condition | None, _described("conditions that must all be false")] = None
