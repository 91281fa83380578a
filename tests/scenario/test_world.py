"""A world of one's own: ids, emails, handles and deployments as chosen, alone or beside the default."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import read_scenario

HEAD = 'name: own\ndescription: Its own.\nclock: {at: "2026-03-02T09:00:00Z"}\n'
ADA = "01HZX3V9Q4M8E2K7T5B6C1D0AF"
SITE = "01HZX3V9Q4M8E2K7T5B6C1D0AG"
COMMIT = "8f4c0f1d2f0e4f5a9b6c7d8e9f0a1b2c3d4e5f60"


def built_tables(world: str) -> dict[str, list[Any]]:
    """Return the records of the world that a file describes, by the name of their table."""
    scenario = read_scenario(f"{HEAD}world:\n{world}", "own.yaml")
    tables = build_world(scenario, "default", 0).tables
    return {name: list(records.values()) for name, records in tables.items()}


#: A user whose organization has one permission, and a user without an organization.
PEOPLE = """
  organizations: [{alias: acme, permissions: [projects.read]}]
  users: [{alias: zoe}, {alias: ann, organizations: {acme: member}}]
"""
KEY = f"sha256:{'0' * 64}"


def aliases(records: list[Any]) -> list[str]:
    """Return the aliases of records in the order of the file."""
    return [record.alias for record in sorted(records, key=lambda record: record.order)]


def test_a_world_has_the_chosen_ids_emails_handles_and_deployments():
    tables = built_tables(f"""
  organizations: [{{alias: acme}}]
  users: [{{alias: ada, id: {ADA}, email: ada@x.example, organizations: {{acme: owner}}}}]
  projects:
    - alias: site
      organization: acme
      id: {SITE}
      handle: my-site
      deployments:
        - {{ago: 10m}}
        - {{at: "2026-03-01T16:20:00Z", status: failed, commit: {COMMIT}}}
""")

    (user,) = tables["users"]
    (project,) = tables["projects"]
    deployments = sorted(tables["deployments"], key=lambda deployment: deployment.id)

    assert (user.id, user.email) == (ADA, "ada@x.example")
    assert (project.id, project.handle) == (SITE, "my-site")
    assert [membership.user_id for membership in tables["memberships"]] == [ADA]
    assert [(deployment.status, deployment.created_at) for deployment in deployments] == [
        ("failed", "2026-03-01T16:20:00.000Z"),
        ("ready", "2026-03-02T08:50:00.000Z"),
    ]
    assert deployments[0].commit_sha == COMMIT != deployments[1].commit_sha


def test_a_scenario_replaces_a_project_of_the_default_world_by_alias():
    tables = built_tables("""
  extends: default
  users: [{alias: zoe, organizations: {acme: member}, projects: {shop: reader}}]
  projects: [{alias: blog, organization: acme}]
