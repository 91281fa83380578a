"""The tables of a world: their names on disk and the kind of record each holds."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.world import records as r

R = TypeVar("R")


class Table(Generic[R]):
    """The name of a table and the type of its records. Holds no rows."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: type[R]) -> None:
        self.name = name
        self.kind = kind


ORGANIZATIONS = Table("organizations", r.Organization)
USERS = Table("users", r.User)
MEMBERSHIPS = Table("memberships", r.Membership)
PROJECTS = Table("projects", r.Project)
GRANTS = Table("grants", r.Grant)
DNS = Table("dns_authorizations", r.Dns)
DATABASES = Table("databases", r.Database)
OPERATIONS = Table("operations", r.Operation)
DEPLOYMENTS = Table("deployments", r.Deployment)
TICKETS = Table("dev_access_tickets", r.Ticket)
API_KEYS = Table("user_api_keys", r.ApiKey)
SESSIONS = Table("interactive_sessions", r.InteractiveSession)
AUTHORIZATION_GRANTS = Table("authorization_grants", r.AuthorizationGrant)
RATE_WINDOWS = Table("rate_windows", r.RateWindow)
RETRY_WAITS = Table("retry_waits", r.RetryWait)
REMEMBERED = Table("remembered_answers", r.RememberedAnswer)
SCHEDULE = Table("schedule", r.ScheduledEvent)
#: One row a random stream: how many draws it has given.
STREAMS: Table[int] = Table("streams", int)
#: One row each, under ONLY.
CLOCK = Table("clock", r.ClockRecord)
ASSUMPTIONS = Table("assumptions", Assumptions)
ORIGIN = Table("origin", r.Origin)
FAULTS = Table("faults", r.Fault)
OUTCOMES = Table("outcomes", r.Fault)
TIMELINE = Table("timeline", r.TimelineEntry)
VARIATION = Table("variation", r.Variation)

#: All of them by name, in the order above, which is that of stored files.
TABLES: dict[str, Table[Any]] = {
    found.name: found for found in list(globals().values()) if isinstance(found, Table)
}
#: The key of the single row in CLOCK, ASSUMPTIONS, ORIGIN and VARIATION.
ONLY = "world"
