"""A walk through the public API and the control API of a real process.

Everything is sent over HTTP, so changes inside the emulator do not affect the record. Values that differ
between two runs of the same emulator (port, process id, real durations) are masked. `record.py` says
how the walk is recorded.

    python -m tests.golden.walk (`make record`) writes the golden files anew
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from tests.golden.names import Names
from tests.golden.record import Exchange, Part, write
from tests.golden.writing import files_of
from tests.support.calls import Response
from tests.support.emulator_process import Client, emulator
from tests.support.wire import wire

#: The seed of every world, so that the record has a value only once that is the same in two worlds.
SEED = "golden"
NOON = "2030-01-31T12:00:00Z"
#: Links and token issuers contain the host, so it is the same in each run.
HOST = "localhost:4620"
USERS = ("owner", "member", "reader", "outsider", "no-organization")
#: All headers of responses except Date, which follows a clock, and Server, which has the version.
RECORDED_HEADERS = (
    "Content-Type",
    "Content-Length",
    "X-Request-Id",
    "Retry-After",
    "Cache-Control",
    "WWW-Authenticate",
    "Allow",
    "Location",
    "Set-Cookie",
    "Content-Disposition",
    "ETag",
    "Access-Control-Allow-Origin",
)
OTHER_ASSUMPTIONS = {
    "accepted_status": 200,
    "cursor_parameter": "after",
    "deployment_order": "oldest_first",
    "domains_profile": "per_poll 2",
    "flag_reenabled": "renewed",
    "idempotency_remembers": "all_answers",
    "key_created_status": 200,
    "malformed_project_id": "invalid_request",
    "missing_environment": "dev",
    "operation_path": "/v1/jobs/{operation_id}/status",
    "operation_replay": "current",
    "request_id_on_success": "echoed",
    "timestamp_form": "microseconds",
    "unknown_body_fields": "refused",
}
STRICT_ASSUMPTIONS = {
    "body_limit_bytes": 200,
    "dns_role": "owner",
    "docs_url": "https://errors.example",
    "idempotency_scope": "principal_and_call",
    "key_prefix": "key_",
    "key_replayed_status": 201,
    "last_page_cursor": "null",
    "limit_parameter": "size",
    "problem_statuses": {"etag_mismatch": 412},
    "request_id_invalid": "ignored",
    "source_generation": "ignored",
    "source_profile": "immediate",
    "ticket_created_status": 200,
    "listed_statuses": "open",
    "timestamp_form": "offset",
    "unexpected_body": "refused",
    "unknown_query_parameters": "refused",
}
#: Each fault is armed and acts on a request. Then it is spent or removed.
FAULTS: tuple[dict[str, Any], ...] = (
    {"abort": {"code": "service_unavailable", "retry_after_seconds": 5}, "times": 1},
    {"abort": {"code": "rate_limited", "status": 503, "detail": "later"}, "times": 1},
    {"gateway_error": {"status": 502}, "times": 1, "after_commit": True},
    {"latency": {"delay_ms": 1}, "times": 1},
    {"timeout": {}, "times": 1},
    {"timeout": {}, "times": 1, "after_commit": True},
    {"connection_reset": {}, "times": 1},
    {"connection_reset": {}, "times": 1, "after_commit": True},
    {"empty_response": {}, "times": 1},
    {"truncate": {"bytes": 20}, "times": 1, "after_commit": True},
    {"malformed_response": {}, "times": 1, "after_commit": True},
    {"slow_response": {"bytes_per_second": 100000}, "times": 1},
    {"rate_limit": {"limit": 1, "window": "60s"}, "call": "apply_project_domains", "times": 2},
    {"abort": {"code": "forbidden"}, "probability": 0.5, "until": "1m"},
    {"abort": {"code": "etag_mismatch"}, "every": 2, "skip_first": 1, "project": "shop"},
    {"abort": {"code": "payload_too_large"}, "principal": "reader", "method": "GET"},
)
INTERVENTIONS: tuple[dict[str, Any], ...] = (
    {"hold_claim": {"project": "blog"}},
    {"release_claim": {"project": "blog"}},
    {"stick_operation": {"project": "shop"}},
    {"release_operation": {"project": "shop"}},
    {"require_reconciliation": {"project": "shop"}},
    {"exhaust_reconciliation": {"project": "shop"}},
    {"add_deployments": {"project": "blog", "count": 3, "status": "failed"}},
    {"set_plan": {"organization": "hobby", "plan": "paid"}},
    {"move_dns": {"project": "shop", "to": "revoked"}},
    {"set_database": {"project": "shop", "environment": "dev", "state": "suspended"}},
    {"fail_database_provider": {"project": "blog"}},
    {"leave_key_creation_uncertain": {"times": 1}},
    {"add_member": {"organization": "hobby", "user": "reader", "role": "member"}},
    {
        "add": {
            "users": [{"alias": "zoe", "organizations": {"acme": "member"}}],
            "keys": [{"user": "zoe", "value": "phk_" + "k" * 43}],
        }
    },
    {"add": {"users": [{"alias": "zoe"}]}},
    {"set_plan": {"organization": "nobody", "plan": "paid"}},
    {"no_such_word": {}},
)
#: The documents that are the same for all worlds.
DOCUMENTS = (
    "openapi.json",
    "contract/calls",
    "contract/openapi.json",
    "contract/problems",
    "contract/assumptions",
    "contract/fault-kinds",
    "contract/outcome-kinds",
    "contract/variation-points",
    "contract/interventions",
    "contract/conduct-rules",
    "contract/scenario-schema.json",
    "docs/errors",
    "docs/errors/etag-mismatch",
    "docs/errors/none",
    "docs",
    "health",
    "info",
    "idp/.well-known/openid-configuration",
    "idp/jwks.json",
    "idp/authorize",
    "idp/userinfo",
    "scenarios",
    "scenarios/stuck-operation",
    "scenarios/none",
    "nothing",
    "static/none",
)
#: The paths that can be read of a world, below its name.
VIEWS = (
    "",
    "assumptions",
    "clock",
    "conduct",
    "conduct?final=true&of=none",
    "faults",
    "faults/none",
    "history",
    "history?limit=3",
    "idp/.well-known/openid-configuration",
    "idp/jwks.json",
    "keys",
    "openapi.json",
    "operations",
    "operations/none/why",
    "projects",
    "report",
    "report?requests=2",
    "requests",
    "requests?call=none&trail=false",
    "requests?call=nothing",
    "requests?status=4xx&limit=5",
    "requests?user=reader&project=shop",
    "requests?text=queued&after=3",
    "requests?limit=0",
    "requests?since=10m&before=1s",
    "requests/0",
    "requests.har?limit=10",
    "requests.har?state=true&limit=2",
    "snapshots",
    "state",
    "timeline",
    "variation",
)
#: The paths that are read of the worlds in which only the public API was used.
FEW_VIEWS = ("", "conduct", "operations", "report", "requests?limit=30", "state", "timeline")
_MASKS = (
    (re.compile(rb'"(duration_us|time|wait|pid)":\s*[0-9.]+'), rb'"\1":0'),
    (re.compile(rb'"(started_at|version|written_by)":\s*"[^"]*"'), rb'"\1":"-"'),
    (re.compile(rb"127\.0\.0\.1:[0-9]+"), b"127.0.0.1:PORT"),
)
#: Rules of conduct that measure how long the client really waited.
TIMED_RULES = {
    "polled-too-early",
    "polled-after-end",
    "retried-not-retryable",
    "retried-too-soon",
    "new-key-after-uncertainty",
    "sent-twice-at-once",
}


class Walk:
    """Sends requests and records them with their responses."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.parts: list[Part] = []
        #: The names of what each world has at its start.
        self.population = Names()
        #: The responses of the control API, each with the method and path of its request.
        self.control_responses: list[tuple[str, str, Response]] = []
        #: The users by their access tokens.
        self.users: dict[str, str] = {}

    def begin(self, title: str) -> None:
        """Begin a part of the record."""
        self.parts.append(Part(title, self.population.copy()))

    def name_population(self) -> None:
        """Name what the first world has at its start, for each part that begins later."""
        self.parts[0].name_population()
        self.population = self.parts[0].names.copy()

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Response:
        request_headers = {"Host": HOST, **(headers or {})}
        try:
            response = self.client.send(method, path, body, request_headers)
        except (OSError, http.client.HTTPException) as error:
            self.client.close()
            status = f"no response, {type(error).__name__}"
            partial_body = getattr(error, "partial", b"")
            self._record(method, path, body, request_headers, status, {}, partial_body)
            return Response(0, {}, b"")
        if path.startswith("/_emulator"):
            self.control_responses.append((method, path, response))
        recorded_headers = {
            name: response.headers[name] for name in RECORDED_HEADERS if name in response.headers
        }
        if recorded_headers.get("Content-Length") == str(len(response.body)):
            del recorded_headers["Content-Length"]
        self._record(
            method,
            path,
            body,
            request_headers,
            str(response.status),
            recorded_headers,
            _masked(path, response.body),
        )
        return response

    def control(self, method: str, path: str, body: Any = None) -> Response:
        return self.send(method, f"/_emulator/{path}", body)

    def _record(
        self,
        method: str,
        path: str,
        body: Any,
        request_headers: dict[str, str],
        status: str,
        headers: dict[str, str],
        response_body: bytes,
    ) -> None:
        token = request_headers.get("Authorization", "").removeprefix("Bearer ")
        recorded_headers = {
            name: value
            for name, value in request_headers.items()
            if name != "Authorization" and (name, value) != ("Host", HOST)
        }
        exchange = Exchange(
            user=self.users.get(token, token),
            method=method,
            path=path,
            request_headers=recorded_headers,
            request_body=body,
            status=status,
            headers=headers,
            body=response_body,
        )
        self.parts[-1].exchanges.append(exchange)


