"""The organizations, users and projects of the default world.

`docs/service.md` describes the default world to users. Between them, its projects have DNS
authorizations in every status and databases in most states.
"""

from __future__ import annotations

from hosting_emulator.world.naming import ALIASED_TABLES
from hosting_emulator.world.population_parts import (
    DatabasePart,
    OrganizationPart,
    ProjectPart,
    UserPart,
    WorldPart,
)

#: The sections of a world's description whose items have aliases.
SECTIONS = tuple(table.name for table in ALIASED_TABLES.values())

DEFAULT_POPULATION = WorldPart(
    organizations=[
        OrganizationPart("acme", "Acme Studio", "paid", 5_000),
        OrganizationPart("hobby", "Hobby Garden", "free", 50),
    ],
    users=[
        UserPart("owner", "Olive Marsh", {"acme": "owner"}, email="olive@acme.example"),
        UserPart(
            "member",
            "Max Berger",
            {"acme": "member"},
            {"shop": "maintainer", "blog": "maintainer"},
            email="max@acme.example",
        ),
        UserPart(
            "reader",
            "Rita Lang",
            {"acme": "member"},
            {"shop": "reader", "blog": "reader", "docs": "reader"},
            email="rita@acme.example",
        ),
        UserPart("outsider", "Oscar Green", {"hobby": "owner"}, email="oscar@garden.example"),
        UserPart("no-organization", "Nora Quist", email="nora@people.example"),
    ],
    projects=[
        ProjectPart(
            "shop",
            "acme",
            deployments=45,
            flag=True,
            domain="shop.acme.example",
            dns="authorized",
        ),
        ProjectPart(
            "blog",
            "acme",
            deployments=12,
            dns="pending",
            database=DatabasePart("shared", "suspended", "suspended"),
        ),
        ProjectPart(
            "docs",
            "acme",
            deployments=21,
            dns="expired",
            database=DatabasePart("separate", "init", "absent"),
        ),
        ProjectPart("labs", "acme", database=DatabasePart("separate", "absent", "absent")),
        ProjectPart(
            "garden",
            "hobby",
            deployments=7,
            flag=True,
            domain="garden.example",
            dns="revoked",
            database=DatabasePart("separate", "ready", "resizing"),
        ),
        ProjectPart(
            "notes", "hobby", deployments=3, database=DatabasePart("shared", "ready", "ready")
        ),
    ],
)


def with_extended_world(part: WorldPart) -> WorldPart:
    """Merge a description with the default world if the description has `extends`.

    Return a description without `extends` unchanged.

    An item in the description replaces the default world's item with the same alias.
    """
    if part.extends is None:
        return part
    combined = WorldPart(keys=part.keys)
    for section in SECTIONS:
        by_alias = {}
        for item in [*getattr(DEFAULT_POPULATION, section), *getattr(part, section)]:
            by_alias[item.alias] = item
        setattr(combined, section, list(by_alias.values()))
    return combined
