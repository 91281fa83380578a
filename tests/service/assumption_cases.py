"""What each assumption changes: what is asked, and what is answered with and without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from hosting_emulator.sdk import ControlRefused
from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, redeem, visit
from tests.support.forged_tokens import parts, signed
from tests.support.in_process import InProcess, fresh_world
from tests.support.response_checks import moment, problem
from tests.support.sign_in_client import Browser

Probe = Callable[[CheckedWorld], Any]


class Case(NamedTuple):
    """An assumption, an alternative, what is asked, and what is answered before and after."""

    name: str
    value: Any
    probe: Probe
    usual: Any
    expected: Any


class Cases:
    """The cases of one file, in its order."""

    def __init__(self) -> None:
        self.found: list[Case] = []

    def add(self, name: str, value: Any, usual: Any, expected: Any) -> Callable[[Probe], Probe]:
        """Add a case; `usual` is what the probe finds in a world without the assumption."""

        def add(probe: Probe) -> Probe:
            self.found.append(Case(name, value, probe, usual, expected))
            return probe

        return add


def code(answer: Response) -> tuple[int, str | None]:
    """Return status and problem code of an answer."""
    return answer.status, answer.json["code"] if answer.status >= 400 else None


def done(api: CheckedWorld, operation: Response) -> dict[str, Any]:
    """Let an operation end, and return it."""
    api.emulator.clock.until(operation.json["id"])
    found: dict[str, Any] = api.poll(operation.json["id"]).json
    return found


cases = Cases()


# --- Statuses and shapes --------------------------------------------------------------------------


@cases.add("accepted_status", 200, [202, 202], [200, 200])
@cases.add("accepted_status", 201, [202, 202], [201, 201])
def _(api: CheckedWorld) -> list[int]:
    return [api.initialize(1).status, api.apply_domains().status]


@cases.add("key_created_status", 200, [201, 200], [200, 200])
@cases.add("key_replayed_status", 201, [201, 200], [201, 201])
def _(api: CheckedWorld) -> list[int]:
    return [api.create_key(key="k").status, api.create_key(key="k").status]


@cases.add("ticket_created_status", 200, 201, 200)
def _(api: CheckedWorld) -> int:
    return api.ticket().status


@cases.add(
    "operation_path",
    "/v1/jobs/{operation_id}/state",
    {"/v1/operations/{}": 200, "/v1/jobs/{}/state": 404},
    {"/v1/operations/{}": 404, "/v1/jobs/{}/state": 200},
)
def _(api: CheckedWorld) -> dict[str, int]:
    operation_id = api.initialize(1).json["id"]
    paths = ("/v1/operations/{}", "/v1/jobs/{}/state")
    return {path: api.send("GET", path.format(operation_id)).status for path in paths}


@cases.add("last_page_cursor", "null", [False, True], [True, True])
def _(api: CheckedWorld) -> list[bool]:
    api.null_cursor = True
    return ["next_cursor" in api.deployments(query).json for query in ("?limit=100", "?limit=1")]


# --- Problems -------------------------------------------------------------------------------------


@cases.add(
    "problem_statuses",
    {"interactive_login_required": 401, "organization_required": 400, "etag_mismatch": 412},
    [(403, "interactive_login_required"), (403, "organization_required"), (409, "etag_mismatch")],
    [(401, "interactive_login_required"), (400, "organization_required"), (412, "etag_mismatch")],
)
def _(api: CheckedWorld) -> list[Any]:
    return [
        code(api.create_key(token=api.emulator.token("owner", interactive=False))),
        code(api.dns(who="no-organization")),
        code(api.initialize(9)),
    ]


@cases.add(
    "condition_codes",
    {"session_missing": "forbidden", "generation_stale": "promotion_source_stale"},
    ["interactive_login_required", "etag_mismatch"],
    ["forbidden", "promotion_source_stale"],
)
def _(api: CheckedWorld) -> list[str]:
    token = api.emulator.token("owner", interactive=False)
    return [api.create_key(token=token).json["code"], api.initialize(9).json["code"]]


@cases.add(
    "condition_codes",
    {"wrong_media_type": "payload_too_large", "domain_depends_on_flag": "paid_plan_required"},
    ["invalid_request", "powered_by_flag_required"],
    ["payload_too_large", "paid_plan_required"],
)
def _(api: CheckedWorld) -> list[str]:
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
def _(api: CheckedWorld) -> list[str]:
    api.emulator.intervene("fail_database_provider", project="shop")
    state = api.state()
    state["tables"]["organizations"][api.emulator.organization]["permissions"] = []
    api.load(state)
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
        *("invalid_request", "service_unavailable", "compute_change_conflict"),
        ("service_unavailable", True),
    ],
)
def _(api: CheckedWorld) -> list[Any]:
    api.emulator.intervene("leave_key_creation_uncertain")
    found: list[Any] = [
        api.apply_domains(raw=b" " * (1_048_576 + 1)).json["code"],
        api.send(
            "POST",
            f"/v1/organizations/{api.emulator.organization}/user-api-keys",
            key="k",
            body={"name": "ci"},
        ).json["code"],
    ]
    api.initialize(1)
    found.append(done(api, api.initialize(1))["error"]["code"])
    api.assume(rate_limit="1/60s")
    api.dns()
    limited = api.dns()
    return [*found, (limited.json["code"], "Retry-After" in limited.headers)]


@cases.add("problem_retryable", {"etag_mismatch": True}, [False, False], [True, False])
def _(api: CheckedWorld) -> list[bool]:
    return [api.initialize(9).json["retryable"], api.dns(project="garden").json["retryable"]]


@cases.add("listed_statuses", "open", [(400, "rate_limited"), 429], [(429, "rate_limited"), 429])
def _(api: CheckedWorld) -> list[Any]:
    api.assume(rate_limit="1/60s")
    api.dns()
    return [code(api.set_flag(True)), api.dns().status]


@cases.add("rate_limit", "2/60s", [200, 200, 200], [200, 200, 429])
def _(api: CheckedWorld) -> list[int]:
    return [api.dns().status for _ in range(3)]


@cases.add("docs_url", "https://docs.example/api", True, False)
def _(api: CheckedWorld) -> bool:
    link = api.dns(project="garden").json["type"]
    assert link.endswith("/errors/resource-not-found")
    return not link.startswith("https://docs.example/api/errors/")


# --- Time and names -------------------------------------------------------------------------------

_FORMS = {
    "milliseconds": r"\d\.\d{3}Z",
    "microseconds": r"\d\.\d{6}Z",
    "offset": r"\d\.\d{3}\+00:00",
}


def _timestamps(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        for name, value in found.items():
            if name.endswith("_at") and isinstance(value, str):
                yield value
            yield from _timestamps(value)
    elif isinstance(found, list):
        for item in found:
            yield from _timestamps(item)


@cases.add("date_header", "machine", "world", "machine")
def _(api: CheckedWorld) -> str:
    sent_at = parsedate_to_datetime(api.dns().headers["Date"])
    return "world" if abs((api.now() - sent_at).total_seconds()) < 1 else "machine"


@cases.add("timestamp_form", "microseconds", "milliseconds", "microseconds")
@cases.add("timestamp_form", "offset", "milliseconds", "offset")
def _(api: CheckedWorld) -> str:
    operation = api.initialize(1)
    created = api.create_key(key="k")
    api.dns(token=created.json["value"])
    answers = [
        operation.json,
        done(api, operation),
        api.set_flag(True).json,
        created.json,
        api.create_key(key="k").json,
        api.apply_domains().json,
        api.dns().json,
        api.deployments().json,
        api.ticket().json,
        api.compute().json,
    ]
    found = [list(_timestamps(answer)) for answer in answers]
    assert all(found)
    every = [text for texts in found for text in texts]
    (form,) = [n for n, p in _FORMS.items() if all(re.search(p + "$", text) for text in every)]
    return form


@cases.add(
    "dev_zone",
    "dev.test",
    ["dev.localhost", "prod.localhost", "mail.localhost"],
    ["dev.test", "prod.localhost", "mail.localhost"],
)
@cases.add(
    "production_zone",
    "sites.test",
    ["dev.localhost", "prod.localhost", "mail.localhost"],
    ["dev.localhost", "sites.test", "mail.localhost"],
)
@cases.add(
    "mail_zone",
    "post.test",
    ["dev.localhost", "prod.localhost", "mail.localhost"],
    ["dev.localhost", "prod.localhost", "post.test"],
)
def _(api: CheckedWorld) -> list[str]:
    hosts = done(api, api.apply_domains())["result"]["hostnames"]
    ticket = issue(api)
    assert ticket["origin"] == f"https://{hosts['development']}"
    assert redeem(api, ticket).status == 303
    done(api, api.initialize(1))
    url = api.deployments("?limit=1").json["items"][0]["url"]
    assert url == f"https://{hosts['production']}"
    order = ("development", "production", "mail")
    return [hosts[name].partition(f".{api.emulator.name}.")[2] for name in order]


@cases.add("dev_origin_port", "absent", True, False)
def _(api: CheckedWorld) -> bool:
    """In process: the server of these tests has no port of its own for dev origins."""
    assumed = {row["name"]: row["value"] for row in api.emulator.assumptions}
    core = InProcess(fresh_world(dev_origin_port=assumed["dev_origin_port"]))
    core.dev_port = 4643
    return bool(core.ticket().json["origin"].endswith(":4643"))


# --- Pages ----------------------------------------------------------------------------------------


@cases.add("cursor_parameter", "after", ["cursor"], ["after"])
def _(api: CheckedWorld) -> list[str]:
    first = api.deployments().json
    names = ("cursor", "after")
    pages = {n: api.deployments(f"?{n}={first['next_cursor']}").json["items"] for n in names}
    return [name for name, items in pages.items() if items != first["items"]]


@cases.add("limit_parameter", "page_size", [3, 20], [20, 3])
@cases.add("default_page_size", 7, [3, 20], [3, 7])
@cases.add("default_page_size", 100, [3, 20], [3, 45])
def _(api: CheckedWorld) -> list[int]:
    return [len(api.deployments(query).json["items"]) for query in ("?limit=3", "?page_size=3")]


@cases.add("deployment_order", "oldest_first", "newest first", "oldest first")
def _(api: CheckedWorld) -> str:
    items, cursor = [], ""
    while cursor is not None:
        page = api.deployments(f"?limit=10{cursor and f'&cursor={cursor}'}").json
        items += page["items"]
        cursor = page.get("next_cursor")
    made = [moment(item["created_at"]) for item in items]
    assert len({item["id"] for item in items}) == 45
    return {True: "oldest first", False: "newest first"}[made == sorted(made)]


# --- Inputs ---------------------------------------------------------------------------------------


@cases.add("environment_parameter", "stage", [200, 400], [400, 200])
def _(api: CheckedWorld) -> list[int]:
    return [api.compute(query).status for query in ("?environment=dev", "?stage=dev")]


@cases.add("missing_environment", "dev", (400, None), (200, "dev"))
@cases.add("missing_environment", "prod", (400, None), (200, "prod"))
def _(api: CheckedWorld) -> tuple[int, str | None]:
    problem(api.compute("?environment=x"), 400, "invalid_request")
    answer = api.compute("")
    return answer.status, answer.json.get("environment")


@cases.add("source_generation", "ignored", [409, "failed", 2], [202, "succeeded", 3])
def _(api: CheckedWorld) -> list[Any]:
    api.initialize(1)
    second = done(api, api.initialize(1))
    return [api.initialize(99).status, second["state"], api.project()["source_generation"]]


@cases.add("unknown_body_fields", "refused", [202, 201], [400, 400])
def _(api: CheckedWorld) -> list[int]:
    source, keys = api.project_path("source:initialize"), "user-api-keys"
    organization = f"/v1/organizations/{api.emulator.organization}/{keys}"
    generation = {"expected_source_generation": 1}
    return [
        api.call("POST", source, key="b", body={**generation, "x": 1}).status,
        api.call("POST", organization, key="c", body={"name": "ci", "x": 1}).status,
    ]


@cases.add("unexpected_body", "refused", [202, 201, 200, 202], [400, 400, 400, 202])
def _(api: CheckedWorld) -> list[int]:
    return [
        api.apply_domains(body={}).status,
        api.ticket(body={}).status,
        api.dns(body={}).status,
        api.apply_domains().status,
    ]


@cases.add(
    "unknown_query_parameters", "refused", [200, 200, 200, 202, 200], [400, 400, 400, 400, 200]
)
def _(api: CheckedWorld) -> list[int]:
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
def _(api: CheckedWorld) -> list[Any]:
    api.emulator.projects |= {"bad": "shop", "missing": "01JGFJJZ000000000000000000"}
    api.emulator.organizations["bad"] = "acme"
    return [
        code(api.dns(project="bad")),
        code(api.create_key(organization="bad")),
        code(api.poll("bad")),
        code(api.dns(project="missing")),
    ]


@cases.add("source_generation", "any_integer", [400, 409], [409, 409])
def _(api: CheckedWorld) -> list[int]:
    return [api.initialize(-1).status, api.initialize(9).status]


@cases.add("source_generation", "optional", [400, 409, 400], [202, 409, 202])
def _(api: CheckedWorld) -> list[int]:
    path, key = api.project_path("source:initialize"), "one"
    found = [api.call("POST", path, key=key, body={}).status, api.initialize(9).status]
    return [*found, api.call("POST", path, key=key, body={}).status]


@cases.add("wrong_media_type", "ignored", (400, "invalid_request"), (200, None))
def _(api: CheckedWorld) -> tuple[int, str | None]:
    return code(api.set_flag(False, headers={"Content-Type": "text/plain"}))


@cases.add("wrong_method", "not_found", [(405, "GET"), (405, "GET")], [(404, None), (404, None)])
def _(api: CheckedWorld) -> list[Any]:
    path = api.project_path("edge-dns")
    found = [api.call("DELETE", path), api.send("HEAD", path)]
    return [(answer.status, answer.headers["Allow"]) for answer in found]


@cases.add("judgement_order", "access_first", (400, "invalid_request"), (404, "resource_not_found"))
def _(api: CheckedWorld) -> tuple[int, str | None]:
    return code(api.set_flag("no", project="garden"))


@cases.add("request_id", "own", [True, True], [False, False])
def _(api: CheckedWorld) -> list[bool]:
    headers = {"X-Request-Id": "mine"}
    refused = api.dns(project="garden", headers=headers)
    made = api.create_key(headers=headers)
    return [
        refused.headers["X-Request-Id"] == refused.json["request_id"] == "mine",
        made.json["request_id"] == "mine",
    ]


@cases.add("request_id_invalid", "ignored", [400, 400], [200, 200])
def _(api: CheckedWorld) -> list[int]:
    return [api.dns(headers={"X-Request-Id": sent}).status for sent in ("", "x" * 129)]


@cases.add("request_id_on_success", "echoed", None, "mine")
def _(api: CheckedWorld) -> str | None:
    found: str | None = api.dns(headers={"X-Request-Id": "mine"}).headers["X-Request-Id"]
    return found


@cases.add("body_limit_bytes", 64, [202, 202], [202, 413])
def _(api: CheckedWorld) -> list[int]:
    return [api.apply_domains(raw=b" " * size).status for size in (64, 65)]


# --- Idempotency ----------------------------------------------------------------------------------


@cases.add("request_identity", "all_that_is_sent", [202, 202, 202], [202, 409, 409])
def _(api: CheckedWorld) -> list[int]:
    path = api.project_path("domains")
    return [
        api.apply_domains(key="k").status,
        api.apply_domains(key="k", body={"hostnames": ["x.example"]}).status,
        api.call("PUT", f"{path}?x=1", key="k").status,
    ]


@cases.add("replay_access", "not_checked", [202, 403, 403, 403], [202, 202, 409, 403])
def _(api: CheckedWorld) -> list[int]:
    first = api.apply_domains(key="k", who="member").status
    state = api.state()
    grants = state["tables"]["grants"]
    for name in [name for name in grants if name.startswith(api.emulator.projects["shop"])]:
        grants[name]["role"] = "reader"
    api.load(state)
    return [
        first,
        api.apply_domains(key="k", who="member").status,
        api.initialize(1, key="k", who="member").status,
        api.apply_domains(key="another", who="member").status,
    ]


@cases.add(
    "changed_and_invalid",
    "key_reused",
    [200, (400, "invalid_request"), (400, "invalid_request")],
    [200, (409, "idempotency_key_reused"), (400, "invalid_request")],
)
def _(api: CheckedWorld) -> list[Any]:
    return [
        api.set_flag(False, key="k").status,
        code(api.set_flag("no", key="k")),
        code(api.set_flag("no", key="another")),
    ]


def _tickets_left(api: CheckedWorld, *tokens: str) -> int:
    issued = [issue(api, token=token) for token in tokens]
    return [redeem(api, ticket).status for ticket in issued].count(303)


@cases.add("same_principal", "credential", [409, 409, 1], [202, 202, 3])
def _(api: CheckedWorld) -> list[int]:
    one, two = (api.create_key(name).json["value"] for name in ("one", "two"))
    api.set_flag(False, key="k")
    return [
        api.apply_domains(key="k", token=one).status,
        api.initialize(1, key="k", token=two).status,
        _tickets_left(api, one, two, api.emulator.token("owner")),
    ]


@cases.add("same_principal", "person_in_organization", [409, 1], [202, 2])
def _(api: CheckedWorld) -> list[int]:
    api.emulator.intervene("add_member", organization="hobby", person="owner", role="owner")
    token = api.emulator.token("owner", organization="hobby")
    api.set_flag(False, key="k")
    issued = [issue(api), issue(api, project="garden", token=token)]
    return [
        api.apply_domains(project="garden", key="k", token=token).status,
        [redeem(api, ticket).status for ticket in issued].count(303),
    ]


@cases.add("idempotency_scope", "principal_and_call", [200, 409, 409], [200, 202, 409])
def _(api: CheckedWorld) -> list[int]:
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
def _(api: CheckedWorld) -> list[Any]:
    api.refusals_are_kept = True
    first, again = api.initialize(9, key="k"), api.initialize(9, key="k")
    assert first.status == again.status == 409
    return [first.body == again.body, code(api.initialize(1, key="k"))]


@cases.add("idempotency_retention", "1h", [True, True], [True, False])
def _(api: CheckedWorld) -> list[bool]:
    first = api.create_key(key="k").json["key"]["id"]
    api.advance("59m")
    soon = api.create_key(key="k").json["key"]["id"]
    api.advance("1m")
    return [soon == first, api.create_key(key="k").json["key"]["id"] == first]


@cases.add("idempotency_retention", "90d", True, False)
def _(api: CheckedWorld) -> bool:
    first = api.create_key(key="k").json["key"]["id"]
    api.advance("90d")
    return bool(api.create_key(key="k").json["key"]["id"] == first)


@cases.add("operation_replay", "current", ["queued", "queued"], ["succeeded", "succeeded"])
def _(api: CheckedWorld) -> list[str]:
    first = [api.initialize(1, key="s"), api.apply_domains(key="d")]
    api.advance("1h")
    again = [api.initialize(1, key="s"), api.apply_domains(key="d")]
    assert [answer.json["id"] for answer in first] == [answer.json["id"] for answer in again]
    return [answer.json["state"] for answer in again]


# --- Operations -----------------------------------------------------------------------------------


@cases.add("source_profile", "immediate", ["queued", "queued"], ["succeeded", "queued"])
@cases.add("domains_profile", "immediate", ["queued", "queued"], ["queued", "succeeded"])
def _(api: CheckedWorld) -> list[str]:
    source, domains = api.initialize(1).json, api.apply_domains(project="blog").json
    return [api.poll(operation["id"]).json["state"] for operation in (source, domains)]


_PHASES = ["queued", "making", "shipping", "checking", "finished"]


@cases.add(
    "progress_phases", _PHASES, ["queued", "building", "done"], ["queued", "making", "finished"]
)
def _(api: CheckedWorld) -> list[str]:
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
def _(api: CheckedWorld) -> list[str]:
    operation_id = api.initialize(1).json["id"]
    seen = []
    for step in ("require", "run", "complete"):
        api.emulator.intervene(f"{step}_reconciliation", operation=operation_id)
        seen.append(api.poll(operation_id).json["reconciliation"]["state"])
    return seen


@cases.add(
    "deployment_statuses",
    ["queued", "making", "shipping", "live", "broken", "dropped"],
    {"queued", "ready", "failed", "cancelled"},
    {"queued", "live", "broken", "dropped"},
)
def _(api: CheckedWorld) -> set[str]:
    api.initialize(1)
    return {item["status"] for item in api.deployments("?limit=100").json["items"]}


@cases.add(
    "database_states",
    ["init", "up", "asleep", "growing", "down"],
    ["ready", "suspended", "init", "ready"],
    ["up", "asleep", "init", "up"],
)
def _(api: CheckedWorld) -> list[str]:
    found = {p: api.compute(project=p).json["database"] for p in ("shop", "blog", "docs")}
    return [*(found[p]["state"] for p in found), found["docs"]["pending_state"]]


@cases.add("zero_credits", "nothing_refused", [402, 402, 201, 200], [202, 202, 201, 200])
def _(api: CheckedWorld) -> list[int]:
    api.emulator.intervene("set_credits", organization="acme", credits=0)
    calls = (api.initialize(1), api.apply_domains(), api.create_key(), api.set_flag(False))
    return [answer.status for answer in calls]


@cases.add("domains_plan", "paid", [202, 202], [402, 202])
def _(api: CheckedWorld) -> list[int]:
    api.emulator.intervene("set_plan", organization="acme", plan="free")
    free = api.apply_domains().status
    api.emulator.intervene("set_plan", organization="acme", plan="paid")
    return [free, api.apply_domains().status]


@cases.add("flag_reenabled", "renewed", False, True)
def _(api: CheckedWorld) -> bool:
    first = api.set_flag(True).json["enabled_at"]
    api.advance("1h")
    return bool(api.set_flag(True).json["enabled_at"] != first)


# --- Roles ----------------------------------------------------------------------------------------

Ask = Callable[..., Response]


def roles(ask: Ask) -> Probe:
    """Who of owner, maintainer and reader may ask."""

    def probe(api: CheckedWorld) -> list[bool]:
        return [ask(api, who=who).status < 300 for who in ("owner", "member", "reader")]

    return probe


def poll_one(api: CheckedWorld, who: str) -> Response:
    operation_id = api.deployments("?limit=1", who="owner").json["items"][0]["operation_id"]
    return api.poll(operation_id, who=who)


_ALLOWED = {
    "owner": [True, False, False],
    "maintainer": [True, True, False],
    "reader": [True, True, True],
}
for name, usual, ask in (
    ("source_role", "maintainer", lambda api, who: api.initialize(1, who=who)),
    ("domains_role", "maintainer", lambda api, who: api.apply_domains(who=who)),
    ("dns_role", "reader", lambda api, who: api.dns(who=who)),
    ("deployments_role", "reader", lambda api, who: api.deployments(who=who)),
    ("operation_role", "reader", poll_one),
):
    for role in _ALLOWED:
        if role != usual:
            cases.add(name, role, _ALLOWED[usual], _ALLOWED[role])(roles(ask))


@cases.add("key_creation_role", "owner", [201, 201], [201, 403])
def _(api: CheckedWorld) -> list[int]:
    return [api.create_key(who=who).status for who in ("owner", "member")]


@cases.add("organization_owner", "by_grant", [200, 201, 202, 403], [404, 404, 202, 200])
def _(api: CheckedWorld) -> list[int]:
    granted = api.apply_domains(who="member").status
    found = [api.set_flag(False).status, api.ticket().status, granted]
    with suppress(ControlRefused):  # who owns all projects can be granted none
        api.emulator.intervene("set_role", project="shop", person="owner", role="maintainer")
        api.emulator.intervene("set_role", project="shop", person="member", role="owner")
    return [*found, api.set_flag(False, who="member").status]


@cases.add("keys_on_owner_calls", "refused", [200, 201, 202], [403, 403, 202])
def _(api: CheckedWorld) -> list[int]:
    token = api.create_key().json["value"]
    return [
        api.set_flag(False, token=token).status,
        api.ticket(token=token).status,
        api.apply_domains(token=token).status,
    ]


@cases.add("call_permissions", {"list_deployments": "projects.read"}, [403, 200], [200, 403])
def _(api: CheckedWorld) -> list[int]:
    names = ("projects.read", "deployments.read")
    keys = [api.emulator.create_api_key("owner", permissions=[name])["value"] for name in names]
    return [api.deployments(token=key).status for key in keys]


@cases.add("new_key_permissions", "reading", ["projects.write", 202], [None, 403])
def _(api: CheckedWorld) -> list[Any]:
    made = api.create_key().json
    writing = [name for name in made["key"]["permissions"] if name.endswith(".write")]
    status = api.apply_domains(token=made["value"]).status
    return [writing[0] if writing else None, status]


@cases.add("returned_members_keys", "revoked", [404, 200], [401, 401])
def _(api: CheckedWorld) -> list[int]:
    token = api.create_key(who="member").json["value"]
    member = {"organization": "acme", "person": "member"}
    api.emulator.intervene("remove_member", **member)
    found = [api.dns(token=token).status]
    api.emulator.intervene("add_member", **member)
    return [*found, api.dns(token=token).status]


@cases.add("unshared_project", "forbidden", [404, 404, 404], [403, 404, 403])
def _(api: CheckedWorld) -> list[int]:
    """In a project of one's organization without a role, in another's, and by one's key."""
    token = api.emulator.api_key("reader")
    return [
        api.dns(project="labs", who="reader").status,
        api.dns(project="garden", who="reader").status,
        api.dns(project="labs", token=token).status,
    ]