def _masked(path: str, body: bytes) -> bytes:
    if "/conduct" in path or "/report" in path:
        with suppress(ValueError):
            return json.dumps(_without_timed_rules(json.loads(body))).encode()
    for pattern, replacement in _MASKS:
        body = pattern.sub(replacement, body)
    return body


def _without_timed_rules(value: Any) -> Any:
    """Return JSON without the findings of rules that measure real time."""
    if isinstance(value, dict):
        return {
            name: 0 if name == "duration_us" else _without_timed_rules(item)
            for name, item in value.items()
            if name not in TIMED_RULES
        }
    if isinstance(value, list):
        return [
            _without_timed_rules(item)
            for item in value
            if not (isinstance(item, dict) and item.get("rule") in TIMED_RULES)
        ]
    return value


class WorldWalk:
    """A walk through one world: everything that a client can do in it."""

    def __init__(self, walk: Walk, name: str, **options: Any) -> None:
        self.walk = walk
        self.name = name
        self.prefix = "" if name == "default" else f"/worlds/{name}"
        walk.begin(name)
        if name != "default":
            world = {"name": name, "seed": SEED, "clock": {"mode": "frozen", "at": NOON}}
            created = walk.control("POST", "worlds", {**world, **options})
            assert created.status == 201, created.body
        summary = walk.control("GET", f"worlds/{name}").json
        self.projects = {project["alias"]: project["id"] for project in summary["projects"]}
        self.organizations = {
            organization["alias"]: organization["id"] for organization in summary["organizations"]
        }
        self.tokens = {user: self._token(user) for user in USERS}
        walk.users |= {token: user for user, token in self.tokens.items()}
        if name == "default":
            self.control("GET", "state")
            walk.name_population()
        self.keys = 0
        template = options.get("assumptions", {}).get(
            "operation_path", "/v1/operations/{operation_id}"
        )
        self.poll_path = template.removeprefix("/v1/").replace("{operation_id}", "{}")

    def _token(self, user: str) -> str:
        request = {"user": user}
        response = self.walk.control("POST", f"worlds/{self.name}/tokens", request)
        token = str(response.json["access_token"])
        self.walk.parts[-1].names.add(token, f"{{token-{user}}}")
        return token

    def control(self, method: str, path: str, body: Any = None) -> Response:
        return self.walk.control(method, f"worlds/{self.name}/{path}".rstrip("/"), body)

    def advance(self, by: str) -> None:
        self.control("POST", "clock/advance", {"by": by})

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        user: str | None = "owner",
        key: str | None = "new",
        **headers: str,
    ) -> Response:
        request_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if user is not None:
            request_headers.setdefault("Authorization", f"Bearer {self.tokens.get(user, user)}")
        if key == "new":
            self.keys += 1
            key = f"key-{self.keys}"
        if key is not None and method != "GET":
            request_headers["Idempotency-Key"] = key
        return self.walk.send(method, f"{self.prefix}/v1/{path}", body, request_headers)

    def project(self, rest: str, alias: str = "shop") -> str:
        return f"projects/{self.projects[alias]}/{rest}"

    def each_call(self, key: str | None = "new", **options: Any) -> dict[str, Response]:
        """Send each of the eight calls once. Each call has its own key, made of `key` if given."""
        keys = f"organizations/{self.organizations['acme']}/user-api-keys"
        calls: dict[str, tuple[str, str, Any]] = {
            "flag": ("PUT", self.project("powered-by-flag"), {"enabled": True}),
            "source": (
                "POST",
                self.project("source:initialize"),
                {"expected_source_generation": 1},
            ),
            "key": ("POST", keys, {"name": "ci"}),
            "domains": ("PUT", self.project("domains"), None),
            "dns": ("GET", self.project("edge-dns"), None),
            "deployments": ("GET", self.project("deployments"), None),
            "ticket": ("POST", self.project("dev-access-tickets"), None),
            "compute": ("GET", self.project("database/compute?environment=dev"), None),
        }
        responses: dict[str, Response] = {}
        for name, (method, path, body) in calls.items():
            call_key = key if key in ("new", None) else f"{key}-{name}"
            responses[name] = self.call(method, path, body, key=call_key, **options)
        return responses

    def poll(self, accepted: Response, user: str = "owner") -> Response:
        return self.call("GET", self.poll_path.format(accepted.json["id"]), user=user)

    def redeem(self, ticket: Response) -> None:
        if ticket.status >= 300 or not ticket.body:
            return
        url = urlsplit(ticket.json["redeem_url"])
        for _ in range(2):  # the second time, the ticket is used
            self.walk.send("GET", f"{url.path}?{url.query}", None, {"Host": f"{url.hostname}:4620"})


