"""Every assumption with each alternative, or with one or more samples where any value is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import DEFAULTS

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
    "deployment_statuses": [
        ["queued", "making", "shipping", "live", "broken", "dropped", "replaced"]
    ],
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
#: Assumptions whose alternatives show in no response of the default world.
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
    ("source_generation", "any_integer"),  # the check sends no negative generation
    ("source_generation", "optional"),  # the check always names the generation
    ("default_page_size", "100"),  # the project has 45 deployments
    ("domains_profile", "immediate"),  # the operation waits for that of the source
    *((name, value) for name in ("source_profile", "domains_profile") for value in
      ("per_poll 2", "timed 1m 5m")),
}  # fmt: skip


#: The sentences that an alternative outside the letter of the contract breaks.
_BREAKS = {"last_page_cursor=null": {"page.next_cursor"}}


class Alternative(NamedTuple):
    """`is_observable`: whether a check observes it. `breaks`: the sentences that it is outside of."""

    name: str
    value: Any
    is_observable: bool

    @property
    def breaks(self) -> set[str]:
        return _BREAKS.get(str(self), set())

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def alternatives() -> Iterator[Alternative]:
    """Yield all alternatives."""
    for row in describe(DEFAULTS):
        name = row["name"]
        values = row["alternatives"]
        for value in _ANY[name] if values == "any" else values:
            is_observable = name not in _UNSEEN and (name, str(value)) not in _UNSEEN_VALUES
            yield Alternative(name, value, is_observable)
