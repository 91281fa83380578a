"""Asking the server: each call by its name, as one of the people whose tokens were given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract_check.judging import Judge
from hosting_emulator.contract_check.options import CheckOptions
from hosting_emulator.contract_check.wire import Answer, Line

#: What begins the name of everything that a check creates or sends.
PREFIX = "hosting-emulator-check-"
#: So many answers in a row may stay out before a server counts as gone.
_TOO_MANY = 3
#: How often the same request is sent again after it was told to wait.
_AGAIN = 5
#: Codes that say nothing of what was asked: the service is busy, limits or is out of order.
EXCUSES = frozenset(
    {
        *("rate_limited", "payload_too_large", "service_unavailable"),
        *("insufficient_organization_credits", "paid_plan_required", "project_budget_exceeded"),
        *("api_key_permissions_unavailable", "api_key_creation_uncertain"),
    }
)
#: Codes that blame the request or who sent it. All others tell of a state that the service is in.
BLAMES = frozenset(
    {
        *("invalid_request", "unauthenticated", "forbidden", "organization_required"),
        *("resource_not_found", "idempotency_key_reused"),
    }
)


class Gone(Exception):
    """The server does not answer any more."""


class Asker:
    """Sends the calls and has each answer judged. Secrets that were seen are never shown.

    Raises Gone once the server stopped answering, Unreachable if it cannot be reached.
    """

    def __init__(self, options: CheckOptions, judge: Judge, line: Line) -> None:
        self.options = options
        self.requests = 0
        self.created: list[str] = []
        self._judge = judge
        self._line = line
        self._silent = 0
        self._left_s = options.patience_s
        self._keys = 0

    # --- Calls -------------------------------------------------------------------------------

    def call(
        self,
        call_id: str,
        query: str = "",
        *,
        about: str = "",
        subject: str | None = None,
        **how: Any,
    ) -> Answer:
        """Make one of the eight calls. `how` goes to `send`; `about` says what is special in it."""
        spec, options = CALLS[call_id], self.options
        path = spec.path.replace("{project_id}", subject or options.project_id)
        path = path.replace("{organization_id}", subject or options.organization_id)
        return self.send(call_id, spec.method, path + query, about=about, **how)

    def poll(
        self,
        path: str,
        operation_id: str,
        about: str,
        *,
        token: str | None = None,
        judged: bool = True,
    ) -> Answer:
        """Poll an operation at a path that holds {operation_id}."""
        target = path.replace("{operation_id}", quote(operation_id, safe=""))
        target = target.replace("{project_id}", self.options.project_id)
        return self.send("get_operation", "GET", target, about=about, token=token, judged=judged)

    def send(
        self,
        call_id: str,
        method: str,
        path: str,
        *,
        about: str = "",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        judged: bool = True,
    ) -> Answer:
        """Send a request and judge its answer. `token` "" sends none; None is the owner's."""
        sent = {"Accept": "application/json, application/problem+json", **(headers or {})}
        token = self.options.token if token is None else token
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if key is not None:
            sent["Idempotency-Key"] = key
        content = None
        if body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        title = f"{method} {self._short(path)}" + (f" ({about})" if about else "")
        for _ in range(_AGAIN):
            answer = self._once(title, method, path, sent, content)
            if not self._told_to_wait(answer):
                break
        answer = replace(answer, call_id=call_id)
        if judged:
            self._judge.answer(call_id, answer)
        return answer

    def new_key(self) -> str:
        """Return a new Idempotency-Key, named as ours."""
        self._keys += 1
        return f"{PREFIX}{self.options.run_id}-{self._keys}"

    # --- Waiting -----------------------------------------------------------------------------

    def wait(self, seconds: float) -> bool:
        """Wait, if there is patience left for so long; tell whether there was."""
        if seconds > self._left_s:
            return False
        self._left_s -= seconds
        if seconds > 0:
            self.options.pause(seconds)
        return True

    def _told_to_wait(self, answer: Answer) -> bool:
        if answer.status not in (429, 503):
            return False
        told = answer.header("Retry-After") or ""
        seconds = int(told) if told.isascii() and told.isdigit() and len(told) < 6 else 0
        return seconds > 0 and self.wait(seconds)

    # --- The wire ----------------------------------------------------------------------------

    def _once(
        self, title: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        self.requests += 1
        self.options.ask_before(title)
        answer = self._line.exchange(title, method, path, headers, body)
        self._silent = 0 if answer.status else self._silent + 1
        if self._silent >= _TOO_MANY:
            raise Gone(f"the server left {_TOO_MANY} requests in a row without an answer")
        return answer

    def _short(self, path: str) -> str:
        """Write a path with the ids that were given left out: they are the same each time."""
        path = path.replace(self.options.project_id, "{project_id}")
        return path.replace(self.options.organization_id, "{organization_id}")