def everyday(world: WorldWalk) -> None:
    """Walk through what succeeds: calls, replays, polling to the end, redeeming, pages."""
    first = world.each_call(key="once")
    world.each_call(key="once")  # replays, where something is remembered
    for by in ("1ms", "2s", "7999ms", "1ms", "1h"):
        world.advance(by)
        for name in ("source", "domains"):
            world.poll(first[name])
    world.redeem(first["ticket"])
    if first["key"].status < 300:
        world.each_call(user=first["key"].json["value"])
    limit = "size" if world.name == "strict" else "limit"
    cursor = "after" if world.name == "other" else "cursor"
    page = world.call("GET", world.project(f"deployments?{limit}=2")).json
    if page.get("next_cursor"):
        rest = f"deployments?{limit}=2&{cursor}={page['next_cursor']}"
        world.call("GET", world.project(rest))
    world.call("PUT", world.project("powered-by-flag"), {"enabled": False})
    world.call("PUT", world.project("powered-by-flag"), {"enabled": True})
    world.call("GET", world.project("edge-dns"), X_Request_Id="mine")


def refusals(world: WorldWalk) -> None:
    """Walk through what is refused: each user, each kind of malformed request."""
    for user in (*USERS[1:], "a.b.c"):
        world.each_call(user=user)
    world.each_call(user=None, key=None)
    world.each_call(key=None)
    for key in ("", "x" * 256, "white space"):
        world.call("PUT", world.project("domains"), key=key)
    world.call("PUT", world.project("domains"), key="once-domains")
    world.call("PUT", world.project("domains", "blog"), key="once-domains")
    bodies: tuple[Any, ...] = (
        {"enabled": 1},
        {},
        [],
        {"enabled": True, "more": 1},
        "x" * 300,
        None,
    )
    for body in bodies:
        world.call("PUT", world.project("powered-by-flag"), body)
    for body in ({"expected_source_generation": 7}, {"expected_source_generation": -1}, {"x": 1}):
        world.call("POST", world.project("source:initialize"), body)
    keys = f"organizations/{world.organizations['acme']}/user-api-keys"
    for name in ("", "é" * 101, 5, None):
        world.call("POST", keys, {"name": name})
    world.call("PUT", world.project("domains"), {"unexpected": True})
    for query in ("", "?environment=test", "?environment=prod", "?environment=dev&x=1"):
        world.call("GET", world.project("database/compute" + query))
    for query in ("?limit=0", "?limit=101", "?limit=x", "?cursor=x", "?after=x&size=3"):
        world.call("GET", world.project("deployments" + query))
    for request_id in ("", "x" * 129, "é"):
        world.call("GET", world.project("edge-dns"), X_Request_Id=request_id)
    for path in (
        "projects/none/domains",
        f"projects/{world.projects['shop'].lower()}/domains",
        f"projects/{world.projects['garden']}/domains",
        "operations/none",
        "operations/01JJJJJJJJJJJJJJJJJJJJJJJJ",
        "nothing",
        "",
    ):
        world.call("GET", path)
        world.call("PUT", path)
    world.call("GET", world.project("edge-dns"), Accept="text/html")
    world.call("OPTIONS", world.project("edge-dns"), Origin="http://localhost:3000")
    world.call("GET", world.project("edge-dns"), Origin="https://evil.example")
    world.walk.send("GET", "/")
    world.walk.send("BREW", f"{world.prefix}/v1/x")
    world.walk.send("GET", "/worlds/none/v1/projects")


