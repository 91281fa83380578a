"""Conditions on the world, under which a fault or an outcome acts. `conditions` evaluates them."""

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

    A request that names no project does not meet any condition on a project.
    """

    dns: Annotated[_DnsStatuses, _described("the status of its DNS authorization")] = None
    zone: Annotated[bool | None, _described("a DNS zone is bound")] = None
    plan: Annotated[Plan | None, _described("its organization's plan")] = None
    credits_below: Annotated[_Count, _described("its organization has fewer credits")] = None
    claim: Annotated[
        Literal["free", "held"] | None, _described("whether an operation holds its mutation claim")
    ] = None
    flag: Annotated[bool | None, _described("the powered-by flag is on")] = None
    domain: Annotated[bool | None, _described("it has its own domain")] = None
    deployed: Annotated[bool | None, _described("one of its deployments is ready")] = None
    database: Annotated[_DatabaseStates, _described("the state of its production database")] = None
    database_change: Annotated[
        bool | None, _described("a change of that database is in progress")
    ] = None
    provider: Annotated[
        Literal["working", "failing"] | None,
        _described("whether the provider of one of its databases fails"),
    ] = None
    data_mode: Annotated[
        DataMode | None, _described("whether both environments share a database")
    ] = None
    not_: Annotated[Condition | None, _described("conditions of which none must hold")] = None
