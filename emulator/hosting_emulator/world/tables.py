"""The tables in a world, with the name that each has on disk and the type of its records."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import (
    ApiKey,
    AuthorizationGrant,
    ClockRecord,
    Database,
    Deployment,
    Dns,
    Grant,
    InteractiveSession,
    Membership,
    Operation,
    Organization,
    Project,
    RateWindow,
    RememberedResponse,
    RetryWait,
    ScheduledEvent,
    Ticket,
    TimelineEntry,
    User,
    Variation,
    WorldSource,
)

R = TypeVar("R")


class Table(Generic[R]):
    """The name of a table and the type of its records. A `World` contains the rows."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: type[R]) -> None:
        self.name = name
        self.kind = kind


ORGANIZATIONS = Table("organizations", Organization)
USERS = Table("users", User)
MEMBERSHIPS = Table("memberships", Membership)
PROJECTS = Table("projects", Project)
GRANTS = Table("grants", Grant)
DNS = Table("dns_authorizations", Dns)
DATABASES = Table("databases", Database)
OPERATIONS = Table("operations", Operation)
DEPLOYMENTS = Table("deployments", Deployment)
TICKETS = Table("dev_access_tickets", Ticket)
API_KEYS = Table("user_api_keys", ApiKey)
SESSIONS = Table("interactive_sessions", InteractiveSession)
AUTHORIZATION_GRANTS = Table("authorization_grants", AuthorizationGrant)
RATE_WINDOWS = Table("rate_windows", RateWindow)
RETRY_WAITS = Table("retry_waits", RetryWait)
REMEMBERED = Table("remembered_responses", RememberedResponse)
SCHEDULE = Table("schedule", ScheduledEvent)
#: One row per random stream, containing the number of draws from it.
STREAMS: Table[int] = Table("streams", int)
CLOCK = Table("clock", ClockRecord)
ASSUMPTIONS = Table("assumptions", Assumptions)
ORIGIN = Table("origin", WorldSource)
FAULTS = Table("faults", Fault)
OUTCOMES = Table("outcomes", Fault)
TIMELINE = Table("timeline", TimelineEntry)
VARIATION = Table("variation", Variation)

#: All tables by name, in the order above. Stored files use the same order.
TABLES: dict[str, Table[Any]] = {
    table.name: table for table in list(globals().values()) if isinstance(table, Table)
}
#: The key of the only row in CLOCK, ASSUMPTIONS, ORIGIN and VARIATION.
SINGLETON_KEY = "world"
