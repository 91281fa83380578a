"""The page at the control URL: the dashboard's document, and what stands in it when no script runs.

The dashboard's modules ask the control API, as every client does. What people see whose browser runs
no script says where things are, a first request and what worlds there are, from the control API's
summaries: nothing here reads a world itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hosting_emulator.contract.words import command_line
from hosting_emulator.server.pages.layout import (
    ASSUMPTIONS_PATH,
    DOCS_PATH,
    ERRORS_PATH,
    OPENAPI_PATH,
    STATIC_PATH,
    Html,
    cards,
    fill,
    html,
    static_files,
)

Summary = Mapping[str, Any]
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
"""No script or style but our files', no other host, nobody's frame."""
_STYLES: Final = "dashboard/style/"
#: These come first, in this order: what follows, such as a panel's own, is written on top of them.
_FIRST: Final = [f"{_STYLES}{name}.css" for name in ("base", "parts", "frame")]
_LINKS: Final = (
    (DOCS_PATH, "Documentation", "Everything the emulator says about itself."),
    (
        ERRORS_PATH,
        "Problem catalogue",
        "Each code: what it means, when it is returned, what to do.",
    ),
    (OPENAPI_PATH, "OpenAPI document", "For generators and checkers, with assumptions marked."),
    (ASSUMPTIONS_PATH, "Assumptions", "Where the contract is silent, and the alternatives."),
)
_NAME: Final = "<b>$alias</b>"
_ID: Final = "<code>$id</code>"


def dashboard_page(fallback: Html) -> str:
    """Return the whole document; `fallback` stands in `<main>` when no script runs."""
    names = sorted(name for name in static_files() if name.startswith(_STYLES))
    styles = "\n".join(
        f'<link rel="stylesheet" href="{STATIC_PATH}/{name}">'
        for name in (*_FIRST, *(name for name in names if name not in _FIRST))
    )
    return fill("dashboard", styles=Html(styles), fallback=fallback)


def start_body(base_url: str, state: str, worlds: Sequence[Summary]) -> Html:
    """Return the content of the page's `<main>`.

    Args:
        base_url: Where its reader reached the server.
        state: Where state is kept, in words.
        worlds: Summaries as the control API gives them; the first is the default world.
    """
    world = worlds[0]
    aliases = {row["id"]: row["alias"] for row in world["organizations"]}
    projects = [
        {**row, "organization": aliases.get(row["organization_id"], row["organization_id"])}
        for row in world["projects"]
    ]
    heads = {"Alias": _NAME, "Id": _ID}
    return fill(
        "start",
        base_url=base_url,
        issuer=world["issuer"],
        state=state,
        first_request=_first_request(base_url, world),
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
            map(_world_row, worlds),
        ),
        world=world["name"],
        projects=_table({**heads, "Organization": "$organization"}, projects),
        organizations=_table({**heads, "Name and plan": "$name, $plan"}, world["organizations"]),
        people=_table({**heads, "Name": "$name"}, world["people"]),
        cards=cards(_LINKS),
    )


def _first_request(base_url: str, world: Summary) -> Html:
    people, projects = world["people"], world["projects"]
    if not people or not projects:
        return Html("")
    project = projects[0]
    return fill(
        "first-request",
        base_url=base_url,
        env=command_line("env", base_url, world["name"]),
        person=_named(people, "owner")["alias"],
        project=project["alias"],
        world=world["name"],
        world_url=world["base_url"],
        project_id=project["id"],
    )


def _named(rows: Sequence[Summary], alias: str) -> Summary:
    return next((row for row in rows if row["alias"] == alias), rows[0])


def _world_row(world: Summary) -> Summary:
    clock, counts = world["clock"], world["counts"]
    mode = clock["mode"] if clock["mode"] != "scaled" else f"scaled, {clock['rate']:g}x"
    return {
        "name": world["name"],
        "base_url": world["base_url"],
        "mode": mode,
        "now": clock["now"],
        **{name: counts[name] for name in ("projects", "deployments", "operations")},
    }


def _table(columns: Mapping[str, str], rows: Iterable[Summary]) -> Html:
    """Return a table of columns: head, and the template of its cells. Narrow screens read cards."""
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in columns.items())
    body = "".join(html(f"<tr>{row}</tr>\n", **values) for values in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")
