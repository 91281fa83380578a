"""Call 6: page through a project's deployments.

A cursor names a place in the project's list, which only ever grows at its new end; so each
deployment that was there when the paging began comes exactly once, whatever arrives meanwhile.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from hosting_emulator.calls.asking import Ask, Reply
from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.world import views
from hosting_emulator.world.indexes import deployment_count, deployment_ids
from hosting_emulator.world.records import Project
from hosting_emulator.world.streams import derive
from hosting_emulator.world.tables import DEPLOYMENTS
from hosting_emulator.world.value import Change

_TAG = 6
_PLACE = 6


def answer(change: Change, ask: Ask, project: Project) -> Reply:
    """Answer one page, and a cursor for the next."""
    assumptions = change.assumptions
    newest_first = assumptions.deployment_order == "newest_first"
    indexes = change.world.indexes
    count = deployment_count(indexes, project.id)
    limit, cursor = ask.values["limit"], ask.values["cursor"]
    if newest_first:
        stop = count if cursor is None else _read_cursor(change, project, cursor, count)
        start = max(0, stop - limit)
        ids = deployment_ids(indexes, project.id, start, stop)[::-1]
        following = start if start > 0 else None
    else:
        start = 0 if cursor is None else _read_cursor(change, project, cursor, count)
        stop = min(count, start + limit)
        ids = deployment_ids(indexes, project.id, start, stop)
        following = stop if stop < count else None
    rows = change.world.tables[DEPLOYMENTS.name]
    records = [rows[key] for key in ids]
    next_cursor = None if following is None else _write_cursor(change, project, following)
    return Reply(200, views.deployments_page(records, next_cursor, assumptions), project.id)


def _write_cursor(change: Change, project: Project, place: int) -> str:
    packed = place.to_bytes(_PLACE, "big")
    return urlsafe_b64encode(_tag(change, project, packed) + packed).decode()


def _read_cursor(change: Change, project: Project, cursor: str, count: int) -> int:
    name = change.assumptions.cursor_parameter
    if len(cursor) != (_TAG + _PLACE) * 4 // 3:
        raise bad_cursor(name)
    raw = urlsafe_b64decode(cursor)
    place = int.from_bytes(raw[_TAG:], "big")
    if raw[:_TAG] != _tag(change, project, raw[_TAG:]) or not 0 < place <= count:
        raise bad_cursor(name)
    return place


def _tag(change: Change, project: Project, packed: bytes) -> bytes:
    """Bind a cursor to its list: one that was made up, or of another project or order, is refused."""
    order = change.assumptions.deployment_order
    return derive(change.world.seed, "cursor", order, project.id, packed.hex(), size=_TAG)
