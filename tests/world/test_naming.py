"""Finding by alias or id, and what is said where nothing is found."""

import pytest

from hosting_emulator.world.naming import id_of, kind_of, not_found
from hosting_emulator.world.tables import ORGANIZATIONS, PEOPLE, PROJECTS
from tests.support.in_process import fresh_world


@pytest.fixture
def world():
    return fresh_world()


@pytest.mark.parametrize(
    ("table", "alias"), [(ORGANIZATIONS, "acme"), (PEOPLE, "owner"), (PROJECTS, "shop")]
)
def test_an_alias_and_an_id_mean_the_same(world, table, alias):
    found = id_of(world, table, alias)

    assert world.get(table, found).alias == alias
    assert id_of(world, table, found) == found


def test_an_alias_means_one_of_its_own_kind_only(world):
    assert world.get(PROJECTS, id_of(world, PROJECTS, "owner")) is None


@pytest.mark.parametrize(
    ("table", "name", "said"),
    [
        (PEOPLE, "ownr", "no user is 'ownr' (by alias or id); did you mean owner?"),
        (ORGANIZATIONS, "zzz", "no organization is 'zzz' (by alias or id); there are acme, hobby"),
        (PROJECTS, "z" * 81, f"no project is {'z' * 80!r} (by alias or id); there are blog, "),
    ],
)
def test_what_is_said_of_a_name_that_nothing_has(world, table, name, said):
    assert not_found(world, table, name).startswith(said)
    assert kind_of(table) in said
