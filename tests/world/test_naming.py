"""Records are found by alias or id, and an unknown name is refused with suggestions."""

import pytest

from hosting_emulator.world.naming import default_user, id_of, kind_of, not_found_message
from hosting_emulator.world.tables import ORGANIZATIONS, PROJECTS, USERS
from tests.support.in_process import fresh_world
from tests.support.stories import scenario_world


@pytest.fixture
def world():
    return fresh_world()


@pytest.mark.parametrize(
    ("table", "alias"), [(ORGANIZATIONS, "acme"), (USERS, "owner"), (PROJECTS, "shop")]
)
def test_a_record_is_found_by_alias_and_by_id(world, table, alias):
    record_id = id_of(world, table, alias)

    assert world.get(table, record_id).alias == alias
    assert id_of(world, table, record_id) == record_id


def test_an_alias_of_another_kind_is_not_found(world):
    assert world.get(PROJECTS, id_of(world, PROJECTS, "owner")) is None


@pytest.mark.parametrize(
    ("table", "name", "sentence"),
    [
        (USERS, "ownr", "there is no user with the alias or id 'ownr'; did you mean owner?"),
        (
            ORGANIZATIONS,
            "zzz",
            "there is no organization with the alias or id 'zzz'; the organizations are acme, hobby",
        ),
        (
            PROJECTS,
            "z" * 81,
            f"there is no project with the alias or id {'z' * 80!r}; the projects are blog, ",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_or_all_names(world, table, name, sentence):
    assert not_found_message(world, table, name).startswith(sentence)
    assert kind_of(table) in sentence


def test_the_default_user_is_the_first_owner_if_no_user_is_named_owner():
    world = scenario_world(
        """
        world:
          organizations: [{alias: empty}, {alias: studio}, {alias: zoo}]
          users:
            - {alias: ann, organizations: {empty: member, studio: member}}
            - {alias: ada, organizations: {studio: owner}}
            - {alias: zoe, organizations: {studio: member, zoo: owner}}
        """
    )

    user = default_user(world)

    assert user is not None
    assert user.alias == "ada"


def test_a_world_without_owners_has_no_default_user():
    world = scenario_world(
        """
        world:
          organizations: [{alias: studio}]
          users: [{alias: ann, organizations: {studio: member}}]
        """
    )

    assert default_user(world) is None
