"""The page at the control URL: the dashboard's document, and what stands in it when no script runs.

The dashboard's modules ask the control API, as every client does. What people see whose browser runs
no script says where things are, a first request and what worlds there are, from the control API's
summaries: nothing here reads a world itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from hosting_emulator.server.pages.layout import (
    ASSUMPTIONS_PATH,
    DOCS_PATH,
    ERRORS_PATH,
    OPENAPI_PATH,
    STYLE_PATH,
)
from hosting_emulator.server.pages.static_files import STATIC_PATH

Summary = Mapping[str, Any]
_FILES_PATH: Final = f"{STATIC_PATH}/dashboard"
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
"""No script or style but our files', no other host, nobody's frame."""
_LINKS: Final = (
    (DOCS_PATH, "Documentation", "All that the emulator says about itself."),
    (ERRORS_PATH, "Problem catalogue", "Each code: what it means, when it comes, what to do."),
    (OPENAPI_PATH, "OpenAPI document", "For generators and checkers, with assumptions marked."),
    (ASSUMPTIONS_PATH, "Assumptions", "Where the contract is silent, and what else could be."),
)
#: Below each world's control URL: what to look at, and what the link says.
_LOOK: Final = (("requests", "requests"), ("assumptions", "assumptions"), ("state", "state"))
#: These come first, in this order: what follows, such as a panel's own, is written on top of them.
_FIRST: Final = ("base.css", "parts.css", "frame.css")


def dashboard_page(fallback_html: str) -> str:
    """Return the whole document.

    Args:
        fallback_html: What stands in `<main>` when no script runs, already HTML.
    """
    styles = "\n".join(
        f'<link rel="stylesheet" href="{_FILES_PATH}/style/{name}">' for name in _styles()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hosting-emulator</title>
<link rel="icon" href="{_FILES_PATH}/icon.svg" type="image/svg+xml">
<script src="{_FILES_PATH}/theme.js"></script>
{styles}
<noscript><link rel="stylesheet" href="{STYLE_PATH}"></noscript>
<script type="module" src="{_FILES_PATH}/main.js"></script>
</head>
<body>
<div id="page"></div>
<noscript><main>
{fallback_html}
</main></noscript>
</body>
</html>
"""


@cache
def _styles() -> tuple[str, ...]:
    """Return the style sheets in the order in which they build on each other."""
    folder = files("hosting_emulator.server").joinpath("dashboard", "static", "style")
    names = {entry.name for entry in folder.iterdir() if entry.name.endswith(".css")}
    return (*_FIRST, *sorted(names.difference(_FIRST)))


def start_body(base_url: str, state: str, worlds: Sequence[Summary]) -> str:
    """Return the content of the page's `<main>`, as HTML.

    Args:
        base_url: Where its reader reached the server.
        state: Where state is kept, in words.
        worlds: Summaries as the control API gives them; the first is the default world.
    """
    default = worlds[0]
    return f"""<h1>The emulator is running</h1>
<p class="lead">The Project Hosting Control API answers below this base URL, at
<code>/v1</code>. It plays the production and the development server alike.</p>
<dl class="facts">
{_fact("Base URL", base_url, code=True)}
{_fact("Control API", f"{base_url}/_emulator", code=True)}
{_fact("Identity provider", str(default["issuer"]), code=True)}
{_fact("State", state)}
</dl>
{_first_request(base_url, default)}
<h2>Worlds</h2>
<p>Each has its own state, clock and request log.</p>
{_worlds(worlds)}
{_inside(default)}
<h2>Read on</h2>
<ul class="cards">{"".join(_card(*link) for link in _LINKS)}</ul>"""


def _fact(label: str, value: str, *, code: bool = False) -> str:
    shown = f"<code>{escape(value)}</code>" if code else escape(value)
    return f"<div><dt>{escape(label)}</dt><dd>{shown}</dd></div>"


def _first_request(base_url: str, world: Summary) -> str:
    person, project = _named(world["people"], "owner"), _named(world["projects"], "shop")
    if person is None or project is None:
        return ""
    lines = (
        f"""TOKEN=$(curl -s -X POST -d '{{"as":"{person["alias"]}"}}' \\
    {base_url}/_emulator/worlds/{world["name"]}/tokens | cut -d '"' -f 4)""",
        f"""curl -s -H "Authorization: Bearer $TOKEN" \\
    {world["base_url"]}/v1/projects/{project["id"]}/deployments""",
    )
    text = escape("\n".join(lines), quote=False)
    return f"""<h2>A first request</h2>
<p>Copy into a shell: a token for <code>{escape(person["alias"])}</code>, then the deployments of
<code>{escape(project["alias"])}</code>. <code>hosting-emulator env</code> sets the same up as
variables.</p>
<pre tabindex="0" aria-label="A first request"><code>{text}</code></pre>"""


def _named(rows: Sequence[Summary], alias: str) -> Summary | None:
    return next((row for row in rows if row["alias"] == alias), rows[0] if rows else None)


def _worlds(worlds: Sequence[Summary]) -> str:
    return _table(
        ("World", "Clock", "Holds", "Look at"),
        (_world_row(world) for world in worlds),
    )


def _world_row(world: Summary) -> tuple[str, ...]:
    clock, counts = world["clock"], world["counts"]
    mode = clock["mode"] if clock["mode"] != "scaled" else f"scaled, {clock['rate']:g}x"
    control = f"/_emulator/worlds/{escape(world['name'])}"
    holds = (f"{counts[name]} {name}" for name in ("projects", "deployments", "operations"))
    return (
        f"<b>{escape(world['name'])}</b><br><code>{escape(world['base_url'])}</code>",
        f'<span class="mark retry">{escape(mode)}</span> <time>{escape(clock["now"])}</time>',
        ", ".join(holds),
        " ".join(f'<a href="{control}/{path}">{label}</a>' for path, label in _LOOK),
    )


def _inside(world: Summary) -> str:
    organizations = {row["id"]: row["alias"] for row in world["organizations"]}
    projects = (
        (
            f"<b>{escape(row['alias'])}</b>",
            f"<code>{escape(row['id'])}</code>",
            escape(organizations.get(row["organization_id"], row["organization_id"])),
        )
        for row in world["projects"]
    )
    others = (
        (
            f"<b>{escape(row['alias'])}</b>",
            f"<code>{escape(row['id'])}</code>",
            escape(f"{row['name']}, {row['plan']}"),
        )
        for row in world["organizations"]
    )
    people = (
        (
            f"<b>{escape(row['alias'])}</b>",
            f"<code>{escape(row['id'])}</code>",
            escape(row["name"]),
        )
        for row in world["people"]
    )
    return f"""<h2>In {escape(world["name"])}</h2>
<h3>Projects</h3>
{_table(("Alias", "Id", "Organization"), projects)}
<h3>Organizations</h3>
{_table(("Alias", "Id", "Name and plan"), others)}
<h3>People who may have a token</h3>
{_table(("Alias", "Id", "Name"), people)}"""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already; narrow screens read each row as a card."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-label="{escape(name)}">{cell}</td>'
            for name, cell in zip(heads, row, strict=True)
        )
        + "</tr>\n"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def _card(path: str, name: str, about: str) -> str:
    return f'<li><a href="{path}">{escape(name)}</a><p>{escape(about)}</p></li>'