@cases.add("access_scope", "memberships", [404, 404, 404], [200, 201, 404])
def _(api: CheckedWorld) -> list[int]:
    bound = api.create_key().json["value"]
    api.emulator.intervene("add_member", organization="hobby", person="owner", role="owner")
    return [
        api.dns(project="garden").status,
        api.create_key(organization="hobby").status,
        api.dns(project="garden", token=bound).status,
    ]


@cases.add("replayed_key_permissions", "all_enabled", [201, 200, 503], [201, 503, 503])
def _(api: CheckedWorld) -> list[int]:
    found = [api.create_key(key="k").status]
    for enabled in (["dns.read"], []):
        api.emulator.intervene("set_permissions", organization="acme", permissions=enabled)
        found.append(api.create_key(key="k").status)
    return found


@cases.add("expiry_instant", "inside", [404, 401, 401], [303, 200, 200])
def _(api: CheckedWorld) -> list[int]:
    ticket, token = issue(api), api.emulator.mint_token("owner", expires_in_seconds=600)
    api.advance("10m")
    found = [redeem(api, ticket).status, api.dns(token=token["access_token"]).status]
    key = api.create_key().json["value"]
    api.advance("90d")
    return [*found, api.dns(token=key).status]


@cases.add("expiry_instant", "inside", ["expired", "expired"], ["authorized", "expired"])
def _(api: CheckedWorld) -> list[str]:
    api.emulator.intervene("move_dns", project="labs", to="pending", zone="labs.example")
    api.emulator.intervene("move_dns", project="labs", to="authorized", expires_in="1h")
    found = []
    for by in ("1h", "1ms"):
        api.advance(by)
        found.append(api.dns(project="labs").json["status"])
    return found


