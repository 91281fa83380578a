"""Turns errors about one entry of a file into one clear line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hosting_emulator_lab.replay.recording import RecordRefused


@contextmanager
def reading_entry(path: str) -> Iterator[None]:
    """Add the path of an entry to each error about the entry.

    Raises RecordRefused if a part of the entry is missing, has a wrong type, or cannot be read.
    """
    try:
        yield
    except RecordRefused:
        raise
    except KeyError as error:
        raise RecordRefused(f"{path}: {error.args[0]} is missing") from error
    except ValueError as error:
        raise RecordRefused(f"{path} cannot be read: {error}") from error
    except (TypeError, AttributeError) as error:
        raise RecordRefused(
            f"{path} cannot be read: it, or a part of it, has the wrong type "
            "(string, number, list, object)"
        ) from error
