"""A small client to explore: it shows the flag of a project, creates an API key and reads the DNS.

    explored careful|doubling|giving-up|patient [requests]

`careful` retries with the same Idempotency-Key, `doubling` with another one, `giving-up` never;
`patient` waits for a response forever. `requests` is the number of requests (default: 3). Each
response may take TIMEOUT_S.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import count

from tests.support import plain_http

TIMEOUT_S = float(os.environ.get("EXPLORED_TIMEOUT_S", "0.5"))
ATTEMPTS = 4
MANNER = sys.argv[1]
KEYS = count()


def send(
    method: str, path: str, body: dict[str, object] | None, key: str
) -> tuple[int, dict[str, object]]:
    """Send one request. Raises OSError or ValueError when the response is lost."""
    headers = {"Authorization": f"Bearer {os.environ['HOSTING_TOKEN']}", "Idempotency-Key": key}
    limit_s = None if MANNER == "patient" else TIMEOUT_S
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


def ask(method: str, path: str, body: dict[str, object] | None = None) -> None:
    """Send a request until it succeeds; request another key if the value of the first was lost."""
    key = f"key-{next(KEYS)}"
    for attempt in range(ATTEMPTS):
        if attempt and MANNER == "doubling":
            key = f"key-{next(KEYS)}"
        try:
            status, document = send(method, path, body, key)
        except (OSError, ValueError) as error:
            reason: object = type(error).__name__
        else:
            if status < 400:
                if document.get("replayed") and body is not None:
                    ask(method, path, {"name": f"{body['name']}-again"})
                return
            reason = document["code"]
            if not document["retryable"]:
                break
        if MANNER == "giving-up":
            break
        time.sleep(0.05)
    sys.exit(f"gave up on {path.rpartition('/')[2]}: {reason}")


def main() -> None:
    """Do the job."""
    project = f"/v1/projects/{os.environ['HOSTING_PROJECT_ID']}"
    organization = f"/v1/organizations/{os.environ['HOSTING_ORGANIZATION_ID']}"
    jobs: list[tuple[str, str, dict[str, object] | None]] = [
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
    for job in jobs[: int(sys.argv[2]) if len(sys.argv) > 2 else 3]:
        ask(*job)
    print("done")