@cases.add("expiry_instant", "inside", [400, 400, False, False, 400], [200, 400, True, False, 200])
def _(api: CheckedWorld) -> list[Any]:
    browser = Browser(api.emulator.summary["issuer"])
    first, second, third = (browser.choose("owner").answer["code"] for _ in range(3))
    refreshed = browser.redeem(third).json["refresh_token"]
    found: list[Any] = []
    for by, code in (("60s", first), ("1ms", second)):
        api.advance(by)
        found.append(browser.redeem(code).status)
    for by in (f"{7 * 86_400_000 - 60_001}ms", "23d"):
        api.advance(by)
        found.append("code" in browser.authorize(prompt="none").answer)
    return [*found, browser.refresh(refreshed).status]


@cases.add("expiry_instant", "inside", [False, 401], [True, 200])
def _(api: CheckedWorld) -> list[Any]:
    api.assume(idempotency_retention="1h", dev_session_lifetime="1h")
    first, ticket = api.apply_domains(key="k").json["id"], issue(api)
    cookie = redeem(api, ticket).headers["Set-Cookie"].partition(";")[0]
    api.advance("1h")
    opened = visit(api, ticket["origin"] + "/", cookie=cookie).status
    return [api.apply_domains(key="k").json["id"] == first, opened]


@cases.add("former_owners_ticket", "refused", 303, 404)
def _(api: CheckedWorld) -> int:
    ticket = issue(api)
    state = api.state()
    memberships = state["tables"]["memberships"]
    for one in memberships.values():
        if one["role"] == "owner" and one["organization_id"] == api.emulator.organization:
            one["role"] = "member"
    api.load(state)
    return redeem(api, ticket).status


