"""Listing deployments: page sizes, cursors, and each deployment exactly once."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from hosting_emulator.contract_check import shapes
from hosting_emulator.contract_check.moments import moment
from hosting_emulator.contract_check.scene import Scene, story
from hosting_emulator.contract_check.wire import Answer

#: Names that services give to the parameters that the contract does not name.
LIMITS = ("limit", "page_size", "per_page", "pageSize", "max_results", "size", "first")
CURSORS = ("cursor", "page_token", "after", "next_cursor", "starting_after", "pageToken", "page")
#: The largest page that the contract allows.
_LARGEST = 100
#: So many pages are read of a long list.
_MOST_PAGES = 12
_QUERY = "deployments.query limit.page-size"
_FIELDS = " ".join(sorted({field.keys for field in shapes.DEPLOYMENT}))


@story("deployments are listed")
def list_deployments(scene: Scene) -> None:
    """Read the first page, find the parameters' names, then page through."""
    plain = scene.ask.call("list_deployments")
    if not scene.succeeded("deployments.call deployments.query deployments.page-through", plain):
        return
    if _cursor(plain) is not None:
        scene.observed.see("default_page_size", len(_items(plain)))
    if not _items(plain):
        scene.ledger.skips(_FIELDS, "the project has no deployments")
    limit = _find_limit(scene, plain)
    if limit is None:
        why = (
            f"none of {', '.join(LIMITS)} is the page size: --assume limit_parameter=NAME names it"
        )
        scene.ledger.skips(f"{_QUERY} deployments.page-through", why)
        return
    _bounds(scene, limit)
    _page_through(scene, limit)


def _find_limit(scene: Scene, plain: Answer) -> str | None:
    known = scene.options.assumed.get("limit_parameter")
    for name in (known,) if known else LIMITS:
        one = scene.ask.call("list_deployments", f"?{name}=1")
        if not one.ok:
            continue
        shorter = len(_items(one)) <= 1 < len(_items(plain))
        if shorter or scene.ask.call("list_deployments", f"?{name}=0").status == 400:
            scene.observed.see("limit_parameter", name)
            return name
    return None


def _bounds(scene: Scene, limit: str) -> None:
    for most in (1, 100):
        answer = scene.ask.call("list_deployments", f"?{limit}={most}")
        if scene.succeeded(_QUERY, answer):
            count = len(_items(answer))
            scene.ledger.judge(_QUERY, count <= most, answer.said, f"it has {count} items")
    for size in ("0", "101"):
        _out_of_bounds(scene, scene.ask.call("list_deployments", f"?{limit}={size}"))
    for size in ("x", "1.5"):
        answer = scene.ask.call("list_deployments", f"?{limit}={size}")
        scene.wrong_input("deployments.query", answer)


def _out_of_bounds(scene: Scene, answer: Answer) -> None:
    """The contract bounds the size, and does not say whether what is beyond is refused or cut."""
    if not answer.ok:
        scene.wrong_input(_QUERY, answer)
    elif (count := len(_items(answer))) > _LARGEST:
        scene.ledger.differs(_QUERY, f"{answer.said}: it has {count} items")
    else:
        why = f"{answer.said}: it has {count} items, so the size may have been brought into bounds"
        scene.ledger.skips(_QUERY, why)


