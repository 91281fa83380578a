"""What faults there are: every effect with its options, every way to match and to count, in words."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.world.fault_records import KINDS

#: What each effect is for, with an example of its options (all of them are run by the tests).
EXAMPLES: dict[str, dict[str, Any]] = {
    "abort": {"code": "service_unavailable", "retry_after_seconds": 5},
    "gateway_error": {"status": 502},
    "latency": {"delay_ms": 200, "jitter_ms": 50},
    "timeout": {},
    "connection_reset": {},
    "empty_response": {},
    "truncate": {"bytes": 20},
    "malformed_response": {},
    "slow_response": {"bytes_per_second": 2000},
    "rate_limit": {"limit": 3, "window": "60s"},
}
MATCHES = {
    "call": "the call's id, such as list_deployments",
    "project": "a project, by alias or id",
    "principal": "a person, by alias or id",
    "method": "the HTTP method",
    "path": "the path below /v1, with * for any text, such as /v1/projects/*/domains",
    "header": "headers by name, their values with * for any text",
}
CONDITIONS = {
    "times": "act on so many requests, then no more (1 or more)",
    "skip_first": "let so many matching requests pass first",
    "every": "act on every n-th matching request",
    "probability": "act by chance, above 0 up to 1, drawn from the world's seed",
    "from": "act from this moment of world time on: a timestamp, or a duration from now",
    "until": "act before this moment of world time only: a timestamp, or a duration from now",
    "ttl": "act for this long in world time after it is armed",
    "phase": "before_commit: nothing is done; after_commit: it is done, and the answer is lost",
}


def describe_kinds() -> dict[str, Any]:
    """Return effects (with options and an example), matches and conditions."""
    return {
        "effects": [
            {
                "kind": kind,
                "about": (effect.__doc__ or "").strip(),
                "options": [field.encode_name for field in msgspec.structs.fields(effect)],
                "example": EXAMPLES[kind],
            }
            for kind, effect in KINDS.items()
        ],
        "matches": MATCHES,
        "conditions": CONDITIONS,
    }
