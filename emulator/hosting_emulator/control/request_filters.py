"""Reads filters for the request log from a query."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, cast

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.calls import call_named
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.value_types import Impossible
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_views import RequestFilter
from hosting_emulator.http.endpoint import ControlRefusal, find
from hosting_emulator.messages import RequestFilters
from hosting_emulator.world.tables import PROJECTS, USERS
from hosting_emulator.world.value import World

#: Matches a request's number in a log.
REQUEST_NUMBER = re.compile(r"[0-9]{1,15}")
_STATUS_NUMBER = re.compile("0|[1-9][0-9]{0,9}")


def read_filter(engine: Engine, filters: RequestFilters) -> RequestFilter:
    """Return the filter that a query describes.

    Raises ControlRefusal 404 for an unknown user or project, and 400 for any other invalid value.
    The error names the parameter.
    """
    status, status_class = _read_status(filters.get("status"))
    since_ms = _read_moment(engine, "since", filters.get("since"))
    before_ms = _read_moment(engine, "before", filters.get("before"))
    if since_ms is not None and before_ms is not None and since_ms >= before_ms:
        raise ControlRefusal(400, "Bad before", "before must be later than since")
    return RequestFilter(
        call=_read_call(filters.get("call")),
        status=status,
        status_class=status_class,
        user=_read_user(engine.world, filters.get("user")),
        project=_read_project(engine.world, filters.get("project")),
        since_ms=since_ms,
        before_ms=before_ms,
        text=filters.get("text"),
        # At this point the value is still a string, like all values from a query.
        after=_read_number(cast("str | None", filters.get("after"))),
    )


def _read_status(text: str | None) -> tuple[int | None, int | None]:
    """Return a status and a status class, such as 4 for `4xx`.

    At least one of the two is None.
    """
    if not text:
        return None, None
    value: int | str = text
    if _STATUS_NUMBER.fullmatch(text):
        value = int(text)
    _check_filter("status", value)
    if text.lower().endswith("xx"):
        return None, int(text[0])
    return int(text), None


def _read_call(name: str | None) -> str | None:
    if name is None:
        return None
    _check_filter("call", name)
    return call_named(name)


def _read_user(world: World, name: str | None) -> str | None:
    """Return the id of the user with this name. None and NOBODY are returned unchanged."""
    if name is None or name == NOBODY:
        return name
    return find(world, USERS, name).id


def _read_project(world: World, name: str | None) -> str | None:
    if name is None:
        return None
    return find(world, PROJECTS, name).id


def _read_number(text: str | None) -> int | None:
    if text is None:
        return None
    if not REQUEST_NUMBER.fullmatch(text):
        raise ControlRefusal(400, "Bad after", "after must be the number of a request")
    return int(text)


def _read_moment(engine: Engine, name: str, text: str | None) -> int | None:
    """Convert a timestamp, or a duration before now, to world time in milliseconds.

    Returns None if `text` is None. Raises ControlRefusal 400 if `text` is invalid.
    """
    if text is None:
        return None
    with suppress(ValueError):
        return engine.run_due() - parse_duration_ms(text)
    try:
        return parse_timestamp(text)
    except ValueError as error:
        message = f"{error}. A duration before now is also accepted, such as 90s or 5m"
        raise ControlRefusal(400, f"Bad {name}", message) from None


def _check_filter(name: str, value: Any) -> None:
    """Raise ControlRefusal 400 for a pattern or for a value that no request can have."""
    if isinstance(value, str) and (value == "*" or value.startswith("/")):
        message = (
            f"{name} must be a single value, not {value[:80]!r}; leave out {name} to accept any "
            "value"
        )
        raise ControlRefusal(400, f"Bad {name}", message)
    try:
        check(request_filters()[name], value)
    except Impossible as error:
        raise ControlRefusal(400, f"Bad {name}", f"{name} can never match: {error}") from None
