"""Every HTML page: templates, their frame, the files that pages load, and the pages themselves.

A page is a function of what it is given: nothing here knows a request or a world. Pages load nothing
from another host, so they work offline. The documentation shows the calls by Swagger UI; the dashboard's
modules ask the control API, and what stands in its page without them is written from summaries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from http import HTTPStatus
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import groupby
from operator import attrgetter
from string import Template
from typing import Any, Final, NamedTuple

from hosting_emulator.contract.problems import PROBLEMS, Problem
from hosting_emulator.contract.words import command_line

Summary = Mapping[str, Any]
DOCS_PATH: Final = "/_emulator/docs"
"""Where the pages are served; the `docs_url` of problem types ends with it."""
ERRORS_PATH: Final = f"{DOCS_PATH}/errors"
"""The problem catalogue; the page of one problem lies under it by its slug."""
STATIC_PATH: Final = "/_emulator/static"
"""Where the files are served that pages load, each under its name in `static_files()`."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""The strictest policy: neither scripts nor inline styles (the empty icon is the `data:` image)."""
DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Swagger UI writes styles into its elements; only its page allows that. It asks this server only."""
DASHBOARD_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
"""No script or style but our files', no other host, nobody's frame."""

_BACKTICKS: Final = re.compile(r"`([^`]+)`")
_ROOM: Final = files("hosting_emulator.server")
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
}
_STYLES: Final = "dashboard/style/"
#: These come first, in this order: what follows, such as a panel's own, is written on top of them.
_FIRST: Final = [f"{_STYLES}{name}.css" for name in ("base", "parts", "frame")]
_EXAMPLE_REQUEST_ID: Final = "01JQ7Z3M8W4K2X9V6T5R1P0NDB"
_EXAMPLE_WAIT_SECONDS: Final = 30


class Html(str):
    """Text that is HTML already."""


def html(template: str, /, **values: object) -> Html:
    """Fill in `$names`. Everything is escaped that is not `Html`."""
    given = {name: v if isinstance(v, Html) else escape(str(v)) for name, v in values.items()}
    return Html(Template(template).substitute(given))


def fill(name: str, /, **values: object) -> Html:
    """Fill in a template of the folder beside."""
    return html(_text(f"{name}.html"), **values)


@cache
def _text(name: str) -> str:
    return _ROOM.joinpath("templates", name).read_text("utf-8")


def stylesheet() -> str:
    """Return the style sheet that every page links to."""
    return _text("style.css")


def prose(text: str) -> Html:
    """Return plain text as inline HTML: escaped, with `backticks` as code."""
    return Html(_BACKTICKS.sub(r"<code>\1</code>", escape(text, quote=False)))


def page(title: str, body: Html, *, base: str = "", head: str = "") -> str:
    """Return a whole HTML document, with the navigation above and `body` in its `<main>`.

    `base` is what stands before each of our own addresses, such as an origin; `head` is what else
    stands in `<head>`, as lines.
    """
    top, foot = fill("top"), fill("foot")
    text = fill("page", title=title, body=body, head=Html(head), kind="", top=top, foot=foot)
    return text.replace('="/_emulator', f'="{escape(base)}/_emulator')


def sign_in_page(title: str, body: Html) -> str:
    """Return a page of the identity provider: it leads nowhere else, and says whose it is."""
    head = Html(f'<link rel="stylesheet" href="{STATIC_PATH}/sign-in.css">\n')
    kind = Html(' class="sign-in"')
    foot = fill("sign-in-foot")
    return fill("page", title=title, body=body, head=head, kind=kind, top="", foot=foot)


# --- the files that pages load -------------------------------------------------------------------


class StaticFile(NamedTuple):
    """A file, its media type (plain text if unknown), and its strong validator (RFC 9110, 8.8.3)."""

    body: bytes
    content_type: str
    etag: str


@cache
def static_files() -> dict[str, Traversable]:
    """Return every file that is served, by its name below `STATIC_PATH`; no other path reaches a file."""
    found: dict[str, Traversable] = {}
    folders = [("", _ROOM.joinpath("static/files")), ("dashboard/", _ROOM / "dashboard/static")]
    for prefix, folder in folders:  # folders inside are added on the way
        for entry in folder.iterdir():
            if entry.is_dir():
                folders.append((f"{prefix}{entry.name}/", entry))
            else:
                found[prefix + entry.name] = entry
    return found


@cache
def static_file(name: str) -> StaticFile | None:
    """Return a file of the table; it is read when it is first asked for."""
    source = static_files().get(name)
    if source is None:
        return None
    body = source.read_bytes()
    kind = _TYPES.get(name.rpartition(".")[2], "text/plain; charset=utf-8")
    return StaticFile(body, kind, f'"{sha256(body).hexdigest()[:32]}"')


# --- the documentation ---------------------------------------------------------------------------


def docs_page() -> str:
    """Return the entrance, with the calls to read and to try."""
    return page("Documentation", fill("docs", count=len(PROBLEMS)), head=fill("docs-head"))


def control_docs_page() -> str:
    """Return the control API's calls, to read and to try."""
    return page("Control API", fill("control-docs"), head=fill("control-docs-head"))


