"""Finds Idempotency-Keys in which the process id is all that differs between two runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hosting_emulator_lab.judge.client_requests import NumberedRequest

_NUMBER = re.compile(r"\d+")
#: A process that the command starts has an id that is at most this much higher than that of the command.
#: Among so few ids, no random number falls into the range in each of several runs.
_LARGEST_DISTANCE = 200


def process_id_key(requests: Iterable[NumberedRequest], pid: int) -> str:
    """Return the first key that consists of the id of a process of this run and of words, or "".

    `pid` is the process id of the command, or 0 if it is unknown. A key with a second number of at least
    two digits does not count, because this number may differ between runs.
    """
    if not pid:
        return ""
    for request in requests:
        key = request.key or ""
        numbers = [int(number) for number in _NUMBER.findall(key) if len(number) > 1]
        if len(numbers) == 1 and pid <= numbers[0] <= pid + _LARGEST_DISTANCE:
            return key
    return ""
