"""A client to explore that uses worlds as test suites do.

    worlds_client STEP ...

The steps run in order. Each request is sent once, unless the step states otherwise:

    own         create a world and use it from now on
    key         create an API key, with the same key again if that fails
    twice       create an API key, with another Idempotency-Key if that fails
    read        read the DNS authorization
    without-key apply domains without an Idempotency-Key, which is refused
    reset | clear | load | delete   as the control API does to the world in use
"""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

CONTROL = os.environ["HOSTING_CONTROL_URL"]
KEYS = count()
world = {
    "name": os.environ["HOSTING_EMULATOR_WORLD"],
    "base_url": os.environ["HOSTING_BASE_URL"],
    "token": os.environ["HOSTING_TOKEN"],
    "project": os.environ["HOSTING_PROJECT_ID"],
    "organization": os.environ["HOSTING_ORGANIZATION_ID"],
}


def send(method: str, url: str, body: Any = None, **headers: str) -> Any:
    """Send one request. Raises OSError."""
    data = None if body is None else json.dumps(body).encode()
    headers["Content-Type"] = "application/json"
    with urlopen(Request(url, data, headers, method=method), timeout=10) as response:
        text = response.read()
    return json.loads(text) if text else None


def call(method: str, path: str, body: Any = None, key: str = "") -> Any:
    """Send a request of the public API."""
    headers = {"Authorization": f"Bearer {world['token']}"}
    if key:
        headers["Idempotency-Key"] = key
    return send(method, world["base_url"] + path, body, **headers)


def make_key(*keys: str) -> None:
    """Create an API key with the first Idempotency-Key, then with the others."""
    path = f"/v1/organizations/{world['organization']}/user-api-keys"
    for n, key in enumerate(keys, 1):
        try:
            call("POST", path, {"name": "ci"}, key)
        except OSError:
            if n == len(keys):
                raise
        else:
            return


def run_step(step: str) -> None:
    """Run one step."""
    control = f"{CONTROL}/worlds/{world['name']}"
    project = f"/v1/projects/{world['project']}"
    key = f"{os.getpid()}-{next(KEYS)}"
    match step:
        case "own":
            created = send("POST", f"{CONTROL}/worlds", {"token": {}})
            world["name"] = created["name"]
            world["base_url"] = created["base_url"]
            world["token"] = created["token"]["access_token"]
            world["project"] = created["projects"][0]["id"]
            world["organization"] = created["organizations"][0]["id"]
        case "key":
            make_key(key, key)
        case "twice":
            make_key(key, f"{key}-again")
        case "read":
            call("GET", f"{project}/edge-dns")
        case "without-key":
            try:
                call("PUT", f"{project}/domains")
            except HTTPError as refused:
                refused.close()
        case "reset":
            send("POST", f"{control}/reset", {})
        case "clear":
            send("DELETE", f"{control}/faults")
        case "load":
            send("POST", f"{control}/scenario", {"name": "stuck-operation"})
        case "delete":
            send("DELETE", control)
        case _:
            raise ValueError(step)


for step in sys.argv[1:]:
    run_step(step)