def problem_index() -> str:
    """Return the catalogue: every problem, grouped by status, in the contract's order within."""
    ordered = sorted(PROBLEMS.values(), key=attrgetter("status"))  # stable: keeps the order within
    jumps, sections = "", ""
    for status, group in groupby(ordered, attrgetter("status")):
        rows = list(group)
        jumps += html(
            '<li><a href="#status-$status"><b>$status</b> $phrase <span class="count">$count</span>'
            "</a></li>",
            status=status,
            phrase=_phrase(status),
            count=len(rows),
        )
        sections += html(
            '<section aria-labelledby="status-$status">\n<h2 id="status-$status">$status $phrase'
            '</h2>\n<ul class="problems">$items</ul>\n</section>\n',
            status=status,
            phrase=_phrase(status),
            items=Html("".join(map(_index_row, rows))),
        )
    body = fill(
        "problems",
        trail=_trail(),
        count=len(PROBLEMS),
        produced=sum(not problem.by_fault_only for problem in PROBLEMS.values()),
        jumps=Html(jumps),
        sections=Html(sections),
    )
    return page("Problem catalogue", body)


def _index_row(problem: Problem) -> Html:
    marks = '<span class="mark retry">retryable</span>' if problem.retryable else ""
    if problem.specified:
        marks += '<span class="mark specified">fixed by the contract</span>'
    if problem.by_fault_only:
        marks += '<span class="mark fault">by fault only</span>'
    row = "<li>$link $marks\n<p>$meaning</p></li>\n"
    return html(row, link=_link(problem), marks=Html(marks), meaning=prose(problem.meaning))


def problem_page(problem: Problem, *, base: str = "") -> str:
    """Return the page of one problem, with a mark at each value that is only our assumption."""
    document = example_document(problem, base=base)
    head = [
        f"HTTP/1.1 {problem.status} {_phrase(problem.status)}",
        "Content-Type: application/problem+json",
        f"X-Request-Id: {_EXAMPLE_REQUEST_ID}",
    ]
    if "retry_after_seconds" in document:
        head.append(f"Retry-After: {_EXAMPLE_WAIT_SECONDS}")
    retryable = "<b>No</b>: the same request will be refused again"
    if problem.retryable:
        retryable = "<b>Yes</b>: the same request can succeed later"
    marks = {}
    for name in ("status", "retryable", "suggested_action"):
        mark = '<span class="mark assumed">our assumption</span>'
        if name in problem.specified:
            mark = '<span class="mark specified">the contract says so</span>'
        marks[f"{name}_mark"] = Html(mark)
    lines = []
    for field in document.items():
        key, text = (escape(json.dumps(part), quote=False) for part in field)
        lines.append(f'  <span class="key">{key}</span>: <span class="value">{text}</span>')
    body = fill(
        "problem",
        trail=_trail(problem.code),
        title=problem.title,
        code=problem.code,
        meaning=prose(problem.meaning),
        status=problem.status,
        phrase=_phrase(problem.status),
        retryable=Html(retryable),
        suggested_action=prose(problem.suggested_action),
        **marks,
        when=prose(problem.when),
        advice=prose(problem.advice),
        head="\n".join(head),
        lines=Html(",\n".join(lines)),
        neighbours=_neighbours(problem),
    )
    return page(f"{problem.code} ({problem.status})", body, base=base)


def _link(problem: Problem) -> Html:
    address = f"{ERRORS_PATH}/{problem.slug}"
    return html('<a href="$address"><code>$code</code></a>', address=address, code=problem.code)


