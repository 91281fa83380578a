"""Correct and faulty clients to explore: they show the flag, create a key and apply domains.

    outcomes_client MANNER

Each manner is one client. Those in `CORRECT` are correct, those in `FAULTY` make one mistake each.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import count

from tests.support import plain_http

TYPE_CHECKING = False
if TYPE_CHECKING:  # its import takes as long as all the others
    from typing import Any

CORRECT = (
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
FAULTY = {
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
    "again-and-again": ("apply_project_domains#1/stick/lasting", "doubled"),
}
MANNER = sys.argv[1] if len(sys.argv) > 1 else "careful"
BASE = os.environ.get("HOSTING_BASE_URL", "http://127.0.0.1:1/v1")
TOKENS = [os.environ.get("HOSTING_TOKEN", "")]
PROJECT = f"/v1/projects/{os.environ.get('HOSTING_PROJECT_ID')}"
ORGANIZATION = f"/v1/organizations/{os.environ.get('HOSTING_ORGANIZATION_ID')}"
KEYS = count()
ATTEMPTS = {"giving-up": 1, "storming": 200, "patient": 1000}.get(MANNER, 3)
PAUSE_S = {"storming": 0.0, "patient": 2.0, "stubborn": 0.05}.get(MANNER, 0.1)


class Refused(Exception):
    """The service refused a request or did not respond."""


def send(method: str, path: str, body: Any, key: str) -> tuple[int, dict[str, str], Any]:
    """Send one request. Raises OSError or ValueError when the response is lost."""
    headers = {"Authorization": f"Bearer {TOKENS[-1]}", "Idempotency-Key": key}
    return plain_http.send(BASE, method, path, headers, body, piece_s=10)


def request(method: str, path: str, body: Any = None, key: str = "") -> Any:
    """Send a request until it succeeds or a retry is useless. Raises Refused."""
    key = key or f"{os.getpid()}-{next(KEYS)}"
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S)
        try:
            status, headers, document = send(method, path, body, key)
        except (OSError, ValueError) as error:
            reason = f"no response: {error}"
            continue
        if status < 400 or MANNER == "status-blind":
            return document
        reason = f"{status} {document['code']}"
        if status == 401 and MANNER == "renewing" and renew():
            continue
        if not document["retryable"] and MANNER != "stubborn":
            break
        if MANNER not in ("stubborn", "storming"):
            time.sleep(int(headers.get("retry-after", 0)))
    raise Refused(f"{method} {path.rpartition('/')[2]}: {reason}")


def renew() -> bool:
    """Get a new access token, as a client with a refresh token would."""
    if len(TOKENS) > 1:
        return False
    path = f"/_emulator/worlds/{os.environ['HOSTING_EMULATOR_WORLD']}/tokens"
    body: dict[str, object] = {"user": "owner", "expires_in_seconds": 900}
    _, _, token = plain_http.send(os.environ["HOSTING_EMULATOR_URL"], "POST", path, {}, body)
    TOKENS.append(token["access_token"])
    return True


def follow(operation: Any) -> str:
    """Poll an operation until it ends or the client gives up."""
    polls = count()
    while operation["state"] in ("queued", "running"):
        if MANNER == "few-polls" and next(polls) > 5:
            break
        if MANNER not in ("for-ever", "few-polls") and next(polls) > 20:
            raise Refused(f"operation {operation['id']} is still {operation['state']}")
        time.sleep(2 if MANNER == "patient" and next(polls) > 8 else 0.02)
        operation = request("GET", f"/v1/operations/{operation['id']}")
    return str(operation["state"])


def show_flag() -> None:
    """Show the flag."""
    if MANNER != "hedged":
        request("PUT", f"{PROJECT}/powered-by-flag", {"enabled": False})
        return
    from contextlib import suppress  # the other clients need not wait for these imports
    from threading import Thread

    body = {"enabled": False}
    responses = list[object]()

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


def make_key() -> None:
    """Create a key, and another one if the value of the first is lost."""
    for name in ("ci", "ci-2"):
        key = request("POST", f"{ORGANIZATION}/user-api-keys", {"name": name})
        if key["value"] is not None or MANNER == "null-key":
            return
    raise Refused("no key has a value")


def apply_domains() -> None:
    """Apply the domains and follow the operation."""
    for _ in range({"begin-again": 2, "again-and-again": 3}.get(MANNER, 1)):
        operation = request("PUT", f"{PROJECT}/domains")
        if MANNER in ("fire-and-forget", "believing"):
            if MANNER == "believing":
                request("GET", f"/v1/operations/{operation['id']}")
                request("GET", f"/v1/operations/{operation['id']}")
                request("GET", f"/v1/operations/{operation['id']}")
            return
        try:
            state = follow(operation)
        except Refused:
            if MANNER != "again-and-again":
                raise
            continue
        if state == "succeeded" or MANNER in ("any-end-is-good", "few-polls"):
            return
    raise Refused(f"operation {operation['id']}: {operation.get('error')}")


def read_all() -> None:
    """Read the database compute, DNS and deployments."""
    try:
        compute = request("GET", f"{PROJECT}/database/compute?environment=prod")
    except Refused as refused:
        if MANNER == "swallowing":
            compute = {"database": None}
        elif MANNER == "best-effort":
            print(f"No database: {refused}")
            compute = {"database": None}
        else:
            raise
    if MANNER == "null-blind":
        print(compute["database"]["min_cu"] > 0)
    dns = request("GET", f"{PROJECT}/edge-dns")
    if MANNER == "zone-blind":
        print(dns["zone"].upper())
    page = request("GET", f"{PROJECT}/deployments")
    while MANNER == "pages" and page.get("next_cursor"):
        page = request("GET", f"{PROJECT}/deployments?cursor={page['next_cursor']}")


def dashboard() -> None:
    """Print the size of each document that can be read."""
    for name in ("edge-dns", "deployments", "database/compute?environment=dev"):
        try:
            print(name, len(request("GET", f"{PROJECT}/{name}")))
        except Refused as refused:
            print(name, "is not available:", refused)


def main() -> None:
    """Do the job."""
    if MANNER == "dashboard":
        dashboard()
        return
    try:
        for job in (show_flag, make_key, apply_domains, read_all):
            job()
    except Refused as refused:
        sys.exit(f"gave up: {refused}")
    print("Deployed.")
