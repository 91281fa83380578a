"""The contents of a world can be described, and the description makes an equal world."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

from hosting_emulator.world import tables as t
from hosting_emulator.world.population import new_world
from hosting_emulator.world.population_export import describe_world
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.value import World
from hosting_emulator_scenarios import FOLDER
from tests.support.in_process import fresh_world
from tests.support.sampling import rotating
from tests.support.stories import scenario_world, world_of_scenario

#: Tables that are not part of the population of a world.
BESIDE = {t.CLOCK, t.ORIGIN, t.ASSUMPTIONS, t.FAULTS, t.OUTCOMES, t.TIMELINE, t.VARIATION}
BESIDE |= {t.SCHEDULE, t.STREAMS}


def assert_described(world: World) -> None:
    origin = WorldSource("frozen", None, world.at_ms, world.assumptions)
    like = new_world(world.name, world.seed, origin, 0, describe_world(world))
    for table in t.TABLES.values():
        if table not in BESIDE:
            assert like.tables[table.name] == world.tables[table.name], table.name


def test_the_default_world_can_be_rebuilt_from_its_description():
    assert_described(fresh_world())


@pytest.mark.parametrize("path", rotating(sorted(FOLDER.glob("*.yaml")), 10), ids=lambda p: p.stem)
def test_the_world_of_a_scenario_can_be_rebuilt_from_its_description(path):
    assert_described(world_of_scenario(path.read_text("utf-8")))


def test_chosen_ids_emails_and_handles_are_part_of_the_description():
    world = scenario_world(
        """
        world:
          organizations: [{alias: studio, id: 01JGFJJZ004YERYEJ3KQ9FQ4NA}]
          users:
            - alias: ada
              id: 01JGFJJZ004YERYEJ3KQ9FQ4NB
              email: ada@studio.example
              organizations: {studio: owner}
          projects:
            - {alias: site, organization: studio, id: 01JGFJJZ004YERYEJ3KQ9FQ4NC, handle: my-site}
        """
    )

    assert_described(world)


def test_the_deployments_of_a_number_began_on_working_days_with_two_on_each():
    world = scenario_world(
        """
        world:
          organizations: [{alias: acme}]
          projects: [{alias: site, organization: acme, deployments: 41}]
        """
    )

    days = Counter(
        datetime.fromisoformat(deployment.created_at).date()
        for _, deployment in world.rows(t.DEPLOYMENTS)
    )
    assert {day.weekday() for day in days} == {0, 1, 2, 3, 4}
    assert [days[day] for day in sorted(days)[1:-1]] == [2] * (len(days) - 2)


def test_a_description_omits_ids_that_follow_from_the_aliases():
    description = describe_world(fresh_world())

    assert {record.id for record in description.organizations} == {None}
    assert {record.id for record in description.users} == {None}
    assert {record.id for record in description.projects} == {None}


def test_a_world_that_extends_the_default_world_has_its_own_keys_as_well():
    world = scenario_world(
        """
        world:
          extends: default
          keys: [{name: deploy, user: owner, value: phk_AKeyOfATestWhichIsNoSecretOfAnybody00000000}]
        """
    )

    assert [key.name for _, key in world.rows(t.API_KEYS)] == ["deploy"]
