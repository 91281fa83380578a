"""Conduct as SARIF 2.1.0, which code scanning tools read: a run of rules, a result for each finding.

There is no source line to point at: a result names its requests as logical locations. As code
scanning shows nothing without a file, each points at the first line of one, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from hosting_emulator_cli.output import as_json

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Found = Mapping[str, Any]


def conduct_sarif(report: Any, rules: Sequence[Found], world: str, about: str) -> str:
    """Write a report as a SARIF log, ending in a newline.

    `about` is a file of the repository, from its root, where results are shown.
    """
    from hosting_emulator import __version__

    known = [rule for rule in rules if rule["id"] not in report["rules_off"]]
    places = {rule["id"]: place for place, rule in enumerate(known)}
    driver = {
        "name": "hosting-emulator",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in known],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"conduct/{world}/"},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": remark}} for remark in report["remarks"]
                ],
            }
        ],
        "results": [
            _result(found, places[found["rule"]], world, about) for found in report["findings"]
        ],
    }
    return as_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(rule: Found) -> dict[str, Any]:
    return {
        "id": rule["id"],
        "shortDescription": {"text": rule["title"]},
        "fullDescription": {"text": f'{rule["matters"]} "{rule["because"]}" ({rule["place"]})'},
        "help": {"text": rule["instead"]},
        "defaultConfiguration": {"level": rule["severity"]},
    }


def _result(found: Found, place: int, world: str, about: str) -> dict[str, Any]:
    file = {
        "artifactLocation": {"uri": quote(about), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1},
    }
    return {
        "ruleId": found["rule"],
        "ruleIndex": place,
        "level": found["severity"],
        "message": {"text": f"{found['says']} {found['instead']}"},
        "locations": [
            {
                "physicalLocation": file,
                "logicalLocations": [
                    {
                        "name": f"request {n}",
                        "fullyQualifiedName": f"{world}/requests/{n}",
                        "kind": "resource",
                    }
                ],
            }
            for n in found["requests"]
        ],
        "occurrenceCount": len(found["requests"]) + found["more_requests"],
        "properties": {"at": found["at"], "requests": found["requests"]},
    }
