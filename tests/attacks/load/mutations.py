"""Valid requests of every kind, and random mutations of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

#: The world of the control requests, so that the tested world does not change.
PLAYGROUND = "playground"

WORDS = [
    b"",
    b"\x00",
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b" ",
    b"\t",
    b"%00",
    b"%0d%0a",
    b"%",
    b"%zz",
    b"..",
    b"/",
    b"//",
    b"\\",
    b"%2e%2e%2f",
    b"?",
    b"&",
    b"=",
    b"#",
    b":",
    b";",
    b",",
    b"*",
    b"-",
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"9" * 40,
    b"1.5",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'"',
    b"{",
    b"\xff\xfe",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae",
    b"x" * 300,
    b"[" * 2_000,
    b"A" * 9_000,
    b"chunked",
    b"gzip",
    b"close",
    b"keep-alive",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Expect: 100-continue\r\n",
    b"Host: evil.example\r\n",
    b"Origin: null\r\n",
    b"Connection: Upgrade\r\n",
    b"Upgrade: h2c\r\n",
    b"2026-13-45T99:99:99Z",
    b"9999-12-31T23:59:59.999Z",
    b"P1D",
    b"10m",
    b"-5s",
    b"1" * 20 + b"d",
]
#: Without HEAD: in a pipeline, nobody can see where a response without a body ends.
METHODS = [
    b"GET",
    b"PUT",
    b"POST",
    b"DELETE",
    b"PATCH",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"PRI",
    b"get",
    b"X",
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**30,
    "",
    "x" * 300,
    "\u0000",
    "\ud800",
    [],
    {},
    [[]],
]


class Templates:
    """Valid requests to one emulator: the eight calls, polling, control, provider, pages, origins."""

    def __init__(self, host: str, token: str, ids: dict[str, str], state: object) -> None:
        self._host = host
        self._token = token
        project = f"/v1/projects/{ids['project']}"
        world = f"/_emulator/worlds/{PLAYGROUND}"
        self.all: list[Callable[[Random], bytes]] = []
        calls: tuple[tuple[str, str, Any], ...] = (
            ("PUT", f"{project}/powered-by-flag", {"enabled": True}),
            ("POST", f"{project}/source:initialize", {"expected_source_generation": 1}),
            ("POST", f"/v1/organizations/{ids['organization']}/user-api-keys", {"name": "ci"}),
            ("PUT", f"{project}/domains", None),
            ("GET", f"{project}/edge-dns", None),
            ("GET", f"{project}/deployments?limit=7", None),
            ("POST", f"{project}/dev-access-tickets", None),
            ("GET", f"{project}/database/compute?environment=dev", None),
            ("GET", f"/v1/operations/{ids['operation']}", None),
            ("GET", f"/worlds/{PLAYGROUND}{project}/edge-dns", None),
        )
        control: tuple[tuple[str, str, Any], ...] = (
            ("GET", "", None),
            ("GET", "/requests?limit=5", None),
            ("GET", "/requests/1", None),
            ("GET", "/report?requests=3", None),
            ("GET", "/clock", None),
            ("PUT", "/clock", {"mode": "scaled", "rate": 2}),
            ("POST", "/clock/advance", {"by": "10m"}),
            ("POST", "/tokens", {"user": "owner", "lifetime": "1m"}),
            ("PATCH", "/assumptions", {"rate_limit": "off"}),
            ("GET", f"/operations/{ids['operation']}/why", None),
            ("POST", f"/operations/{ids['operation']}/step", {}),
            ("POST", "/faults", {"abort": {"code": "rate_limited"}, "call": "list_deployments"}),
            ("POST", "/faults", {"latency": {"delay_ms": 1}, "times": 1, "probability": 0.5}),
            ("DELETE", "/faults", None),
            ("POST", "/interventions", {"set_plan": {"organization": "acme", "plan": "free"}}),
            ("POST", "/interventions", {"create_deployments": {"project": "shop", "count": 2}}),
            ("POST", "/snapshots", {}),
            ("POST", "/snapshots/snapshot-1/restore", {}),
            ("POST", "/fork", {"name": "fork-1"}),
            ("POST", "/reset", {}),
            ("PUT", "/state", state),
        )
        scenario = {"text": "scenario: 1\nname: x\nclock: {mode: frozen}\n", "file": "x.yaml"}
        global_requests: tuple[tuple[str, str, Any], ...] = (
            (
                "POST",
                "/_emulator/worlds",
                {"name": "made-1", "seed": "s", "clock": {"mode": "real"}},
            ),
            ("POST", "/_emulator/worlds", {"name": "made-2", "scenario": scenario}),
            ("DELETE", "/_emulator/worlds/made-1", None),
            ("GET", "/_emulator/contract/openapi.json", None),
            ("GET", "/_emulator/docs/errors/forbidden", None),
            ("GET", "/_emulator", None),
            ("GET", "/_emulator/idp/.well-known/openid-configuration", None),
        )
        # The public API is drawn twice as often.
        for method, path, body in (*calls, *calls, *global_requests):
            self._add(method, path, body)
        for method, path, body in control:
            self._add(method, world + path, body)
        self.all.append(self._sign_in)
        self.all.append(self._redeem)

    def _add(self, method: str, path: str, body: object) -> None:
        data = b"" if body is None else json.dumps(body).encode()

        def draw(random: Random) -> bytes:
            text = data
            if body is not None and random.random() < 0.3:
                text = _changed_json(body, random)
            lines = [f"Authorization: Bearer {self._token}"]
            if method in ("PUT", "POST"):
                lines.append(f"Idempotency-Key: key-{random.randrange(10_000)}")
            if body is not None:
                lines.append("Content-Type: application/json")
            return self._request(method, path, lines, text, random)

        self.all.append(draw)

    def _sign_in(self, random: Random) -> bytes:
        lines = ["Content-Type: application/x-www-form-urlencoded"]
        body = b"grant_type=password&username=member"
        return self._request("POST", "/_emulator/idp/token", lines, body, random)

    def _redeem(self, random: Random) -> bytes:
        request = self._request(
            "GET", "/?stage=dev&ticket=abc", ["Cookie: dev_access=x"], b"", random
        )
        return request.replace(b"Host: ", b"Host: dev-shop.", 1)

    def _request(
        self, method: str, path: str, lines: list[str], body: bytes, random: Random
    ) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}", *lines]
        if body and random.random() < 0.15:
            cut = random.randrange(len(body) + 1)
            parts = [part for part in (body[:cut], body[cut:]) if part]
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
            lines.append("Transfer-Encoding: chunked")
        elif body:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode() + body


def _changed_json(body: object, random: Random) -> bytes:
    """Return a JSON body with one value deleted or replaced."""
    text = json.dumps(body)
    document = json.loads(text)
    container: Any = None
    key: Any = None
    node = document
    while isinstance(node, dict | list) and node:
        container = node
        key = random.choice(list(node) if isinstance(node, dict) else range(len(node)))
        node = container[key]
        if random.random() < 0.3:
            break
    if container is None:
        document = random.choice(VALUES)
    elif random.random() < 0.2:
        del container[key]
    else:
        container[key] = random.choice(VALUES)
    return json.dumps(document).encode()


def mutate(request: bytes, random: Random) -> bytes:
    """Return the request with up to four random changes."""
    for _ in range(random.choice((0, 0, 0, 0, 1, 1, 1, 2, 4))):
        request = random.choice(_CHANGES)(request, random)
    return request


def _flip(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data) + 1)
    return data[:index] + bytes([random.randrange(256)]) + data[index + 1 :]


def _insert(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data) + 1)
    return data[:index] + random.choice(WORDS) + data[index:]


def _drop(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data) + 1)
    return data[:index] + data[index + random.randrange(20) :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _repeat(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data) + 1)
    part = data[index : index + random.randrange(60)]
    return data[:index] + part * random.randrange(2, 5) + data[index:]


def _method(data: bytes, random: Random) -> bytes:
    return random.choice(METHODS) + b" " + data.partition(b" ")[2]


def _header(data: bytes, random: Random) -> bytes:
    """Delete, repeat or change one line of the head."""
    head, end, body = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    index = random.randrange(len(lines))
    name, colon, value = lines[index].partition(b": ")
    changed = [
        [],
        [lines[index]] * 2,
        [name + colon + random.choice(WORDS)],
        [value + colon + name],
    ]
    lines[index : index + 1] = random.choice(changed)
    return b"\r\n".join(lines) + end + body


def _path(data: bytes, random: Random) -> bytes:
    """Replace one segment of the path."""
    line, end, rest = data.partition(b"\r\n")
    parts = line.split(b"/")
    parts[random.randrange(len(parts))] = random.choice(WORDS)
    return b"/".join(parts) + end + rest


_CHANGES = (_flip, _insert, _drop, _cut, _repeat, _method, _header, _header, _path, _path)
