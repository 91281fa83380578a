"""Which call a request is, by its method and path: records of others do not tell."""

from __future__ import annotations

import re

#: As the contract has them. A poll is known at any place that a service may give it.
CALL_PATHS = {
    "set_project_powered_by_flag": ("PUT", "/v1/projects/{id}/powered-by-flag"),
    "initialize_managed_source": ("POST", "/v1/projects/{id}/source:initialize"),
    "create_user_api_key": ("POST", "/v1/organizations/{id}/user-api-keys"),
    "apply_project_domains": ("PUT", "/v1/projects/{id}/domains"),
    "get_dns_authorization": ("GET", "/v1/projects/{id}/edge-dns"),
    "list_deployments": ("GET", "/v1/projects/{id}/deployments"),
    "create_dev_access_ticket": ("POST", "/v1/projects/{id}/dev-access-tickets"),
    "read_database_compute": ("GET", "/v1/projects/{id}/database/compute"),
}
_POLL = re.compile(r"/v1/(?:[^/]+/[^/]+/)?operations/[^/]+")
_CALLS = [
    (call, method, re.compile(re.escape(path).replace(re.escape("{id}"), "[^/]+")))
    for call, (method, path) in CALL_PATHS.items()
]


def call_of(method: str, target: str) -> str | None:
    """Return the call that a request is, of its path from `/v1` on; None: it is none."""
    path = target.partition("?")[0].replace("%3A", ":").replace("%3a", ":")
    for call, wanted, pattern in _CALLS:
        if method == wanted and pattern.fullmatch(path):
            return call
    return "get_operation" if method == "GET" and _POLL.fullmatch(path) else None
