"""Assumptions about how answers look: statuses, fields, words of time and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.contract.assuming import Cases, code, done
from tests.contract.conftest import HeldApi
from tests.contract.origins import issue, redeem

cases = Cases()

# --- Statuses and shapes --------------------------------------------------------------------------


@cases.add("accepted_status", 200, [202, 202], [200, 200])
@cases.add("accepted_status", 201, [202, 202], [201, 201])
def _(api: HeldApi) -> list[int]:
    return [api.initialize(1).status, api.apply_domains().status]


@cases.add("key_created_status", 200, [201, 200], [200, 200])
@cases.add("key_replayed_status", 201, [201, 200], [201, 201])
def _(api: HeldApi) -> list[int]:
    return [api.create_key(key="k").status, api.create_key(key="k").status]


@cases.add("ticket_created_status", 200, 201, 200)
def _(api: HeldApi) -> int:
    return api.ticket().status


@cases.add(
    "operation_path",
    "/v1/jobs/{operation_id}/state",
    {"/v1/operations/{}": 200, "/v1/jobs/{}/state": 404},
    {"/v1/operations/{}": 404, "/v1/jobs/{}/state": 200},
)
def _(api: HeldApi) -> dict[str, int]:
    operation_id = api.initialize(1).json["id"]
    paths = ("/v1/operations/{}", "/v1/jobs/{}/state")
    return {path: api.send("GET", path.format(operation_id)).status for path in paths}


@cases.add(
    "empty_fields", "null", set(), {"error", "result", "url", "last_used_at", "pending_state"}
)
def _(api: HeldApi) -> set[str]:
    api.nulls = True
    operation = api.initialize(1).json
    deployment = api.deployments("?limit=1").json["items"][0]
    key, database = api.create_key().json["key"], api.compute().json["database"]
    wanted = {"error", "result", "url", "last_used_at", "pending_state"}
    shown = [*operation.items(), *deployment.items(), *key.items(), *database.items()]
    return {name for name, value in shown if name in wanted and value is None}


@cases.add("last_page_cursor", "absent", [True, True], [False, True])
def _(api: HeldApi) -> list[bool]:
    return ["next_cursor" in api.deployments(query).json for query in ("?limit=100", "?limit=1")]


# --- Problems -------------------------------------------------------------------------------------


@cases.add(
    "problem_statuses",
    {"interactive_login_required": 401, "organization_required": 400, "etag_mismatch": 412},
    [(403, "interactive_login_required"), (403, "organization_required"), (409, "etag_mismatch")],
    [(401, "interactive_login_required"), (400, "organization_required"), (412, "etag_mismatch")],
)
def _(api: HeldApi) -> list[Any]:
    return [
        code(api.create_key(token=api.emulator.token("owner", interactive=False))),
        code(api.dns(who="no-organization")),
        code(api.initialize(9)),
    ]


@cases.add("ticket_refused_status", 410, [404, 404], [410, 404])
def _(api: HeldApi) -> list[int]:
    ticket = issue(api)
    issue(api)
    return [redeem(api, ticket).status, api.dns(project="garden").status]


@cases.add("rate_limit", "2/60s", [200, 200, 200], [200, 200, 429])
def _(api: HeldApi) -> list[int]:
    return [api.dns().status for _ in range(3)]


@cases.add("docs_url", "https://docs.example/api", True, False)
def _(api: HeldApi) -> bool:
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


@cases.add("timestamp_form", "microseconds", "milliseconds", "microseconds")
@cases.add("timestamp_form", "offset", "milliseconds", "offset")
def _(api: HeldApi) -> str:
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
def _(api: HeldApi) -> list[str]:
    hosts = done(api, api.apply_domains())["result"]["hostnames"]
    ticket = issue(api)
    assert ticket["origin"] == f"https://{hosts['development']}"
    assert redeem(api, ticket).status == 303
    done(api, api.initialize(1))
    url = api.deployments("?limit=1").json["items"][0]["url"]
    assert url == f"https://{hosts['production']}"
    order = ("development", "production", "mail")
    return [hosts[name].partition(f".{api.emulator.name}.")[2] for name in order]
