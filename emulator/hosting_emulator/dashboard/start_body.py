"""The content of the start page for browsers without scripts: an overview, and the worlds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import asdict

from hosting_emulator.contract.shell import command_line
from hosting_emulator.http.pages import Html, Templates, html
from hosting_emulator.messages import JsonObject, WorldSummary

_TEMPLATES: Final = Templates(__package__)
#: The columns that the tables of projects, organizations and users have in common: each heading,
#: with the template for the cells in that column.
_MEMBER_COLUMNS: Final = {"Alias": "<b>$alias</b>", "Id": "<code>$id</code>"}
_WORLD_COLUMNS: Final = {
    "World": "<b>$name</b><br><code>$base_url</code>",
    "Clock": '<span class="mark retry">$mode</span> <time>$now</time>',
    "Holds": "projects: $projects, deployments: $deployments, operations: $operations",
    "Look at": (
        '<a href="/_emulator/worlds/$name/requests">requests</a> '
        '<a href="/_emulator/worlds/$name/assumptions">assumptions</a> '
        '<a href="/_emulator/worlds/$name/state">state</a>'
    ),
}


def start_body(base_url: str, storage: str, worlds: Sequence[WorldSummary]) -> Html:
    """Return the content of `<main>`. Only the first world is described in detail.

    `storage` says where the worlds' state is stored.
    """
    world = worlds[0]
    return _TEMPLATES.fill(
        "start",
        base_url=base_url,
        issuer=world.issuer,
        state=storage,
        first_request=_first_request(base_url, world),
        worlds=_table(_WORLD_COLUMNS, map(_world_row, worlds)),
        world=world.name,
        projects=_projects_table(world),
        organizations=_table(
            {**_MEMBER_COLUMNS, "Name and plan": "$name, $plan"}, map(asdict, world.organizations)
        ),
        users=_table({**_MEMBER_COLUMNS, "Name": "$name"}, map(asdict, world.users)),
    )


def _first_request(base_url: str, world: WorldSummary) -> Html:
    """Return the page's example request, or an empty string if the world has no users or no projects."""
    if not world.users or not world.projects:
        return Html("")
    aliases = [user.alias for user in world.users]
    user = aliases[0]
    if "owner" in aliases:
        user = "owner"
    project = world.projects[0]
    return _TEMPLATES.fill(
        "first-request",
        base_url=base_url,
        env=command_line("env", base_url, world.name),
        user=user,
        project=project.alias,
        world=world.name,
        world_url=world.base_url,
        project_id=project.id,
    )


def _world_row(world: WorldSummary) -> JsonObject:
    mode: str = world.clock.mode
    if mode == "scaled":
        mode = f"scaled, {world.clock.rate:g}x"
    return {**asdict(world), **world.counts, "mode": mode, "now": world.clock.now}


def _projects_table(world: WorldSummary) -> Html:
    aliases = {organization.id: organization.alias for organization in world.organizations}
    rows = []
    for project in world.projects:
        organization = aliases.get(project.organization_id, project.organization_id)
        rows.append({**asdict(project), "organization": organization})
    return _table({**_MEMBER_COLUMNS, "Organization": "$organization"}, rows)


def _table(columns: Mapping[str, str], rows: Iterable[JsonObject]) -> Html:
    """Return an HTML table. `columns` maps each heading to the template for the cells in its
    column.

    On a narrow screen, each row becomes a card, and the headings become labels.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in columns.items())
    body = "".join(html(f"<tr>{row}</tr>\n", **values) for values in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")