""")

    generations = {project.alias: project.source_generation for project in tables["projects"]}

    assert aliases(tables["users"]) == [
        "owner",
        "member",
        "reader",
        "outsider",
        "no-organization",
        "zoe",
    ]
    assert aliases(tables["projects"]) == ["shop", "blog", "docs", "labs", "garden", "notes"]
    assert generations["blog"] == 0


@pytest.mark.parametrize(
    ("world", "says"),
    [
        (
            f"{PEOPLE}  keys: [{{user: zoe, value: '{KEY}'}}]",
            r"zoe is not a member of any organization; the user's organizations: none",
        ),
        (
            f"{PEOPLE}  keys: [{{user: ann, organization: other, value: '{KEY}'}}]",
            r"ann is not a member of other; the user's organizations: acme",
        ),
        (
            f"{PEOPLE}  keys: [{{user: nan, value: '{KEY}'}}]",
            r"there is no user 'nan'; did you mean ann\?$",
        ),
        (
            f"{PEOPLE}  keys: [{{user: ann, value: '{KEY}', permissions: [dns.read]}}]",
            r"there is no permission 'dns\.read'; did you mean projects.read\?",
        ),
        (
            "  projects: [{alias: a, organization: acme}]",
            r"own\.yaml:5:.*there is no organization 'acme'; there are none",
        ),
        (
            "  extends: default\n  users:\n    - {alias: a, email: x@y.example}\n"
            "    - {alias: b, email: x@y.example}",
            r"own\.yaml:8:.*the email 'x@y\.example' is already used above",
        ),
        (
            "  extends: default\n  users:\n    - {alias: nobody}",
            r"own\.yaml:7:15: .*the alias 'nobody' is reserved, because .*: choose another alias$",
        ),
        (
            "  extends: default\n  users:\n    - {alias: a}\n"
            "    - {alias: b, email: a@people.example}",
            r"own\.yaml:8:.*the email 'a@people\.example' is already used above",
        ),
        (
            "  extends: default\n  projects:\n    - alias: a\n      organization: acme\n"
            "      deployments: [{ago: soon}]",
            r"own\.yaml:9:.*soon",
        ),
        (
            "  extends: default\n  projects:\n    - alias: a\n      organization: acme\n"
            '      deployments: [{ago: 1h, at: "2026-03-01T00:00:00Z"}]',
            r"own\.yaml:9:.*give `ago` or `at`, not both",
        ),
        (
            "  extends: default\n  projects:\n    - alias: a\n      organization: acme\n"
            '      deployments: [{at: "2026-03-02T09:00:01Z"}]',
            r"is in the future: the world's time is 2026-03-02T09:00:00\.000Z",
        ),
        *(
            (
                "  extends: default\n  projects:\n    - alias: a\n      organization: acme\n"
                f"      {field}: {value}",
                rf"own\.yaml:9:.*{field} cannot be .*: it must (match '.*\$'|be a string of length >= 4)$",
            )
            for field, value in (
                ("handle", '"a\\n"'),
                ("id", '"01HZX3V9Q4M8E2K7T5B6C1D0AG\\n"'),
                ("domain", '"shop.example\\n"'),
                ("domain", "Shop.example"),
                ("domain", "a.b"),
            )
        ),
    ],
)
def test_an_impossible_world_is_refused_at_its_line(world: str, says: str):
    with pytest.raises(ScenarioError, match=says):
        built_tables(world)


@pytest.mark.parametrize(
    ("added", "says"),
    [
        ("users: [{alias: zoe}, {alias: nobody}]", r"own\.yaml:8:53: .*'nobody' is reserved"),
        ("users: [{alias: zoe}, {alias: owner}]", r"own\.yaml:8:53: .*'owner' is already used"),
        (
            "users: [{alias: zoe}, {alias: Yan}]",
            r"own\.yaml:8:53: .*users\.1\.alias must be 1 to 41 lowercase letters",
        ),
        (
            "projects: [{alias: x, organization: acme, handle: shop}]",
            r"own\.yaml:8:73: .*the handle 'shop' is already used in this world",
        ),
        (
            "projects: [{alias: x, organization: acme, flags: 1}]",
            r"own\.yaml:8:34: .*did you mean flag",
        ),
    ],
)
def test_a_timeline_entry_that_cannot_be_added_is_refused_at_its_column(added: str, says: str):
    with pytest.raises(ScenarioError, match=says):
        built_tables(
            f"  extends: default\ntimeline:\n  - at: 1h\n    intervene: {{add: {{{added}}}}}\n"
        )


def test_a_story_knows_users_that_its_timeline_and_steps_add():
    built_tables("""
  extends: default
timeline:
  - at: 1h
    intervene: {add: {users: [{alias: zoe, organizations: {acme: member}}]}}
story:
  - intervene: {add: {users: [{alias: yan, organizations: {acme: member}}]}}
  - {call: list_deployments, user: yan, expect: {status: 404}}
  - {advance: 2h}
  - {call: list_deployments, user: zoe, expect: {status: 404}}
""")


def test_a_key_belongs_to_the_first_organization_of_its_user():
    tables = built_tables(f"{PEOPLE}  keys: [{{user: ann, name: ci, value: '{KEY}'}}]")

    [key] = tables["user_api_keys"]
    [organization] = tables["organizations"]
    assert key.organization_id == organization.id


@pytest.mark.parametrize(("roles", "owner"), [("", None), (", projects: {site: owner}", "ann")])
def test_a_shown_flag_was_enabled_by_the_owner_if_there_is_one(roles: str, owner: str | None):
    tables = built_tables(
        "  organizations: [{alias: acme}]\n"
        f"  users: [{{alias: zoe}}, {{alias: ann, organizations: {{acme: member}}{roles}}}]\n"
        "  projects: [{alias: site, organization: acme, flag: true}]"
    )

    [project] = tables["projects"]
    ids = {user.alias: user.id for user in tables["users"]}
    assert project.flag_enabled
    assert project.flag_enabled_by == (owner and ids[owner])


def test_two_users_with_the_same_alias_are_one_mistake():
    with pytest.raises(ScenarioError, match="the alias 'ann' is already used above") as refused:
        built_tables("  organizations: [{alias: acme}]\n  users: [{alias: ann}, {alias: ann}]")

    assert list(refused.value.more) == []


def test_the_value_of_a_key_is_stored_nowhere_in_the_world():
    secret = "AKeyOfATestWhichIsNoSecretOfAnybody00000000"
    tables = built_tables(f"{PEOPLE}  keys: [{{user: ann, name: ci, value: phk_{secret}}}]")

    stored = msgspec.json.encode(tables).decode()
    assert stored.count('"name":"ci"') == 1
    assert secret not in stored
