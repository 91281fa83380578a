"""Golden file with refusals: what users read when a fault, an outcome or an intervention is refused.

Each paragraph of `refusals.txt` is one case. Its lines are the documents that a fresh world gets, one
after the other. Below each document stands the sentence of the intervention, or the field and the
message of the refusal. ULIDs are replaced by `ID`. `make record` renews the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.interventions import read_intervention
from tests.support.in_process import InProcess
from tests.support.recorded_texts import HEADER, without_ids

Document: TypeAlias = dict[str, Any]

GOLDEN_FILE = Path(__file__).with_name("refusals.txt")

SOURCE = "initialize_managed_source"
DOMAINS = "apply_project_domains"
DNS = "get_dns_authorization"

FAULTS: list[Document] = [
    {},
    {"call": "list_deployments"},
    {"timeout": {}, "abort": {"code": "forbidden"}},
    {"time_out": {}},
    {"timeout": {}, "tims": 1},
    {"timeout": {}, "skip": 1},
    {"timeout": 5},
    {"timeout": []},
    {"timeout": {"seconds": 1}},
    {"nonsense": {}},
    {"list_deployments": {"abort": {}}},
    {"forbidden": {}},
    {"latenci": {}},
    {"timeout": {}, "tims": 2},
    {"timeout": {}, "user": "reader"},
    {"timeout": {}, "count": 2},
    {"timeout": {}, "before_commit": True},
    {"delay": {"ms": 5}},
    {"effect": "timeout"},
    {"type": "reset"},
    {"truncate": None, "bytes": 5},
    {"abort": 503},
    {"abort": {}},
    {"timeout": {"call": "get_operation"}},
    {"alter": {"user": "ada"}},
    {"abort": {"code": "rate_limit"}},
    {"abort": {"cod": "forbidden"}},
    {"abort": {"code": "forbidden", "status": 200}},
    {"abort": {"code": "forbidden", "status": 410}, "call": "set_project_powered_by_flag"},
    {
        "abort": {"code": "rate_limited", "status": 429},
        "path": "/v1/projects/*/powered-by-flag",
    },
    {"abort": {"code": "forbidden", "status": "403"}},
    {"abort": {"code": "rate_limited", "retry_after_seconds": 0}},
    {"gateway_error": {"status": 501}},
    {"gateway_error": {"status": 9}},
    {"latency": {}},
    {"latency": {"delay_ms": -1}},
    {"latency": {"delay_ms": 600_001}},
    {"latency": {"delay_ms": "200ms"}},
    {"latency": {"delay_ms": 1, "distribution": "flat"}},
    {"truncate": {"bytes": -1}},
    {"slow_response": {"bytes_per_second": 0}},
    {"rate_limit": {"limit": 1, "window": "1 fortnight"}},
    {"rate_limit": {"limit": 1, "window": "999ms"}},
    {"timeout": {}, "call": "list_deployment"},
    {"timeout": {}, "call": "zzz"},
    {"timeout": {}, "while": 5},
    {"timeout": {}, "while": {}},
    {"timeout": {}, "while": {"not": {}}},
    {"timeout": {}, "project": "shap"},
    {"timeout": {}, "project": "zzz"},
    {"timeout": {}, "principal": "ownr"},
    {"timeout": {}, "principal": "zzz"},
    {"timeout": {}, "method": "GOT"},
    {"timeout": {}, "path": "v1/*"},
    {"timeout": {}, "path": "/.service/*"},
    {"timeout": {}, "path": "/worlds/default/v1/*"},
    {"timeout": {}, "path": "/v1/projects/*/deployments?limit=5"},
    {"timeout": {}, "path": "/v1/*?limit=5"},
    {"timeout": {}, "path": "/v1/projects/a/b/domains"},
    {"timeout": {}, "path": "/v1/projects/*/domains", "call": "list_deployments"},
    {"timeout": {}, "method": "POST", "path": "/v1/nothing"},
    {"timeout": {}, "method": "GET", "path": "/v1/nothing"},
    {"timeout": {}, "method": "DELETE"},
    {"timeout": {}, "method": "PUT", "call": "list_deployments"},
    {"timeout": {}, "project": "shop", "call": "create_user_api_key"},
    {"timeout": {}, "header": ["X"]},
    {"timeout": {}, "header": {"X": 1}},
    {"timeout": {}, "times": 0},
    {"timeout": {}, "times": "2"},
    {"timeout": {}, "skip_first": -1},
    {"timeout": {}, "every": 0},
    {"timeout": {}, "probability": 0},
    {"timeout": {}, "probability": 1.1},
    {"timeout": {}, "from": "soon"},
    {"timeout": {}, "until": "2026-13-01T00:00:00Z"},
    {"timeout": {}, "until": "2020-01-01T00:00:00Z"},
    {"timeout": {}, "from": "10m", "until": "5m"},
    {"timeout": {}, "from": "10m", "until": "10m"},
    {"timeout": {}, "until": "0s"},
    {"timeout": {}, "until": 5},
    {"timeout": {}, "from": 5},
    {"rate_limit": {"limit": 1, "window": 60}},
    {"timeout": {}, "until": "long"},
    {"timeout": {}, "after_commit": "yes"},
    {"sliced_response": {}},
    {"sliced_response": {"bytes": 0}},
    {"sliced_response": {"bytes": 1, "pause_ms": 0}},
    {"stalled_response": {}},
    {"stalled_response": {"pause_ms": 1, "world_pause": "1s"}},
    {"stalled_response": {"world_pause": "0s"}},
    {"stalled_response": {"world_pause": "366d"}},
    {"stalled_response": {"world_pause": "soon"}},
    {"slow_upload": {"bytes_per_second": 0}},
    {"reset_in_upload": {}, "after_commit": True},
    {"reset_in_upload": {}, "body": {"name": "x"}},
    {"reset_in_upload": {}, "call": "idp_token"},
    {"reset_in_upload": {}, "call": "apply_project_domains"},
    {"bad_certificate": {}},
    {"bad_certificate": {"reason": "old"}},
    {"bad_certificate": {"reason": "expired"}, "call": "list_deployments"},
    {"bad_certificate": {"reason": "expired"}, "principal": "owner"},
    {"bad_certificate": {"reason": "expired"}, "after_commit": True},
    {"timeout": {}, "pauses": ["30s"]},
    {"timeout": {}, "pauses": ["30s", "20s"]},
    {"timeout": {}, "pauses": ["30s", "soon"]},
    {"timeout": {}, "from": "40s", "pauses": ["30s", "50s"]},
    {"timeout": {}, "until": "50s", "pauses": ["30s", "50s"]},
    {"admission_window": {}},
    {"admission_window": {"limit": 0}},
    {"admission_window": {"limit": 1, "window": "25h"}},
    {"admission_queue": {"limit": 1}},
    {"stale_read": {}},
    {"stale_read": {"age": "0s"}},
    {"stale_read": {"age": "soon"}},
    {"stale_read": {"age": "1s"}, "after_commit": False},
    {"stale_read": {"age": "1s"}, "call": "apply_project_domains"},
    {"stale_read": {"age": "1s"}, "method": "PUT"},
    {"stale_read": {"age": "1s"}, "call": "redeem_ticket"},
    {"stale_read": {"age": "1s"}, "call": "read_database_compute"},
    {"deliver_twice": {}},
    {"deliver_twice": {"response": "third"}},
    {"deliver_twice": {"response": "first"}, "after_commit": False},
    {"deliver_twice": {"response": "first"}, "call": "idp_token"},
    {"reset_in_upload": {}, "method": "GET"},
    {"reset_in_upload": {}, "path": "/v1/projects/*/edge-dns"},
    {"timeout": {}, "pauses": ["30s", "30s"]},
    {"timeout": {}, "from": "30s", "pauses": ["30s", "50s"]},
    {"timeout": {}, "project": "shop", "path": "/v1/organizations/*"},
    {"timeout": {}, "while": {"operation": "queued"}},
    {"timeout": {}, "while": {"project": "labs", "dns": "expired"}, "call": "create_user_api_key"},
    {"deliver_twice": {"response": "first"}, "after_commit": True},
    {"alter": {"remove": "/detail"}, "after_commit": True},
    {"alter": {"remove": "/detail"}, "call": "idp_token"},
    {"abort": {"code": "forbidden"}, "call": "idp_token"},
    {"gateway_error": {"status": 502}, "credentials": "none", "principal": "owner"},
    {"timeout": {}, "credentials": "none", "after_commit": True},
    {"timeout": {}, "credentials": "invalid", "principal": "owner"},
    {"redirect": {"location": "elsewhere"}},
    {"respond": {"status": 204, "content": "a"}},
    {"wrong_content_length": {"by": 0}},
    {"slow_upload": {"bytes_per_second": 1}, "after_commit": True},
    {"slow_upload": {"bytes_per_second": 1}, "header": {"X": "1"}, "body": {"name": "x"}},
    {"alter": {"set": {"/result": {"outcome": "done"}}}, "call": "get_operation", "times": 1},
    {"alter": {"set": {"/result": {"outcome": "done"}}}, "call": "get_operation", "every": 2},
]

#: Calls, and changes of their responses that the contract forbids.
FORBIDDEN_CHANGES: list[tuple[str, Document]] = [
    ("set_project_powered_by_flag", {"status": 429}),
    ("set_project_powered_by_flag", {"status": 201}),
    ("set_project_powered_by_flag", {"set": {"/enabled": True}}),
    ("set_project_powered_by_flag", {"remove": "/enabled_at"}),
    ("create_user_api_key", {"set": {"/value": "phk_"}}),
    ("create_user_api_key", {"remove": "/value"}),
    ("get_operation", {"set": {"/state": "failed"}}),
    ("get_operation", {"set": {"/id": "0" * 26}}),
    ("get_operation", {"set": {"/progress/phase": 1}}),
    ("get_operation", {"set": {"/progress/phase": ""}}),
    ("get_operation", {"set": {"/progress/next_poll_after_seconds": -1}}),
    ("get_operation", {"rename": {"/state": "status"}}),
    ("list_deployments", {"remove": "/next_cursor"}),
    ("list_deployments", {"duplicate": "/items/0"}),
    ("list_deployments", {"remove": "/items/0"}),
    (DNS, {"set": {"/zone": "other.example"}}),
    (DNS, {"set": {"/provider_id": "p-1"}}),
    (DNS, {"duplicate": "/zone"}),
    (DNS, {"set": {"/code": "forbidden"}}),
    (DNS, {"set": {"/code": "no_such_code"}}),
    (DNS, {"set": {"/retry_after_seconds": 0}}),
    (DNS, {"headers": {"X-Request-Id": None}}),
    (DNS, {"headers": {"Content-Type": "text/html"}}),
    (DNS, {"headers": {"Content-Encoding": "gzip"}}),
    ("create_dev_access_ticket", {"set": {"/redeem_url": "https://example.com"}}),
    ("create_dev_access_ticket", {"remove": "/redeem_url"}),
    ("read_database_compute", {"set": {"/data_mode": "shared"}}),
    ("read_database_compute", {"set": {"/database": None}}),
    (DNS, {"status": 202}),
    (DNS, {"set": {"": []}}),
    (DNS, {"set": {"/expires_at": "soon"}}),
    (DNS, {"set": {"/status": "failed"}}),
    (DNS, {"set": {"/access_token": "x"}}),
    ("list_deployments", {"set": {"/items/0/status": ""}}),
    ("list_deployments", {"set": {"/items/0": 5}}),
]

#: Calls, and changes that no response can have or that cannot be written.
IMPOSSIBLE_CHANGES: list[tuple[str | None, Document]] = [
    ("get_operation", {"remove": "/stat"}),
    ("get_operation", {"set": {"/progress/phasee": "x"}}),
    ("get_operation", {"headers": {"X-Unknown": None}}),
    (DNS, {"set": {"/revision": 7, "/stauts": "expired"}}),
    (DNS, {"remove": "/zoen"}),
    (DNS, {"remove": ["/zone", "/zoen"]}),
    (DNS, {"rename": {"/zoen": "area"}}),
    (DNS, {"reorder": {"/scope": "reversed"}}),
    (DNS, {"headers": {"X-Unknown": None}}),
    (DNS, {"status": 200}),
    (None, {}),
    (None, {"breaking": True}),
    (None, {"set": {}}),
    (None, {"status": 503, "remove": "/detail"}),
    (None, {"remove": "detail"}),
    (None, {"remove": "/a~2"}),
    (None, {"remove": ""}),
    (None, {"status": 199}),
    (None, {"status": 299}),
    (None, {"status": 204, "breaking": True}),
    (None, {"headers": {"Content-Length": "3"}, "breaking": True}),
    (None, {"headers": {"X-Text": "a\nb"}, "breaking": True}),
    (None, {"reorder": {"/items": "sorted"}}),
]

OUTCOMES: list[Document] = [
    {"fial": {}},
    {"nonsense": {}},
    {"operation_failed": {}},
    {"fail": {"code": 5}},
    {"fail": {"phase": "bulding"}},
    {"fail": {}, "call": "list_deployments"},
    {"fail": {}, "method": "PUT"},
    {"cancel": {"phase": "building"}, "call": "apply_project_domains"},
    {"succeed": {"running": "soon"}},
    {"reconcile": {"each": "soon"}},
    {"fail": {}, "stick": {}},
    {"fail": {}, "while": {"dsn": "expired"}},
    {"fail": {}, "while": {"dns": "expird"}},
    {"fail": {"leaves": {}}},
    {"fail": {"leaves": {"hosts": ["staging"]}}},
    {"fail": {"leaves": {"hosts": ["mail", "mail"]}}},
    {"fail": {"leaves": {"flag": True}}},
    {"fail": {"leaves": {"deployment": "removed"}}},
    {"fail": {"leaves": {"dns": "authorized"}}},
    {"fail": {"leaves": {"source": "initialized"}}, "call": DOMAINS},
    {"cancel": {"leaves": {"hosts": ["mail"]}}, "call": SOURCE},
    {"fail": {"leaves": {"hosts": ["mail"], "source": "initialized"}}},
    {"fail": {"phase": "queued", "leaves": {"hosts": ["mail"]}}},
    {"fail": {"phase": "building", "leaves": {"deployment": "ready"}}},
    {"succeed": {"leaves": {"hosts": ["mail"]}}},
    {"fail": {}, "while": {"claim": "free"}},
    {"stick": {}, "while": {"not": {"claim": "held"}}},
    {"fail": {"phase": "queued"}, "while": {"dns": "revoked"}},
    {"stick": {"for": "soon"}},
    {"stick": {"for": "1s"}},
    {"stick": {"for": "3s"}, "call": "apply_project_domains"},
    {"stick": {"phase": "building", "for": "5m"}, "call": "apply_project_domains"},
    {"fail": {"phase": "nowhere"}, "call": DOMAINS},
    {"fail": 5},
    {"fail": {}, "call": "redeem_ticket"},
    {"fail": {"leaves": {"hosts": []}}},
    {"fail": {"leaves": {"deployment": "ready"}}, "call": DOMAINS},
]


def _key(letter: str, **fields: Any) -> Document:
    """Return a key of a world file, whose secret consists of one letter."""
    return {"value": f"phk_{letter * 43}", **fields}


def _project(**fields: Any) -> Document:
    return {"alias": "new", "organization": "acme", **fields}


#: Documents that the world gets one after the other. A document that names a call
#: is a request, and `advance` moves the clock. The others are interventions.
INTERVENTIONS: list[list[Document]] = [
    # Operations
    [
        {DOMAINS: {"project": "shop"}},
        {"release_operation": {"project": "shop"}},
        {"stick_operation": {"project": "shop"}},
        {"stick_operation": {"project": "shop"}},
        {"step_operation": {"project": "shop"}},
        {"release_operation": {"project": "shop"}},
        {"step_operation": {"project": "shop"}},
        {"require_reconciliation": {"project": "shop"}},
        {"release_operation": {"project": "shop"}},
        {"run_reconciliation": {"project": "shop"}},
        {"require_reconciliation": {"project": "shop"}},
        {"complete_reconciliation": {"project": "shop"}},
        {"exhaust_reconciliation": {"project": "shop"}},
        {"fail_deployment": {"project": "shop"}},
        {"fail_operation": {"project": "shop"}},
        {"fail_operation": {"project": "shop"}},
    ],
    [
        {DOMAINS: {"project": "shop"}},
        {"require_reconciliation": {"project": "shop"}},
        {"run_reconciliation": {"project": "shop"}},
        {"exhaust_reconciliation": {"project": "shop"}},
    ],
    [
        {SOURCE: {"project": "shop"}},
        {"fail_operation": {"project": "shop", "leaves": {"hosts": ["mail"]}}},
        {"fail_operation": {"project": "shop", "leaves": {"deployment": "ready"}}},
        {"cancel_operation": {"project": "shop"}},
        {SOURCE: {"project": "shop"}},
        {"advance": {"by": "2s"}},
        {"fail_deployment": {"project": "shop"}},
        {SOURCE: {"project": "shop"}},
        {"stick_operation": {"all": True}},
        {"stick_operation": {"all": True}},
        {"stick_operation": {"all": True, "operation": "x"}},
        {"stick_operation": {"all": True, "project": "shpo"}},
    ],
    [
        {"stick_operation": {}},
        {"stick_operation": {"operation": "x", "project": "shop"}},
        {"stick_operation": {"operation": "x"}},
        {"stick_operation": {"project": "shop"}},
        {"stick_operation": {"project": "shpo"}},
        {"stick_operation": {"project": "zzz"}},
        {"stick_operation": {"all": True}},
    ],
    [
        {"release_claim": {"project": "shop"}},
        {"hold_claim": {"project": "shop"}},
        {"hold_claim": {"project": "shop"}},
        {"step_operation": {"project": "shop"}},
        {"stick_operation": {"project": "shop"}},
        {"release_claim": {"project": "shop"}},
        {"hold_claim": {}},
    ],
    # Deployments
    [
        {"add_deployments": {"project": "labs", "count": 2}},
        {"add_deployments": {"project": "labs", "ago": "1h"}},
        {"add_deployments": {"project": "labs", "at": "2027-01-01T00:00:00Z"}},
        {"add_deployments": {"project": "labs", "at": "soon"}},
        {"add_deployments": {"project": "labs", "ago": "1h", "at": "2026-01-01T00:00:00Z"}},
        {"add_deployments": {"project": "labs", "commit": "abc"}},
        {"add_deployments": {"project": "labs", "commit": "0123456789abcdef" * 2 + "01234567"}},
        {"add_deployments": {"project": "labs", "status": "failed"}},
        {"supersede_deployment": {"project": "labs"}},
        {"fail_ready_deployment": {"project": "labs"}},
        {"fail_ready_deployment": {"project": "labs"}},
        {"remove_deployments": {"project": "labs"}},
        {"remove_deployments": {"project": "labs", "count": 2}},
        {"remove_deployments": {"project": "labs", "count": 2}},
        {"remove_deployments": {"project": "labs", "deployment": "x"}},
        {"remove_deployments": {"project": "labs", "deployment": "x", "count": 2}},
        {"supersede_deployment": {"project": "labs"}},
        {"supersede_deployment": {"project": "labs", "deployment": "x"}},
    ],
    # DNS
    [
        {"move_dns": {"project": "labs", "to": "revoked"}},
        {"move_dns": {"project": "labs", "to": "pending", "expires_in": "10m"}},
        {"move_dns": {"project": "labs", "to": "pending", "zone": "-"}},
        {"move_dns": {"project": "labs", "to": "pending", "zone": "labs.example"}},
        {"move_dns": {"project": "labs", "to": "authorized", "expires_in": "0s"}},
        {"move_dns": {"project": "labs", "to": "authorized", "expires_in": "soon"}},
        {"move_dns": {"project": "labs", "to": "authorized", "expires_in": "1ms"}},
        {"move_dns": {"project": "labs", "to": "expired", "zone": "labs.example"}},
        {"move_dns": {"project": "labs", "to": "revoked"}},
        {"move_dns": {"project": "labs", "to": "expired"}},
        {"move_dns": {"project": "labs", "to": "gone"}},
    ],
    # Databases and domains
    [
        {"recover_database_provider": {"project": "shop", "environment": "dev"}},
        {"fail_database_provider": {"project": "shop", "environment": "dev"}},
        {"fail_database_provider": {"project": "shop", "environment": "dev"}},
        {"fail_database_provider": {"project": "shop"}},
        {"recover_database_provider": {"project": "shop"}},
        {"set_database": {"project": "shop"}},
        {"set_database": {"project": "shop", "state": "absent", "suspend_timeout_seconds": 5}},
        {"set_database": {"project": "shop", "data_mode": "shared", "environment": "dev"}},
        {"set_database": {"project": "shop", "suspend_timeout_seconds": -2}},
        {"set_database": {"project": "shop", "state": "suspended", "environment": "prod"}},
        {"set_database": {"project": "shop", "state": "absent"}},
        {"set_database": {"project": "shop", "suspend_timeout_seconds": -1}},
        {"set_database": {"project": "shop", "data_mode": "shared", "state": "ready"}},
    ],
    [
        {"disconnect_domain": {"project": "labs"}},
        {"connect_domain": {"project": "labs", "domain": "-"}},
        {"connect_domain": {"project": "labs", "domain": "labs.example"}},
        {"disconnect_domain": {"project": "labs"}},
        {"connect_domain": {"project": "shop", "domain": "shop.example"}},
        {"disconnect_domain": {"project": "shop"}},
        {"set_project_powered_by_flag": {"enabled": False}},
        {"set_plan": {"organization": "acme", "plan": "free"}},
        {"connect_domain": {"project": "shop", "domain": "shop.example"}},
    ],
    # Access
    [
        {"add_member": {"organization": "acme", "user": "member"}},
        {"remove_member": {"organization": "acme", "user": "outsider"}},
        {"set_role": {"project": "shop", "user": "outsider", "role": "reader"}},
        {"set_role": {"project": "shop", "user": "owner", "role": "reader"}},
        {"set_role": {"project": "shop", "user": "reader", "role": "maintainer"}},
        {"set_role": {"project": "shop", "user": "reader", "role": "none"}},
        {"set_role": {"project": "shop", "user": "reader", "role": "none"}},
        {"transfer_ownership": {"organization": "acme", "to": "outsider"}},
        {"transfer_ownership": {"organization": "acme", "to": "outsider"}},
        {"add_member": {"organization": "acme", "user": "owner"}},
        {"remove_member": {"organization": "acme", "user": "member"}},
        {"remove_member": {"organization": "acme", "user": "member"}},
        {"set_permissions": {"organization": "acme", "permissions": ["dns.raed"]}},
        {"set_permissions": {"organization": "acme", "permissions": ["dns.read"]}},
        {"set_permissions": {"organization": "acme", "permissions": ["dns.read", "projects.read"]}},
        {"set_permissions": {"organization": "acme", "permissions": []}},
        {"set_plan": {"organization": "acme", "plan": "free"}},
        {"set_plan": {"all": True, "organization": "acme", "plan": "free"}},
        {"set_credits": {"organization": "acme", "credits": 0}},
        {"set_credits": {"plan": "free", "credits": 0}},
        {"set_credits": {"credits": 0}},
    ],
    # Tickets, keys and sessions
    [
        {"expire_ticket": {}},
        {"expire_ticket": {"user": "owner"}},
        {"expire_ticket": {"ticket": "x"}},
        {"create_dev_access_ticket": {"project": "shop"}},
        {"expire_ticket": {"user": "owner"}},
        {"revoke_ticket": {"user": "owner"}},
        {"create_dev_access_ticket": {"project": "shop"}},
        {"revoke_ticket": {"user": "owner"}},
        {"revoke_ticket": {"user": "owner"}},
        {"revoke_ticket": {"all": True, "user": "onwer"}},
        {"revoke_ticket": {"all": True}},
    ],
    [
        {"expire_key": {}},
        {"expire_key": {"key": "ci"}},
        {"revoke_key": {"all": True}},
        {"create_user_api_key": {"name": "ci"}},
        {"create_user_api_key": {"name": "ci", "user": "member"}},
        {"revoke_key": {"key": "ci"}},
        {"revoke_key": {"all": True, "user": "member"}},
        {"revoke_key": {"key": "ci"}},
        {"revoke_key": {"key": "ci"}},
        {"expire_key": {"key": "ci"}},
        {"create_user_api_key": {"name": "cd"}},
        {"expire_key": {"key": "cd"}},
        {"expire_key": {"key": "cd"}},
        {"end_session": {"user": "outsider"}},
        {"end_session": {"user": "owner"}},
        {"leave_key_creation_uncertain": {"times": 2}},
    ],
    # The clock, and new records
    [
        {"skew_clock": {}},
        {"skew_clock": {"tokens": "soon"}},
        {"skew_clock": {"date": "367d"}},
        {"skew_clock": {"tokens": "366d", "date": "-10m"}},
        {"skew_clock": {"tokens": "0s"}},
        {"skew_clock": {"tokens": "+5m"}},
        {"skew_clock": {"tokens": "--5m"}},
    ],
    [
        {"add": {}},
        {"add": {"users": [{"alias": "owner"}]}},
        {"add": {"users": [{"alias": "ada"}]}},
        {"add": {"keys": [_key("A", user="owner")]}},
        {"add": {"keys": [_key("A", user="owner")]}},
        {"add": {"keys": [{"user": "owner", "value": "short"}]}},
        {"add": {"keys": [_key("C", user="owner"), _key("C", user="owner")]}},
        {"add": {"keys": [_key("C", user="owner", organization="hobby")]}},
        {"add": {"keys": [_key("C", user="no-organization")]}},
        {"add": {"keys": [_key("C", user="owner", permissions=["dns.raed"])]}},
        {"add": {"organizations": [{"alias": "new", "permissions": ["dns.raed"]}]}},
        {"add": {"organizations": [{"alias": "New"}]}},
        {"add": {"users": [{"alias": "eve"}, {"alias": "eve"}]}},
        {"add": {"users": [{"alias": "eve", "email": "a@b"}, {"alias": "eva", "email": "a@b"}]}},
        {"add": {"users": [{"alias": "eve", "email": "eve"}]}},
        {"add": {"users": [{"alias": "eve", "organizations": {"acmee": "member"}}]}},
        {"add": {"users": [{"alias": "eve", "projects": {"zzz": "reader"}}]}},
        {"add": {"projects": [{"alias": "new", "organization": "acmee"}]}},
        {"add": {"projects": [_project(handle="shop")]}},
        {"add": {"projects": [_project(database={"data_mode": "shared", "dev": "suspended"})]}},
        {
            "add": {
                "projects": [_project(deployments=[{"ago": "1h", "at": "2025-01-01T00:00:00Z"}])]
            }
        },
        {"add": {"projects": [_project(deployments=[{"at": "2030-01-01T00:00:00Z"}])]}},
        {"add": {"projects": [_project(deployments=[{"ago": "soon"}])]}},
        {"add": {"projects": [_project(flag=True)], "organizations": [{"alias": "new"}]}},
        {"add": {"keys": [_key("B", user="nobody")]}},
    ],
    # Malformed documents
    [
        {},
        {"stick_operation": {}, "set_plan": {}},
        {"stick_operatoin": {}},
        {"zzz": {}},
        {"stick_operation": "shop"},
        {"stick_operation": {"projet": "shop"}},
        {"hold_claim": {"zzz": 1}},
        {"set_plan": {}},
        {"hold_claim": {"project": 1}},
        {"set_plan": {"organization": "acme", "plan": "gold"}},
        {"set_credits": {"organization": "acme", "credits": -1}},
        {"add_deployments": {"project": "shop", "count": 0}},
        {"fail_operation": {"code": ""}},
    ],
]


def _prepare(world: InProcess, document: Document) -> bool:
    """Send the request, or wait the time, that a document names. Return whether it names one."""
    name = next(iter(document), "")
    fields: Any = document.get(name)
    if name == "advance":
        world.advance(fields["by"])
    elif name == DOMAINS:
        assert world.apply_domains(**fields).status == 202
    elif name == SOURCE:
        assert world.initialize(**fields).status == 202
    elif name == "create_dev_access_ticket":
        assert world.ticket(**fields).status == 201
    elif name == "set_project_powered_by_flag":
        assert world.set_flag(**fields).status == 200
    elif name == "create_user_api_key":
        assert world.create_key(**fields).status == 201
    else:
        return False
    return True


def _intervene(world: InProcess, document: Document) -> str:
    change = world.engine.begin_change()
    sentence = read_intervention(document).apply(change)
    world.engine.commit(change, "intervention")
    return sentence


def _line(action: Callable[[], str]) -> str:
    """Return what an action says, or why it is refused."""
    try:
        return f"  {action()}\n"
    except DocumentRefused as refused:
        return f"  refused, {refused.field or 'whole document'}: {refused}\n"


def _shown(document: Document) -> str:
    return f"{json.dumps(document, ensure_ascii=False)}\n"


def _fault_text(document: Document) -> str:
    world = InProcess()
    before = world.world
    text = _line(lambda: world.add_fault(**document))
    assert world.world is before, f"the document was accepted: {document}"
    return _shown(document) + text


def _outcome_text(document: Document) -> str:
    world = InProcess()
    before = world.world
    text = _line(lambda: world.add_outcome(**document))
    assert world.world is before, f"the document was accepted: {document}"
    return _shown(document) + text


def _session_text(documents: Sequence[Document]) -> str:
    world = InProcess()
    text = ""
    for document in documents:
        text += _shown(document)
        if not _prepare(world, document):
            text += _line(partial(_intervene, world, document))
    return text


def _alteration(call: str | None, change: Document) -> Document:
    return {"alter": change} if call is None else {"alter": change, "call": call}


def golden_text() -> str:
    """Return the text that the golden file must have."""
    sections = {
        "Faults": map(_fault_text, FAULTS),
        "Alterations": (
            _fault_text(_alteration(*row)) for row in [*FORBIDDEN_CHANGES, *IMPOSSIBLE_CHANGES]
        ),
        "Outcomes": map(_outcome_text, OUTCOMES),
        "Interventions": map(_session_text, INTERVENTIONS),
    }
    text = HEADER
    for heading, paragraphs in sections.items():
        text += f"\n# {heading}\n\n" + "\n".join(paragraphs)
    return without_ids(text)


if __name__ == "__main__":
    GOLDEN_FILE.write_text(golden_text(), encoding="utf-8")
