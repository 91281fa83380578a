"""The cases of the assumptions: a probe, and its result with and without the assumption."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.request import urlopen

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, redeem
from tests.support.forged_tokens import sign_token, token_parts
from tests.support.response_checks import expect_problem, read_timestamp

Probe = Callable[[CheckedWorld], Any]


class Case(NamedTuple):
    """An alternative of an assumption, a probe, and its result by default and under the alternative."""

    name: str
    value: Any
    probe: Probe
    usual: Any
    expected: Any


class Cases:
    """The cases of one file, in its order."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def add(self, name: str, value: Any, usual: Any, expected: Any) -> Callable[[Probe], Probe]:
        """Add a case; `usual` is the result in a world with the default."""

        def add(probe: Probe) -> Probe:
            self.cases.append(Case(name, value, probe, usual, expected))
            return probe

        return add


def code(response: Response) -> tuple[int, str | None]:
    """Return the status and the problem code of a response."""
    return response.status, response.json["code"] if response.status >= 400 else None


def finished(api: CheckedWorld, operation: Response) -> dict[str, Any]:
    """Let an operation end, and return it."""
    api.emulator.clock.until(operation.json["id"])
    operation_document: dict[str, Any] = api.poll(operation.json["id"]).json
    return operation_document


cases = Cases()


# --- Statuses and shapes --------------------------------------------------------------------------


@cases.add("accepted_status", 200, [202, 202], [200, 200])
@cases.add("accepted_status", 201, [202, 202], [201, 201])
def probe_accepted_status(api: CheckedWorld) -> list[int]:
    return [api.initialize(1).status, api.apply_domains().status]


@cases.add("key_created_status", 200, [201, 200], [200, 200])
@cases.add("key_replayed_status", 201, [201, 200], [201, 201])
def probe_key_created_status(api: CheckedWorld) -> list[int]:
    return [api.create_key(key="k").status, api.create_key(key="k").status]


@cases.add("ticket_created_status", 200, 201, 200)
def probe_ticket_created_status(api: CheckedWorld) -> int:
    return api.ticket().status


@cases.add(
    "operation_path",
    "/v1/jobs/{operation_id}/state",
    {"/v1/operations/{}": 200, "/v1/jobs/{}/state": 404},
    {"/v1/operations/{}": 404, "/v1/jobs/{}/state": 200},
)
def probe_operation_path(api: CheckedWorld) -> dict[str, int]:
    operation_id = api.initialize(1).json["id"]
    paths = ("/v1/operations/{}", "/v1/jobs/{}/state")
    return {path: api.send("GET", path.format(operation_id)).status for path in paths}


@cases.add("last_page_cursor", "null", [False, True], [True, True])
def probe_last_page_cursor(api: CheckedWorld) -> list[bool]:
    return ["next_cursor" in api.deployments(query).json for query in ("?limit=100", "?limit=1")]


# --- Problems -------------------------------------------------------------------------------------


@cases.add(
    "problem_statuses",
    {"interactive_login_required": 401, "organization_required": 400, "etag_mismatch": 412},
    [(403, "interactive_login_required"), (403, "organization_required"), (409, "etag_mismatch")],
    [(401, "interactive_login_required"), (400, "organization_required"), (412, "etag_mismatch")],
)
def probe_problem_statuses(api: CheckedWorld) -> list[Any]:
    return [
        code(api.create_key(token=api.emulator.token("owner", interactive=False))),
        code(api.dns(user="no-organization")),
        code(api.initialize(9)),
    ]


@cases.add(
    "condition_codes",
    {"session_missing": "forbidden", "generation_stale": "promotion_source_stale"},
    ["interactive_login_required", "etag_mismatch"],
    ["forbidden", "promotion_source_stale"],
)
def probe_session_and_generation(api: CheckedWorld) -> list[str]:
    token = api.emulator.token("owner", interactive=False)
    return [api.create_key(token=token).json["code"], api.initialize(9).json["code"]]


