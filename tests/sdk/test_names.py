"""A refused name comes with the nearest existing name, and editors offer the existing names."""

import re
from typing import get_args

import pytest

from hosting_emulator.contract.calls import ALL_CALLS, CallName
from hosting_emulator.sdk import Aliases, NoSuchName, WorldMember, known_call

SHOP_AND_BLOG = [WorldMember(alias="shop", id="01A"), WorldMember(alias="blog", id="01B")]


def test_an_alias_gives_its_id():
    projects = Aliases("project", SHOP_AND_BLOG)

    assert projects["shop"] == "01A"
    assert projects == {"shop": "01A", "blog": "01B"}
    assert projects.id_of("blog") == projects.id_of("01B") == "01B"


def test_the_refusal_of_a_misspelled_alias_names_the_nearest():
    projects = Aliases("project", SHOP_AND_BLOG)

    with pytest.raises(NoSuchName) as caught:
        projects["shpo"]

    assert re.search(r"'shpo'.* shop\? .* blog, shop$", str(caught.value))
    assert isinstance(caught.value, KeyError)


def test_the_refusal_of_an_unknown_alias_names_all():
    with pytest.raises(NoSuchName) as caught:
        Aliases("user", [WorldMember(alias="owner", id="01A")])["zz"]

    assert re.search(r"there is no user 'zz'; the users are owner$", str(caught.value))


def test_an_id_without_an_alias_is_its_own_name():
    users = Aliases("user", [WorldMember(alias="owner", id="01A")])

    assert [users.alias_of(id_) for id_ in ("01A", "01B", None)] == ["owner", "01B", None]


def test_the_refusal_of_an_alias_says_that_there_are_none():
    with pytest.raises(NoSuchName, match="there is no project 'shop'; the world has no project"):
        Aliases("project", [])["shop"]


def test_the_refusal_of_a_misspelled_call_names_the_nearest():
    with pytest.raises(
        ValueError,
        match=r"'initialise-managed-source'.* initialize_managed_source\? .* apply_project_domains, ",
    ):
        known_call("initialise-managed-source")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("BLOG_1", "; did you mean blog_1?"),
        ("blog-1", "; did you mean blog_1?"),
        ("SHOP-EU", "; did you mean shop-eu?"),
        ("zz", ";"),
    ],
)
def test_the_nearest_name_may_differ_in_case_and_in_its_hyphens(name: str, hint: str):
    members = [WorldMember(alias=alias, id=alias) for alias in ("shop-eu", "blog_1")]

    with pytest.raises(NoSuchName) as caught:
        Aliases("project", members)[name]

    assert str(caught.value) == (
        f"there is no project {name!r}{hint} the projects are blog_1, shop-eu"
    )


def test_no_call_is_known_without_a_name():
    assert known_call(None) is None


def test_the_type_of_call_names_lists_all_calls():
    assert list(get_args(CallName)) == list(ALL_CALLS)
