"""Migrations: from each format of stored state to the next one. Reads and writes no file.

A format is the shape of the documents in snapshot, journal and export, which all carry its number.
To change what is stored: raise FORMAT, and add to MIGRATIONS, under the number before it, the two
functions that make a document of the old format one of the new. A start reads an older format
through them, writes a new snapshot, and only then lets the old files go; an import reads through
them too. `tests/unit/storage/formats` keeps an example of each format that ever was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from hosting_emulator.storage.errors import FormatRefused, StateRefused

FORMAT = 3
#: Plain documents by table and key. In a commit, None says that the row was deleted.
Tables = Mapping[str, Mapping[str, Any]]


class Migration(NamedTuple):
    """The way from one format to the next: for a whole state, and for what one commit wrote."""

    state: Callable[[Tables], Tables]
    commit: Callable[[Tables], Tables]


def _unchanged(tables: Tables) -> Tables:
    return tables


def _remembered_in_order(tables: Tables) -> Tables:
    """Format 2 keeps remembered answers in the order they came; format 1 kept none.

    It was read by when an answer expires, and then by key.
    """
    name = "remembered_answers"
    rows = tables.get(name, {})
    in_order = sorted(rows.items(), key=lambda row: (row[1].get("expires_ms", 0), row[0]))
    return {**tables, name: dict(in_order)}


MIGRATIONS: dict[int, Migration] = {
    1: Migration(_remembered_in_order, _unchanged),
    # Format 3 keeps a world's variation; a world of format 2 has none.
    2: Migration(_unchanged, _unchanged),
}


def check_format(found: object, written_by: object) -> int:
    """Return a format's number when it is ours or can be made ours. Raises FormatRefused."""
    if isinstance(found, int) and not isinstance(found, bool):
        if found <= FORMAT and all(number in MIGRATIONS for number in range(found, FORMAT)):
            return found
        if found > FORMAT:
            version = f"hosting-emulator {written_by} or newer" if written_by else "a newer version"
            raise FormatRefused(
                f"its format is {found}, and this hosting-emulator reads up to {FORMAT}; use "
                f"{version}, or another --data-dir"
            )
    raise FormatRefused(
        f"its format is {found!r}, which this hosting-emulator cannot read (it reads "
        f"{min(MIGRATIONS, default=FORMAT)} to {FORMAT}); use the version that wrote it"
    )


def migrate_state(tables: Tables, found: int) -> Tables:
    """Return a whole state's tables in our format. Raises StateRefused for what was never one."""
    return _migrated(tables, found, "state")


def migrate_commit(writes: Tables, found: int) -> Tables:
    """Return what one commit wrote in our format. Raises StateRefused for what was never one."""
    return _migrated(writes, found, "commit")


def _migrated(tables: Tables, found: int, what: Literal["state", "commit"]) -> Tables:
    try:
        for number in range(found, FORMAT):
            tables = getattr(MIGRATIONS[number], what)(tables)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise StateRefused(f"it is not of format {found}, as it says: {error!r}") from None
    return tables
