"""Reads a recording, in any of the supported forms, from parsed JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator_lab.replay.har_archive import read_har
from hosting_emulator_lab.replay.logged_exchanges import read_exchanges
from hosting_emulator_lab.replay.recording import Recording, RecordRefused


def read_record(document: Any) -> Recording:
    """Read an HTTP Archive, or exchanges of the emulator's request log with headers and bodies.

    Exchanges may be a single exchange, a list, or an object with an `items` member.

    Raises RecordRefused if the document is neither.
    """
    if isinstance(document, Mapping) and "log" in document:
        return read_har(document["log"])
    exchanges = document
    if isinstance(document, Mapping) and "items" in document:
        exchanges = document["items"]
    if isinstance(exchanges, Mapping) and "response" in exchanges:
        exchanges = [exchanges]
    if isinstance(exchanges, Sequence) and not isinstance(exchanges, str):
        return read_exchanges(exchanges)
    raise RecordRefused(
        "this is not a recording of requests: give an HTTP Archive, such as "
        "`hosting-emulator requests har` or a browser's network panel writes"
    )
