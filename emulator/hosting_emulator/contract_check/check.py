"""One check: first contact, the stories in their order, and the report."""

from __future__ import annotations

import secrets
import ssl
from dataclasses import replace

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract_check import stories as stories
from hosting_emulator.contract_check.asking import Asker, Gone
from hosting_emulator.contract_check.judging import Judge
from hosting_emulator.contract_check.ledger import Ledger
from hosting_emulator.contract_check.observing import Observed
from hosting_emulator.contract_check.options import (
    TOKENS,
    TOLD,
    CheckOptions,
    CheckRefused,
    check_address,
)
from hosting_emulator.contract_check.report import Report, report
from hosting_emulator.contract_check.scene import STORIES, Scene, Story
from hosting_emulator.contract_check.wire import Answer, Line, Unreachable

_READS = ("get_dns_authorization", "list_deployments")


def check(options: CheckOptions) -> Report:
    """Hold a server against the contract.

    Raises CheckRefused, one line, for options that cannot be used, a server that cannot be reached,
    and a token or project that it does not know. Whatever else the server does is in the report.
    """
    options = replace(options, run_id=options.run_id or secrets.token_hex(4))
    _check_options(options)
    ledger, observed = Ledger(), Observed(_world_of(options.root))
    try:
        line = Line(options.root, timeout_s=options.timeout_s, ca_file=options.ca_file)
    except (OSError, ssl.SSLError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise CheckRefused(f"cannot use {options.ca_file} as authorities: {reason}") from error
    ask = Asker(options, Judge(ledger, observed), line)
    scene = Scene(ask, ledger, observed, options, api_key=options.api_key)
    try:
        _first_contact(scene)
        _tell_all(scene)
    finally:
        line.close()
    return report(scene)


def _check_options(options: CheckOptions) -> None:
    check_address(options.base_url, "--base-url")
    if options.origin_url is not None:
        check_address(options.origin_url, "--origin-url")
    for name in ("project_id", "organization_id"):
        found = getattr(options, name)
        if not is_ulid(found):
            option = name.removesuffix("_id")
            raise CheckRefused(
                f"--{option}: {found!r} is no Ulid, 26 characters of 0-9 and A-Z without I, L, O, U"
            )
    for name in TOKENS:
        value = getattr(options, name)
        if value is not None and not (value.isascii() and value.isprintable() and value.strip()):
            option = name.replace("_", "-")
            raise CheckRefused(f"--{option} cannot be sent: it is not plain text of one line")
    path = options.assumed.get("operation_path")
    if path is not None and not (path.startswith("/v1/") and "{operation_id}" in path):
        raise CheckRefused(
            f"operation_path {path!r} is no path below /v1 that holds {{operation_id}}"
        )
    for name in options.assumed:
        if name not in TOLD:
            raise CheckRefused(
                f"the check need not be told of {name!r}; it takes {', '.join(TOLD)}"
            )
    try:
        Assumptions().changed(options.assumed)
    except ValueError as error:
        raise CheckRefused(str(error)) from error


def _world_of(root: str) -> str:
    """The world that a base URL of this emulator names; empty for any other."""
    _, worlds, name = root.rpartition("/worlds/")
    return name if worlds and "/" not in name else ""


def _first_contact(scene: Scene) -> None:
    """Refuse to go on where nothing could be learnt. Raises CheckRefused."""
    where = scene.options.base_url
    answers: list[Answer] = []
    try:
        for call_id in _READS:
            answer = scene.ask.call(call_id, judged=False)
            if answer.status == 401:
                raise CheckRefused(f"{where} refuses the token of --token (401)")
            if answer.status == 0:
                return  # the stories will say so
            answers.append(answer)
    except Unreachable as error:
        raise CheckRefused(f"{where} cannot be reached: {error}") from error
    if not any(_is_json(answer) for answer in answers):
        came = answers[0].media_type or "no media type"
        raise CheckRefused(
            f"No answer there is JSON: is this the API? ({where}: {answers[0].status}, {came})"
        )
    if all(answer.code == "resource_not_found" for answer in answers):
        project = scene.options.project_id
        raise CheckRefused(
            f"{where} knows no project {project} for this token (404): is --project right?"
        )


def _is_json(answer: Answer) -> bool:
    return answer.document is not None or answer.body.strip() == b"null"


def _tell_all(scene: Scene) -> None:
    for number, story in enumerate(STORIES):
        lacking = story.lacking(scene.options)
        if lacking is not None:
            scene.ledger.skips(story.judges, lacking)
            continue
        try:
            story.tell(scene)
        except (Gone, Unreachable) as error:
            _give_up(scene, STORIES[number:], str(error))
            return


def _give_up(scene: Scene, left: list[Story], why: str) -> None:
    scene.observed.note(f"the check was given up: {why}")
    for story in left:
        scene.ledger.skips(story.judges, why)
    scene.ledger.differs("paths", f"while asking: {why}")
