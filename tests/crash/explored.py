"""A small client to be explored: it shows a project's flag, makes an API key and reads the DNS.

    python -IS explored.py careful|doubling|giving-up|patient [requests]

`careful` tries again with the same Idempotency-Key, `doubling` with another, `giving-up` not at all;
`patient` waits for an answer for ever. `requests` is how many it makes, 3 unless said. Each answer
may take TIMEOUT_S. It is started hundreds of times, so it imports little and speaks HTTP itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from itertools import count

TIMEOUT_S = float(os.environ.get("EXPLORED_TIMEOUT_S", "0.5"))
ATTEMPTS = 4
MANNER = sys.argv[1]
KEYS = count()


def send(method: str, path: str, body: object, key: str) -> tuple[int, dict[str, object]]:
    """Send one request. Raises OSError or ValueError when the answer is lost."""
    base = os.environ["HOSTING_BASE_URL"].removeprefix("http://")
    place = base.partition("/")[0]
    host, _, port = place.rpartition(":")
    content = json.dumps(body).encode() if body else b""
    lines = [
        f"{method} {base.removeprefix(place)}{path} HTTP/1.1",
        f"Host: {place}",
        f"Authorization: Bearer {os.environ['HOSTING_TOKEN']}",
        f"Idempotency-Key: {key}",
        f"Content-Length: {len(content)}",
        *(["Content-Type: application/json"] if body else []),
        "Connection: close",
    ]
    limit_s = None if MANNER == "patient" else TIMEOUT_S
    until = time.monotonic() + TIMEOUT_S
    text = b""
    with socket.create_connection((host, int(port)), limit_s) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        while piece := connection.recv(65536):
            text += piece
            if limit_s is not None and time.monotonic() > until:
                raise TimeoutError
    return read(text)


def read(text: bytes) -> tuple[int, dict[str, object]]:
    """Return status and body of an answer. Raises ValueError for one that is not whole."""
    head, blank, content = text.partition(b"\r\n\r\n")
    if not blank:
        raise ValueError("no response")
    names = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if len(content) != int(names[b"content-length"]):
        raise ValueError("cut off")
    return int(head.split()[1]), json.loads(content)


def ask(method: str, path: str, body: object = None) -> None:
    """Ask until there is an answer; for a key anew where its value was lost."""
    key = f"key-{next(KEYS)}"
    for attempt in range(ATTEMPTS):
        if attempt and MANNER == "doubling":
            key = f"key-{next(KEYS)}"
        try:
            status, found = send(method, path, body, key)
        except (OSError, ValueError) as error:
            said: object = type(error).__name__
        else:
            if status < 400:
                if found.get("replayed") and isinstance(body, dict):
                    ask(method, path, {"name": f"{body['name']}-again"})
                return
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
    jobs: list[tuple[str, str, object]] = [
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
