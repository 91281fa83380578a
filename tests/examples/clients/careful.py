"""A careful client: whatever fails on the way, its job is done exactly once.

    hosting-emulator exec -- python careful.py

Its job is to show the flag of a project, apply its domains, initialize its source, create an API key,
and read deployments, DNS, database and a ticket for the dev site. It exits with 0 when all is done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from urllib.parse import urlencode

from service import Json, Lost, Response, Service

ATTEMPTS = 6
POLLS = 200
ENDED = ("succeeded", "failed", "cancelled")


class NotDone(Exception):
    """The job could not be done; the message says why."""


class Careful:
    """The job and its requests."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @classmethod
    def main(cls, environment: Mapping[str, str] = os.environ) -> int:
        """Do the job and return the exit code."""
        try:
            cls(Service(environment)).job()
        except NotDone as error:
            print(f"Not done: {error}", file=sys.stderr)
            return 1
        print("Done.")
        return 0

    def job(self) -> None:
        """Do the whole job. Raises NotDone."""
        project = self.service.project
        generation = self.service.generation
        self.change("PUT", f"{project}/powered-by-flag", {"enabled": True})
        self.follow(self.change("PUT", f"{project}/domains"))
        expected = {"expected_source_generation": generation}
        self.follow(self.change("POST", f"{project}/source:initialize", expected))
        self.make_key("deploy-bot")
        print(f"{self.count_deployments()} deployments")
        self.send_with_retries("GET", f"{project}/edge-dns")
        self.send_with_retries("GET", f"{project}/database/compute?environment=prod")
        # This call takes no Idempotency-Key and needs none: a new ticket revokes a lost one.
        self.send_with_retries("POST", f"{project}/dev-access-tickets")

    # --- Requests ------------------------------------------------------------------------------

    def change(self, method: str, path: str, body: Json | None = None) -> Json:
        """Request a change. Its Idempotency-Key follows from the change, so a second run uses it again."""
        return self.send_with_retries(method, path, body, key=f"set-up:{path}")

    def send_with_retries(
        self, method: str, path: str, body: Json | None = None, key: str = ""
    ) -> Json:
        """Send a request until it succeeds or a retry is useless. Raises NotDone."""
        for attempt in range(ATTEMPTS):
            response = None
            reason = ""
            try:
                response = self.service.send(method, path, body, self.key(key, attempt))
            except Lost as error:
                reason = str(error)
            if response is not None:
                if response.status < 300:
                    self.look_at(response.body)
                    return response.body
                reason = str(response.body.get("code") or f"status {response.status}")
                if not may_retry(response):
                    break
            self.service.wait(self.pause_s(response, attempt))
        raise NotDone(f"{method} {path}: {reason}")

    def key(self, key: str, attempt: int) -> str:
        """Return the Idempotency-Key of an attempt: the same for every attempt."""
        return key

    def pause_s(self, response: Response | None, attempt: int) -> float:
        """Return the wait before the next attempt, in seconds: growing, or as the response requests."""
        backoff_s = 0.05 * (1 << attempt)
        if response is None:
            return backoff_s
        header = response.headers.get("Retry-After", "")
        requested_s = header if header.isdigit() else response.body.get("retry_after_seconds") or 0
        return max(backoff_s, float(requested_s))

    def look_at(self, body: Json) -> None:
        """Ignore the content of a response that the job does not need."""

    def follow(self, operation: Json) -> None:
        """Poll an operation to its end. Raises NotDone."""
        for _ in range(POLLS):
            if operation["state"] in ENDED:
                break
            self.service.wait(self.poll_pause_s(operation))
            operation = self.send_with_retries("GET", f"/v1/operations/{operation['id']}")
        if operation["state"] != "succeeded":
            raise NotDone(f"operation {operation['id']} is {operation['state']}")

    def poll_pause_s(self, operation: Json) -> float:
        """Return the wait before the next poll, in seconds, as the operation states it."""
        progress = operation.get("progress") or {}
        return float(progress.get("next_poll_after_seconds") or 2)

    # --- Parts of the job --------------------------------------------------------------------

    def make_key(self, name: str) -> None:
        """Create an API key. Its value is sent only once, and that response may be lost."""
        creation = self.change("POST", f"{self.service.organization}/user-api-keys", {"name": name})
        if not creation.get("value"):
            # Another key would leave this one behind: valid, but with a value that nobody knows.
            print(f"The value of key {creation['key']['id']} was lost: have the key revoked.")

    def count_deployments(self) -> int:
        """Count a project's deployments, page by page."""
        deployment_ids = set()
        query = {"limit": "40"}
        while True:
            page = self.send_with_retries(
                "GET", f"{self.service.project}/deployments?{urlencode(query)}"
            )
            deployment_ids |= {deployment["id"] for deployment in page["items"]}
            if not page.get("next_cursor"):
                return len(deployment_ids)
            query["cursor"] = page["next_cursor"]


def may_retry(response: Response) -> bool:
    """Return whether a retry may succeed: a problem states it, a gateway response implies it."""
    retryable = response.body.get("retryable")
    return (
        retryable
        if isinstance(retryable, bool)
        else response.status == 429 or response.status >= 500
    )


if __name__ == "__main__":
    sys.exit(Careful.main())