@cases.add("redemption_status", 302, 303, 302)
@cases.add("redemption_status", 307, 303, 307)
def _(api: CheckedWorld) -> int:
    return redeem(api, issue(api)).status


@cases.add("dev_session_cookie", "__Host-sid", ["dev_access", 200, 200], ["__Host-sid", 200, 200])
@cases.add("dev_session_lifetime", "1m", ["dev_access", 200, 200], ["dev_access", 200, 401])
def _(api: CheckedWorld) -> list[Any]:
    ticket = issue(api)
    cookie = redeem(api, ticket).headers["Set-Cookie"].partition(";")[0]
    found: list[Any] = [cookie.partition("=")[0]]
    for by in ("59s", "1s"):
        api.advance(by)
        found.append(visit(api, ticket["origin"] + "/", cookie=cookie).status)
    return found


@cases.add(
    "dns_transitions",
    {"pending": "authorized revoked expired"},
    ["pending", "pending"],
    ["pending", "expired"],
)
def _(api: CheckedWorld) -> list[str]:
    api.emulator.intervene("move_dns", project="docs", to="pending", expires_in="1h")
    before = api.dns(project="docs").json["status"]
    api.advance("1h")
    return [before, api.dns(project="docs").json["status"]]


@cases.add(
    "dns_details",
    "authorized",
    [(2, True), (2, True), (2, True)],
    [(0, False), (2, True), (0, False)],
)
def _(api: CheckedWorld) -> list[tuple[int, bool]]:
    found = []
    for status in ("pending", "authorized", "revoked"):
        api.emulator.intervene("move_dns", project="labs", to=status, zone="labs.example")
        shown = api.dns(project="labs").json
        assert shown["zone"] == "labs.example"
        found.append((len(shown["scopes"]), shown["expires_at"] is not None))
    return found


