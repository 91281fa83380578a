"""The documentation's pages: its entrance, with the calls to read and to try, and the problems.

The calls are shown by Swagger UI, which is shipped with the emulator; `docs.js` gives it a world's
OpenAPI document and the token of a person who can be chosen. Without scripts the links remain. The
pages that a problem's `type` leads to show the table of problems and add no facts of their own.
"""

from __future__ import annotations

import json
from html import escape
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from typing import Final

from hosting_emulator.contract.problems import PROBLEMS, Problem
from hosting_emulator.server.pages.layout import (
    ASSUMPTIONS_PATH,
    DOCS_PATH,
    ERRORS_PATH,
    HEALTH_PATH,
    OPENAPI_PATH,
    page,
    prose,
)
from hosting_emulator.server.pages.static_files import STATIC_PATH

DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Swagger UI writes styles into its elements; only this page allows that. It asks this server only."""

_DOCS_HEAD: Final = f"""<link rel="stylesheet" href="{STATIC_PATH}/swagger-ui/swagger-ui.css">
<link rel="stylesheet" href="{STATIC_PATH}/docs.css">
<script src="{STATIC_PATH}/swagger-ui/swagger-ui-bundle.js" defer></script>
<script type="module" src="{STATIC_PATH}/docs.js"></script>
"""
_DOCS_LINKS: Final = (
    (
        ERRORS_PATH,
        "Problem catalogue",
        f"The {len(PROBLEMS)} problem codes: what each means, when it comes and what a client"
        " should do about it.",
    ),
    (
        OPENAPI_PATH,
        "OpenAPI document",
        "The calls of the contract as an OpenAPI 3.1 document, for generators and checkers.",
    ),
    (
        ASSUMPTIONS_PATH,
        "Assumptions",
        "Every point on which the contract is silent: our default, the alternatives, and the"
        " name to set it by.",
    ),
    (HEALTH_PATH, "Health", "Whether the emulator is up, and its version."),
)


def docs_page(*, base: str = "") -> str:
    """Return the page; `base` stands before its links, such as an origin."""
    cards = "".join(
        f'<li><a href="{escape(base)}{path}">{escape(name)}</a><p>{prose(about)}</p></li>'
        for path, name, about in _DOCS_LINKS
    )
    body = f"""<h1>Documentation</h1>
<p class="lead">What this emulator answers, and how much of that the contract stands behind.</p>
<ul class="cards">{cards}</ul>
<h2 id="calls">The calls</h2>
<p>Open a call and press <b>Execute</b>: it is sent to the world, as the person,
that you choose here, and changes that world.</p>
<noscript><p>The list of calls needs scripts. The OpenAPI document above says the same.</p></noscript>
<form id="who" hidden>
<label>World <select id="world"></select></label>
<label>Person <select id="person"></select></label>
<p id="said" role="status"></p>
</form>
<section id="swagger" aria-label="The calls"></section>"""
    return page("Documentation", body, base=base, head=_DOCS_HEAD)


# --- problems ------------------------------------------------------------------------------------

_EXAMPLE_REQUEST_ID: Final = "01JQ7Z3M8W4K2X9V6T5R1P0NDB"
_EXAMPLE_WAIT_SECONDS: Final = 30
_PHRASES: Final = {413: "Content Too Large"}  # RFC 9110's; older Pythons know the former one
_SPECIFIED: Final = '<span class="mark specified">the contract says so</span>'
_ASSUMED: Final = '<span class="mark assumed">our assumption</span>'


def problem_index(*, base: str = "") -> str:
    """Return the catalogue: every problem, grouped by status, in the contract's order within."""
    ordered = sorted(PROBLEMS.values(), key=attrgetter("status"))  # stable: keeps the order within
    groups = [(status, list(rows)) for status, rows in groupby(ordered, attrgetter("status"))]
    jumps = "".join(
        f'<li><a href="#status-{status}"><b>{status}</b> {_phrase(status)}'
        f' <span class="count">{len(rows)}</span></a></li>'
        for status, rows in groups
    )
    sections = "".join(_status_section(status, rows, base) for status, rows in groups)
    produced = sum(not problem.by_fault_only for problem in PROBLEMS.values())
    body = f"""{_trail(base)}
<h1>Problem catalogue</h1>
<p class="lead">Every failure is answered as <code>application/problem+json</code> with one of
these {len(PROBLEMS)} codes. The calls themselves produce {produced} of them; the others can be
seen by injecting a fault.</p>
<p><b>Retryable</b> means that the same request, sent again unchanged, can succeed. The contract
fixes little more than the names of the codes: each page marks what it says and what is our
assumption, on which a client must not depend.</p>
<nav aria-label="Statuses"><ul class="jumps">{jumps}</ul></nav>
{sections}"""
    return page("Problem catalogue", body, base=base)


