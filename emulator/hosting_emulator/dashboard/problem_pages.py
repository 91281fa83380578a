"""The pages about the public API's problems: the catalogue, and the pages to which `type` links."""

from __future__ import annotations

import json
from html import escape
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from typing import Final

from aiohttp import web

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.problem_table import Problem
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.engine.problem_replies import problem_reply
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context, require
from hosting_emulator.http.pages import (
    CONTENT_SECURITY_POLICY,
    DOCS_PATH,
    Html,
    Templates,
    html,
    page,
    prose,
)
from hosting_emulator.messages import JsonObject

_TEMPLATES: Final = Templates(__package__)
_CATALOGUE_PATH: Final = f"{DOCS_PATH}/errors"
_EXAMPLE_REQUEST_ID: Final = "01JQ7Z3M8W4K2X9V6T5R1P0NDB"
_EXAMPLE_WAIT_SECONDS: Final = 30
#: If the list of other problems has more items than this, it is initially collapsed.
_MOST_OPEN_ITEMS: Final = 12

_STATUS_LINK: Final = (
    '<li><a href="#status-$status"><b>$status</b> $phrase '
    '<span class="count">$count</span></a></li>'
)
_SECTION: Final = (
    '<section aria-labelledby="status-$status">\n<h2 id="status-$status">$status $phrase</h2>\n'
    '<ul class="problems">$items</ul>\n</section>\n'
)
_OTHERS: Final = (
    "<details$opened>\n<summary>Other problems with status $status</summary>\n"
    '<ul class="row others">$items</ul>\n</details>'
)


def show_catalogue() -> web.Response:
    """Show the catalogue of problems."""
    # The sort is stable, so problems with the same status keep their order.
    problems = sorted(PROBLEMS.values(), key=attrgetter("status"))
    links = ""
    sections = ""
    for status, group in groupby(problems, attrgetter("status")):
        items = [_catalogue_item(problem) for problem in group]
        phrase = _phrase(status)
        links += html(_STATUS_LINK, status=status, phrase=phrase, count=len(items))
        sections += html(_SECTION, status=status, phrase=phrase, items=Html("".join(items)))
    body = _TEMPLATES.fill(
        "problems",
        trail=_trail(),
        count=len(PROBLEMS),
        produced=sum(not problem.by_fault_only for problem in problems),
        jumps=Html(links),
        sections=Html(sections),
    )
    return responses.html(page("Problem catalogue", body), CONTENT_SECURITY_POLICY)


def _catalogue_item(problem: Problem) -> Html:
    marks = ""
    if problem.retryable:
        marks += '<span class="mark retry">retryable</span>'
    if problem.specified:
        marks += '<span class="mark specified">fixed by the contract</span>'
    if problem.by_fault_only:
        marks += '<span class="mark fault">by fault only</span>'
    item = "<li>$link $marks\n<p>$meaning</p></li>\n"
    return html(item, link=_link(problem), marks=Html(marks), meaning=prose(problem.meaning))


def show_problem(context: Context, slug: str) -> web.Response:
    """Show the page to which a problem's `type` links."""
    problems = {problem.slug: problem for problem in PROBLEMS.values()}
    detail = "there is no problem code for this page; see /_emulator/docs"
    problem = require(problems.get(slug), "No such problem", detail)
    text = problem_page(problem, context.base_url)
    return responses.html(text, CONTENT_SECURITY_POLICY)


