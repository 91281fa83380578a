"""Judges each response to a call by itself. The checks compare responses with each other."""

from __future__ import annotations

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.value_checks import (
    credential_complaint,
    identifier_complaint,
    members_of,
)
from hosting_emulator_lab.contract_check.clauses import CALL_CLAUSES
from hosting_emulator_lab.contract_check.document_judge import DocumentJudge
from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.problem_judge import ProblemJudge
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from hosting_emulator_lab.contract_check.service_times import ServiceTimes
from hosting_emulator_lab.contract_check.success_judge import SuccessJudge

#: The resources that must not show a provider's credentials or identifiers, with the sentences that
#: forbid it.
_PROVIDER_KEYS = {
    "DnsAuthorization": "dns.no-credentials",
    "DatabaseCompute": "compute.no-identifiers",
}


class ResponseJudge:
    """Judges responses about one project, independently of the purpose of the request."""

    def __init__(
        self, project_id: str, evidence: Evidence, behavior: ServerBehavior, times: ServiceTimes
    ) -> None:
        documents = DocumentJudge(project_id, evidence, behavior, times)
        self._evidence = evidence
        self._problems = ProblemJudge(evidence, behavior, documents)
        self._successes = SuccessJudge(evidence, behavior, documents)
        #: Credentials that no later response may contain, with the sentences that forbid it.
        self.secrets: dict[str, str] = {}

    def judge(self, response: ServerResponse) -> None:
        """Judge a response to a call. Raises KeyError if `call_id` does not name a call."""
        keys = CALL_CLAUSES[response.call_id]
        self._judge_secrets(response)
        self._judge_members(response)
        if response.ok:
            self._successes.judge(ALL_CALLS[response.call_id], keys, response)
        elif 400 <= response.status < 600:
            self._problems.judge(ALL_CALLS[response.call_id], keys.call, response)
        else:
            location = (response.header("Location") or "").partition("?")[0]
            fault = f"it redirects to {location}" if location else ""
            self._evidence.differs(keys.call, response, fault)

    def _judge_secrets(self, response: ServerResponse) -> None:
        text = response.body.decode(errors="replace") + str(response.headers)
        for secret, key in self.secrets.items():
            if secret in text:
                self._evidence.differs(
                    key, response, "it shows a credential that was sent or shown before"
                )

    def _judge_members(self, response: ServerResponse) -> None:
        """Judge whether a member of the document looks like a credential or an identifier."""
        provider_key = None
        if response.ok:
            provider_key = _PROVIDER_KEYS.get(ALL_CALLS[response.call_id].response)
        for name, value in members_of(response.document):
            fault = credential_complaint(name, value)
            if fault is not None:
                self._evidence.differs(provider_key or "ticket.once", response, fault)
                continue
            fault = identifier_complaint(name, value, shows_none=provider_key is not None)
            if fault is not None:
                self._evidence.differs(provider_key or "compute.no-identifiers", response, fault)
