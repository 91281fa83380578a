"""Assumptions about what is read of a request: paging, inputs and Idempotency-Keys."""

from __future__ import annotations

from typing import Any

from tests.contract.assuming import Cases, code, done
from tests.contract.conftest import HeldApi
from tests.contract.holding import moment, problem

cases = Cases()

# --- Pages ----------------------------------------------------------------------------------------


@cases.add("cursor_parameter", "after", ["cursor"], ["after"])
def _(api: HeldApi) -> list[str]:
    first = api.deployments().json
    names = ("cursor", "after")
    pages = {n: api.deployments(f"?{n}={first['next_cursor']}").json["items"] for n in names}
    return [name for name, items in pages.items() if items != first["items"]]


@cases.add("limit_parameter", "page_size", [3, 20], [20, 3])
@cases.add("default_page_size", 7, [3, 20], [3, 7])
@cases.add("default_page_size", 100, [3, 20], [3, 45])
def _(api: HeldApi) -> list[int]:
    return [len(api.deployments(query).json["items"]) for query in ("?limit=3", "?page_size=3")]


@cases.add("deployment_order", "oldest_first", "newest first", "oldest first")
def _(api: HeldApi) -> str:
    items, cursor = [], ""
    while cursor is not None:
        page = api.deployments(f"?limit=10{cursor and f'&cursor={cursor}'}").json
        items += page["items"]
        cursor = page["next_cursor"]
    made = [moment(item["created_at"]) for item in items]
    assert len({item["id"] for item in items}) == 45
    return {True: "oldest first", False: "newest first"}[made == sorted(made)]


# --- Inputs ---------------------------------------------------------------------------------------


@cases.add("environment_parameter", "stage", [200, 400], [400, 200])
def _(api: HeldApi) -> list[int]:
    return [api.compute(query).status for query in ("?environment=dev", "?stage=dev")]


@cases.add("missing_environment", "dev", (400, None), (200, "dev"))
@cases.add("missing_environment", "prod", (400, None), (200, "prod"))
def _(api: HeldApi) -> tuple[int, str | None]:
    problem(api.compute("?environment=x"), 400, "invalid_request")
    answer = api.compute("")
    return answer.status, answer.json.get("environment")


@cases.add("source_generation", "ignored", [409, "failed", 2], [202, "succeeded", 3])
def _(api: HeldApi) -> list[Any]:
    api.initialize(1)
    second = done(api, api.initialize(1))
    return [api.initialize(99).status, second["state"], api.project()["source_generation"]]


@cases.add("unknown_body_fields", "refused", [202, 201], [400, 400])
def _(api: HeldApi) -> list[int]:
    source, keys = api.project_path("source:initialize"), "user-api-keys"
    organization = f"/v1/organizations/{api.emulator.organization}/{keys}"
    generation = {"expected_source_generation": 1}
    return [
        api.call("POST", source, key="b", body={**generation, "x": 1}).status,
        api.call("POST", organization, key="c", body={"name": "ci", "x": 1}).status,
    ]


@cases.add("unexpected_body", "refused", [202, 201, 200, 202], [400, 400, 400, 202])
def _(api: HeldApi) -> list[int]:
    return [
        api.apply_domains(body={}).status,
        api.ticket(body={}).status,
        api.dns(body={}).status,
        api.apply_domains().status,
    ]


@cases.add(
    "unknown_query_parameters", "refused", [200, 200, 200, 202, 200], [400, 400, 400, 400, 200]
)
def _(api: HeldApi) -> list[int]:
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
def _(api: HeldApi) -> list[Any]:
    api.emulator.projects |= {"bad": "shop", "missing": "01JGFJJZ000000000000000000"}
    api.emulator.organizations["bad"] = "acme"
    return [
        code(api.dns(project="bad")),
        code(api.create_key(organization="bad")),
        code(api.poll("bad")),
        code(api.dns(project="missing")),
    ]


@cases.add("request_id_invalid", "ignored", [400, 400], [200, 200])
def _(api: HeldApi) -> list[int]:
    return [api.dns(headers={"X-Request-Id": sent}).status for sent in ("", "x" * 129)]


@cases.add("request_id_on_success", "echoed", None, "mine")
def _(api: HeldApi) -> str | None:
    found: str | None = api.dns(headers={"X-Request-Id": "mine"}).headers["X-Request-Id"]
    return found


@cases.add("body_limit_bytes", 64, [200, 200], [200, 413])
def _(api: HeldApi) -> list[int]:
    path = api.project_path("powered-by-flag")
    json_type = {"Content-Type": "application/json"}
    return [
        api.call(
            "PUT", path, key=str(size), raw=b'{"enabled":true}'.ljust(size), headers=json_type
        ).status
        for size in (64, 65)
    ]


# --- Idempotency ----------------------------------------------------------------------------------


@cases.add("idempotency_scope", "principal_and_call", [200, 409, 409], [200, 202, 409])
def _(api: HeldApi) -> list[int]:
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
def _(api: HeldApi) -> list[Any]:
    api.refusals_are_kept = True
    first, again = api.initialize(9, key="k"), api.initialize(9, key="k")
    assert first.status == again.status == 409
    return [first.body == again.body, code(api.initialize(1, key="k"))]


@cases.add("idempotency_retention", "1h", [True, True], [True, False])
def _(api: HeldApi) -> list[bool]:
    first = api.create_key(key="k").json["key"]["id"]
    api.advance("59m")
    soon = api.create_key(key="k").json["key"]["id"]
    api.advance("1m")
    return [soon == first, api.create_key(key="k").json["key"]["id"] == first]


@cases.add("idempotency_retention", "90d", False, True)
def _(api: HeldApi) -> bool:
    first = api.create_key(key="k").json["key"]["id"]
    api.advance("89d")
    return bool(api.create_key(key="k").json["key"]["id"] == first)


@cases.add("operation_replay", "current", ["queued", "queued"], ["succeeded", "succeeded"])
def _(api: HeldApi) -> list[str]:
    first = [api.initialize(1, key="s"), api.apply_domains(key="d")]
    api.advance("1h")
    again = [api.initialize(1, key="s"), api.apply_domains(key="d")]
    assert [answer.json["id"] for answer in first] == [answer.json["id"] for answer in again]
    return [answer.json["state"] for answer in again]
