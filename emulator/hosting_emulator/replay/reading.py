"""Reading records: an HTTP Archive, or exchanges of our own log.

It must not send anything, nor know any world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator.replay.exchanges import read_exchanges
from hosting_emulator.replay.har import read_har
from hosting_emulator.replay.record import Record, RecordRefused


def read_record(document: Any) -> Record:
    """Read a parsed JSON document: a HAR, or whole exchanges of our request log.

    Raises RecordRefused.
    """
    if isinstance(document, Mapping) and "log" in document:
        return read_har(document["log"])
    if isinstance(document, Mapping) and "items" in document:
        document = document["items"]
    if isinstance(document, Mapping) and "answer" in document:
        document = [document]
    if isinstance(document, Sequence) and not isinstance(document, str):
        return read_exchanges(document)
    raise RecordRefused(
        "this is no record of requests: give an HTTP Archive, such as "
        "`hosting-emulator requests har` or a browser's network panel writes"
    )
