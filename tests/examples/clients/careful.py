"""A client that takes care: whatever goes wrong on the way, its job is done once.

    hosting-emulator exec -- python careful.py

Its job: show a project's flag, apply its domains, initialize its source, make an API key, and look
at deployments, DNS and database, and at the dev site. It exits 0 when all of that is done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from urllib.parse import urlencode

from service import Answer, Json, Lost, Service

ATTEMPTS = 6
POLLS = 200
ENDED = ("succeeded", "failed", "cancelled")


class NotDone(Exception):
    """The job cannot be done; the words say why."""


class Careful:
    """The job, and the ways to ask that it needs."""

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
        """Do all of it. Raises NotDone."""
        project, generation = self.service.project, self.service.generation
        self.change("PUT", f"{project}/powered-by-flag", {"enabled": True})
        self.follow(self.change("PUT", f"{project}/domains"))
        expected = {"expected_source_generation": generation}
        self.follow(self.change("POST", f"{project}/source:initialize", expected))
        self.make_key("deploy-bot")
        print(f"{self.count_deployments()} deployments")
        self.ask("GET", f"{project}/edge-dns")
        self.ask("GET", f"{project}/database/compute?environment=prod")
        # It has no Idempotency-Key and needs none: a new ticket revokes the one that was lost.
        self.ask("POST", f"{project}/dev-access-tickets")

    # --- Asking ------------------------------------------------------------------------------

    def change(self, method: str, path: str, body: Json | None = None) -> Json:
        """Ask for a change. The key is made of what is to be done: it is the same next time."""
        return self.ask(method, path, body, key=f"set-up:{path}")

    def ask(self, method: str, path: str, body: Json | None = None, key: str = "") -> Json:
        """Ask until there is an answer that counts. Raises NotDone."""
        for attempt in range(ATTEMPTS):
            answer, said = None, ""
            try:
                answer = self.service.send(method, path, body, self.key(key, attempt))
            except Lost as error:
                said = str(error)
            if answer is not None:
                if answer.status < 300:
                    self.look_at(answer.body)
                    return answer.body
                said = str(answer.body.get("code") or f"status {answer.status}")
                if not may_retry(answer):
                    break
            self.service.wait(self.pause_s(answer, attempt))
        raise NotDone(f"{method} {path}: {said}")

    def key(self, key: str, attempt: int) -> str:
        """The Idempotency-Key of an attempt: always that of the first."""
        return key

    def pause_s(self, answer: Answer | None, attempt: int) -> float:
        """How long to wait before the next attempt, in seconds: ever longer, or as was asked."""
        backoff_s = 0.05 * (1 << attempt)
        if answer is None:
            return backoff_s
        header = answer.headers.get("Retry-After", "")
        asked = header if header.isdigit() else answer.body.get("retry_after_seconds") or 0
        return max(backoff_s, float(asked))

    def look_at(self, body: Json) -> None:
        """What an answer holds beyond what is needed may be anything."""

    def follow(self, operation: Json) -> None:
        """Poll an operation to its end. Raises NotDone."""
        for _ in range(POLLS):
            if operation["state"] in ENDED:
                break
            self.service.wait(self.poll_pause_s(operation))
            operation = self.ask("GET", f"/v1/operations/{operation['id']}")
        if operation["state"] != "succeeded":
            raise NotDone(f"operation {operation['id']} is {operation['state']}")

    def poll_pause_s(self, operation: Json) -> float:
        """How long to wait before an operation is polled, in seconds: as long as it says."""
        progress = operation.get("progress") or {}
        return float(progress.get("next_poll_after_seconds") or 2)

    # --- Parts of the job --------------------------------------------------------------------

    def make_key(self, name: str) -> None:
        """Create an API key; its value is answered once, and that answer may have been lost."""
        made = self.change("POST", f"{self.service.organization}/user-api-keys", {"name": name})
        if not made.get("value"):
            # Another key would leave this one behind, alive and with nobody to hold it.
            print(f"The value of key {made['key']['id']} was lost: have the key revoked.")

    def count_deployments(self) -> int:
        """Count a project's deployments, page by page."""
        seen, query = set(), {"limit": "40"}
        while True:
            page = self.ask("GET", f"{self.service.project}/deployments?{urlencode(query)}")
            seen |= {deployment["id"] for deployment in page["items"]}
            if not page.get("next_cursor"):
                return len(seen)
            query["cursor"] = page["next_cursor"]


def may_retry(answer: Answer) -> bool:
    """Whether a refusal may pass: a problem says so itself, a gateway by its status."""
    said = answer.body.get("retryable")
    return said if isinstance(said, bool) else answer.status == 429 or answer.status >= 500


if __name__ == "__main__":
    sys.exit(Careful.main())
