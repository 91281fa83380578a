"""A careful walk through all calls of a varied world, which checks every rule of the contract.

It sends what a client would send and depends on nothing that the contract leaves open. It fails where a
response is not what the contract says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from openapi_schema_validator import OAS31Validator, oas31_format_checker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.models import model
from hosting_emulator.contract.openapi import responses
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import parse_timestamp
from tests.support.calls import Response
from tests.support.in_process import InProcess
from tests.support.varied_worlds import new_varied_world
from tests.support.world_documents import openapi_of

FINAL_STATES = ("succeeded", "failed", "cancelled")
#: The order in which an operation passes its states.
STATE_ORDER = {"queued": 0, "running": 1, **dict.fromkeys(FINAL_STATES, 2)}
CURSOR = re.compile("[A-Za-z0-9_-]+")
#: The statuses of the problems that the contract lists for the first call.
FLAG_PROBLEM_STATUSES = {400, 401, 403, 404, 409, 503}
#: The status of problems, and whether they are retryable, where the contract says so.
FIXED_PROBLEMS = {"resource_not_found": (404, False), "idempotency_key_reused": (409, False)}
#: Values of members that may be absent, by the name or by its end.
_VALUES_BY_NAME: dict[str, Any] = {
    "disabled": False,
    "permissions": [],
    "environment": "dev",
    "origin": "https://dev-a-b-c.dev.localhost",
}
_VALUES_BY_END: dict[str, Any] = {
    "_at": "2026-01-01T00:00:00Z",
    "_id": "0" * 26,
    "_cu": 1,
    "_gb": 1,
    "_seconds": 0,
}


@lru_cache
def schema_check(name: str) -> Callable[[Any], None]:
    """Return what validates a document by a schema of the OpenAPI document of a varied world."""
    document = openapi_of(InProcess(new_varied_world("any", "absent-fields")))
    schemas = document["components"]["schemas"]
    resource = DRAFT202012.create_resource({"components": {"schemas": schemas}})
    registry: Any = Registry().with_resource("urn:document", resource)
    schema = {"$ref": f"urn:document#/components/schemas/{name}"}
    check: Callable[[Any], None] = OAS31Validator(
        schema, registry=registry, format_checker=oas31_format_checker
    ).validate
    return check


def check_model(name: str, document: Any) -> None:
    """Validate a document by its model. Members that may be absent need not be there."""
    complete = json.loads(json.dumps(document))
    for resource_name, members in _resources_in(name, complete):
        fields = model(resource_name).model_fields
        for member in RESOURCES[resource_name].omissible_fields:
            if member not in members and fields[member].is_required():
                members[member] = _value_of(member)
    model(name).model_validate(complete, strict=True)


def _resources_in(name: str, document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a document, each with the name of its resource."""
    if isinstance(document, list):
        for item in document:
            yield from _resources_in(name, item)
    elif isinstance(document, dict):
        yield name, document
        for member, part_name in RESOURCES[name].parts.items():
            yield from _resources_in(part_name, document.get(member))


def _value_of(member: str) -> Any:
    """Return a valid value of a member that may be absent."""
    if member in _VALUES_BY_NAME:
        return _VALUES_BY_NAME[member]
    for end, value in _VALUES_BY_END.items():
        if member.endswith(end):
            return value
    return "word"