def problem_page(problem: Problem, base_url: str = "") -> str:
    """Return the page about a problem, on which each value is marked with its source."""
    document = example_document(problem, base_url)
    retryable = "<b>No</b>: the same request will be refused again"
    if problem.retryable:
        retryable = "<b>Yes</b>: the same request can succeed later"
    body = _TEMPLATES.fill(
        "problem",
        trail=_trail(problem.code),
        title=problem.title,
        code=problem.code,
        meaning=prose(problem.meaning),
        status=problem.status,
        status_mark=_mark(problem, "status"),
        phrase=_phrase(problem.status),
        retryable=Html(retryable),
        retryable_mark=_mark(problem, "retryable"),
        suggested_action=prose(problem.suggested_action),
        suggested_action_mark=_mark(problem, "suggested_action"),
        when=prose(problem.when),
        advice=prose(problem.advice),
        head=_example_head(problem, document),
        lines=_example_lines(document),
        neighbours=_other_problems(problem),
    )
    return page(f"{problem.code} ({problem.status})", body, base=base_url)


def _mark(problem: Problem, name: str) -> Html:
    """Return a mark that says whether a value comes from the contract or is an assumption of ours."""
    if name in problem.specified:
        return Html('<span class="mark specified">the contract says so</span>')
    return Html('<span class="mark assumed">our assumption</span>')


def example_document(problem: Problem, base_url: str = "") -> JsonObject:
    """Return an example of a problem document as a call would return it."""
    wait_seconds = None
    if problem.code == "rate_limited":
        # Show retry_after_seconds only for rate limits, because the contract mentions it only for
        # them.
        wait_seconds = _EXAMPLE_WAIT_SECONDS
    refusal = Refused(problem.code, problem.detail, retry_after_seconds=wait_seconds)
    reply = problem_reply(refusal, _EXAMPLE_REQUEST_ID, base_url + DOCS_PATH, DEFAULTS)
    document: JsonObject = json.loads(reply.body)
    # Move the suggested action to the end, because it is the longest text.
    document["suggested_action"] = document.pop("suggested_action")
    return document


def _example_head(problem: Problem, document: JsonObject) -> str:
    lines = [
        f"HTTP/1.1 {problem.status} {_phrase(problem.status)}",
        "Content-Type: application/problem+json",
        f"X-Request-Id: {_EXAMPLE_REQUEST_ID}",
    ]
    if "retry_after_seconds" in document:
        lines.append(f"Retry-After: {_EXAMPLE_WAIT_SECONDS}")
    return "\n".join(lines)


def _example_lines(document: JsonObject) -> Html:
    """Return the members of a JSON document as HTML, one per line."""
    lines = []
    for name, value in document.items():
        key = escape(json.dumps(name), quote=False)
        text = escape(json.dumps(value), quote=False)
        lines.append(f'  <span class="key">{key}</span>: <span class="value">{text}</span>')
    return Html(",\n".join(lines))


def _trail(code: str = "") -> Html:
    """Return the breadcrumbs for a problem's page, or for the catalogue if `code` is empty."""
    links = [f'<a href="{DOCS_PATH}">Docs</a>']
    title = "Problems"
    if code:
        links.append(f'<a href="{_CATALOGUE_PATH}">Problems</a>')
        title = code
    links.append(html('<span aria-current="page">$title</span>', title=title))
    items = "".join(f"<li>{link}</li>" for link in links)
    return Html(f'<nav aria-label="Breadcrumb"><ol class="row trail">{items}</ol></nav>')


def _link(problem: Problem) -> Html:
    url = f"{_CATALOGUE_PATH}/{problem.slug}"
    return html('<a href="$url"><code>$code</code></a>', url=url, code=problem.code)


def _other_problems(problem: Problem) -> Html:
    """Return links to the other problems with the same status."""
    items = [
        f"<li>{_link(other)}</li>"
        for other in PROBLEMS.values()
        if other.status == problem.status and other is not problem
    ]
    if not items:
        return Html("")
    return html(
        _OTHERS,
        opened=" open" if len(items) <= _MOST_OPEN_ITEMS else "",
        status=problem.status,
        items=Html("".join(items)),
    )


def _phrase(status: int) -> str:
    """Return a status's reason phrase (RFC 9110).

    Older Python versions use a different phrase for 413.
    """
    if status == 413:
        return "Content Too Large"
    return HTTPStatus(status).phrase
