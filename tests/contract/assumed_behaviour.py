"""Assumptions about what happens: operations, roles, keys and tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conftest import Response
from tests.contract.assuming import Cases, Probe, done
from tests.contract.conftest import HeldApi
from tests.contract.forging import parts, signed
from tests.contract.holding import problem

cases = Cases()

# --- Operations -----------------------------------------------------------------------------------


@cases.add("source_profile", "immediate", ["queued", "queued"], ["succeeded", "queued"])
@cases.add("domains_profile", "immediate", ["queued", "queued"], ["queued", "succeeded"])
def _(api: HeldApi) -> list[str]:
    source, domains = api.initialize(1).json, api.apply_domains(project="blog").json
    return [api.poll(operation["id"]).json["state"] for operation in (source, domains)]


@cases.add("source_creates_deployment", False, [True, True], [False, False])
def _(api: HeldApi) -> list[bool]:
    before = api.deployments().body
    operation = done(api, api.initialize(1))
    return ["deployment_id" in operation, api.deployments().body != before]


_PHASES = ["waiting", "making", "shipping", "checking", "finished"]


@cases.add(
    "progress_phases", _PHASES, ["queued", "building", "done"], ["waiting", "making", "finished"]
)
def _(api: HeldApi) -> list[str]:
    operation = api.initialize(1)
    seen = [operation.json["progress"]["phase"]]
    for by in ("2s", "8s"):
        api.advance(by)
        seen.append(api.poll(operation.json["id"]).json["progress"]["phase"])
    return seen


@cases.add(
    "reconciliation_states",
    ["wanted", "trying", "settled", "given up"],
    ["required", "running", "completed"],
    ["wanted", "trying", "settled"],
)
def _(api: HeldApi) -> list[str]:
    operation_id = api.initialize(1).json["id"]
    seen = []
    for step in ("require", "run", "complete"):
        name, world = f"{step}_reconciliation", api.emulator.name
        api.emulator.control.intervene(name, {"operation": operation_id}, world)
        seen.append(api.poll(operation_id).json["reconciliation"]["state"])
    return seen


@cases.add(
    "deployment_statuses",
    ["waiting", "making", "shipping", "live", "broken", "dropped"],
    {"queued", "ready", "failed", "cancelled"},
    {"waiting", "live", "broken", "dropped"},
)
def _(api: HeldApi) -> set[str]:
    api.initialize(1)
    return {item["status"] for item in api.deployments("?limit=100").json["items"]}


@cases.add(
    "database_states",
    ["new", "up", "asleep", "growing", "down"],
    ["ready", "suspended", "init", "ready"],
    ["up", "asleep", "new", "up"],
)
def _(api: HeldApi) -> list[str]:
    found = {p: api.compute(project=p).json["database"] for p in ("shop", "blog", "docs")}
    return [*(found[p]["state"] for p in found), found["docs"]["pending_state"]]


@cases.add("flag_reenabled", "renewed", False, True)
def _(api: HeldApi) -> bool:
    first = api.set_flag(True).json["enabled_at"]
    api.advance("1h")
    return bool(api.set_flag(True).json["enabled_at"] != first)


# --- Roles ----------------------------------------------------------------------------------------

Ask = Callable[..., Response]


def roles(ask: Ask) -> Probe:
    """Who of owner, maintainer and reader may ask."""

    def probe(api: HeldApi) -> list[bool]:
        return [ask(api, who=who).status < 300 for who in ("owner", "member", "reader")]

    return probe


def poll_one(api: HeldApi, who: str) -> Response:
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


# --- Keys and tokens ------------------------------------------------------------------------------


@cases.add(
    "key_permissions",
    ["see", "change", "point", "history", "data", "names", "peek"],
    ["projects.read", "dev_access.write", 200],
    ["see", "peek", 200],
)
def _(api: HeldApi) -> list[Any]:
    created = api.create_key().json
    permissions = created["key"]["permissions"]
    return [permissions[0], permissions[-1], api.dns(token=created["value"]).status]


@cases.add("key_prefix", "sk_", ["phk_", "phk_…", 200], ["sk_", "sk_…", 200])
def _(api: HeldApi) -> list[Any]:
    created = api.create_key().json
    value, shown = created["value"], created["key"]["obfuscated_value"]
    return [value[:-43], shown[:-4], api.dns(token=value).status]


@cases.add("token_lifetime", "5m", [3600, 200], [300, 401])
def _(api: HeldApi) -> list[int]:
    token = api.emulator.control.token("owner", world=api.emulator.name)
    api.advance("5m")
    return [token["expires_in"], api.dns(token=token["access_token"]).status]


@cases.add("token_audience", "another-api", "hosting-control-api", "another-api")
def _(api: HeldApi) -> str:
    token = api.emulator.token("owner")
    assert api.dns(token=token).status == 200
    claims = parts(token)[1]
    other = {"hosting-control-api": "another-api"}.get(claims["aud"], "hosting-control-api")
    problem(api.dns(token=signed(api, {**claims, "aud": other})), 401, "unauthenticated")
    return str(claims["aud"])
