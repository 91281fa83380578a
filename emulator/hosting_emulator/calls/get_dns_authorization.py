"""Call 5: read the DNS authorization of a project, without credentials."""

from __future__ import annotations

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.world import views
from hosting_emulator.world.records import Dns, Project
from hosting_emulator.world.tables import DNS
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Show the authorization as it is now."""
    dns = change.get(DNS, project.id) or Dns()
    found = views.dns_authorization(dns, change.assumptions)
    return Reply(200, views.encode(found, change.assumptions), project.id)