def faults(world: WorldWalk) -> None:
    """Meet each kind of fault, in both phases, and retry after it."""
    for number, fault in enumerate(FAULTS):
        world.control("POST", "faults", fault)
        key = f"fault-{number}"
        if "timeout" in fault:
            _send_without_response(world, key)
        for _ in range(2):  # the second is the retry of a client
            world.call("PUT", world.project("domains"), key=key)
            world.walk.client.close()  # a broken response may leave it half closed
        world.call("GET", world.project("edge-dns"), user="reader")
        world.advance("11s")
        world.control("GET", "faults")
        if number >= len(FAULTS) - 4:
            world.control("DELETE", "faults")
    invalid_faults: tuple[dict[str, Any], ...] = (
        {},
        {"abort": {"code": "none"}},
        {"abort": {"code": "forbidden"}, "call": "x"},
    )
    for invalid_fault in invalid_faults:
        world.control("POST", "faults", invalid_fault)
    armed = world.control(
        "POST", "faults", {"abort": {"code": "forbidden"}, "path": "/v1/projects/x*"}
    )
    world.control("GET", f"faults/{armed.json['id']}")
    world.each_call()
    world.control("DELETE", f"faults/{armed.json['id']}")
    world.control("DELETE", f"faults/{armed.json['id']}")


