"""One check against a server whose responses a test computes.

Such a check takes a millisecond, so a test can try many servers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from hosting_emulator_lab.contract_check import CheckOptions
from hosting_emulator_lab.contract_check.address import Address
from hosting_emulator_lab.contract_check.declared_check import Check
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun

PROJECT_ID = "01KJMMA63J0000006KE0JJKC47"
ORGANIZATION_ID = "01KJMMA63J0000006KE0JJKC48"


@dataclass(frozen=True)
class Request:
    """A request of the check. `body` is None if the content is not a JSON object."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: dict[str, Any] | None
    content: bytes | None


@dataclass(frozen=True)
class Reply:
    """A response of the server. The body is a JSON document, unless it consists of bytes."""

    document: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


#: Stands for a response that never arrives.
SILENCE = Reply(None, 0)

Respond = Callable[[Request], Reply]


def problem(status: int, code: str) -> Reply:
    """Return a valid problem."""
    document = {
        "type": f"https://docs.example/errors/{code.replace('_', '-')}",
        "title": "No",
        "status": status,
        "code": code,
        "request_id": "r-1",
        "retryable": False,
        "suggested_action": "Change the request.",
    }
    headers = {"Content-Type": "application/problem+json", "X-Request-Id": "r-1"}
    return Reply(document, status, headers)


class _ScriptedAddress(Address):
    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    def exchange(
        self, title: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> ServerResponse:
        parts = urlsplit(path)
        request = Request(
            method, parts.path, dict(parse_qsl(parts.query)), headers, _json_object(body), body
        )
        reply = self._respond(request)
        if reply == SILENCE:
            return ServerResponse(title, broken="no response within 10 s")
        all_headers = {"Content-Type": "application/json", **reply.headers}
        content = reply.document
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        return ServerResponse(title, reply.status, tuple(all_headers.items()), content)


def _json_object(body: bytes | None) -> dict[str, Any] | None:
    try:
        document = json.loads(body or b"")
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def new_run(respond: Respond, **options: Any) -> CheckRun:
    """Return a run that sends its requests to a server, also those to dev origins. Waiting takes no time."""
    defaults: dict[str, Any] = {
        "base_url": "https://api.example",
        "token": "owner-token",
        "project_id": PROJECT_ID,
        "organization_id": ORGANIZATION_ID,
        "pause": lambda _: None,
        "run_id": "test",
        "connect": lambda *_, **__: _ScriptedAddress(respond),
    }
    check_options = CheckOptions(**{**defaults, **options})
    return CheckRun(check_options, _ScriptedAddress(respond), "")


def make_check(declared_check: Check, respond: Respond, **options: Any) -> CheckRun:
    """Make one check against a server. Return the run with the evidence."""
    run = new_run(respond, **options)
    declared_check.make(run)
    return run


def faults_of(run: CheckRun) -> list[str]:
    """Return each difference with the keys of its sentences."""
    return [f"{' '.join(difference.keys)}: {difference}" for difference in run.evidence.differences]


def operations_without_proof(run: CheckRun, key: str) -> str:
    """Return the numbers of the operations that have not shown a sentence about several operations.

    Returns an empty string if no operation has shown it, or if all of them have.
    """
    match = re.match(
        r"skipped: no response of operations? ([0-9, ]+) showed it", verdict_of(run, key)
    )
    return match[1] if match else ""


def verdict_of(run: CheckRun, key: str) -> str:
    """Return the verdict on a sentence with its observations."""
    verdict, observations = run.evidence.verdict(key, "")
    return f"{verdict}: {'; '.join(observations)}"
