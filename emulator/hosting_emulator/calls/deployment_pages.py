"""Pages of a project's deployments, and the cursors that link each page to the next.

A cursor contains a position in the project's list of deployments. New deployments are only ever
added at one end of the list, and a removed deployment keeps its position. A client that reads all
pages therefore receives every deployment that existed when it began exactly once, except those that
are removed before their page is read.

A variation can lengthen a cursor by extra characters (`LONGER`). Cursors of any of these lengths
are accepted, even after the world's variation has changed.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TypeAlias

from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.world import views
from hosting_emulator.world.indexes import (
    DeploymentChunk,
    Indexes,
    deployment_chunks,
    deployment_count,
    deployments_between,
    removed_count,
)
from hosting_emulator.world.records import Project
from hosting_emulator.world.streams import derive
from hosting_emulator.world.value import Change

#: The numbers of extra characters that a variation can add to a cursor. The resulting cursor never
#: exceeds the maximum length of the query parameter (`contract.calls.CURSOR`).
LONGER = (1, 80, 6, 300, 20, 480, 48)
#: The lengths, in bytes, of the two parts of a cursor: a tag that binds the cursor to its list, and
#: the position in the list.
_TAG_BYTES = 6
_POSITION_BYTES = 6
_SHORTEST = (_TAG_BYTES + _POSITION_BYTES) * 4 // 3

_PageKey: TypeAlias = tuple[str, str, int, int, int | None, int]
#: A cache of pages. A page is a pure function of its chunks, its key and the assumptions.
_pages: dict[_PageKey, tuple[list[DeploymentChunk], Assumptions, bytes]] = {}
_MOST_PAGES = 256


def list_deployments(change: Change, request: CallRequest, project: Project) -> Reply:
    """Return a page of deployments, with a cursor for the next page."""
    assumptions = change.assumptions
    newest_first = assumptions.deployment_order == "newest_first"
    indexes = change.world.indexes
    count = deployment_count(indexes, project.id)
    limit = request.values["limit"]
    cursor = request.values["cursor"]
    position = None
    if cursor is not None:
        position = _read_cursor(change, project, cursor, count)
    if removed_count(indexes, project.id):
        start, stop, following = _span_with_gaps(
            indexes, project, position, limit, newest_first=newest_first
        )
    else:
        start, stop, following = _span(count, position, limit, newest_first=newest_first)
    chunks = deployment_chunks(indexes, project.id, start, stop)
    longer = request.values.get("cursor_longer", 0)
    key = (change.world.seed, project.id, start, stop, following, longer)
    # Chunks are immutable: when a deployment changes, its chunk is replaced. A cached page that was
    # built from equal chunks is therefore still correct, whichever world it was built for.
    cached = _pages.get(key)
    if cached is not None:
        cached_chunks, cached_assumptions, cached_body = cached
        if cached_assumptions is assumptions and cached_chunks == chunks:
            return Reply(200, cached_body, project.id)
    next_cursor = None
    if following is not None:
        next_cursor = _write_cursor(change, project, following, longer)
    records = [
        record for record in deployments_between(chunks, start, stop) if record.removed_at is None
    ]
    if newest_first:
        records = records[::-1]
    body = views.deployments_page(records, next_cursor, assumptions)
    if len(_pages) >= _MOST_PAGES:
        _pages.clear()
    _pages[key] = (chunks, assumptions, body)
    return Reply(200, body, project.id)


def _span(
    count: int, position: int | None, limit: int, *, newest_first: bool
) -> tuple[int, int, int | None]:
    """Return the positions at which a page starts and ends, and the position at which the next page
    starts.

    The start is inclusive and the end is exclusive. The third value is None if there is no next
    page.
    """
    if newest_first:
        stop = count if position is None else position
        start = max(0, stop - limit)
        return start, stop, start if start > 0 else None
    start = position or 0
    stop = min(count, start + limit)
    return start, stop, stop if stop < count else None


def _span_with_gaps(
    indexes: Indexes, project: Project, position: int | None, limit: int, *, newest_first: bool
) -> tuple[int, int, int | None]:
    """Return the same values as `_span`, but for a list from which deployments have been removed.

    Removed deployments do not count toward the page size. There is no next page if all remaining
    deployments were removed.
    """
    count = deployment_count(indexes, project.id)
    records = deployments_between(deployment_chunks(indexes, project.id, 0, count), 0, count)
    present = [number for number, record in enumerate(records) if record.removed_at is None]
    if newest_first:
        stop = count if position is None else position
        remaining = [number for number in present if number < stop]
        if len(remaining) <= limit:
            return 0, stop, None
        return remaining[-limit], stop, remaining[-limit]
    start = position or 0
    remaining = [number for number in present if number >= start]
    if len(remaining) <= limit:
        return start, count, None
    return start, remaining[limit], remaining[limit]


def _write_cursor(change: Change, project: Project, position: int, longer: int) -> str:
    packed = position.to_bytes(_POSITION_BYTES, "big")
    shortest = urlsafe_b64encode(_tag(change, project, packed) + packed).decode()
    return _with_extra_characters(change, shortest, longer)


def _with_extra_characters(change: Change, shortest: str, longer: int) -> str:
    """Return the cursor `shortest`, preceded by `longer` extra characters.

    The first extra character is `-` or `_`.

    The extra characters are derived from the world's seed, so a cursor with any other extra
    characters must have been made up by a client.
    """
    if not longer:
        return shortest
    first = "-_"[derive(change.world.seed, "longer cursor", shortest, str(longer), size=1)[0] % 2]
    extra = "".join(
        urlsafe_b64encode(
            derive(change.world.seed, "longer cursor", shortest, str(longer), str(part), size=63)
        ).decode()
        for part in range(longer // 84 + 1)
    )
    return (first + extra)[:longer] + shortest


def _read_cursor(change: Change, project: Project, cursor: str, count: int) -> int:
    """Return the position that a cursor contains, from 1 to `count`. Raises Refused."""
    name = change.assumptions.cursor_parameter
    shortest = cursor[-_SHORTEST:]
    longer = len(cursor) - _SHORTEST
    if longer and longer not in LONGER:
        raise bad_cursor(name)
    unpacked = urlsafe_b64decode(shortest)
    tag = unpacked[:_TAG_BYTES]
    packed = unpacked[_TAG_BYTES:]
    position = int.from_bytes(packed, "big")
    if tag != _tag(change, project, packed) or not 0 < position <= count:
        raise bad_cursor(name)
    if cursor != _with_extra_characters(change, shortest, longer):
        raise bad_cursor(name)
    return position


def _tag(change: Change, project: Project, packed: bytes) -> bytes:
    """Return the bytes that bind a position to its list.

    The tag lets `_read_cursor` detect a cursor that a client made up, or one for a different
    project or sort order.
    """
    order = change.assumptions.deployment_order
    return derive(change.world.seed, "cursor", order, project.id, packed.hex(), size=_TAG_BYTES)