def outcomes(world: WorldWalk) -> None:
    """Set each kind of outcome for an operation and poll it to its end."""
    outcome_documents: tuple[dict[str, Any], ...] = (
        {"succeed": {"running": "40s"}},
        {"fail": {"phase": "verifying", "code": "build_broken"}},
        {"cancel": {}},
        {"reconcile": {"attempts": 2, "then": "exhaust", "each": "5s"}, "while": {"plan": "paid"}},
        {"stick": {"phase": "deploying"}},
    )
    for number, outcome in enumerate(outcome_documents):
        armed = world.control("POST", "outcomes", outcome)
        operation = world.call("PUT", world.project("domains"), key=f"told-{number}").json["id"]
        world.control("GET", f"operations/{operation}/why")
        for _ in range(6):
            world.advance("5s")
            world.call("GET", f"operations/{operation}")
        world.control("GET", f"outcomes/{armed.json['id']}")
    world.control("POST", "outcomes", {"fail": {"phase": "built"}})
    world.control("GET", "outcomes")
    world.control("GET", "triggers")
    world.control("DELETE", f"outcomes/{armed.json['id']}")
    world.control("DELETE", "outcomes")


def _send_without_response(world: WorldWalk, key: str) -> None:
    """Send a request that gets no response, wait until the emulator has read it, and hang up."""
    client = world.walk.client
    count = client.control("GET", f"worlds/{world.name}/requests?limit=1")["total"]
    with wire(f"http://{client.host}") as connection:
        connection.send(
            f"PUT {world.prefix}/v1/{world.project('domains')} HTTP/1.1\r\nHost: {HOST}\r\n"
            f"Authorization: Bearer {world.tokens['owner']}\r\nIdempotency-Key: {key}\r\n"
            "Content-Length: 0\r\n\r\n".encode()
        )
        for _ in range(2000):
            if client.control("GET", f"worlds/{world.name}/requests?limit=1")["total"] > count:
                return
    raise AssertionError("the emulator did not read the request")


