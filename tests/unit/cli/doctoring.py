"""How tests of `doctor` read what it found."""

from __future__ import annotations

import json

from hosting_emulator_cli.doctor.finding import Finding


def findings_of(result, check: str) -> list[dict]:
    return [found for found in json.loads(result.stdout)["findings"] if found["check"] == check]


def only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found
