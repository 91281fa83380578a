"""Members of objects: which are there, which are null, and which are there that nobody knows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.variation.drawing import Draws
from hosting_emulator.variation.shapes import Found
from hosting_emulator.variation.words import thing_of

#: Members of which no model knows anything.
_EXTRA: tuple[tuple[str, Any], ...] = (
    ("revision", 7),
    ("labels", {"tier": "standard", "größe": "groß"}),
    ("annotations", {}),
    ("links", [{"rel": "self", "href": "/v1"}]),
    ("owned_by", None),
    ("tags", []),
    ("weight", 0.25),
    ("is_preview", False),
    ("Schema-Version", "2026-11-21"),
)
_NEXT_POLL = (1, 2, 3, 5, 10, 20)
_RESULTS: tuple[Any, ...] = (
    {},
    {"outcome": "done", "warnings": []},
    {"steps": [{"name": "finish", "took_ms": 12}], "summary": None},
)


class Paging(NamedTuple):
    """How a page is made: its size, by how many characters its cursor is longer, if it is smaller."""

    size: int
    longer: int
    smaller: bool


def vary_absent(draws: Draws, found: Found, whole: dict[str, Any]) -> list[str]:
    """Leave members out that have a value, and return which.

    A thing lacks the same ones whoever asks and however often; what is observed of it may not.
    """
    lasting = "id" in found.members or found.shape == "DatabasePlacement"
    thing = thing_of(found, whole) if lasting else (draws.what, found.place)
    if not draws.wants("absent-fields", *thing, found.shape):
        return []
    left = [
        name
        for name in RESOURCES[found.shape].may_lack
        if found.members.get(name) is not None
        and draws.wants("absent-fields", *thing, found.shape, name, one_in=4)
    ]
    for name in left:
        del found.members[name]
        draws.note("absent-fields")
    return left


def vary_scopes(draws: Draws, authorization: dict[str, Any]) -> None:
    """Write scopes the other way round: no order of theirs is spoken of."""
    scopes = authorization["scopes"]
    if len(scopes) > 1 and draws.wants("scope-order"):
        authorization["scopes"] = scopes[::-1]
        draws.note("scope-order")


def vary_empty(draws: Draws, found: Found, left: Collection[str]) -> None:
    """Write members without a value the other way: null for absent, absent for null.

    Those in `left` have a value, and are not there for that alone.
    """
    members = found.members
    for name in RESOURCES[found.shape].may_be_empty:
        if members.get(name) is not None or name in left:
            continue
        if draws.wants("empty-fields", draws.what, found.place, name):
            if name in members:
                del members[name]
            else:
                members[name] = None
            draws.note("empty-fields")


def vary_extra(draws: Draws, found: Found) -> None:
    """Add a member that nobody knows, first or last, where the contract does not close the object."""
    if RESOURCES[found.shape].closed:
        return
    point = "problem-extras" if found.shape == "ProblemDetails" else "extra-fields"
    thing = (draws.what, found.place)
    if not draws.wants(point, *thing, one_in=3):
        return
    name, value = draws.pick(point, _EXTRA, *thing)
    if draws.pick(point, (True, False), *thing, "place"):
        found.members[name] = value
    else:
        members = dict(found.members)
        found.members.clear()
        found.members.update({name: value, **members})
    draws.note(point)


def vary_operation(draws: Draws, operation: dict[str, Any]) -> None:
    """Vary what an operation reports: its progress, when to poll again, and its result."""
    progress = operation.get("progress")
    if isinstance(progress, dict):
        if draws.wants("progress-absent", one_in=4):
            del operation["progress"]
            draws.note("progress-absent")
        elif isinstance(progress.get("next_poll_after_seconds"), int) and draws.wants("next-poll"):
            asked = progress["next_poll_after_seconds"]
            others = [seconds for seconds in _NEXT_POLL if seconds != asked]
            progress["next_poll_after_seconds"] = draws.pick("next-poll", others)
            draws.note("next-poll")
    if isinstance(operation.get("result"), dict) and draws.wants(
        "result-content", str(operation["id"])
    ):
        # What has ended does not change any more: its result is drawn once.
        results = [result for result in _RESULTS if result != operation["result"]]
        operation["result"] = draws.pick("result-content", results, str(operation["id"]))
        draws.note("result-content")


def vary_page(draws: Draws, page: dict[str, Any], paging: Paging | None) -> None:
    """Vary a page's last cursor, and note what was made of its size and of any other cursor."""
    if page.get("next_cursor") is None:
        if draws.wants("last-page-cursor"):
            if "next_cursor" in page:
                del page["next_cursor"]
            else:
                page["next_cursor"] = None
            draws.note("last-page-cursor")
        return
    if paging is not None and paging.smaller:  # there is more, and it would have had a place here
        draws.note("page-size")
    if paging is not None and paging.longer:
        draws.note("cursor-form")
