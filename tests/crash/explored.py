"""A small client to be explored: it shows a project's flag, makes an API key and reads the DNS.

    python explored.py careful|doubling|giving-up|patient [requests]

`careful` tries again with the same Idempotency-Key, `doubling` with another, `giving-up` not at all;
`patient` waits for an answer for ever. `requests` is how many it makes, 3 unless said. Each answer
may take TIMEOUT_S.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from itertools import count
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_S = float(os.environ.get("EXPLORED_TIMEOUT_S", "0.5"))
ATTEMPTS = 4
MANNER = sys.argv[1]
KEYS = count()


def send(method: str, path: str, body: Any, key: str) -> tuple[int, Any]:
    """Send one request. Raises OSError, HTTPException or ValueError when the answer is lost."""
    parts = urlsplit(os.environ["HOSTING_BASE_URL"])
    limit_s = None if MANNER == "patient" else TIMEOUT_S
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=limit_s)
    headers = {"Authorization": f"Bearer {os.environ['HOSTING_TOKEN']}", "Idempotency-Key": key}
    until = time.monotonic() + TIMEOUT_S
    try:
        connection.request(
            method,
            parts.path + path,
            json.dumps(body) if body else None,
            {**headers, "Content-Type": "application/json"} if body else headers,
        )
        answer = connection.getresponse()
        text = b""
        while piece := answer.read1(65536):
            text += piece
            if limit_s is not None and time.monotonic() > until:
                raise TimeoutError
        return answer.status, json.loads(text)
    finally:
        connection.close()


def ask(method: str, path: str, body: Any = None) -> Any:
    """Ask until there is an answer."""
    key = f"key-{next(KEYS)}"
    for attempt in range(ATTEMPTS):
        if attempt and MANNER == "doubling":
            key = f"key-{next(KEYS)}"
        try:
            status, found = send(method, path, body, key)
        except (OSError, ValueError, http.client.HTTPException) as error:
            said = type(error).__name__
        else:
            if status < 400:
                return found
            said = found["code"]
            if not found["retryable"]:
                break
        if MANNER == "giving-up":
            break
        time.sleep(0.05)
    sys.exit(f"gave up on {path.rpartition('/')[2]}: {said}")


def main() -> None:
    """Do the job."""
    project = f"/v1/projects/{os.environ['HOSTING_PROJECT_ID']}"
    organization = f"/v1/organizations/{os.environ['HOSTING_ORGANIZATION_ID']}"
    jobs: list[tuple[str, str, Any]] = [
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


main()
