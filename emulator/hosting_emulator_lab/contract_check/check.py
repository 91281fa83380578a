"""Checks a server: makes the first contact, and then all checks in their order."""

from __future__ import annotations

import secrets
import ssl
from dataclasses import replace

from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.calls import CALLS
from hosting_emulator_lab.contract_check.address import Address, Unreachable
from hosting_emulator_lab.contract_check.checks import CHECKS
from hosting_emulator_lab.contract_check.options import (
    CheckOptions,
    CheckRefused,
    validate_options,
)
from hosting_emulator_lab.contract_check.report import Report, report_of
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun


def check(options: CheckOptions) -> Report:
    """Check a server against the contract.

    Raises CheckRefused for options that cannot be used, for a server that cannot be reached, and
    for a token or project that the server does not know. The report contains everything else that
    the server does.
    """
    options = replace(options, run_id=options.run_id or secrets.token_hex(4))
    validate_options(options)
    root = options.base_url.rstrip("/").removesuffix("/v1")
    run = CheckRun(options, _connect(options, root), _world_in(root))
    first_response = _make_first_contact(run)
    for position, declared_check in enumerate(CHECKS):
        missing_option = declared_check.missing_option(run.options)
        if missing_option is not None:
            run.evidence.skips(declared_check.judges, missing_option)
            continue
        try:
            declared_check.make(run)
        except Unreachable as error:
            _note_stop(run, error, position)
            break
    unchecked = None
    if not run.evidence.working_calls:
        unchecked = f"No request succeeded ({first_response}): nothing could be checked."
    return report_of(run, unchecked)


def _connect(options: CheckOptions, root: str) -> Address:
    try:
        return options.connect(root, timeout_s=options.timeout_s, ca_file=options.ca_file)
    except ssl.SSLError as error:
        fault = "contains no PEM certificate that can be read"
        raise CheckRefused(f"--ca-file: {options.ca_file} {fault}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CheckRefused(f"--ca-file: cannot read {options.ca_file}: {reason}") from error


def _world_in(root: str) -> str:
    """Return the name of the emulator's world in a base URL, or an empty string for any other URL."""
    _, separator, name = root.rpartition("/worlds/")
    if separator and "/" not in name:
        return name
    return ""


def _note_stop(run: CheckRun, error: Unreachable, position: int) -> None:
    """Record that the server stopped responding during the check with this position in CHECKS."""
    run.behavior.note(f"the check was stopped: {error}")
    for remaining_check in CHECKS[position:]:
        run.evidence.skips(remaining_check.judges, str(error))
    run.evidence.differs("paths", "while asking", str(error))


def _make_first_contact(run: CheckRun) -> ServerResponse:
    """Make the plain reads, and return the first response or the first failure.

    Raises CheckRefused if the check would show nothing.
    """
    base_url = run.options.base_url
    responses: list[ServerResponse] = []
    # Use the reads of a project for which the contract does not say which role they need.
    call_ids = [
        spec.call_id
        for spec in CALLS.values()
        if spec.method == "GET" and isinstance(spec.role, AssumedRole)
    ]
    try:
        for call_id in call_ids:
            response = run.call(call_id, judged=False)
            if response.status == 401:
                raise CheckRefused(f"{base_url} refuses the token of --token (401)")
            if response.status == 0:
                return response  # the checks will report this response
            responses.append(response)
    except Unreachable as error:
        raise CheckRefused(f"{base_url} cannot be reached: {error}") from error
    if not any(_is_json(response) for response in responses):
        first = responses[0]
        received = f"{base_url}: {first.status}, {first.media_type or 'no media type'}"
        raise CheckRefused(f"No response there is JSON: is this the API? ({received})")
    if all(response.code == "resource_not_found" for response in responses):
        project_id = run.options.project_id
        raise CheckRefused(
            f"{base_url} finds no project {project_id} with this token (404): is --project right?"
        )
    return responses[0]


def _is_json(response: ServerResponse) -> bool:
    return response.document is not None or response.body.strip() == b"null"
