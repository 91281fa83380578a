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
    CONTROL_DOCS_PATH,
    DOCS_PATH,
    ERRORS_PATH,
    OPENAPI_PATH,
    Html,
    cards,
    fill,
    html,
    page,
    prose,
)

DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Swagger UI writes styles into its elements; only this page allows that. It asks this server only."""

_LINKS: Final = (
    (
        ERRORS_PATH,
        "Problem catalogue",
        f"The {len(PROBLEMS)} problem codes: what each means, when it is returned and"
        " what a client should do.",
    ),
    (
        OPENAPI_PATH,
        "OpenAPI document",
        "The calls of the contract as an OpenAPI 3.1 document, for generators and checkers.",
    ),
    (
        ASSUMPTIONS_PATH,
        "Assumptions",
        "Every point on which the contract is silent: our default, the alternatives,"
        " and the name of the setting.",
    ),
    (
        CONTROL_DOCS_PATH,
        "Control API",
        "Worlds, time, failures and the request log: everything beside the contract, as an OpenAPI"
        " 3.1 document to read and try.",
    ),
    ("/_emulator/health", "Health", "Whether the emulator is up, and its version."),
)
_EXAMPLE_REQUEST_ID: Final = "01JQ7Z3M8W4K2X9V6T5R1P0NDB"
_EXAMPLE_WAIT_SECONDS: Final = 30
_MARKS: Final = {
    True: Html('<span class="mark specified">the contract says so</span>'),
    False: Html('<span class="mark assumed">our assumption</span>'),
}


def docs_page() -> str:
    """Return the entrance."""
    return page("Documentation", fill("docs", cards=cards(_LINKS)), head=fill("docs-head"))


def control_docs_page() -> str:
    """Return the control API's calls, to read and to try."""
    return page("Control API", fill("control-docs"), head=fill("control-docs-head"))


def problem_index() -> str:
    """Return the catalogue: every problem, grouped by status, in the contract's order within."""
    ordered = sorted(PROBLEMS.values(), key=attrgetter("status"))  # stable: keeps the order within
    jumps, sections = "", ""
    for status, rows in groupby(ordered, attrgetter("status")):
        items = [_index_row(problem) for problem in rows]
        jumps += html(
            '<li><a href="#status-$status"><b>$status</b> $phrase <span class="count">$count</span>'
            "</a></li>",
            status=status,
            phrase=_phrase(status),
            count=len(items),
        )
        sections += html(
            '<section aria-labelledby="status-$status">\n<h2 id="status-$status">$status $phrase'
            '</h2>\n<ul class="problems">$items</ul>\n</section>\n',
            status=status,
            phrase=_phrase(status),
            items=Html("".join(items)),
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
    facts = {
        "status": Html(f"<b>{problem.status}</b> {_phrase(problem.status)}"),
        "retryable": Html(retryable),
        "suggested_action": prose(problem.suggested_action),
    }
    fact = "<div><dt>$label</dt><dd>$value</dd><dd>$mark</dd></div>"
    body = fill(
        "problem",
        trail=_trail(problem.code),
        title=problem.title,
        code=problem.code,
        meaning=prose(problem.meaning),
        facts=Html(
            "\n".join(
                html(
                    fact,
                    label=name.replace("_", " ").capitalize(),
                    value=value,
                    mark=_MARKS[name in problem.specified],
                )
                for name, value in facts.items()
            )
        ),
        when=prose(problem.when),
        advice=prose(problem.advice),
        head="\n".join(head),
        lines=Html(",\n".join(f"  {_json_line(*field)}" for field in document.items())),
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


def _json_line(name: str, value: str | int | bool) -> str:
    key, text = (escape(json.dumps(part), quote=False) for part in (name, value))
    return f'<span class="key">{key}</span>: <span class="value">{text}</span>'


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