@cases.add(
    "deployment_transitions",
    {"queued": "deploying"},
    ["queued", "building", "deploying", "ready"],
    ["queued", "deploying", "ready"],
)
@cases.add(
    "deployment_transitions",
    {"building": ""},
    ["queued", "building", "deploying", "ready"],
    ["queued", "building", "ready"],
)
def _(api: CheckedWorld) -> list[str]:
    api.initialize(1)
    seen = []
    for _ in range(12):
        newest = api.deployments("?limit=1").json["items"][0]
        seen.append(newest["status"])
        api.load(api.state())  # whatever is passed over, a world can be kept
        api.advance("1s")
    assert {"artifact_digest", "url"} <= newest.keys()
    return list(dict.fromkeys(seen))


@cases.add(
    "database_transitions",
    {"ready": "resizing", "resizing": ""},
    ["suspended", "resizing", "ready"],
    ["ready", "resizing", "resizing"],
)
def _(api: CheckedWorld) -> list[str]:
    found = []
    for state in ("suspended", "resizing", "ready"):
        with suppress(ControlRefused):
            api.emulator.intervene("set_database", project="shop", environment="dev", state=state)
        found.append(api.compute().json["database"]["state"])
    return found


@cases.add("data_modes", ["shared", "isolated"], ["separate", "shared"], ["isolated", "shared"])
def _(api: CheckedWorld) -> list[str]:
    return [api.compute(project=project).json["data_mode"] for project in ("shop", "blog")]