def control(world: WorldWalk) -> None:
    """Walk through the control API: all that can be read of a world, and most that can be changed."""
    views(world)
    for body in ({"mode": "scaled", "rate": 0}, {"mode": "sometimes"}, {"mode": "frozen"}):
        world.control("PUT", "clock", body)
    for body in ({"by": "1x"}, {"by": "-1s"}, {"to": "2030-01-31T15:00:00Z"}, {}):
        world.control("POST", "clock/advance", body)
    snapshot = world.control("POST", "snapshots").json
    first = world.call(
        "POST", world.project("source:initialize"), {"expected_source_generation": 1}
    )
    world.control("GET", f"operations/{first.json['id']}/why")
    world.control("POST", f"operations/{first.json['id']}/step")
    for intervention in INTERVENTIONS:
        world.control("POST", "interventions", intervention)
    world.control("GET", f"operations/{first.json['id']}/why")
    world.each_call()
    for number in (1, 2, 5):
        world.control("GET", f"requests/{number}")
        world.control("POST", f"requests/{number}/resend", {})
    world.control("PATCH", "assumptions", {"accepted_status": 200})
    world.control("PATCH", "assumptions", {"accepted_status": 299})
    for span in ("?name=session", "?first=1&last=1", "?last=commit:1", "?first=none"):
        world.control("GET", f"scenario{span}")
    world.control("POST", "api-keys", {"user": "member", "name": "given"})
    world.control("POST", "tokens", {"user": "nobody"})
    for path in ("rewind", f"snapshots/{snapshot['id']}/restore", "snapshots/none/restore"):
        world.control("POST", path, {"commit": 3} if path == "rewind" else None)
        world.control("GET", "timeline")
    world.control("POST", "fork", {"name": f"{world.name}-fork"})
    world.walk.control("GET", f"worlds/{world.name}-fork/state")
    world.walk.control("DELETE", f"worlds/{world.name}-fork")
    world.control("PUT", "variation", {"seed": "7", "only": ["unknown"]})
    world.control("DELETE", f"snapshots/{snapshot['id']}")
    world.control("POST", "scenario", {"name": "stuck-operation"})
    views(world)
    world.control("POST", "reset")
    world.control("GET", "state")


def observed(world: WorldWalk) -> None:
    """Walk through an observation of one world: its chapters, one of which has ended, and its end."""
    walk = world.walk
    first = walk.control("POST", "observations", {"worlds": [world.name], "skip_rules": []}).json
    path = f"observations/{first['id']}"
    world.call("PUT", world.project("powered-by-flag"), {"enabled": True}, key=None)
    world.control("POST", "reset")
    walk.control("GET", f"{path}?final=true&wait_ms=1")
    for part in ("state", "report", "requests"):
        walk.control("GET", f"{path}/chapters/0/{part}")
        walk.control("GET", f"{path}/chapters/7/{part}")
    walk.control("GET", f"{path}?wait_ms=soon")
    walk.control("DELETE", path)
    walk.control("GET", path)
    walk.control("POST", "observations", {"worlds": ["none"]})
    walk.control("POST", "observations", {"skip_rules": ["none"]})


def views(world: WorldWalk, paths: Sequence[str] = VIEWS) -> None:
    """Read what can be read of a world."""
    for path in paths:
        world.control("GET", path)


def documents(walk: Walk) -> None:
    """Read the documents that are the same for all worlds, and run each story of the library."""
    walk.begin("documents")
    for path in DOCUMENTS:
        walk.control("GET", path)
    walk.control("POST", "health")
    walk.control("GET", "stop")
    walk.control("POST", "worlds", {"nmae": "x"})
    walk.control("POST", "worlds", {"name": "other"})
    walk.begin("library")
    for scenario in walk.client.control("GET", "scenarios")["items"]:
        walk.control("POST", "scenarios/run", {"name": scenario["name"]})


def whole_walk(walk: Walk) -> None:
    """Walk through everything, in worlds that differ."""
    parts: tuple[Callable[[WorldWalk], None], ...] = (everyday, refusals)
    for name, options in (
        ("default", {}),
        ("other", {"assumptions": OTHER_ASSUMPTIONS}),
        ("strict", {"assumptions": STRICT_ASSUMPTIONS}),
        ("varied", {"vary": "7"}),
    ):
        world = WorldWalk(walk, name, **options)
        for part in parts:
            part(world)
        views(world, FEW_VIEWS)
    faulty = WorldWalk(walk, "faulty", token={})
    faults(faulty)
    outcomes(faulty)
    views(faulty)
    control(WorldWalk(walk, "controlled"))
    observed(WorldWalk(walk, "observed"))
    documents(walk)


def walk_emulator() -> Walk:
    """Walk through a new emulator."""
    options = ("--ephemeral", "--clock", "frozen", "--at", NOON, "--seed", SEED)
    with emulator(*options) as process:
        walk = Walk(process.client())
        whole_walk(walk)
    return walk


if __name__ == "__main__":
    write(files_of(walk_emulator().parts))