@cases.add(
    "condition_codes",
    {"wrong_media_type": "payload_too_large", "domain_depends_on_flag": "paid_plan_required"},
    ["invalid_request", "powered_by_flag_required"],
    ["payload_too_large", "paid_plan_required"],
)
def probe_media_type_and_flag(api: CheckedWorld) -> list[str]:
    token = api.emulator.token("outsider")
    return [
        api.set_flag(False, headers={"Content-Type": "text/plain"}).json["code"],
        api.set_flag(False, project="garden", token=token).json["code"],
    ]


@cases.add(
    "condition_codes",
    {"provider_failing": "compute_performance_unavailable", "no_permission_enabled": "forbidden"},
    ["service_unavailable", "api_key_permissions_unavailable"],
    ["compute_performance_unavailable", "forbidden"],
)
def probe_provider_and_permissions(api: CheckedWorld) -> list[str]:
    api.intervene("fail_database_provider", project="shop")
    api.intervene("set_permissions", organization="acme", permissions=[])
    return [api.compute().json["code"], api.create_key().json["code"]]


@cases.add(
    "condition_codes",
    {
        "body_too_long": "invalid_request",
        "rate_exceeded": "service_unavailable",
        "creation_uncertain": "service_unavailable",
        "generation_stale": "compute_change_conflict",
    },
    ["payload_too_large", "api_key_creation_uncertain", "etag_mismatch", ("rate_limited", True)],
    [
        "invalid_request",
        "service_unavailable",
        "compute_change_conflict",
        ("service_unavailable", True),
    ],
)
def probe_limits_and_uncertain_creation(api: CheckedWorld) -> list[Any]:
    api.intervene("leave_key_creation_uncertain")
    codes: list[Any] = [
        api.apply_domains(raw=b" " * (1_048_576 + 1)).json["code"],
        api.send(
            "POST",
            f"/v1/organizations/{api.emulator.organization}/user-api-keys",
            key="k",
            body={"name": "ci"},
        ).json["code"],
    ]
    api.initialize(1)
    codes.append(finished(api, api.initialize(1))["error"]["code"])
    api.assume(rate_limit="1/60s")
    api.dns()
    limited = api.dns()
    return [*codes, (limited.json["code"], "Retry-After" in limited.headers)]


@cases.add("listed_statuses", "open", [(400, "rate_limited"), 429], [(429, "rate_limited"), 429])
def probe_listed_statuses(api: CheckedWorld) -> list[Any]:
    api.assume(rate_limit="1/60s")
    api.dns()
    return [code(api.set_flag(True)), api.dns().status]


@cases.add("rate_limit", "2/60s", [200, 200, 200], [200, 200, 429])
def probe_rate_limit(api: CheckedWorld) -> list[int]:
    return [api.dns().status for _ in range(3)]


@cases.add("docs_url", "https://docs.example/api", True, False)
def probe_docs_url(api: CheckedWorld) -> bool:
    link = api.dns(project="garden").json["type"]
    assert link.endswith("/errors/resource-not-found")
    return not link.startswith("https://docs.example/api/errors/")


# --- Time and names -------------------------------------------------------------------------------

_FORMS = {
    "milliseconds": r"\d\.\d{3}Z",
    "microseconds": r"\d\.\d{6}Z",
    "offset": r"\d\.\d{3}\+00:00",
}


