"""How tests of `doctor` read what it found."""

from __future__ import annotations

import json


def findings_of(result, check: str) -> list[dict]:
    return [found for found in json.loads(result.stdout)["findings"] if found["check"] == check]
