"""What an organization's credits and plan allow. Nothing spends credits: it has some, or none."""

from __future__ import annotations

from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.records import Project
from hosting_emulator.world.tables import ORGANIZATIONS
from hosting_emulator.world.value import Change


def check_credits(change: Change, project: Project) -> None:
    """Refuse to begin an operation for an organization without credits, if that is assumed."""
    organization = change.row(ORGANIZATIONS, project.organization_id)
    if not organization.credits and change.assumptions.zero_credits == "operations_refused":
        raise Refused(
            change.assumptions.code_of("credits_used_up"),
            f"The organization {organization.name} has no credits left.",
            assumption="zero_credits",
        )


def check_domains_plan(change: Change, project: Project) -> None:
    """Refuse to apply a Free workspace's domains, if they need a paid plan."""
    organization = change.row(ORGANIZATIONS, project.organization_id)
    if organization.plan == "free" and change.assumptions.domains_plan == "paid":
        raise Refused(
            change.assumptions.code_of("plan_too_small"),
            f"The organization {organization.name} is on the free plan.",
            assumption="domains_plan",
        )
