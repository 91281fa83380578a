"""A client to explore, which sets the flag, creates an API key and applies domains.

    outcomes_client BEHAVIOR

With the behaviors in `CORRECT_BEHAVIORS` the client is correct. With each behavior in `MISTAKES` it
makes one mistake.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import count

from tests.support import plain_http

TYPE_CHECKING = False
if TYPE_CHECKING:  # because importing `typing` takes as long as all other imports
    from typing import Any

CORRECT_BEHAVIORS = (
    "careful",
    "giving-up",
    "fire-and-forget",
    "dashboard",
    "hedged",
    "begin-again",
    "patient",
    "best-effort",
    "pages",
    "renewing",
)
#: The point at which `explore` finds each mistake, and its verdict.
MISTAKES = {
    "believing": ("apply_project_domains#1/fail/lasting", "blind success"),
    "any-end-is-good": ("apply_project_domains#1/cancel/lasting", "blind success"),
    "for-ever": ("apply_project_domains#1/stick/lasting", "hung"),
    "few-polls": ("apply_project_domains#1/blocked/lasting", "blind success"),
    "storming": ("set_project_powered_by_flag#1/outage/lasting", "repeated"),
    "stubborn": ("set_project_powered_by_flag#1/abort:forbidden/lasting", "repeated"),
    "null-key": ("create_user_api_key#1/value_lost/lasting", "blind success"),
    "swallowing": ("read_database_compute#1/abort:forbidden/lasting", "blind success"),
    "null-blind": ("read_database_compute#1/database_null/lasting", "unclear"),
    "zone-blind": ("get_dns_authorization#1/no_zone/lasting", "unclear"),
    "status-blind": ("set_project_powered_by_flag#1/abort:forbidden/lasting", "blind success"),
    "impatient": ("apply_project_domains#1/queued/lasting", "doubled"),
    "again-and-again": ("apply_project_domains#1/stick/lasting", "doubled"),
}
BEHAVIOR = sys.argv[1] if len(sys.argv) > 1 else "careful"
BASE = os.environ.get("HOSTING_BASE_URL", "http://127.0.0.1:1/v1")
TOKENS = [os.environ.get("HOSTING_TOKEN", "")]
PROJECT = f"/v1/projects/{os.environ.get('HOSTING_PROJECT_ID')}"
ORGANIZATION = f"/v1/organizations/{os.environ.get('HOSTING_ORGANIZATION_ID')}"
KEY_NUMBERS = count()
MAX_ATTEMPTS = {"giving-up": 1, "storming": 200, "patient": 1000}.get(BEHAVIOR, 3)
MAX_POLLS = {"few-polls": 6, "patient": 11}.get(BEHAVIOR, 21)
#: The pause before a retry, in seconds.
PAUSE_S = {"storming": 0.0, "patient": 2.0, "stubborn": 0.05}.get(BEHAVIOR, 0.1)


class Refused(Exception):
    """The service refused a request or did not respond."""


def send(method: str, path: str, body: Any, key: str) -> tuple[int, dict[str, str], Any]:
    """Send one request, and return its status, headers and document.

    Raises OSError or ValueError if no complete response arrives.
    """
    headers = {"Authorization": f"Bearer {TOKENS[-1]}", "Idempotency-Key": key}
    return plain_http.send(BASE, method, path, headers, body, piece_s=10)


def request(method: str, path: str, body: Any = None, key: str = "") -> Any:
    """Send a request until it succeeds, and return its document.

    Raises Refused if a retry is useless or if all attempts failed.
    """
    key = key or f"{os.getpid()}-{next(KEY_NUMBERS)}"
    reason = ""
    for attempt in range(MAX_ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S)
        try:
            status, headers, document = send(method, path, body, key)
        except (OSError, ValueError) as error:
            reason = f"no response: {error}"
            continue
        if status < 400 or BEHAVIOR == "status-blind":
            return document
        reason = f"{status} {document['code']}"
        if status == 401 and BEHAVIOR == "renewing" and renew():
            continue
        if not document["retryable"] and BEHAVIOR != "stubborn":
            break
        if BEHAVIOR not in ("stubborn", "storming"):
            time.sleep(int(headers.get("retry-after", 0)))
    raise Refused(f"{method} {path.rpartition('/')[2]}: {reason}")


def renew() -> bool:
    """Get a new access token, as a client with a refresh token does.

    Return whether there is a new token. The client gets only one.
    """
    if len(TOKENS) > 1:
        return False
    path = f"/_emulator/worlds/{os.environ['HOSTING_EMULATOR_WORLD']}/tokens"
    body: dict[str, object] = {"user": "owner", "lifetime": "15m"}
    _, _, token = plain_http.send(os.environ["HOSTING_EMULATOR_URL"], "POST", path, {}, body)
    TOKENS.append(token["access_token"])
    return True


def follow(operation: Any) -> str:
    """Poll an operation until it ends, and return its state. Raises Refused if the client gives up."""
    poll_count = 0
    while operation["state"] in ("queued", "running"):
        if BEHAVIOR == "few-polls" and poll_count == MAX_POLLS:
            break
        if BEHAVIOR != "for-ever" and poll_count == MAX_POLLS:
            raise Refused(f"operation {operation['id']} is still {operation['state']}")
        pause_s = 0.02
        if BEHAVIOR == "patient" and poll_count >= 4:
            pause_s = 2.0
        time.sleep(pause_s)
        operation = request("GET", f"/v1/operations/{operation['id']}")
        poll_count += 1
    return str(operation["state"])


def set_flag() -> None:
    """Set the flag to false. The hedged client sends two equal requests at the same time."""
    if BEHAVIOR != "hedged":
        request("PUT", f"{PROJECT}/powered-by-flag", {"enabled": False})
        return
    # Other behaviors do not need these imports, which take time.
    from contextlib import suppress
    from threading import Thread

    body = {"enabled": False}
    responses: list[object] = []

    def send_flag() -> None:
        with suppress(Refused):
            responses.append(request("PUT", f"{PROJECT}/powered-by-flag", body, "hedge"))

    threads = [Thread(target=send_flag) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not responses:
        raise Refused("neither request got a response")


def create_key() -> None:
    """Create an API key, and another key if the value of the first key is lost."""
    for name in ("ci", "ci-2"):
        key = request("POST", f"{ORGANIZATION}/user-api-keys", {"name": name})
        if key["value"] is not None or BEHAVIOR == "null-key":
            return
    raise Refused("no key has a value")


def apply_domains() -> None:
    """Apply the domains, and wait for the end of the operation."""
    max_operations = {"begin-again": 2, "again-and-again": 3}.get(BEHAVIOR, 1)
    for _ in range(max_operations):
        operation = request("PUT", f"{PROJECT}/domains")
        if BEHAVIOR == "fire-and-forget":
            return
        if BEHAVIOR == "believing":
            for _ in range(3):
                request("GET", f"/v1/operations/{operation['id']}")
            return
        if BEHAVIOR == "impatient" and operation.get("blocking_operation_id"):
            follow(request("GET", f"/v1/operations/{operation['blocking_operation_id']}"))
            operation = request("PUT", f"{PROJECT}/domains")
        try:
            state = follow(operation)
        except Refused:
            if BEHAVIOR != "again-and-again":
                raise
            continue
        if state == "succeeded" or BEHAVIOR in ("any-end-is-good", "few-polls"):
            return
    raise Refused(f"operation {operation['id']}: {operation.get('error')}")


def read_resources() -> None:
    """Read the database compute, the DNS authorization and the deployments."""
    try:
        compute = request("GET", f"{PROJECT}/database/compute?environment=prod")
    except Refused as refused:
        if BEHAVIOR == "swallowing":
            compute = {"database": None}
        elif BEHAVIOR == "best-effort":
            print(f"No database: {refused}")
            compute = {"database": None}
        else:
            raise
    if BEHAVIOR == "null-blind":
        print(compute["database"]["min_cu"] > 0)
    dns = request("GET", f"{PROJECT}/edge-dns")
    if BEHAVIOR == "zone-blind":
        print(dns["zone"].upper())
    page = request("GET", f"{PROJECT}/deployments")
    while BEHAVIOR == "pages" and page.get("next_cursor"):
        page = request("GET", f"{PROJECT}/deployments?cursor={page['next_cursor']}")


def print_dashboard() -> None:
    """Print the length of each document that can be read."""
    for name in ("edge-dns", "deployments", "database/compute?environment=dev"):
        try:
            print(name, len(request("GET", f"{PROJECT}/{name}")))
        except Refused as refused:
            print(name, "is not available:", refused)


def main() -> None:
    """Send the requests."""
    if BEHAVIOR == "dashboard":
        print_dashboard()
        return
    try:
        set_flag()
        create_key()
        apply_domains()
        read_resources()
    except Refused as refused:
        sys.exit(f"gave up: {refused}")
    print("Deployed.")
