"""Every assumption with each of its alternatives, and one or more for those that may be anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hosting_emulator.contract.assumptions import DEFAULTS, describe

_ANY: dict[str, list[Any]] = {
    "operation_path": [
        "/v1/jobs/{operation_id}/state",
        "/v1/projects/{project_id}/operations/{operation_id}",
    ],
    "cursor_parameter": ["after"],
    "limit_parameter": ["page_size"],
    "default_page_size": [1, 7, 100],
    "environment_parameter": ["stage"],
    "idempotency_retention": ["1h", "90d"],
    "source_profile": ["immediate", "per_poll 2", "timed 1m 5m"],
    "domains_profile": ["immediate", "per_poll 2", "timed 1m 5m"],
    "progress_phases": [["queued", "making", "shipping", "checking", "finished"]],
    "reconciliation_states": [["required", "trying", "settled", "given up"]],
    "deployment_statuses": [["queued", "making", "shipping", "live", "broken", "dropped"]],
    "database_states": [["init", "up", "asleep", "growing", "down"]],
    "key_permissions": [["see", "change", "point", "history", "data", "names", "peek"]],
    "condition_codes": [{"wrong_media_type": "payload_too_large"}],
    "data_modes": [["shared", "isolated"]],
    "key_prefix": ["sk_"],
    "token_lifetime": ["5m"],
    "token_audience": ["another-api"],
    "problem_statuses": [
        {"etag_mismatch": 412, "interactive_login_required": 401, "organization_required": 400}
    ],
    "body_limit_bytes": [200, 4096],
    "rate_limit": ["2/1s", "30/60s"],
    "dev_zone": ["dev.test"],
    "docs_url": ["https://docs.example/api"],
}
#: Alternatives that no answer shows, or not among what the default world holds.
_UNSEEN = {
    "idempotency_retention",
    "idempotency_in_flight",
    "progress_phases",
    "reconciliation_states",
    "deployment_statuses",
    "database_states",
    "key_permissions",
    "condition_codes",
    "data_modes",
    "wrong_method",
    "token_lifetime",
    "body_limit_bytes",
    "rate_limit",
    "listed_statuses",
    "zero_credits",
    "domains_plan",
}
_UNSEEN_VALUES = {
    ("source_generation", "any_integer"),  # a check sends no negative one
    ("source_generation", "optional"),  # and always names the generation
    ("default_page_size", "100"),  # there are 45
    ("domains_profile", "immediate"),  # it waits for the source's operation
    *((name, value) for name in ("source_profile", "domains_profile") for value in
      ("per_poll 2", "timed 1m 5m")),
}  # fmt: skip


#: The sentences that an alternative outside the letter breaks.
_BREAKS = {"last_page_cursor=null": {"page.next_cursor"}}


class Alternative(NamedTuple):
    """`seen`: whether a check observes it. `breaks`: the sentences that it is outside of."""

    name: str
    value: Any
    seen: bool

    @property
    def breaks(self) -> set[str]:
        return _BREAKS.get(str(self), set())

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def alternatives() -> Iterator[Alternative]:
    """Yield all."""
    for row in describe(DEFAULTS):
        name, values = row["name"], row["alternatives"]
        for value in _ANY[name] if values == "any" else values:
            seen = name not in _UNSEEN and (name, str(value)) not in _UNSEEN_VALUES
            yield Alternative(name, value, seen)
