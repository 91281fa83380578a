"""What a running emulator would say: one world's worth of answers."""

from typing import Any

CLOCK: dict[str, Any] = {
    "mode": "scaled",
    "now": "2030-01-31T09:30:00.000Z",
    "rate": 60,
    "next_due_at": "2030-01-31T09:30:02.000Z",
    "pending": 3,
}
ADVANCED = {**CLOCK, "moved_ms": 600_000, "events_run": 2}
INFO: dict[str, Any] = {
    "version": "0.1.0",
    "pid": 4242,
    "base_url": "http://127.0.0.1:4620",
    "dev_base_url": "http://localhost:4620",
    "control_url": "http://127.0.0.1:4620/_emulator",
    "docs_url": "http://127.0.0.1:4620/_emulator/docs",
    "openapi_url": "http://127.0.0.1:4620/_emulator/contract/openapi.json",
    "data_dir": "/data",
    "durability": "process",
    "tls_port": None,
    "started_at": "2026-01-01T00:00:00.000Z",
}
TOKEN: dict[str, Any] = {
    "access_token": "eyJ.eyJ.sig",
    "token_type": "Bearer",
    "expires_in": 3600,
    "expires_at": "2030-01-31T10:30:00.000Z",
}
ASSUMPTIONS: list[dict[str, Any]] = [
    {
        "name": "accepted_status",
        "value": 200,
        "default": 202,
        "alternatives": [200, 201],
        "outside_the_letter": [],
        "about": "Status of an accepted operation.",
        "sentence": "not shown",
    }
]


def world(name: str = "default") -> dict[str, Any]:
    path = "" if name == "default" else f"/worlds/{name}"
    return {
        "name": name,
        "seed": "s",
        "ephemeral": False,
        "base_url": INFO["base_url"] + path,
        "control_url": f"{INFO['control_url']}/worlds/{name}",
        "issuer": f"{INFO['control_url']}/idp",
        "commit": 7,
        "clock": CLOCK,
        "assumptions": {},
        "warnings": [],
        "counts": {
            "projects": 2,
            "operations": 5,
            "deployments": 41,
            "tickets": 1,
            "api_keys": 0,
        },
        "organizations": [
            {"alias": "free", "id": "01ORGFREE", "name": "Free", "plan": "free"},
            {"alias": "paid", "id": "01ORGPAID", "name": "Paid", "plan": "paid"},
        ],
        "people": [{"alias": "owner", "id": "01OWNER", "email": "o@x.test", "name": "Olga"}],
        "projects": [
            {"alias": "first", "id": "01PROJ1", "handle": "shop", "organization_id": "01ORGFREE"},
            {"alias": "second", "id": "01PROJ2", "handle": "blog", "organization_id": "01ORGPAID"},
        ],
    }
