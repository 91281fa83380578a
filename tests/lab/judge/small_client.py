"""A small client to explore, which sends requests to several calls.

    small_client BEHAVIOR [REQUEST_COUNT]

BEHAVIOR decides what the client does when a request fails:

    waiting     retries as `careful` does, and waits as long as a response asks
    careful     retries with the same Idempotency-Key
    doubling    retries with another Idempotency-Key
    giving-up   does not retry
    patient     retries as `careful` does, and waits for each response without a time limit

REQUEST_COUNT is the number of requests (default: 3). The environment variable
SMALL_CLIENT_TIMEOUT_S limits the wait for each response, in seconds.
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

TIMEOUT_S = float(os.environ.get("SMALL_CLIENT_TIMEOUT_S", "0.5"))
MAX_ATTEMPTS = 4
PAUSE_S = 0.05
BEHAVIOR = sys.argv[1]
KEY_NUMBERS = count()


def send(method: str, path: str, body: Any, key: str) -> tuple[int, Any]:
    """Send one request, and return its status and document.

    Raises OSError or ValueError if no complete response arrives.
    """
    headers = {"Authorization": f"Bearer {os.environ['HOSTING_TOKEN']}", "Idempotency-Key": key}
    limit_s = None if BEHAVIOR == "patient" else TIMEOUT_S
    status, _, document = plain_http.send(
        os.environ["HOSTING_BASE_URL"],
        method,
        path,
        headers,
        body,
        piece_s=limit_s,
        whole_s=limit_s,
    )
    return status, document


def new_key() -> str:
    """Return a new Idempotency-Key."""
    return f"key-{next(KEY_NUMBERS)}"


def send_until_success(method: str, path: str, body: Any = None) -> None:
    """Send a request until it succeeds. If the value of an API key is lost, create another key.

    Exits with an error message if the client gives up.
    """
    key = new_key()
    reason = ""
    pause_s = PAUSE_S
    for attempt in range(MAX_ATTEMPTS):
        if attempt:
            time.sleep(pause_s)
            if BEHAVIOR == "doubling":
                key = new_key()
        try:
            status, document = send(method, path, body, key)
        except (OSError, ValueError) as error:
            reason = type(error).__name__
        else:
            if status < 400:
                if document.get("replayed") and body is not None:
                    send_until_success(method, path, {"name": f"{body['name']}-again"})
                return
            reason = document["code"]
            if BEHAVIOR == "waiting":
                pause_s = document.get("retry_after_seconds", 2 * pause_s)
            if not document["retryable"]:
                break
        if BEHAVIOR == "giving-up":
            break
    sys.exit(f"gave up on {path.rpartition('/')[2]}: {reason}")


def main() -> None:
    """Send the requests."""
    project = f"/v1/projects/{os.environ['HOSTING_PROJECT_ID']}"
    organization = f"/v1/organizations/{os.environ['HOSTING_ORGANIZATION_ID']}"
    requests: list[tuple[str, str, Any]] = [
        ("PUT", f"{project}/powered-by-flag", {"enabled": False}),
        ("POST", f"{organization}/user-api-keys", {"name": "ci"}),
        ("GET", f"{project}/edge-dns", None),
        ("GET", f"{project}/deployments?limit=2", None),
        ("PUT", f"{project}/domains", None),
        ("GET", f"{project}/database/compute?environment=dev", None),
        ("GET", f"{project}/database/compute?environment=prod", None),
        ("POST", f"{project}/dev-access-tickets", None),
        ("PUT", f"{project}/powered-by-flag", {"enabled": True}),
        ("GET", f"{project}/deployments", None),
    ]
    request_count = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for request in requests[:request_count]:
        send_until_success(*request)
    print("done")
