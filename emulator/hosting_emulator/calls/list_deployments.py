"""Call 6: page through a project's deployments.

A cursor names a place in the project's list, which only ever grows at its new end; so each
deployment that was there when the paging began comes exactly once, whatever arrives meanwhile.
The same place can be written at several lengths (`LONGER`): each is read, whatever is written now.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from operator import is_
from typing import TypeAlias

from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.world import views
from hosting_emulator.world.records import Project
from hosting_emulator.world.streams import derive
from hosting_emulator.world.value import Change, Run, deployment_count, deployment_runs, in_runs

_Key: TypeAlias = tuple[str, str, int, int, int | None, int]
_TAG = 6
_PLACE = 6
_SHORTEST = (_TAG + _PLACE) * 4 // 3
#: By how many characters a cursor may be longer than it must be, where one is asked to vary it.
LONGER = (1, 6, 20, 48, 80)


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Answer one page, and a cursor for the next."""
    assumptions = change.assumptions
    newest_first = assumptions.deployment_order == "newest_first"
    indexes = change.world.indexes
    count = deployment_count(indexes, project.id)
    limit, cursor = request.values["limit"], request.values["cursor"]
    if newest_first:
        stop = count if cursor is None else _read_cursor(change, project, cursor, count)
        start = max(0, stop - limit)
        following = start if start > 0 else None
    else:
        start = 0 if cursor is None else _read_cursor(change, project, cursor, count)
        stop = min(count, start + limit)
        following = stop if stop < count else None
    runs = deployment_runs(indexes, project.id, start, stop)
    longer = request.values.get("cursor_longer", 0)
    key = (change.world.seed, project.id, start, stop, following, longer)
    # A run is immutable and replaced when one of its deployments changes, so `is` tells whether the
    # bytes still hold: nothing needs to be told of a change, in this world or any other.
    kept = _pages.get(key)
    if (
        kept is not None
        and kept[1] is assumptions
        and len(kept[0]) == len(runs)
        and all(map(is_, kept[0], runs))
    ):
        return Reply(200, kept[2], project.id)
    next_cursor = None if following is None else _write_cursor(change, project, following, longer)
    records = in_runs(runs, start, stop)[:: -1 if newest_first else 1]
    body = views.deployments_page(records, next_cursor, assumptions)
    if len(_pages) >= _MOST_PAGES:
        _pages.clear()
    _pages[key] = (runs, assumptions, body)
    return Reply(200, body, project.id)


#: Pages written before: one is a pure function of its runs, its place, seed and assumptions.
_pages: dict[_Key, tuple[list[Run], Assumptions, bytes]] = {}
_MOST_PAGES = 256


def _write_cursor(change: Change, project: Project, place: int, longer: int) -> str:
    packed = place.to_bytes(_PLACE, "big")
    short = urlsafe_b64encode(_tag(change, project, packed) + packed).decode()
    return _lengthened(change, short, longer)


def _lengthened(change: Change, short: str, longer: int) -> str:
    """Write a cursor `longer` characters longer, first of them one that is no letter or digit."""
    if not longer:
        return short
    drawn = derive(change.world.seed, "longer cursor", short, str(longer), size=64)
    return ("-_"[drawn[0] % 2] + urlsafe_b64encode(drawn[1:]).decode())[:longer] + short


def _read_cursor(change: Change, project: Project, cursor: str, count: int) -> int:
    name = change.assumptions.cursor_parameter
    short = cursor[-_SHORTEST:]
    longer = len(cursor) - _SHORTEST
    if longer and longer not in LONGER:
        raise bad_cursor(name)
    raw = urlsafe_b64decode(short)
    place = int.from_bytes(raw[_TAG:], "big")
    if raw[:_TAG] != _tag(change, project, raw[_TAG:]) or not 0 < place <= count:
        raise bad_cursor(name)
    if cursor != _lengthened(change, short, longer):
        raise bad_cursor(name)
    return place


def _tag(change: Change, project: Project, packed: bytes) -> bytes:
    """Bind a cursor to its list: one that was made up, or of another project or order, is refused."""
    order = change.assumptions.deployment_order
    return derive(change.world.seed, "cursor", order, project.id, packed.hex(), size=_TAG)
