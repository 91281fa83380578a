"""SARIF 2.1.0, which code scanning tools read: one run, its rules and its results.

A result names where it was as logical locations; as code scanning shows nothing without a file, each
points at the first line of one, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from hosting_emulator import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def location(about: str, name: str, full_name: str) -> dict[str, Any]:
    """Make a place in the file `about`, with what it is called."""
    file = {"uri": quote(about), "uriBaseId": "%SRCROOT%"}
    named = {"name": name, "fullyQualifiedName": full_name, "kind": "resource"}
    return {
        "physicalLocation": {"artifactLocation": file, "region": {"startLine": 1}},
        "logicalLocations": [named],
    }


def rule(id_: str, title: str, text: str, instead: str, level: str) -> dict[str, Any]:
    """Make a rule; `level` is note, warning or error."""
    return {
        "id": id_,
        "shortDescription": {"text": title},
        "fullDescription": {"text": text},
        "help": {"text": instead},
        "defaultConfiguration": {"level": level},
    }


def report(
    run_id: str,
    rules: Sequence[dict[str, Any]],
    results: Sequence[dict[str, Any]],
    notes: Sequence[str] = (),
    *,
    successful: bool = True,
) -> str:
    """Write a report as one document, ending in a newline. Each result has the `ruleId` of a rule.

    Without `successful` the tool could not judge, so that no results do not mean that all is well.
    """
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    driver = {"name": "hosting-emulator", "semanticVersion": __version__, "rules": rules}
    told = [{"level": "note", "message": {"text": note}} for note in notes]
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": run_id},
        "invocations": [{"executionSuccessful": successful, "toolExecutionNotifications": told}],
        "results": [{**result, "ruleIndex": places[result["ruleId"]]} for result in results],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
