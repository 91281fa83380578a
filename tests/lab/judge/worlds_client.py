"""A client to explore that uses worlds as test suites do.

    worlds_client STEP ...

The client runs the steps in order:

    own          creates a world and uses it in the following steps
    key          creates an API key, and retries with the same Idempotency-Key
    twice        creates an API key, and retries with another Idempotency-Key
    read         reads the DNS authorization
    without-key  applies domains without an Idempotency-Key, which the service refuses
    reset        resets the world
    clear        removes the faults of the world
    load         loads a scenario into the world
    delete       deletes the world

Only `key` and `twice` retry, and only once.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from itertools import count
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

CONTROL = os.environ["HOSTING_CONTROL_URL"]
KEY_NUMBERS = count()
world = {
    "name": os.environ["HOSTING_EMULATOR_WORLD"],
    "base_url": os.environ["HOSTING_BASE_URL"],
    "token": os.environ["HOSTING_TOKEN"],
    "project": os.environ["HOSTING_PROJECT_ID"],
    "organization": os.environ["HOSTING_ORGANIZATION_ID"],
}


def send(method: str, url: str, body: Any = None, **headers: str) -> Any:
    """Send one request and return the document of its response. Raises OSError if it fails."""
    data = None if body is None else json.dumps(body).encode()
    headers["Content-Type"] = "application/json"
    with urlopen(Request(url, data, headers, method=method), timeout=10) as response:
        text = response.read()
    return json.loads(text) if text else None


def call(method: str, path: str, body: Any = None, key: str = "") -> Any:
    """Send a request to the project API of the world in use. Raises OSError if it fails."""
    headers = {"Authorization": f"Bearer {world['token']}"}
    if key:
        headers["Idempotency-Key"] = key
    return send(method, world["base_url"] + path, body, **headers)


def make_key(*keys: str) -> None:
    """Create an API key, with each Idempotency-Key in turn until a request succeeds.

    Raises OSError if no request succeeds.
    """
    path = f"/v1/organizations/{world['organization']}/user-api-keys"
    *first_keys, last_key = keys
    for key in first_keys:
        with suppress(OSError):
            call("POST", path, {"name": "ci"}, key)
            return
    call("POST", path, {"name": "ci"}, last_key)


def run_step(step: str) -> None:
    """Run one step."""
    control = f"{CONTROL}/worlds/{world['name']}"
    project = f"/v1/projects/{world['project']}"
    key = f"{os.getpid()}-{next(KEY_NUMBERS)}"
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
            except HTTPError as error:
                error.close()
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
