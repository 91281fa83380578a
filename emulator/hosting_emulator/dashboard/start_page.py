"""The start page: the dashboard, and what it shows when no script runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from aiohttp import web
from msgspec.structs import asdict

from hosting_emulator.contract.shell import command_line
from hosting_emulator.control.worlds import list_worlds
from hosting_emulator.dashboard.static_files import static_files
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.pages import (
    STATIC_PATH,
    Html,
    Templates,
    html,
)
from hosting_emulator.messages import (
    JsonObject,
    WorldSummary,
)
from hosting_emulator.world.naming import DEFAULT_WORLD

_TEMPLATES: Final = Templates(__package__)
#: No script or style but our files', no other host, nobody's frame.
_DASHBOARD_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_STYLES: Final = "dashboard/style/"
#: These come first, in this order: what follows, such as a panel's own, is written on top of them.
_FIRST: Final = [f"{_STYLES}{name}.css" for name in ("base", "parts", "frame")]


def start(context: Context) -> web.Response:
    """Show the dashboard."""
    facts = context.facts
    state = "in memory only: gone when this process ends"
    if facts.data_dir is not None:
        state = f"{facts.data_dir} (durability: {facts.durability})"
    summaries = sorted(list_worlds(context), key=lambda summary: summary.name != DEFAULT_WORLD)
    names = sorted(name for name in static_files() if name.startswith(_STYLES))
    styles = "\n".join(
        f'<link rel="stylesheet" href="{STATIC_PATH}/{name}">'
        for name in (*_FIRST, *(name for name in names if name not in _FIRST))
    )
    fallback = start_body(context.base_url, state, summaries)
    text = _TEMPLATES.fill("dashboard", styles=Html(styles), fallback=fallback)
    return responses.html(text, _DASHBOARD_POLICY)


def start_body(base_url: str, state: str, worlds: Sequence[WorldSummary]) -> Html:
    """Return what stands in `<main>` when no script runs: where things are, and the worlds."""
    world = worlds[0]
    users = world.users
    projects = world.projects
    first_request = Html("")
    if users and projects:
        names = [user.alias for user in users]
        first_request = _TEMPLATES.fill(
            "first-request",
            base_url=base_url,
            env=command_line("env", base_url, world.name),
            user="owner" if "owner" in names else users[0].alias,
            project=projects[0].alias,
            world=world.name,
            world_url=world.base_url,
            project_id=projects[0].id,
        )
    aliases = {row.id: row.alias for row in world.organizations}
    rows = []
    for row in worlds:
        clock = row.clock
        mode = clock.mode if clock.mode != "scaled" else f"scaled, {clock.rate:g}x"
        rows.append({**asdict(row), **row.counts, "mode": mode, "now": clock.now})
    heads = {"Alias": "<b>$alias</b>", "Id": "<code>$id</code>"}
    return _TEMPLATES.fill(
        "start",
        base_url=base_url,
        issuer=world.issuer,
        state=state,
        first_request=first_request,
        worlds=_table(
            {
                "World": "<b>$name</b><br><code>$base_url</code>",
                "Clock": '<span class="mark retry">$mode</span> <time>$now</time>',
                "Holds": "$projects projects, $deployments deployments, $operations operations",
                "Look at": " ".join(
                    f'<a href="/_emulator/worlds/$name/{look}">{look}</a>'
                    for look in ("requests", "assumptions", "state")
                ),
            },
            rows,
        ),
        world=world.name,
        projects=_table(
            {**heads, "Organization": "$organization"},
            (
                {
                    **asdict(row),
                    "organization": aliases.get(row.organization_id, row.organization_id),
                }
                for row in projects
            ),
        ),
        organizations=_table(
            {**heads, "Name and plan": "$name, $plan"}, map(asdict, world.organizations)
        ),
        users=_table({**heads, "Name": "$name"}, map(asdict, users)),
    )


def _table(columns: Mapping[str, str], rows: Iterable[JsonObject]) -> Html:
    """Return a table of columns: head, and the template of its cells. Narrow screens read cards."""
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in columns.items())
    body = "".join(html(f"<tr>{row}</tr>\n", **values) for values in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")
