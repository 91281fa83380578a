"""A careful walk through all calls of a varied world: every rule of the contract that it can see.

It asks as a client would and depends on nothing that the contract leaves open; where an answer is
not what the contract says, it fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from openapi_schema_validator import OAS31Validator, oas31_format_checker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.calls import CallSpec, CallTable
from hosting_emulator.contract.openapi import openapi_document, responses
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import model
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.faults.documents import arm
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.variation.draws import objects_in
from hosting_emulator.variation.worlds import document_absent, read_variation, varied_world
from hosting_emulator.world.value import Change, World
from tests.support.calls import Response
from tests.support.in_process import InProcess, Machine, fresh_world

TERMINAL = ("succeeded", "failed", "cancelled")
FORWARD = {"queued": 0, "running": 1, **dict.fromkeys(TERMINAL, 2)}
CURSOR = re.compile("[A-Za-z0-9_-]+")
#: What call 1 may fail with; more is not listed for it.
LISTED = {400, 401, 403, 404, 409, 503}
FIXED = {"resource_not_found": (404, False), "idempotency_key_reused": (409, False)}


def varied(
    seed: str, *only: str, mode: str = "skip", machine: Machine | None = None, **assumptions: Any
) -> World:
    """Return a default world that varies."""
    world = fresh_world(mode=mode, machine=machine, **assumptions)
    return varied_world(world, read_variation(seed, only or None), assumptions)


@lru_cache
def document_check(name: str) -> Callable[[Any], None]:
    """Return what holds an answer against a schema of the document of a world that varies."""
    variation = read_variation("any")
    document = openapi_document(DEFAULTS, absent=document_absent(variation))
    schemas = document["components"]["schemas"]
    resource = DRAFT202012.create_resource({"components": {"schemas": schemas}})
    registry: Any = Registry().with_resource("urn:document", resource)
    schema = {"$ref": f"urn:document#/components/schemas/{name}"}
    check: Callable[[Any], None] = OAS31Validator(
        schema, registry=registry, format_checker=oas31_format_checker
    ).validate
    return check


def check_model(name: str, document: Any) -> None:
    """Hold an answer against its model: but for members of which it is open if they must be there."""
    whole = json.loads(json.dumps(document))
    for found in objects_in(name, whole):
        fields = model(found.resource.name).model_fields
        for member in found.resource.may_lack:
            if member not in found.members and fields[member].is_required():
                found.members[member] = _any_value(member)
    model(name).model_validate(whole, strict=True)


def _any_value(member: str) -> Any:
    """Return what a member may hold that was left out."""
    ends = {"_at": "2026-01-01T00:00:00Z", "_id": "0" * 26, "_cu": 1, "_gb": 1, "_seconds": 0}
    said = {
        "disabled": False,
        "permissions": [],
        "environment": "dev",
        "origin": "https://dev-a-b-c.dev.localhost",
    }
    return said.get(member, next((v for end, v in ends.items() if member.endswith(end)), "word"))


class Walk:
    """One walk; `answers` are all that it was given, in order."""

    def __init__(self, world: World, *, by_document: bool = True) -> None:
        self.api = InProcess(world)
        self.answers: list[tuple[int, bytes, dict[str, str]]] = []
        self._by_document = by_document
        #: What each call may answer, once it is known.
        self._statuses: dict[str, set[str]] = {}
        self._specs: dict[str, CallSpec] = {
            spec.call_id: spec for spec in CallTable(self.api.world.assumptions)
        }

    def whole(self) -> Walk:
        """Walk through everything."""
        self.flag()
        self.operations()
        self.keys()
        self.reading()
        self.pages()
        self.tickets()
        self.problems()
        return self

    # --- Holding one answer against the contract ----------------------------------------------

    def check(self, call_id: str, answer: Response) -> Any:
        """Hold an answer against document, models and the rules for all answers; return its JSON."""
        self.answers.append((answer.status, answer.body, answer.headers))
        spec, document = self._specs[call_id], json.loads(answer.body)
        if call_id not in self._statuses:
            self._statuses[call_id] = set(responses(spec, self.api.world.assumptions))
        assert str(answer.status) in self._statuses[call_id], answer
        entry = self.api.engine.log.newest(1)[0]
        if answer.status >= 400:
            assert re.fullmatch(r"application/problem\+json(;.*)?", entry.content_type)
            self._problem(call_id, answer, document)
            return document
        assert re.fullmatch("application/json(;.*)?", entry.content_type)
        check_model(spec.response, document)
        if self._by_document:
            document_check(spec.response)(document)
        return document

    def _problem(self, call_id: str, answer: Response, document: Any) -> None:
        check_model("ProblemDetails", document)
        if self._by_document:
            document_check("ProblemDetails")(document)
        code = document["code"]
        assert code in PROBLEMS
        assert document["status"] == answer.status
        assert document["request_id"] == answer.headers["X-Request-Id"]
        assert document["type"].endswith("/errors/" + code.replace("_", "-"))
        assert (answer.status, document["retryable"]) == FIXED.get(
            code, (answer.status, document["retryable"])
        )
        assert call_id != "set_project_powered_by_flag" or answer.status in LISTED

    # --- The calls ----------------------------------------------------------------------------

    def flag(self) -> None:
        api = self.api
        first = api.set_flag(True, project="blog", key="flag")
        shown = self.check("set_project_powered_by_flag", first)
        assert set(shown) == set(model("PoweredByFlag").model_fields)
        assert parse_timestamp(shown["enabled_at"]) == api.engine.now_ms()
        assert api.set_flag(True, project="blog", key="flag").body == first.body
        hidden = self.check("set_project_powered_by_flag", api.set_flag(False, project="blog"))
        assert (hidden["enabled"], hidden["enabled_at"]) == (False, None)
        change = Change(api.world, api.engine.run_due())
        arm(change, {"rate_limit": {"limit": 0}, "times": 1})
        api.engine.commit(change, "fault")
        limited = self.check("set_project_powered_by_flag", api.set_flag(True, project="blog"))
        assert (limited["code"], limited["retryable"]) == ("rate_limited", True)
        reused = self.check(
            "set_project_powered_by_flag", api.set_flag(False, project="blog", key="flag")
        )
        assert reused["code"] == "idempotency_key_reused"
        kept = self.check("set_project_powered_by_flag", api.set_flag(True))
        again = self.check("set_project_powered_by_flag", api.set_flag(True))
        moments = [_moment(shown, "enabled_at") for shown in (kept, again)]
        assert moments == sorted(moments)
        refused = api.set_flag(False, project="garden", who="outsider")
        assert self.check("set_project_powered_by_flag", refused)["code"] == (
            "powered_by_flag_required"
        )

    def operations(self) -> None:
        api = self.api
        first = api.initialize(1, key="begin")
        begun = self.check("initialize_managed_source", first)
        again = self.check("initialize_managed_source", api.initialize(1, key="begin"))
        assert again["id"] == begun["id"]
        if api.world.assumptions.operation_replay == "first_response":
            assert self.answers[-1][1] == first.body
        waits = self.check("apply_project_domains", api.apply_domains(key="domains"))
        assert waits.get("blocking_operation_id", begun["id"]) == begun["id"] != waits["id"]
        assert self.follow(begun) == "succeeded"
        assert self.follow(waits) == "succeeded"
        stale = self.check("initialize_managed_source", api.initialize(1))
        assert stale["code"] == "etag_mismatch"
        self._intervened()

    def _intervened(self) -> None:
        api = self.api
        failing = self.check("apply_project_domains", api.apply_domains())
        self.intervene("require_reconciliation", operation=failing["id"])
        for word in ("run_reconciliation", "complete_reconciliation"):
            self.check("get_operation", api.poll(failing["id"]))
            self.intervene(word, operation=failing["id"])
        self.check("get_operation", api.poll(failing["id"]))
        self.intervene("fail_operation", operation=failing["id"])
        assert self.follow(failing) == "failed"
        cancelled = self.check("apply_project_domains", api.apply_domains(project="blog"))
        self.intervene("cancel_operation", operation=cancelled["id"])
        assert self.follow(cancelled) == "cancelled"

    def intervene(self, word: str, **fields: Any) -> None:
        change = Change(self.api.world, self.api.engine.run_due())
        read_intervention({word: fields}).apply(change)
        self.api.engine.commit(change, word)

    def follow(self, accepted: Any) -> str:
        """Poll an operation to its end, and once more."""
        seen = [accepted]
        for _ in range(40):
            polled = self.check("get_operation", self.api.poll(accepted["id"]))
            assert polled["id"] == accepted["id"]
            assert ("created_at" in polled) == ("created_at" in accepted)
            if "created_at" in polled:
                assert _moment(polled, "created_at") == _moment(accepted, "created_at")
            if "updated_at" in polled:
                assert _moment(polled, "updated_at") >= _moment(seen[-1], "updated_at")
            assert FORWARD[polled["state"]] >= FORWARD[seen[-1]["state"]]
            if polled["state"] in TERMINAL and seen[-1]["state"] in TERMINAL:
                for name in ("state", "result", "error"):
                    # What has ended does not change: but for how nothing is written, and extras.
                    assert _said(polled.get(name)) == _said(seen[-1].get(name))
                return str(polled["state"])
            seen.append(polled)
        raise AssertionError(f"it does not end: {seen[-1]}")

    def keys(self) -> None:
        first = self.check("create_user_api_key", self.api.create_key("ci", key="key"))
        again = self.check("create_user_api_key", self.api.create_key("ci", key="key"))
        assert (first["replayed"], again["replayed"], again["value"]) == (False, True, None)
        assert first["value"]
        assert first["key"] == again["key"]
        if {"created_at", "expires_at"} <= set(first["key"]):
            moments = [_moment(first["key"], name) for name in ("created_at", "expires_at")]
            assert moments[1] - moments[0] == 90 * 86_400_000
        listed = self.api.deployments("?limit=1", token=first["value"])
        self.check("list_deployments", listed)

    def reading(self) -> None:
        for project in ("shop", "blog", "docs", "labs"):
            shown = self.check("get_dns_authorization", self.api.dns(project=project))
            if shown["status"] == "not_authorized":
                assert (shown["zone"], shown["scopes"], shown["expires_at"]) == (None, [], None)
            assert len(set(shown["scopes"])) == len(shown["scopes"]) <= 2
            databases = [
                self.check(
                    "read_database_compute",
                    self.api.compute(f"?environment={name}", project=project),
                )
                for name in ("dev", "prod")
            ]
            found = {each["data_mode"] for each in databases if "data_mode" in each}
            if "shared" in found:
                assert found == {"shared"}
                assert _said(databases[0]["database"]) == _said(databases[1]["database"])

    def pages(self) -> None:
        for query, most in (("?limit=5", 5), ("", 100)):
            found, cursor = [], ""
            while True:
                more = f"{'&' if query else '?'}cursor={cursor}" if cursor else ""
                answer = self.api.deployments(query + more, project="docs")
                page = self.check("list_deployments", answer)
                assert 1 <= len(page["items"]) <= most
                found += [(item.get("created_at"), item["id"]) for item in page["items"]]
                if not page.get("next_cursor"):
                    break
                cursor = page["next_cursor"]
                assert CURSOR.fullmatch(cursor)
                made_up = self.api.deployments(f"?cursor={cursor}", project="shop")
                assert self.check("list_deployments", made_up)["code"] == "invalid_request"
            moments = [parse_timestamp(at) for at, _ in found if at is not None]
            assert moments in (sorted(moments), sorted(moments, reverse=True))
            assert len({id_ for _, id_ in found}) == len(found) == 21

    def tickets(self) -> None:
        shown = self.check("create_dev_access_ticket", self.api.ticket())
        if "expires_at" in shown:
            assert _moment(shown, "expires_at") - self.api.engine.now_ms() == 600_000
        origin = shown.get("origin", "https://dev-")
        assert shown["redeem_url"].startswith(origin)
        assert "/.service/dev-access/redeem?" in shown["redeem_url"]

    def problems(self) -> None:
        api, docs = self.api, "get_dns_authorization"
        assert self.check(docs, api.dns(who=None))["code"] == "unauthenticated"
        assert self.check(docs, api.dns(who="outsider"))["code"] == "resource_not_found"
        assert (
            self.check("set_project_powered_by_flag", api.set_flag(1))["code"] == "invalid_request"
        )
        reader = api.set_flag(True, who="reader")
        assert self.check("set_project_powered_by_flag", reader)["code"] == "forbidden"
        homeless = api.dns(who="no-organization")
        assert self.check(docs, homeless)["code"] == "organization_required"
        session = api.create_key(token=api.token(interactive=False))
        assert self.check("create_user_api_key", session)["code"] == "interactive_login_required"
        self.beyond()

    def beyond(self) -> None:
        """Ask for more than the calls name: it is refused for that, or done as without it."""
        api, assumptions = self.api, self.api.world.assumptions
        path = f"/v1/projects/{api.project_id()}/edge-dns"
        for name, query, body in (
            ("unexpected_body", "", {}),
            ("unknown_query_parameters", "?verbose=1", None),
        ):
            answer = api.call("GET", path + query, body=body)
            said = self.check("get_dns_authorization", answer)
            refused = getattr(assumptions, name) == "refused"
            assert (said.get("code") == "invalid_request") == refused
        named = api.call(
            "POST",
            f"/v1/organizations/{api.organization_id()}/user-api-keys",
            key=api.new_key(),
            body={"name": "more", "note": "of no use"},
        )
        said = self.check("create_user_api_key", named)
        assert ("code" in said) == (assumptions.unknown_body_fields == "refused")
        nowhere = api.call("GET", "/v1/projects/shop/edge-dns")
        code = self.check("get_dns_authorization", nowhere)["code"]
        assert code in ("resource_not_found", "invalid_request")
        wrong = self.check("get_dns_authorization", api.call("DELETE", path))
        unknown = assumptions.wrong_method == "not_found"
        assert wrong["code"] == ("resource_not_found" if unknown else "invalid_request")


def _moment(members: Any, name: str) -> int:
    return parse_timestamp(members[name])


_EXTRA = {
    *("revision", "labels", "annotations", "links", "owned_by", "tags", "weight", "is_preview"),
    "Schema-Version",
}


def _said(found: Any) -> Any:
    """Return what an object says of what is known: without nulls, and members that nobody knows."""
    if not isinstance(found, dict):
        return found
    return {
        name: value for name, value in found.items() if value is not None and name not in _EXTRA
    }
