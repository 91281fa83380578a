"""Golden file with armed faults and outcomes: what each waits for, and why it has not acted.

Each paragraph of `armed_rules.txt` is a rule that is armed in a fresh world, followed by requests.
Below the rule and below each request stands what the rule then waits for, and why it has not acted.
ULIDs are replaced by `ID`. `make record` renews the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.outcome_texts import outcome_text
from hosting_emulator.faults.trigger_texts import waits_for
from hosting_emulator.faults.views import armed_document
from tests.support.in_process import InProcess
from tests.support.recorded_texts import HEADER, without_ids

Document: TypeAlias = dict[str, Any]

GOLDEN_FILE = Path(__file__).with_name("armed_rules.txt")

#: Faults, each with the steps after it is armed.
FAULTS: list[tuple[Document, list[str]]] = [
    ({"timeout": {}}, []),
    ({"timeout": {}, "call": "get_dns_authorization"}, ["list"]),
    ({"timeout": {}, "call": "get_dns_authorization", "project": "blog"}, ["list", "dns"]),
    ({"timeout": {}, "project": "blog", "principal": "reader", "method": "PUT"}, ["dns"]),
    ({"timeout": {}, "path": "/v1/projects/*/domains", "credentials": "none"}, ["dns"]),
    ({"timeout": {}, "query": {"limit": "5"}, "header": {"X-Secret": "a"}}, ["list"]),
    ({"timeout": {}, "body": {"name": "x" * 200}}, ["list"]),
    ({"latency": {"delay_ms": 1}, "from": "1h", "until": "2h"}, ["list", "1h", "1h", "list"]),
    ({"latency": {"delay_ms": 1}, "pauses": ["1h", "2h"]}, ["1h", "list", "1h"]),
    ({"latency": {"delay_ms": 1}, "skip_first": 1}, ["list", "list"]),
    ({"latency": {"delay_ms": 1}, "skip_first": 2, "every": 3}, ["list", "list", "list"]),
    ({"latency": {"delay_ms": 1}, "times": 2}, ["list", "list"]),
    ({"latency": {"delay_ms": 1}, "times": 1}, ["list", "list"]),
    ({"latency": {"delay_ms": 1}, "probability": 0.001}, ["list"]),
    ({"latency": {"delay_ms": 1}, "while": {"dns": "expired"}}, ["list", "dns"]),
    ({"connection_reset": {}, "after_commit": True, "call": "list_deployments"}, ["refused"]),
    ({"reset_in_upload": {}}, ["list"]),
    ({"bad_certificate": {"reason": "expired"}}, ["list"]),
    ({"stale_read": {"age": "30s"}}, []),
    ({"stale_read": {"age": "30s"}, "call": "get_operation", "optional": True}, ["list"]),
    ({"alter": {"remove": "/progress"}, "call": "get_operation"}, ["source", "poll"]),
    ({"alter": {"set": {"/revision": 7}}, "call": "get_dns_authorization"}, ["refused dns"]),
    ({"stalled_response": {"world_pause": "1s"}}, ["list"]),
]
#: Outcomes, each with the steps after it is armed.
OUTCOMES: list[tuple[Document, list[str]]] = [
    ({"fail": {}}, ["list"]),
    ({"fail": {}, "call": "apply_project_domains"}, ["source", "domains", "1s", "10m"]),
    ({"fail": {"phase": "building"}}, ["domains", "source"]),
    ({"fail": {"phase": "deploying", "leaves": {"hosts": ["mail"]}}}, ["domains", "10m"]),
    ({"fail": {"leaves": {"hosts": ["mail", "production"], "dns": "revoked"}}}, ["domains"]),
    (
        {"fail": {"leaves": {"source": "initialized", "deployment": "ready", "dns": "revoked"}}},
        ["source"],
    ),
    ({"cancel": {}, "times": 1, "skip_first": 1}, ["domains", "domains", "10m"]),
    ({"stick": {"phase": "deploying"}}, ["source", "10m"]),
    ({"stick": {"phase": "deploying", "for": "1h"}, "times": 1}, ["source", "10m", "1h"]),
    ({"stick": {"phase": "deploying"}, "while": {"dns": "pending"}}, ["source", "10m"]),
    (
        {"fail": {"phase": "deploying"}, "while": {"dns": "revoked"}, "times": 1},
        ["source", "1s", "10m"],
    ),
    ({"succeed": {"queued": "1s", "running": "1m"}}, ["source", "10m"]),
    ({"reconcile": {"phase": "building", "attempts": 2}}, ["source", "10m"]),
    ({"fail": {}, "project": "blog", "probability": 0.5}, ["source"]),
]


def _take(world: InProcess, step: str) -> None:
    """Send the request, or let the world time pass, that a step names."""
    if step == "list":
        world.deployments()
    elif step == "dns":
        world.dns()
    elif step == "refused":
        world.deployments("?limit=x")
    elif step == "refused dns":
        world.dns(user=None)
    elif step == "source":
        world.initialize()
    elif step == "domains":
        world.apply_domains()
    elif step == "poll":
        world.poll(max(world.records("operations")))
    else:
        world.advance(step)


def _state(world: InProcess, rule_id: str, category: RuleCategory) -> str:
    """Return what a rule waits for, its counts, and why it has not acted."""
    rule = world.record(category.table.name, rule_id)
    now_ms = world.engine.now_ms()
    usage = world.engine.usage.of(rule_id)
    document = armed_document(world.world, rule, now_ms, usage, category)
    counts = "/".join(str(document[name]) for name in ("considered", "seen", "hits"))
    text = f"  waits for: {waits_for(world.world, rule, now_ms) or 'nothing'}\n"
    text += f"  considered/seen/hits: {counts}{', spent' if document['spent'] else ''}\n"
    for name in ("unused", "note"):
        if document.get(name):
            text += f"  {name}: {document[name]}\n"
    for operation in world.records("operations").values():
        if operation.outcome is not None and operation.outcome.id == rule_id:
            text += f"  its effect on {operation.id}: {outcome_text(operation.outcome) or 'none'}\n"
    return text


def _paragraph(document: Document, steps: list[str], category: RuleCategory) -> str:
    world = InProcess()
    add = world.add_fault if category is FAULT else world.add_outcome
    rule_id = add(**document)
    text = f"{json.dumps(document)}\n{_state(world, rule_id, category)}"
    for step in steps:
        _take(world, step)
        text += f"{step}\n{_state(world, rule_id, category)}"
    return text


def golden_text() -> str:
    """Return the text that the golden file must have."""
    text = HEADER
    for document, steps in FAULTS:
        text += f"\n{_paragraph(document, steps, FAULT)}"
    for document, steps in OUTCOMES:
        text += f"\n{_paragraph(document, steps, OUTCOME)}"
    return without_ids(text)


if __name__ == "__main__":
    GOLDEN_FILE.write_text(golden_text(), encoding="utf-8")
