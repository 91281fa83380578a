"""Discovers the names of query parameters, which the contract describes without naming them."""

from __future__ import annotations

from collections.abc import Callable

from hosting_emulator_lab.contract_check.evidence import Keys
from hosting_emulator_lab.contract_check.run import CheckRun

#: Common names of the parameters, by the assumption that sets the name.
_COMMON_NAMES = {
    "environment_parameter": (
        "environment",
        "env",
        "stage",
        "target",
        "database_environment",
    ),
    "limit_parameter": (
        "limit",
        "page_size",
        "per_page",
        "pageSize",
        "max_results",
        "size",
        "first",
    ),
    "cursor_parameter": (
        "cursor",
        "page_token",
        "after",
        "next_cursor",
        "starting_after",
        "pageToken",
        "page",
    ),
}


def discover_name(
    run: CheckRun, assumption: str, works: Callable[[str], bool], keys: Keys, effect: str
) -> str | None:
    """Return the name of a parameter: the configured name, or the first common name that works.

    `works` tries a name. If no name works, return None and skip the sentences `keys`. The reason
    says that no name has the `effect`, such as `takes the cursor`. A configured name is used even
    if it does not work.
    """
    configured_name = run.options.assumed.get(assumption)
    if configured_name:
        works(configured_name)
        run.behavior.record(assumption, configured_name)
        return configured_name
    names = _COMMON_NAMES[assumption]
    for name in names:
        if works(name):
            run.behavior.record(assumption, name)
            return name
    run.evidence.skips(
        keys,
        f"none of {', '.join(names)} {effect}: set it with --assume {assumption}=NAME",
    )
    return None
