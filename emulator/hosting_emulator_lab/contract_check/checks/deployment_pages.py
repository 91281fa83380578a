"""Lists deployments: the first page, the bounds of the page size, and all following pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.checks.parameter_names import discover_name
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun

#: The largest page size that the contract allows.
_LARGEST_PAGE = 100
#: The maximum number of pages to read from a long list.
_MAX_PAGES = 12
_SIZE_KEYS = ("deployments.query", "limit.page-size")
_PAGING_KEY = "deployments.page-through"


@declare_check()
def list_deployments(run: CheckRun) -> None:
    """List deployments, discover the names of the query parameters, and read all pages."""
    plain = _list(run)
    if not run.expect.success(("deployments.call", "deployments.query", _PAGING_KEY), plain):
        return
    count = len(items_of(plain))
    if count > _LARGEST_PAGE:
        run.evidence.differs(_SIZE_KEYS, plain, f"it has {count} items")
    if _cursor_of(plain) is not None:
        run.behavior.record("default_page_size", count)
    if count == 0:
        keys = tuple(RESOURCES["Deployment"].sentences)
        run.evidence.skips(keys, "the project has no deployments")

    def works(name: str) -> bool:
        page = _list(run, f"?{name}=1")
        is_shorter = len(items_of(page)) <= 1 < count
        return page.ok and (is_shorter or _list(run, f"?{name}=0").is_invalid_input)

    limit = discover_name(
        run, "limit_parameter", works, (*_SIZE_KEYS, _PAGING_KEY), "sets the page size"
    )
    if limit is not None:
        _try_page_sizes(run, limit)
        _page_through(run, limit)


def _list(run: CheckRun, query: str = "", purpose: str = "") -> ServerResponse:
    return run.call("list_deployments", purpose, query)


def items_of(page: ServerResponse) -> list[dict[str, Any]]:
    """Return the deployments of a page, or an empty list if the response is not a page."""
    items = page["items"]
    if not isinstance(items, list):
        return []
    return [item for item in items if isinstance(item, dict)]


def _try_page_sizes(run: CheckRun, limit: str) -> None:
    for size in (1, _LARGEST_PAGE):
        response = _list(run, f"?{limit}={size}")
        if run.expect.success(_SIZE_KEYS, response):
            count = len(items_of(response))
            run.evidence.judge(_SIZE_KEYS, count <= size, response, f"it has {count} items")
    # Accept both outcomes, because the contract does not say whether a size out of bounds is
    # refused or reduced.
    for out_of_bounds in ("0", "-1", "101", "1000"):
        response = _list(run, f"?{limit}={out_of_bounds}")
        count = len(items_of(response))
        if not response.ok:
            run.expect.invalid_input(_SIZE_KEYS, response)
        elif count > _LARGEST_PAGE:
            run.evidence.differs(_SIZE_KEYS, response, f"it has {count} items")
        else:
            reason = f"it has {count} items, so the server may have limited the size"
            run.evidence.cannot_decide(_SIZE_KEYS, f"{response}: {reason}")
    for no_integer in ("x", "1.5"):
        run.expect.invalid_input("deployments.query", _list(run, f"?{limit}={no_integer}"))


def _page_through(run: CheckRun, limit: str) -> None:
    longest_page = _list(run, f"?{limit}={_LARGEST_PAGE}")
    if not longest_page.ok:
        return
    total = len(items_of(longest_page))
    if _cursor_of(longest_page) is None:
        _record_end(run, longest_page)
        _record_order(run, longest_page)
    if total < 2:
        run.evidence.skips(
            (_PAGING_KEY, "page.next_cursor"),
            "the project has fewer than two deployments: use a project with more",
        )
        return
    query = f"?{limit}={max(1, min(total // 3, 25))}"
    first_page = _list(run, query)
    if not run.expect.success(_PAGING_KEY, first_page):
        return
    if _cursor_of(first_page) is None:
        run.evidence.differs(
            _PAGING_KEY,
            first_page,
            f"it has no next_cursor, although there are {total} deployments",
        )
        return
    cursor_name = _discover_cursor(run, query, first_page)
    if cursor_name is None:
        return
    run.expect.invalid_input(
        "deployments.query", _list(run, f"{query}&{cursor_name}=!", "the cursor !")
    )
    _judge_pages(run, longest_page, _read_pages(run, query, cursor_name, first_page))


def _record_order(run: CheckRun, whole_list: ServerResponse) -> None:
    """Record the order of deployments, if at least two were created at different times."""
    creation_times = [moment(item.get("created_at")) for item in items_of(whole_list)]
    times = [at_ms for at_ms in creation_times if at_ms is not None]
    if len(set(times)) < 2:
        return
    if times == sorted(times):
        run.behavior.record("deployment_order", "oldest_first")
    elif times == sorted(times, reverse=True):
        run.behavior.record("deployment_order", "newest_first")
    else:
        run.behavior.note("deployments are ordered neither by newest nor by oldest first")


def _discover_cursor(run: CheckRun, query: str, first_page: ServerResponse) -> str | None:
    def works(name: str) -> bool:
        second_page = _next_page(run, query, name, first_page, "next page")
        second_ids = _ids_on(second_page)
        if second_ids and second_ids != _ids_on(first_page):
            return True
        # If the server ignores unknown names, a name for which it refuses a value is the right
        # name.
        if run.behavior.values.get("unknown_query_parameters") != "ignored":
            return False
        return _list(run, f"{query}&{name}=!").is_invalid_input

    return discover_name(run, "cursor_parameter", works, _PAGING_KEY, "takes the cursor")


def _next_page(
    run: CheckRun, query: str, cursor_name: str, page: ServerResponse, purpose: str
) -> ServerResponse:
    cursor = quote(_cursor_of(page) or "", safe="")
    return _list(run, f"{query}&{cursor_name}={cursor}", purpose)


def _read_pages(
    run: CheckRun, query: str, cursor_name: str, first_page: ServerResponse
) -> list[ServerResponse]:
    """Read the pages after the first page. Stop after two empty pages."""
    pages = [first_page]
    while _cursor_of(pages[-1]) and len(pages) < _MAX_PAGES and _has_items(pages[-2:]):
        page = _next_page(run, query, cursor_name, pages[-1], f"page {len(pages) + 1}")
        if not run.expect.success((_PAGING_KEY, "deployments.query"), page):
            break
        pages.append(page)
    return pages


def _judge_pages(run: CheckRun, longest_page: ServerResponse, pages: list[ServerResponse]) -> None:
    """Judge whether the pages repeat deployments, or lack deployments of the longest page."""
    ids = [deployment_id for page in pages for deployment_id in _ids_on(page)]
    repeated_count = len(ids) - len(set(ids))
    missing_count = len(set(_ids_on(longest_page)) - set(ids))
    observed = f"{pages[0]}, in {len(pages)} pages"
    run.evidence.judge(
        _PAGING_KEY,
        repeated_count == 0,
        observed,
        f"{repeated_count} deployments are on more than one page",
    )
    run.evidence.judge(
        _PAGING_KEY,
        _has_items(pages[-2:]) or not ids,
        observed,
        "its cursors lead to empty pages only",
    )
    if _cursor_of(pages[-1]) is None:  # the last page of the list
        _record_end(run, pages[-1])
        run.evidence.judge(
            _PAGING_KEY,
            missing_count == 0,
            observed,
            f"{missing_count} deployments of one long page are on none of the short ones",
        )


def _cursor_of(page: ServerResponse) -> str | None:
    """Return the cursor of the next page, or None on the last page.

    An empty cursor means that there is no next page.
    """
    return page.text("next_cursor") or None


def _record_end(run: CheckRun, last_page: ServerResponse) -> None:
    if last_page["next_cursor"] == "":
        run.behavior.note("the last page's next_cursor is empty, which no assumption can express")
    elif "next_cursor" in last_page.fields:
        run.behavior.record("last_page_cursor", "null")
    else:
        run.behavior.record("last_page_cursor", "absent")


def _has_items(pages: list[ServerResponse]) -> bool:
    return any(_ids_on(page) for page in pages)


def _ids_on(page: ServerResponse) -> list[str]:
    # Use upper case, because the judgment of the field already covers the case of an id.
    return [str(item["id"]).upper() for item in items_of(page) if item.get("id") is not None]