def _page_through(scene: Scene, limit: str) -> None:
    whole = scene.ask.call("list_deployments", f"?{limit}=100")
    if not whole.ok:
        return
    total = len(_items(whole))
    if _cursor(whole) is None:
        _see_last(scene, whole)
        _order(scene, _items(whole))
    if total < 2:
        why = f"the project has {total} deployments: one with more shows it"
        scene.ledger.skips("deployments.page-through page.next_cursor", why)
        return
    size = max(1, min(total // 3, 25))
    first = scene.ask.call("list_deployments", f"?{limit}={size}")
    cursor = _find_cursor(scene, f"?{limit}={size}", first)
    if cursor is None:
        _explain_no_cursor(scene, first, total)
        return
    pages = _follow(scene, f"?{limit}={size}", cursor, first)
    _compare(scene, whole, pages)


def _find_cursor(scene: Scene, query: str, first: Answer) -> str | None:
    told = _cursor(first)
    if told is None:
        return None
    known = scene.options.assumed.get("cursor_parameter")
    for name in (known,) if known else CURSORS:
        second = scene.ask.call(
            "list_deployments", f"{query}&{name}={quote(told, safe='')}", about="next page"
        )
        if second.ok and _ids(second) and _ids(second) != _ids(first):
            scene.observed.see("cursor_parameter", name)
            return name
    return None


def _explain_no_cursor(scene: Scene, first: Answer, total: int) -> None:
    if _cursor(first) is None:
        wrong = f"it has no next_cursor, although there are {total} deployments"
        scene.ledger.differs("deployments.page-through", f"{first.said}: {wrong}")
        return
    names = ", ".join(CURSORS)
    why = f"none of {names} takes the cursor: --assume cursor_parameter=NAME names it"
    scene.ledger.skips("deployments.page-through", why)


def _follow(scene: Scene, query: str, cursor: str, first: Answer) -> list[Answer]:
    pages = [first]
    while (told := _cursor(pages[-1])) is not None:
        if len(pages) == _MOST_PAGES:
            break
        about = f"page {len(pages) + 1}"
        page = scene.ask.call(
            "list_deployments", f"{query}&{cursor}={quote(told, safe='')}", about=about
        )
        if not scene.succeeded("deployments.page-through deployments.query", page):
            break
        pages.append(page)
    if pages[-1].ok and _cursor(pages[-1]) is None:
        _see_last(scene, pages[-1])
    return pages


def _compare(scene: Scene, whole: Answer, pages: list[Answer]) -> None:
    """Each deployment once: none twice, and none of a page that holds all left out."""
    ids = [found for page in pages for found in _ids(page)]
    said = f"{pages[0].said}, in {len(pages)} pages"
    twice = len(ids) - len(set(ids))
    wrong = f"{twice} deployments are on more than one page"
    scene.ledger.judge("deployments.page-through", not twice, said, wrong)
    if _cursor(pages[-1]) is not None:
        return  # the list is longer than we read
    left_out = set(_ids(whole)) - set(ids)
    wrong = f"{len(left_out)} deployments of one long page are on none of the short ones"
    scene.ledger.judge("deployments.page-through", not left_out, said, wrong)
    strangers = {str(item.get("project_id")) for page in pages for item in _items(page)} - {
        scene.options.project_id,
        "None",
    }
    wrong = "it lists deployments of another project"
    scene.ledger.judge("deployments.page-through", not strangers, said, wrong)


def _order(scene: Scene, items: list[dict[str, Any]]) -> None:
    made = [at for item in items if (at := moment(item.get("created_at"))) is not None]
    if len(set(made)) < 2:
        return
    if made == sorted(made):
        scene.observed.see("deployment_order", "oldest_first")
    elif made == sorted(made, reverse=True):
        scene.observed.see("deployment_order", "newest_first")
    else:
        scene.observed.note("deployments are ordered neither by newest nor by oldest first")


def _cursor(answer: Answer) -> str | None:
    """Where the list goes on; None where it does not. An empty text leads nowhere either."""
    told = answer.fields.get("next_cursor")
    return told if isinstance(told, str) and told else None


def _see_last(scene: Scene, last: Answer) -> None:
    if last.fields.get("next_cursor") == "":
        scene.observed.note("the last page's next_cursor is empty, which no assumption can express")
    else:
        how = "null" if "next_cursor" in last.fields else "absent"
        scene.observed.see("last_page_cursor", how)


def _items(answer: Answer) -> list[dict[str, Any]]:
    items = answer.fields.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _ids(answer: Answer) -> list[str]:
    # In one case: what else is wrong with an id is judged elsewhere.
    return [str(item["id"]).upper() for item in _items(answer) if item.get("id") is not None]