def problem_page(problem: Problem, *, base: str = "") -> str:
    """Return the page of one problem, with a mark at each value that is only our assumption."""
    action = prose(problem.suggested_action)
    status = f"<b>{problem.status}</b> {_phrase(problem.status)}"
    body = f"""{_trail(base, problem.code)}
<h1>{escape(problem.title)}</h1>
<p class="code"><code>{escape(problem.code)}</code></p>
<p class="lead">{prose(problem.meaning)}</p>
<dl class="facts">
{_fact(problem, "status", "Status", status)}
{_fact(problem, "retryable", "Retryable", _retryable(problem))}
{_fact(problem, "suggested_action", "Suggested action", action)}
</dl>
<h2>When it comes</h2>
<p>{prose(problem.when)}</p>
<h2>What a client should do</h2>
<p>{prose(problem.advice)}</p>
<h2>Example</h2>
{_example(problem, base)}
{_neighbours(problem, base)}"""
    return page(f"{problem.code} ({problem.status})", body, base=base)


def _fact(problem: Problem, name: str, label: str, value_html: str) -> str:
    mark = _SPECIFIED if name in problem.specified else _ASSUMED
    return f"<div><dt>{label}</dt><dd>{value_html}</dd><dd>{mark}</dd></div>"


def _retryable(problem: Problem) -> str:
    if problem.retryable:
        return "<b>Yes</b>: the same request can succeed later"
    return "<b>No</b>: the same request will be refused again"


def _status_section(status: int, problems: list[Problem], base: str) -> str:
    rows = "".join(_index_row(problem, base) for problem in problems)
    return f"""<section aria-labelledby="status-{status}">
<h2 id="status-{status}">{status} {_phrase(status)}</h2>
<ul class="problems">{rows}</ul>
</section>
"""


def _index_row(problem: Problem, base: str) -> str:
    marks = '<span class="mark retry">retryable</span>' if problem.retryable else ""
    if problem.specified:
        marks += '<span class="mark specified">fixed by the contract</span>'
    if problem.by_fault_only:
        marks += '<span class="mark fault">by fault only</span>'
    return f"""<li>{_link(problem, base)} {marks}
<p>{prose(problem.meaning)}</p></li>
"""


def _link(problem: Problem, base: str) -> str:
    return f'<a href="{escape(_address(problem, base))}"><code>{escape(problem.code)}</code></a>'


def _address(problem: Problem, base: str) -> str:
    return f"{base}{ERRORS_PATH}/{problem.slug}"


def _trail(base: str, code: str | None = None) -> str:
    here = escape(base)
    steps = [f'<a href="{here}{DOCS_PATH}">Docs</a>']
    if code is None:
        steps.append('<span aria-current="page">Problems</span>')
    else:
        steps.append(f'<a href="{here}{ERRORS_PATH}">Problems</a>')
        steps.append(f'<span aria-current="page">{escape(code)}</span>')
    items = "".join(f"<li>{step}</li>" for step in steps)
    return f'<nav aria-label="Breadcrumb"><ol class="trail">{items}</ol></nav>'


def _example(problem: Problem, base: str) -> str:
    document = example_document(problem, base=base)
    head = [
        f"HTTP/1.1 {problem.status} {_phrase(problem.status)}",
        "Content-Type: application/problem+json",
        f"X-Request-Id: {_EXAMPLE_REQUEST_ID}",
    ]
    if "retry_after_seconds" in document:
        head.append(f"Retry-After: {_EXAMPLE_WAIT_SECONDS}")
    lines = ",\n".join(f"  {_json_line(name, value)}" for name, value in document.items())
    return f"""<pre tabindex="0" aria-label="Example answer"><code><span class="head">{
        chr(10).join(head)
    }</span>

{{
{lines}
}}</code></pre>"""


def example_document(problem: Problem, *, base: str = "") -> dict[str, str | int | bool]:
    """Return a problem document as a call would answer it; its detail is the code's meaning."""
    detail = problem.meaning.removeprefix("Our reading: ").replace("`", "")
    document: dict[str, str | int | bool] = {
        "type": _address(problem, base),
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


def _json_line(name: str, value: str | int | bool) -> str:
    key = escape(json.dumps(name), quote=False)
    text = escape(json.dumps(value), quote=False)
    return f'<span class="key">{key}</span>: <span class="value">{text}</span>'


def _neighbours(problem: Problem, base: str) -> str:
    others = [
        other
        for other in PROBLEMS.values()
        if other.status == problem.status and other.code != problem.code
    ]
    if not others:
        return ""
    items = "".join(f"<li>{_link(other, base)}</li>" for other in others)
    return f"""<details{" open" if len(others) <= 12 else ""}>
<summary>Other problems with status {problem.status}</summary>
<ul class="others">{items}</ul>
</details>"""


def _phrase(status: int) -> str:
    return _PHRASES.get(status) or HTTPStatus(status).phrase
