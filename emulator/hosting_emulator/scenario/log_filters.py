"""The filters of a `log` step and their types."""

from __future__ import annotations

from collections.abc import Mapping

from hosting_emulator.criteria.request_filters import COUNT, request_filters
from hosting_emulator.criteria.value_types import ValueType
from hosting_emulator.faults.kinds import fault_kinds


def log_filters(
    users: Mapping[str, str] | None, projects: Mapping[str, str] | None
) -> dict[str, ValueType]:
    """Return the type of each filter of a `log` step, by the filter's name.

    `users` and `projects` map the world's aliases to ids. If either is None, the corresponding
    filter accepts any name.
    """
    filters = request_filters(_names(users), _names(projects), fault_kinds())
    return filters | {"count": COUNT}


def _names(ids_by_alias: Mapping[str, str] | None) -> list[str] | None:
    if ids_by_alias is None:
        return None
    return [*ids_by_alias, *ids_by_alias.values()]