def _timestamps(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for name, value in document.items():
            if name.endswith("_at") and isinstance(value, str):
                yield value
            yield from _timestamps(value)
    elif isinstance(document, list):
        for item in document:
            yield from _timestamps(item)


@cases.add("timestamp_form", "microseconds", "milliseconds", "microseconds")
@cases.add("timestamp_form", "offset", "milliseconds", "offset")
def probe_timestamp_form(api: CheckedWorld) -> str:
    operation = api.initialize(1)
    created = api.create_key(key="k")
    api.dns(token=created.json["value"])
    responses = [
        operation.json,
        finished(api, operation),
        api.set_flag(True).json,
        created.json,
        api.create_key(key="k").json,
        api.apply_domains().json,
        api.dns().json,
        api.deployments().json,
        api.ticket().json,
        api.compute().json,
    ]
    timestamps = [list(_timestamps(response)) for response in responses]
    assert all(timestamps)
    all_timestamps = [text for texts in timestamps for text in texts]
    (form,) = [
        n for n, p in _FORMS.items() if all(re.search(p + "$", text) for text in all_timestamps)
    ]
    return form


@cases.add(
    "dev_zone",
    "dev.test",
    ["dev.localhost", "prod.localhost", "mail.localhost"],
    ["dev.test", "prod.localhost", "mail.localhost"],
)
def probe_dev_zone(api: CheckedWorld) -> list[str]:
    hosts = finished(api, api.apply_domains())["result"]["hostnames"]
    ticket = issue(api)
    assert ticket["origin"] == f"https://{hosts['development']}"
    assert redeem(api, ticket).status == 303
    finished(api, api.initialize(1))
    url = api.deployments("?limit=1").json["items"][0]["url"]
    assert url == f"https://{hosts['production']}"
    order = ("development", "production", "mail")
    return [hosts[name].partition(f".{api.emulator.name}.")[2] for name in order]


# --- Pages ----------------------------------------------------------------------------------------


@cases.add("cursor_parameter", "after", ["cursor"], ["after"])
def probe_cursor_parameter(api: CheckedWorld) -> list[str]:
    first = api.deployments().json
    names = ("cursor", "after")
    pages = {n: api.deployments(f"?{n}={first['next_cursor']}").json["items"] for n in names}
    return [name for name, items in pages.items() if items != first["items"]]


@cases.add("limit_parameter", "page_size", [3, 20], [20, 3])
@cases.add("default_page_size", 7, [3, 20], [3, 7])
@cases.add("default_page_size", 100, [3, 20], [3, 45])
def probe_limit_parameter(api: CheckedWorld) -> list[int]:
    return [len(api.deployments(query).json["items"]) for query in ("?limit=3", "?page_size=3")]


@cases.add("deployment_order", "oldest_first", "newest first", "oldest first")
def probe_deployment_order(api: CheckedWorld) -> str:
    items = []
    cursor = ""
    while cursor is not None:
        page = api.deployments(f"?limit=10{cursor and f'&cursor={cursor}'}").json
        items += page["items"]
        cursor = page.get("next_cursor")
    creation_times = [read_timestamp(item["created_at"]) for item in items]
    assert len({item["id"] for item in items}) == 45
    return {True: "oldest first", False: "newest first"}[creation_times == sorted(creation_times)]


# --- Inputs ---------------------------------------------------------------------------------------


@cases.add("environment_parameter", "stage", [200, 400], [400, 200])
def probe_environment_parameter(api: CheckedWorld) -> list[int]:
    return [api.compute(query).status for query in ("?environment=dev", "?stage=dev")]


@cases.add("missing_environment", "dev", (400, None), (200, "dev"))
@cases.add("missing_environment", "prod", (400, None), (200, "prod"))
def probe_missing_environment(api: CheckedWorld) -> tuple[int, str | None]:
    expect_problem(api.compute("?environment=x"), 400, "invalid_request")
    response = api.compute("")
    return response.status, response.json.get("environment")


@cases.add("source_generation", "ignored", [409, "failed", 2], [202, "succeeded", 3])
def probe_ignored_generation(api: CheckedWorld) -> list[Any]:
    api.initialize(1)
    second = finished(api, api.initialize(1))
    return [api.initialize(99).status, second["state"], api.project_record()["source_generation"]]


@cases.add("unknown_body_fields", "refused", [202, 201], [400, 400])
def probe_unknown_body_fields(api: CheckedWorld) -> list[int]:
    source = api.project_path("source:initialize")
    keys = "user-api-keys"
    organization = f"/v1/organizations/{api.emulator.organization}/{keys}"
    generation = {"expected_source_generation": 1}
    return [
        api.call("POST", source, key="b", body={**generation, "x": 1}).status,
        api.call("POST", organization, key="c", body={"name": "ci", "x": 1}).status,
    ]


@cases.add("unexpected_body", "refused", [202, 201, 200, 202], [400, 400, 400, 202])
def probe_unexpected_body(api: CheckedWorld) -> list[int]:
    return [
        api.apply_domains(body={}).status,
        api.ticket(body={}).status,
        api.dns(body={}).status,
        api.apply_domains().status,
    ]


@cases.add(
    "unknown_query_parameters", "refused", [200, 200, 200, 202, 200], [400, 400, 400, 400, 200]
)
def probe_unknown_query_parameters(api: CheckedWorld) -> list[int]:
    return [
        api.deployments("?limit=2&x=1").status,
        api.compute("?environment=dev&limit=2").status,
        api.call("GET", api.project_path("edge-dns?x")).status,
        api.call("PUT", api.project_path("domains?x=1"), key="k").status,
        api.deployments("?limit=2").status,
    ]


@cases.add(
    "malformed_project_id",
    "invalid_request",
    [(404, "resource_not_found")] * 4,
    [(400, "invalid_request")] * 3 + [(404, "resource_not_found")],
)
def probe_malformed_project_id(api: CheckedWorld) -> list[Any]:
    api.emulator.projects |= {"bad": "shop", "missing": "01JGFJJZ000000000000000000"}
    api.emulator.organizations["bad"] = "acme"
    return [
        code(api.dns(project="bad")),
        code(api.create_key(organization="bad")),
        code(api.poll("bad")),
        code(api.dns(project="missing")),
    ]


@cases.add("source_generation", "any_integer", [400, 409], [409, 409])
def probe_any_generation(api: CheckedWorld) -> list[int]:
    return [api.initialize(-1).status, api.initialize(9).status]


@cases.add("source_generation", "optional", [400, 409, 400], [202, 409, 202])
def probe_optional_generation(api: CheckedWorld) -> list[int]:
    path = api.project_path("source:initialize")
    key = "one"
    statuses = [api.call("POST", path, key=key, body={}).status, api.initialize(9).status]
    return [*statuses, api.call("POST", path, key=key, body={}).status]


@cases.add("wrong_method", "not_found", [(405, "GET"), (405, "GET")], [(404, None), (404, None)])
def probe_wrong_method(api: CheckedWorld) -> list[Any]:
    path = api.project_path("edge-dns")
    responses = [api.call("DELETE", path), api.send("HEAD", path)]
    return [(response.status, response.headers["Allow"]) for response in responses]


@cases.add("request_id_invalid", "ignored", [400, 400], [200, 200])
def probe_request_id_invalid(api: CheckedWorld) -> list[int]:
    return [api.dns(headers={"X-Request-Id": sent}).status for sent in ("", "x" * 129)]


@cases.add("request_id_on_success", "echoed", None, "mine")
def probe_request_id_on_success(api: CheckedWorld) -> str | None:
    request_id: str | None = api.dns(headers={"X-Request-Id": "mine"}).headers["X-Request-Id"]
    return request_id


@cases.add("body_limit_bytes", 64, [202, 202], [202, 413])
def probe_body_limit_bytes(api: CheckedWorld) -> list[int]:
    return [api.apply_domains(raw=b" " * size).status for size in (64, 65)]


# --- Idempotency ----------------------------------------------------------------------------------


@cases.add("idempotency_scope", "principal_and_call", [200, 409, 409], [200, 202, 409])
def probe_idempotency_scope(api: CheckedWorld) -> list[int]:
    return [
        api.set_flag(False, key="k").status,
        api.apply_domains(key="k").status,
        api.set_flag(True, key="k").status,
    ]


@cases.add(
    "idempotency_remembers",
    "all_answers",
    [False, (202, None)],
    [True, (409, "idempotency_key_reused")],
)
def probe_idempotency_remembers(api: CheckedWorld) -> list[Any]:
    first = api.initialize(9, key="k")
    second = api.initialize(9, key="k")
    assert first.status == second.status == 409
    return [first.body == second.body, code(api.initialize(1, key="k"))]


@cases.add("idempotency_retention", "1h", [True, True], [True, False])
def probe_retention_of_an_hour(api: CheckedWorld) -> list[bool]:
    first = api.create_key(key="k").json["key"]["id"]
    api.advance("59m")
    soon = api.create_key(key="k").json["key"]["id"]
    api.advance("1m")
    return [soon == first, api.create_key(key="k").json["key"]["id"] == first]


@cases.add("idempotency_retention", "90d", True, False)
def probe_retention_of_90_days(api: CheckedWorld) -> bool:
    first = api.create_key(key="k").json["key"]["id"]
    api.advance("90d")
    return bool(api.create_key(key="k").json["key"]["id"] == first)


@cases.add("operation_replay", "current", ["queued", "queued"], ["succeeded", "succeeded"])
def probe_operation_replay(api: CheckedWorld) -> list[str]:
    first = [api.initialize(1, key="s"), api.apply_domains(key="d")]
    api.advance("1h")
    replays = [api.initialize(1, key="s"), api.apply_domains(key="d")]
    assert [response.json["id"] for response in first] == [
        response.json["id"] for response in replays
    ]
    return [response.json["state"] for response in replays]


# --- Operations -----------------------------------------------------------------------------------


@cases.add("source_profile", "immediate", ["queued", "queued"], ["succeeded", "queued"])
@cases.add("domains_profile", "immediate", ["queued", "queued"], ["queued", "succeeded"])
def probe_source_profile(api: CheckedWorld) -> list[str]:
    source = api.initialize(1).json
    domains = api.apply_domains(project="blog").json
    return [api.poll(operation["id"]).json["state"] for operation in (source, domains)]


_PHASES = ["queued", "making", "shipping", "checking", "finished"]


@cases.add(
    "progress_phases", _PHASES, ["queued", "building", "done"], ["queued", "making", "finished"]
)
def probe_progress_phases(api: CheckedWorld) -> list[str]:
    operation = api.initialize(1)
    seen = [operation.json["progress"]["phase"]]
    for by in ("2s", "8s"):
        api.advance(by)
        seen.append(api.poll(operation.json["id"]).json["progress"]["phase"])
    return seen


@cases.add(
    "reconciliation_states",
    ["required", "trying", "settled", "given up"],
    ["required", "running", "completed"],
    ["required", "trying", "settled"],
)
def probe_reconciliation_states(api: CheckedWorld) -> list[str]:
    operation_id = api.initialize(1).json["id"]
    seen = []
    for step in ("require", "run", "complete"):
        api.intervene(f"{step}_reconciliation", operation=operation_id)
        seen.append(api.poll(operation_id).json["reconciliation"]["state"])
    return seen


@cases.add(
    "deployment_statuses",
    ["queued", "making", "shipping", "live", "broken", "dropped", "replaced"],
    {"queued", "ready", "failed", "cancelled"},
    {"queued", "live", "broken", "dropped"},
)
def probe_deployment_statuses(api: CheckedWorld) -> set[str]:
    api.initialize(1)
    return {item["status"] for item in api.deployments("?limit=100").json["items"]}


@cases.add(
    "database_states",
    ["init", "up", "asleep", "growing", "down"],
    ["ready", "suspended", "init", "ready"],
    ["up", "asleep", "init", "up"],
)
def probe_database_states(api: CheckedWorld) -> list[str]:
    databases = {p: api.compute(project=p).json["database"] for p in ("shop", "blog", "docs")}
    return [*(databases[p]["state"] for p in databases), databases["docs"]["pending_state"]]


@cases.add("zero_credits", "nothing_refused", [402, 402, 201, 200], [202, 202, 201, 200])
def probe_zero_credits(api: CheckedWorld) -> list[int]:
    api.intervene("set_credits", organization="acme", credits=0)
    calls = (api.initialize(1), api.apply_domains(), api.create_key(), api.set_flag(False))
    return [response.status for response in calls]


@cases.add("domains_plan", "paid", [202, 202], [402, 202])
def probe_domains_plan(api: CheckedWorld) -> list[int]:
    api.intervene("set_plan", organization="acme", plan="free")
    free = api.apply_domains().status
    api.intervene("set_plan", organization="acme", plan="paid")
    return [free, api.apply_domains().status]


@cases.add("flag_reenabled", "renewed", False, True)
def probe_flag_reenabled(api: CheckedWorld) -> bool:
    first = api.set_flag(True).json["enabled_at"]
    api.advance("1h")
    return bool(api.set_flag(True).json["enabled_at"] != first)


# --- Roles ----------------------------------------------------------------------------------------

Ask = Callable[..., Response]


def roles(ask: Ask) -> Probe:
    """Return a probe that tells whether owner, maintainer and reader can make a call."""

    def probe(api: CheckedWorld) -> list[bool]:
        return [ask(api, user=user).status < 300 for user in ("owner", "member", "reader")]

    return probe


def poll_one(api: CheckedWorld, user: str) -> Response:
    operation_id = api.deployments("?limit=1", user="owner").json["items"][0]["operation_id"]
    return api.poll(operation_id, user=user)


_ALLOWED = {
    "owner": [True, False, False],
    "maintainer": [True, True, False],
    "reader": [True, True, True],
}
for name, usual, ask in (
    ("source_role", "maintainer", lambda api, user: api.initialize(1, user=user)),
    ("domains_role", "maintainer", lambda api, user: api.apply_domains(user=user)),
    ("dns_role", "reader", lambda api, user: api.dns(user=user)),
    ("deployments_role", "reader", lambda api, user: api.deployments(user=user)),
    ("operation_role", "reader", poll_one),
):
    for role in _ALLOWED:
        if role != usual:
            cases.add(name, role, _ALLOWED[usual], _ALLOWED[role])(roles(ask))


@cases.add("data_modes", ["shared", "isolated"], ["separate", "shared"], ["isolated", "shared"])
def probe_data_modes(api: CheckedWorld) -> list[str]:
    return [api.compute(project=project).json["data_mode"] for project in ("shop", "blog")]


# --- Keys and tokens ------------------------------------------------------------------------------


@cases.add(
    "key_permissions",
    ["see", "change", "point", "history", "data", "names", "peek"],
    ["projects.read", "dev_access.write", 200],
    ["see", "peek", 200],
)
def probe_key_permissions(api: CheckedWorld) -> list[Any]:
    created = api.create_key().json
    permissions = created["key"]["permissions"]
    return [permissions[0], permissions[-1], api.dns(token=created["value"]).status]


@cases.add("key_prefix", "sk_", ["phk_", "phk_…", 200], ["sk_", "sk_…", 200])
def probe_key_prefix(api: CheckedWorld) -> list[Any]:
    created = api.create_key().json
    value = created["value"]
    obfuscated_value = created["key"]["obfuscated_value"]
    return [value[:-43], obfuscated_value[:-4], api.dns(token=value).status]


@cases.add("token_lifetime", "5m", [3600, 200], [300, 401])
def probe_token_lifetime(api: CheckedWorld) -> list[int]:
    form = b"grant_type=password&username=owner"
    with urlopen(f"{api.emulator.summary.issuer}/token", form) as response:
        tokens = json.load(response)
    api.advance("5m")
    return [tokens["expires_in"], api.dns(token=tokens["access_token"]).status]


@cases.add("token_audience", "another-api", "hosting-control-api", "another-api")
def probe_token_audience(api: CheckedWorld) -> str:
    token = api.emulator.token("owner")
    assert api.dns(token=token).status == 200
    claims = token_parts(token)[1]
    other = {"hosting-control-api": "another-api"}.get(claims["aud"], "hosting-control-api")
    expect_problem(api.dns(token=sign_token(api, {**claims, "aud": other})), 401, "unauthenticated")
    return str(claims["aud"])
