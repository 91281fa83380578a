"""Judges successful responses: the status, the document, and what the contract says about the document."""

from __future__ import annotations

import re
from typing import Any

from hosting_emulator.contract.calls import AssumedStatus, CallSpec
from hosting_emulator.contract.resources import RESOURCES, STATES
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.clauses import CallClauses
from hosting_emulator_lab.contract_check.document_judge import DocumentJudge
from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from hosting_emulator_lab.contract_check.service_times import STALE_MS

_JSON_MEDIA_TYPE = re.compile(r"application/(?!problem)(\S+\+)?json")


class SuccessJudge:
    """Judges successful responses. It does not judge whether the request should have succeeded."""

    def __init__(
        self, evidence: Evidence, behavior: ServerBehavior, documents: DocumentJudge
    ) -> None:
        self._evidence = evidence
        self._behavior = behavior
        self._documents = documents

    def judge(self, spec: CallSpec, keys: CallClauses, response: ServerResponse) -> None:
        """Judge a successful response to a call. `keys` are the sentences about the call."""
        self._evidence.holds((keys.call, "paths", "v1"), response)
        if keys.response == "flag.200":
            self._evidence.judge(
                keys.response, response.status == 200, response, "its status should be 200"
            )
        # If no assumption sets the status of a replay, the replay has the status of the first
        # response.
        if isinstance(spec.success, AssumedStatus) and spec.replay_status is None:
            self._behavior.record(spec.success.assumption, response.status)
        document = self._documents.read_object(response, keys.response)
        if document is None:
            return
        media_type = response.media_type
        if media_type and not _JSON_MEDIA_TYPE.fullmatch(media_type):
            self._evidence.differs("json", response, f"its media type is {media_type}")
        self._evidence.working_calls.add(keys.call)
        if RESOURCES[spec.response].names & document.keys():
            self._evidence.holds(keys.response, response)
        else:
            self._evidence.cannot_decide(
                keys.response, f"{response}: it has none of the fields of {spec.response}"
            )
        if document.get("next_cursor") == "":
            # Remove an empty cursor, which means the same as a missing cursor: there is no next
            # page.
            document = {name: value for name, value in document.items() if name != "next_cursor"}
        self._documents.judge_fields(response, document, spec.response)
        self._judge_combinations(response, spec.response, document)

    def _judge_combinations(
        self, response: ServerResponse, resource: str, document: dict[str, Any]
    ) -> None:
        """Judge what the contract says about several fields together."""
        match resource:
            case "PoweredByFlag":
                self._judge_flag(response, document)
            case "DnsAuthorization" if document.get("status") == "not_authorized":
                self._judge_missing_authorization(response, document)
            case "Operation":
                self._judge_progress(response, document)
                self._judge_blocking(response, document)
            case "DevAccessTicket":
                self._judge_ticket(response, document)

    def _judge_flag(self, response: ServerResponse, document: dict[str, Any]) -> None:
        additional = sorted(document.keys() - RESOURCES["PoweredByFlag"].names)
        self._evidence.judge(
            "flag.closed",
            not additional,
            response,
            f"it has additional fields: {', '.join(additional)}",
        )
        if document.get("enabled") is False and "enabled_at" in document:
            is_null = document["enabled_at"] is None
            self._evidence.judge(
                "flag.enabled_at", is_null, response, "enabled_at is set while hidden"
            )

    def _judge_missing_authorization(
        self, response: ServerResponse, document: dict[str, Any]
    ) -> None:
        for name in ("zone", "expires_at"):
            if name in document:
                self._evidence.judge(
                    f"dns.{name}",
                    document[name] is None,
                    response,
                    f"{name} is not null although status is not_authorized",
                )
        if isinstance(document.get("scopes"), list):
            self._evidence.judge(
                "dns.scopes",
                not document["scopes"],
                response,
                "scopes are not empty although status is not_authorized",
            )

    def _judge_progress(self, response: ServerResponse, operation: dict[str, Any]) -> None:
        progress = operation.get("progress")
        if not isinstance(progress, dict):
            return
        created_ms = moment(operation.get("created_at"))
        observed_ms = moment(progress.get("observed_at"))
        if (
            created_ms is not None
            and observed_ms is not None
            and observed_ms < created_ms - STALE_MS
        ):
            self._evidence.differs(
                "progress-object", response, "the progress was observed before the operation began"
            )
        deployment_id = operation.get("deployment_id")
        progress_id = progress.get("deployment_id")
        if None not in (deployment_id, progress_id) and deployment_id != progress_id:
            self._evidence.differs(
                "progress-object", response, "the progress is about another deployment"
            )

    def _judge_blocking(self, response: ServerResponse, operation: dict[str, Any]) -> None:
        is_waiting = operation.get("blocking_operation_id") is not None
        state = operation.get("state")
        if is_waiting and state in STATES and state != "queued":
            self._evidence.differs(
                "states.blocking", response, "it waits for another operation, and is not queued"
            )

    def _judge_ticket(self, response: ServerResponse, ticket: dict[str, Any]) -> None:
        origin = ticket.get("origin")
        url = ticket.get("redeem_url")
        if isinstance(origin, str) and isinstance(url, str):
            self._evidence.judge(
                "ticket.redeem_url",
                url.startswith(f"{origin}/"),
                response,
                "redeem_url does not start with the origin",
            )
