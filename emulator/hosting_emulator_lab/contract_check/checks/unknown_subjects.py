"""Requests projects and an organization that do not exist."""

from __future__ import annotations

from hosting_emulator.contract.calls import CALLS
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import UNUSED_ID, CheckRun

_MALFORMED_ID_REFUSALS = {404: "not_found", 400: "invalid_request"}


@declare_check()
def request_unknown_subjects(run: CheckRun) -> None:
    """Make each call about a project or an organization that does not exist."""
    for call_id in run.callable_ids():
        response = run.call(call_id, f"no such {CALLS[call_id].subject}", subject=UNUSED_ID)
        run.expect.not_found(response)
        _record_docs_url(run, response)
    malformed = run.read("an id that is not a Ulid", subject="not-a-ulid")
    is_refused = run.expect.refusal("ulid", malformed)
    if is_refused and malformed.status in _MALFORMED_ID_REFUSALS:
        run.behavior.record("malformed_project_id", _MALFORMED_ID_REFUSALS[malformed.status])


def _record_docs_url(run: CheckRun, response: ServerResponse) -> None:
    link = response.text("type")
    if link is None or response.code != "resource_not_found":
        return
    docs_url = link.removesuffix("/errors/resource-not-found")
    origin = "/".join(run.options.base_url.split("/", 3)[:3])
    if docs_url == f"{origin}/_emulator/docs":
        docs_url = "own"
    run.behavior.record("docs_url", docs_url)
