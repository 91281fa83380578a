"""The intervention that adds organizations, users, projects and API keys to a world."""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator.contract.documents import DocumentRefused, sentence_about
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world.population import populate
from hosting_emulator.world.population_checks import find_mistakes
from hosting_emulator.world.population_export import describe_world
from hosting_emulator.world.population_parts import (
    KeyPart,
    OrganizationPart,
    ProjectPart,
    UserPart,
    WorldPart,
)
from hosting_emulator.world.value import Change


@intervention(users=[{"alias": "zoe", "organizations": {"acme": "member"}}])
def add(
    change: Change,
    organizations: Sequence[OrganizationPart] = (),
    users: Sequence[UserPart] = (),
    projects: Sequence[ProjectPart] = (),
    keys: Sequence[KeyPart] = (),
) -> str:
    """Organizations, users, projects and API keys, in the format of a world file, are added to the
    world.
    """
    part = WorldPart([*organizations], [*users], [*projects], keys=[*keys])
    world = change.applied()
    present = describe_world(world)
    whole = WorldPart(
        organizations=[*present.organizations, *part.organizations],
        users=[*present.users, *part.users],
        projects=[*present.projects, *part.projects],
    )
    for path, message in find_mistakes(part, whole, change.now_ms, change.assumptions.key_prefix):
        field = ".".join(map(str, path))
        raise DocumentRefused(sentence_about(field, message), field)
    for i, key in enumerate(keys):
        if f"api_key:{key.digest}" in world.indexes:
            raise DocumentRefused(
                f"keys.{i}.value: another key in the world has the same value", "keys"
            )
    populate(change, part, whole)
    names = [item.alias for section in (organizations, users, projects) for item in section]
    names += [f"an API key for {key.user}" for key in keys]
    if not names:
        raise DocumentRefused("give at least one of organizations, users, projects and keys")
    return f"added {', '.join(names)}"
