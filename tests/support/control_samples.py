"""Samples of the documents that the control API sends, for use with `FakeControl`.

`FakeControl` checks the samples against the types of the control API. Each function returns a
complete document, in which its keyword arguments replace members.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

URL = "http://127.0.0.1:4620"
CONTROL_URL = f"{URL}/_emulator"
NOON = "2030-01-31T09:30:00.000Z"

CLOCK: dict[str, Any] = {
    "mode": "scaled",
    "now": NOON,
    "rate": 60,
    "next_due_at": "2030-01-31T09:30:02.000Z",
    "next_event": "an operation goes on to verifying",
    "pending": 3,
}
ADVANCED = {**CLOCK, "moved_ms": 600_000, "events_run": 2}
HEALTH: dict[str, Any] = {"status": "ok", "version": "0.1.0", "storage": None}
INFO: dict[str, Any] = {
    "version": "0.1.0",
    "build": "editable",
    "pid": 4242,
    "instance": "5f1d0c3b7a9e4d2286b1f0c4e3a7d951",
    "base_url": URL,
    "dev_base_url": "http://localhost:4620",
    "control_url": CONTROL_URL,
    "docs_url": f"{CONTROL_URL}/docs",
    "openapi_url": f"{CONTROL_URL}/contract/openapi.json",
    "data_dir": "/data",
    "durability": "process",
    "tls_port": None,
    "ca_file": None,
    "started_at": "2026-01-01T00:00:00.000Z",
}
TOKEN: dict[str, Any] = {
    "access_token": "eyJ.eyJ.sig",
    "token_type": "Bearer",
    "expires_in": 3600,
    "expires_at": "2030-01-31T10:30:00.000Z",
}
API_KEY: dict[str, Any] = {
    "value": "phk_new",
    "key": {
        "id": "01KEY",
        "organization_id": "01ORGFREE",
        "name": "ci",
        "obfuscated_value": "phk_…new",
        "permissions": ["dns.read", "projects.read"],
        "expires_at": "2030-05-01T09:30:00.000Z",
        "created_at": NOON,
    },
}
ASSUMPTIONS: list[dict[str, Any]] = [
    {
        "name": "accepted_status",
        "value": 200,
        "default": 202,
        "alternatives": [200, 201],
        "outside_the_letter": [],
        "contradicts": "",
        "warning": "",
        "about": "Status of an accepted operation.",
        "sentence": "not shown",
        "fixed": "",
    }
]
VARIATION: dict[str, Any] = {"seed": "5", "only": ["page-size"], "assumed": {}, "varied": {}}
STUCK: dict[str, Any] = {
    "intervention": "stick_operation",
    "message": "operation 01J0 is stuck while running",
}


def items(*rows: Any) -> dict[str, Any]:
    return {"items": list(rows)}


def new_world(name: str, **changes: Any) -> dict[str, Any]:
    """Return the summary of a world that was created or copied."""
    return world(name, notices=[], **changes)


def world(name: str = "default", **changes: Any) -> dict[str, Any]:
    path = "" if name == "default" else f"/worlds/{name}"
    return {
        "name": name,
        "seed": "s",
        "ephemeral": False,
        "base_url": URL + path,
        "control_url": f"{CONTROL_URL}/worlds/{name}",
        "issuer": f"{CONTROL_URL}/idp",
        "commit": 7,
        "scenario": None,
        "clock": CLOCK,
        "assumptions": {},
        "warnings": [],
        "variation": None,
        "counts": {
            "projects": 2,
            "operations": 5,
            "deployments": 41,
            "tickets": 1,
            "api_keys": 0,
        },
        "triggers": [],
        "organizations": [
            {"alias": "free", "id": "01ORGFREE", "name": "Free", "plan": "free"},
            {"alias": "paid", "id": "01ORGPAID", "name": "Paid", "plan": "paid"},
        ],
        "users": [{"alias": "owner", "id": "01OWNER", "email": "o@x.test", "name": "Olga"}],
        "projects": [
            project("first", "01PROJ1", "shop", "01ORGFREE"),
            project("second", "01PROJ2", "blog", "01ORGPAID"),
        ],
        **changes,
    }


def project(alias: str, project_id: str, handle: str, organization_id: str) -> dict[str, Any]:
    return {
        "alias": alias,
        "id": project_id,
        "handle": handle,
        "organization_id": organization_id,
        "source_generation": 0,
    }


def fault(effect: str = "timeout", **changes: Any) -> dict[str, Any]:
    """Return an armed fault that has not acted yet."""
    return {
        "id": "fault-1",
        "order": 0,
        effect: {},
        "after_commit": False,
        "armed_at": "2026-03-01T12:00:00.000Z",
        "considered": 0,
        "seen": 0,
        "hits": 0,
        "spent": False,
        "unused": None,
        **changes,
    }


def exchange(n: int, **changes: Any) -> dict[str, Any]:
    """Return an exchange in the request log, with a successful response."""
    return {
        "n": n,
        "at": "2030-01-31T09:30:00.250Z",
        "method": "GET",
        "path": "/v1/projects/01PROJ1/edge-dns",
        "query": "",
        "call": "get_dns_authorization",
        "project": "01PROJ1",
        "operation": None,
        "user_id": "01OWNER",
        "user": "owner",
        "status": 200,
        "code": None,
        "idempotency_key": None,
        "replayed": False,
        "lost": None,
        "varied": [],
        "in_progress": False,
        "why": [],
        "duration_us": 412.0,
        **changes,
    }


def message(body: str | None, **changes: Any) -> dict[str, Any]:
    """Return the headers and body of a request or a response in the log."""
    size = len((body or "").encode())
    return {"headers": [], "body": body, "body_bytes": size, "body_cut": False, **changes}


def request_page(*exchanges: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    return {
        "items": list(exchanges),
        "total": len(exchanges) if total is None else total,
        "times_cleared": 0,
    }


def conduct_report(*findings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "judged": 12,
        "unseen": 0,
        "findings": list(findings),
        "counts": dict(Counter(finding["rule"] for finding in findings)),
        "skipped_rules": [],
        "remarks": [],
        "errors": [],
        "complete": True,
        **changes,
    }


def story_report(*steps: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "scenario": "outage",
        "file": "outage.yaml",
        "passed": all(step["passed"] for step in steps),
        "steps": list(steps),
        "entries": [],
        "digest": "00",
        "variation": None,
        "warnings": [],
        **changes,
    }