def _trail(code: str = "") -> Html:
    here = f'<a href="{ERRORS_PATH}">Problems</a>' if code else ""
    steps = [f'<a href="{DOCS_PATH}">Docs</a>', here]
    steps.append(html('<span aria-current="page">$here</span>', here=code or "Problems"))
    items = "".join(f"<li>{step}</li>" for step in steps if step)
    return Html(f'<nav aria-label="Breadcrumb"><ol class="trail">{items}</ol></nav>')


def example_document(problem: Problem, *, base: str = "") -> dict[str, str | int | bool]:
    """Return a problem document as a call would answer it; its detail is the code's meaning."""
    detail = problem.meaning.removeprefix("Our reading: ").replace("`", "")
    document: dict[str, str | int | bool] = {
        "type": f"{base}{ERRORS_PATH}/{problem.slug}",
        "title": problem.title,
        "status": problem.status,
        "detail": detail[:1].upper() + detail[1:],
        "code": problem.code,
        "request_id": _EXAMPLE_REQUEST_ID,
        "retryable": problem.retryable,
    }
    if problem.code == "rate_limited":  # the only code the contract gives the field a meaning for
        document["retry_after_seconds"] = _EXAMPLE_WAIT_SECONDS
    return document | {"suggested_action": problem.suggested_action}


def _neighbours(problem: Problem) -> Html:
    same = (other for other in PROBLEMS.values() if other.status == problem.status)
    items = [f"<li>{_link(other)}</li>" for other in same if other is not problem]
    if not items:
        return Html("")
    return html(
        "<details$opened>\n<summary>Other problems with status $status</summary>\n"
        '<ul class="others">$items</ul>\n</details>',
        opened=" open" if len(items) <= 12 else "",
        status=problem.status,
        items=Html("".join(items)),
    )


def _phrase(status: int) -> str:
    # RFC 9110's; older Pythons know the former one
    return "Content Too Large" if status == 413 else HTTPStatus(status).phrase


# --- the dashboard -------------------------------------------------------------------------------


def dashboard_page(fallback: Html) -> str:
    """Return the page at the control URL; `fallback` stands in `<main>` when no script runs."""
    names = sorted(name for name in static_files() if name.startswith(_STYLES))
    styles = "\n".join(
        f'<link rel="stylesheet" href="{STATIC_PATH}/{name}">'
        for name in (*_FIRST, *(name for name in names if name not in _FIRST))
    )
    return fill("dashboard", styles=Html(styles), fallback=fallback)


def start_body(base_url: str, state: str, worlds: Sequence[Summary]) -> Html:
    """Return the content of its `<main>`: where things are, and the worlds, first the default one."""
    world = worlds[0]
    people, projects, first_request = world["people"], world["projects"], Html("")
    if people and projects:
        named = (row["alias"] for row in people)
        first_request = fill(
            "first-request",
            base_url=base_url,
            env=command_line("env", base_url, world["name"]),
            person="owner" if "owner" in named else people[0]["alias"],
            project=projects[0]["alias"],
            world=world["name"],
            world_url=world["base_url"],
            project_id=projects[0]["id"],
        )
    aliases = {row["id"]: row["alias"] for row in world["organizations"]}
    homes = ((row, row["organization_id"]) for row in projects)
    rows = []
    for row in worlds:
        clock = row["clock"]
        mode = clock["mode"] if clock["mode"] != "scaled" else f"scaled, {clock['rate']:g}x"
        rows.append({**row, **row["counts"], "mode": mode, "now": clock["now"]})
    heads = {"Alias": "<b>$alias</b>", "Id": "<code>$id</code>"}
    return fill(
        "start",
        base_url=base_url,
        issuer=world["issuer"],
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
        world=world["name"],
        projects=_table(
            {**heads, "Organization": "$organization"},
            ({**row, "organization": aliases.get(home, home)} for row, home in homes),
        ),
        organizations=_table({**heads, "Name and plan": "$name, $plan"}, world["organizations"]),
        people=_table({**heads, "Name": "$name"}, people),
    )


def _table(columns: Mapping[str, str], rows: Iterable[Summary]) -> Html:
    """Return a table of columns: head, and the template of its cells. Narrow screens read cards."""
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in columns.items())
    body = "".join(html(f"<tr>{row}</tr>\n", **values) for values in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")
