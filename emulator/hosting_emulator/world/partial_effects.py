"""Partial effects, which a failed or cancelled operation leaves behind.

A client can see these effects in the operation's result, in the list of deployments, or in the DNS
authorization. This module also explains why an operation cannot leave a particular effect behind.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.value_texts import list_text
from hosting_emulator.world.dns_authorizations import (
    dns_status,
    find_impossible_dns,
    move_dns_authorization,
)
from hosting_emulator.world.naming import hostnames
from hosting_emulator.world.plans import APPLY_DOMAINS, INITIALIZE
from hosting_emulator.world.records import Ending, Operation, PartialEffects, Project
from hosting_emulator.world.value import Change

#: Why `leaves` accepts no other effects.
NOTHING_ELSE_SHOWN = "the contract's responses show nothing else that an operation leaves behind"


def leave_behind(
    change: Change, operation: Operation, project: Project, effects: PartialEffects
) -> tuple[Project, dict[str, Any] | None]:
    """Apply the effects that an operation leaves behind, except for those on its deployment and on
    the DNS authorization.

    Return the changed project and the operation's result, which is None if there is no result.
    """
    result: dict[str, Any] = {}
    if effects.hosts:
        names = asdict(hostnames(change.world.name, change.assumptions, project))
        result["hostnames"] = {host: names[host] for host in names if host in effects.hosts}
    if effects.source is not None:
        project = replace(project, source_generation=project.source_generation + 1)
        result["source_generation"] = project.source_generation
    return project, result or None


def leave_dns_behind(change: Change, project: Project, ending: Ending) -> Ending:
    """Apply the effect that an operation leaves behind on its project's DNS authorization.

    Return the operation's ending. If the DNS authorization stays unchanged, because the lifecycle
    does not allow the transition or because it is already in that state, the ending says so.
    """
    if ending.leaves is None or ending.leaves.dns is None:
        return ending
    if find_impossible_dns(change, project, ending.leaves.dns) is not None:
        return replace(ending, unchanged_dns=dns_status(change, project))
    move_dns_authorization(change, project, ending.leaves.dns)
    return ending


def find_impossible_change(change: Change, project: Project, effects: PartialEffects) -> str | None:
    """Return why `effects` cannot be left behind in a project's current state, or None if they can.

    A DNS authorization may already be in the state that `effects` contain.
    """
    if effects.dns is None or effects.dns == dns_status(change, project):
        return None
    return find_impossible_dns(change, project, effects.dns)


def find_impossible_effect(kind: str, effects: PartialEffects) -> str | None:
    """Return why an operation of this kind cannot leave `effects` behind, or None if it can."""
    if effects == PartialEffects():
        return "name an effect that the operation leaves behind: hosts, source, deployment or dns"
    if len(set(effects.hosts)) < len(effects.hosts):
        return "`hosts` must list each host only once"
    if effects.hosts and kind != APPLY_DOMAINS:
        return f"{kind} operations do not apply hosts, so a client cannot see hosts"
    if effects.source and kind != INITIALIZE:
        return f"{kind} operations do not initialize a source"
    if effects.deployment and kind != INITIALIZE:
        return f"{kind} operations do not create a deployment"
    return None


def effects_text(effects: PartialEffects, *, are_planned: bool = False) -> str:
    """Describe effects in words, such as `the development host, the DNS authorization revoked`.

    If the effects `are_planned`, the text says on what the DNS authorization's state depends.
    """
    parts = []
    if effects.hosts:
        noun = "host" if len(effects.hosts) == 1 else "hosts"
        parts.append(f"the {' and '.join(effects.hosts)} {noun}")
    if effects.source is not None:
        parts.append("its source initialized")
    if effects.deployment is not None:
        parts.append(f"its deployment {effects.deployment}")
    if effects.dns is not None:
        condition = " (if its lifecycle allows the change)" if are_planned else ""
        parts.append(f"the DNS authorization {effects.dns}{condition}")
    return ", ".join(parts)


def visible_places(effects: PartialEffects) -> str:
    """Return a clause that says where a client sees `effects`."""
    places = []
    if effects.hosts or effects.source:
        places.append("in the operation's result")
    if effects.source:
        places.append("when a request with the old source generation is refused")
    if effects.deployment:
        places.append("in the list of deployments")
    if effects.dns:
        places.append("in the DNS authorization")
    return f"a client sees this {list_text(places)}"