class Walk:
    """One walk. `responses` are all that it received and checked, in order."""

    def __init__(self, world: Any, *, by_document: bool = True) -> None:
        self.api = InProcess(world)
        self.responses: list[Response] = []
        self._by_document = by_document
        #: The statuses of each call.
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

    # --- Checks of one response -----------------------------------------------------------------

    def check(self, call_id: str, response: Response) -> Any:
        """Check a response by document, models and the rules of all responses. Return its JSON."""
        self.responses.append(response)
        spec = self._specs[call_id]
        document = json.loads(response.body)
        if call_id not in self._statuses:
            self._statuses[call_id] = set(responses(spec, self.api.world.assumptions))
        assert str(response.status) in self._statuses[call_id], response
        content_type = response.headers["Content-Type"]
        if response.status >= 400:
            assert re.fullmatch(r"application/problem\+json( ?;.*)?", content_type)
            self._check_problem(call_id, response, document)
            return document
        assert re.fullmatch("application/json( ?;.*)?", content_type)
        check_model(spec.response, document)
        if self._by_document:
            schema_check(spec.response)(document)
        return document

    def _check_problem(self, call_id: str, response: Response, document: Any) -> None:
        check_model("ProblemDetails", document)
        if self._by_document:
            schema_check("ProblemDetails")(document)
        code = document["code"]
        assert code in PROBLEMS
        assert document["status"] == response.status
        assert document["request_id"] == response.headers["X-Request-Id"]
        assert document["type"].endswith("/errors/" + code.replace("_", "-"))
        if code in FIXED_PROBLEMS:
            assert (response.status, document["retryable"]) == FIXED_PROBLEMS[code]
        if call_id == "set_project_powered_by_flag":
            assert response.status in FLAG_PROBLEM_STATUSES

    def check_code(self, call_id: str, response: Response, code: str) -> None:
        """Check a problem, which must have a code."""
        assert self.check(call_id, response)["code"] == code

    # --- The calls ------------------------------------------------------------------------------

    def flag(self) -> None:
        api = self.api
        call_id = "set_project_powered_by_flag"
        first = api.set_flag(True, project="blog", key="flag")
        enabled = self.check(call_id, first)
        assert set(enabled) == set(model("PoweredByFlag").model_fields)
        assert parse_timestamp(enabled["enabled_at"]) == api.engine.now_ms()
        assert api.set_flag(True, project="blog", key="flag").body == first.body
        hidden = self.check(call_id, api.set_flag(False, project="blog"))
        assert (hidden["enabled"], hidden["enabled_at"]) == (False, None)
        api.add_fault(rate_limit={"limit": 0}, times=1)
        limited = self.check(call_id, api.set_flag(True, project="blog"))
        assert (limited["code"], limited["retryable"]) == ("rate_limited", True)
        reused_key = api.set_flag(False, project="blog", key="flag")
        self.check_code(call_id, reused_key, "idempotency_key_reused")
        repeated = [self.check(call_id, api.set_flag(True)) for _ in range(2)]
        moments = [_moment(document, "enabled_at") for document in repeated]
        assert moments == sorted(moments)
        refused = api.set_flag(False, project="garden", user="outsider")
        self.check_code(call_id, refused, "powered_by_flag_required")

    def operations(self) -> None:
        api = self.api
        first_response = api.initialize(1, key="begin")
        first = self.check("initialize_managed_source", first_response)
        retried = self.check("initialize_managed_source", api.initialize(1, key="begin"))
        assert retried["id"] == first["id"]
        if api.world.assumptions.operation_replay == "first_response":
            assert self.responses[-1].body == first_response.body
        waiting = self.check("apply_project_domains", api.apply_domains(key="domains"))
        assert waiting.get("blocking_operation_id", first["id"]) == first["id"]
        assert waiting["id"] != first["id"]
        assert self.follow(first) == "succeeded"
        assert self.follow(waiting) == "succeeded"
        self.check_code("initialize_managed_source", api.initialize(1), "etag_mismatch")
        self._intervene_in_operations()

    def _intervene_in_operations(self) -> None:
        api = self.api
        failing = self.check("apply_project_domains", api.apply_domains())
        api.intervene("require_reconciliation", operation=failing["id"])
        for word in ("run_reconciliation", "complete_reconciliation"):
            self.check("get_operation", api.poll(failing["id"]))
            api.intervene(word, operation=failing["id"])
        self.check("get_operation", api.poll(failing["id"]))
        api.intervene("fail_operation", operation=failing["id"])
        assert self.follow(failing) == "failed"
        cancelled = self.check("apply_project_domains", api.apply_domains(project="blog"))
        api.intervene("cancel_operation", operation=cancelled["id"])
        assert self.follow(cancelled) == "cancelled"

    def follow(self, accepted: Any) -> str:
        """Poll an operation to its end, and once more. Return its final state."""
        previous = accepted
        for _ in range(40):
            current = self.check("get_operation", self.api.poll(accepted["id"]))
            assert current["id"] == accepted["id"]
            assert ("created_at" in current) == ("created_at" in accepted)
            if "created_at" in current:
                assert _moment(current, "created_at") == _moment(accepted, "created_at")
            if "updated_at" in current:
                assert _moment(current, "updated_at") >= _moment(previous, "updated_at")
            assert STATE_ORDER[current["state"]] >= STATE_ORDER[previous["state"]]
            if current["state"] in FINAL_STATES and previous["state"] in FINAL_STATES:
                for name in ("state", "result", "error"):
                    assert _essence(current.get(name)) == _essence(previous.get(name))
                return str(current["state"])
            previous = current
        raise AssertionError(f"the operation does not end: {previous}")

    def keys(self) -> None:
        first = self.check("create_user_api_key", self.api.create_key("ci", key="key"))
        replayed = self.check("create_user_api_key", self.api.create_key("ci", key="key"))
        assert (first["replayed"], replayed["replayed"]) == (False, True)
        assert first["value"]
        assert replayed["value"] is None
        assert first["key"] == replayed["key"]
        if {"created_at", "expires_at"} <= set(first["key"]):
            lifetime_ms = _moment(first["key"], "expires_at") - _moment(first["key"], "created_at")
            assert lifetime_ms == 90 * 86_400_000
        listed = self.api.deployments("?limit=1", token=first["value"])
        self.check("list_deployments", listed)

    def reading(self) -> None:
        for project in ("shop", "blog", "docs", "labs"):
            dns = self.check("get_dns_authorization", self.api.dns(project=project))
            if dns["status"] == "not_authorized":
                assert (dns["zone"], dns["scopes"], dns["expires_at"]) == (None, [], None)
            assert len(set(dns["scopes"])) == len(dns["scopes"]) <= 2
            computes = []
            for environment in ("dev", "prod"):
                query = f"?environment={environment}"
                response = self.api.compute(query, project=project)
                computes.append(self.check("read_database_compute", response))
            modes = {compute["data_mode"] for compute in computes if "data_mode" in compute}
            if "shared" in modes:
                assert modes == {"shared"}
                assert _essence(computes[0]["database"]) == _essence(computes[1]["database"])

    def pages(self) -> None:
        self._page_through("?limit=5", 5)
        self._page_through("", 100)

    def _page_through(self, query: str, most: int) -> None:
        """Read all deployments of a project, page by page."""
        items: list[Any] = []
        cursor = ""
        while True:
            page_query = query
            if cursor:
                separator = "&" if query else "?"
                page_query += f"{separator}cursor={cursor}"
            response = self.api.deployments(page_query, project="docs")
            page = self.check("list_deployments", response)
            assert 1 <= len(page["items"]) <= most
            items += page["items"]
            if not page.get("next_cursor"):
                break
            cursor = page["next_cursor"]
            assert CURSOR.fullmatch(cursor)
            elsewhere = self.api.deployments(f"?cursor={cursor}", project="shop")
            self.check_code("list_deployments", elsewhere, "invalid_request")
        moments = [_moment(item, "created_at") for item in items if item.get("created_at")]
        assert moments in (sorted(moments), sorted(moments, reverse=True))
        assert len({item["id"] for item in items}) == len(items) == 21

    def tickets(self) -> None:
        ticket = self.check("create_dev_access_ticket", self.api.ticket())
        if "expires_at" in ticket:
            assert _moment(ticket, "expires_at") - self.api.engine.now_ms() == 600_000
        origin = ticket.get("origin", "https://dev-")
        assert ticket["redeem_url"].startswith(origin)
        assert "/.service/dev-access/redeem?" in ticket["redeem_url"]

    def problems(self) -> None:
        api = self.api
        flag = "set_project_powered_by_flag"
        dns = "get_dns_authorization"
        self.check_code(dns, api.dns(user=None), "unauthenticated")
        self.check_code(dns, api.dns(user="outsider"), "resource_not_found")
        self.check_code(flag, api.set_flag(1), "invalid_request")
        self.check_code(flag, api.set_flag(True, user="reader"), "forbidden")
        self.check_code(dns, api.dns(user="no-organization"), "organization_required")
        by_session = api.create_key(token=api.token(interactive=False))
        self.check_code("create_user_api_key", by_session, "interactive_login_required")
        self.undocumented_requests()

    def undocumented_requests(self) -> None:
        """Send more than the calls declare: it is refused for that, or ignored."""
        api = self.api
        assumptions = self.api.world.assumptions
        path = f"/v1/projects/{api.project_id()}/edge-dns"
        for name, query, body in (
            ("unexpected_body", "", {}),
            ("unknown_query_parameters", "?verbose=1", None),
        ):
            response = api.call("GET", path + query, body=body)
            document = self.check("get_dns_authorization", response)
            refused = getattr(assumptions, name) == "refused"
            assert (document.get("code") == "invalid_request") == refused
        key_response = api.call(
            "POST",
            f"/v1/organizations/{api.organization_id()}/user-api-keys",
            key=api.new_key(),
            body={"name": "more", "note": "of no use"},
        )
        self.check("create_user_api_key", key_response)
        assert (key_response.status >= 400) == (assumptions.unknown_body_fields == "refused")
        malformed_id = api.call("GET", "/v1/projects/shop/edge-dns")
        code = self.check("get_dns_authorization", malformed_id)["code"]
        assert code in ("resource_not_found", "invalid_request")
        is_not_found = assumptions.wrong_method == "not_found"
        self.check_code(
            "get_dns_authorization",
            api.call("DELETE", path),
            "resource_not_found" if is_not_found else "invalid_request",
        )


def _moment(members: Any, name: str) -> int:
    return parse_timestamp(members[name])


def _essence(value: Any) -> Any:
    """Return an object without null members."""
    if not isinstance(value, dict):
        return value
    return {name: member for name, member in value.items() if member is not None}
