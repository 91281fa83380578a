"""Conduct as documents: findings and rules, as the control API shows them."""

from __future__ import annotations

from typing import Any

from hosting_emulator.conduct.judges import RULES
from hosting_emulator.conduct.rule import Finding, Rule
from hosting_emulator.conduct.watch import Conduct
from hosting_emulator.contract.timestamps import format_timestamp


def conduct_view(conduct: Conduct, off: list[str]) -> dict[str, Any]:
    """Return a look at a world's conduct; findings come in the order of their last requests."""
    return {
        "judged": conduct.judged,
        "unseen": conduct.unseen,
        "findings": [_finding(finding) for finding in conduct.findings],
        "counts": conduct.counts,
        "rules_off": off,
        "remarks": conduct.remarks,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    rule = finding.rule
    return {
        "rule": rule.id,
        "severity": finding.severity,
        "title": rule.title,
        "says": finding.says,
        "requests": finding.requests,
        "more_requests": finding.more,
        "at": format_timestamp(finding.at_ms),
        "because": finding.because or rule.because,
        "place": finding.place or rule.place,
        "matters": rule.matters,
        "instead": rule.instead,
    }


def rules_view() -> dict[str, Any]:
    """Return all rules, in order."""
    return {"items": [rule_view(rule) for rule in RULES.values()]}


def rule_view(rule: Rule) -> dict[str, str]:
    """Return one rule."""
    return {
        "id": rule.id,
        "severity": rule.severity,
        "title": rule.title,
        "because": rule.because,
        "place": rule.place,
        "matters": rule.matters,
        "instead": rule.instead,
    }