# --- Keys and tokens ------------------------------------------------------------------------------


@cases.add(
    "key_permissions",
    ["see", "change", "point", "history", "data", "names", "peek"],
    ["projects.read", "dev_access.write", 200],
    ["see", "peek", 200],
)
def _(api: CheckedWorld) -> list[Any]:
    created = api.create_key().json
    permissions = created["key"]["permissions"]
    return [permissions[0], permissions[-1], api.dns(token=created["value"]).status]


@cases.add("key_prefix", "sk_", ["phk_", "phk_…", 200], ["sk_", "sk_…", 200])
def _(api: CheckedWorld) -> list[Any]:
    created = api.create_key().json
    value, shown = created["value"], created["key"]["obfuscated_value"]
    return [value[:-43], shown[:-4], api.dns(token=value).status]


@cases.add("token_lifetime", "5m", [3600, 200], [300, 401])
def _(api: CheckedWorld) -> list[int]:
    token = api.emulator.mint_token("owner")
    api.advance("5m")
    return [token["expires_in"], api.dns(token=token["access_token"]).status]


@cases.add("token_audience", "another-api", "hosting-control-api", "another-api")
def _(api: CheckedWorld) -> str:
    token = api.emulator.token("owner")
    assert api.dns(token=token).status == 200
    claims = parts(token)[1]
    other = {"hosting-control-api": "another-api"}.get(claims["aud"], "hosting-control-api")
    problem(api.dns(token=signed(api, {**claims, "aud": other})), 401, "unauthenticated")
    return str(claims["aud"])
