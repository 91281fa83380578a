"""One check of a server: first contact, the checks in their order, and what they found as a report."""

from __future__ import annotations

import secrets
import ssl
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypedDict, get_args
from urllib.parse import urlsplit

from msgspec import to_builtins

from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.assumption_table import needed_to_observe, why_unseen
from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.json_values import each_text
from hosting_emulator_lab.contract_check import changes as changes
from hosting_emulator_lab.contract_check.judge import CLAUSES, Outcome
from hosting_emulator_lab.contract_check.run import (
    CHECKS,
    TOKENS,
    TOLD,
    CheckOptions,
    CheckRefused,
    Run,
)
from hosting_emulator_lab.contract_check.wire import Unreachable


class SentenceReport(TypedDict):
    """A sentence, its verdict, and the answers that show it or the reason why none does."""

    key: str
    section: str
    sentence: str
    verdict: str
    seen: list[str]


class Report(TypedDict):
    """One check. `assumptions` are only those observed otherwise than our defaults.

    `unchecked` says why the check as a whole shows nothing; None: it does show something.

    Each of `observed` has the `name` of an assumption, our `default`, and `observed` or `why` it was not.
    """

    base_url: str
    project_id: str
    organization_id: str
    allowed: list[str]
    requests: int
    summary: dict[str, int]
    sentences: list[SentenceReport]
    assumptions: dict[str, Any]
    observed: list[dict[str, Any]]
    words: dict[str, list[str]]
    created: list[str]
    notes: list[str]
    unchecked: str | None


def check(options: CheckOptions) -> Report:
    """Hold a server against the contract.

    Raises CheckRefused, one line, for options that cannot be used, a server that cannot be reached,
    and a token or project that it does not know. Whatever else the server does is in the report.
    """
    options = replace(options, run_id=options.run_id or secrets.token_hex(4))
    _check_options(options)
    # It may be written with /v1, or without.
    root = options.base_url.rstrip("/").removesuffix("/v1")
    try:
        server = options.connect(root, timeout_s=options.timeout_s, ca_file=options.ca_file)
    except (OSError, ssl.SSLError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise CheckRefused(f"cannot use {options.ca_file} as authorities: {reason}") from error
    # The world that a base URL of this emulator names; empty for any other.
    _, worlds, name = root.rpartition("/worlds/")
    run = Run(options, server, name if worlds and "/" not in name else "")
    first = _first_contact(run)
    for number, one in enumerate(CHECKS):
        if (lacking := one.lacking(run.options)) is not None:
            run.skips(one.judges, lacking)
            continue
        try:
            one.make(run)
        except Unreachable as error:
            run.note(f"the check was stopped: {error}")
            for left in CHECKS[number:]:
                run.skips(left.judges, error)
            run.differs("paths", "while asking", str(error))
            break
    unchecked = None
    if not run.working:
        unchecked = f"No request succeeded ({first}): nothing could be checked."
    return _report(run, unchecked)


def _is_address(url: str) -> bool:
    """Whether a text is an HTTP address, with no more than a path behind it."""
    with suppress(ValueError):
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        more = parts.query or parts.fragment or parts.username or " " in url
        return known and not more and url.isascii() and url.isprintable()
    return False


def _check_options(options: CheckOptions) -> None:
    for option in ("base_url", "origin_url"):
        url = getattr(options, option)
        if url is not None and not _is_address(url):
            wrong = f"{url!r} is not an address: write it like https://api.example"
            raise CheckRefused(f"--{option.replace('_', '-')}: {wrong}")
    for option in ("project", "organization"):
        if not is_ulid(found := getattr(options, f"{option}_id")):
            wrong = "is not a Ulid, 26 characters of 0-9 and A-Z without I, L, O, U"
            raise CheckRefused(f"--{option}: {found!r} {wrong}")
    for name in TOKENS:
        value = getattr(options, name)
        if value is not None and not (value.isascii() and value.isprintable() and value.strip()):
            option = name.replace("_", "-")
            raise CheckRefused(f"--{option} cannot be sent: it is not plain text of one line")
    path = options.assumed.get("operation_path")
    if path is not None and not (path.startswith("/v1/") and "{operation_id}" in path):
        raise CheckRefused(f"operation_path {path!r} is not a path below /v1 with {{operation_id}}")
    for name in options.assumed:
        if name not in TOLD:
            raise CheckRefused(f"the check does not take {name!r}; it takes {', '.join(TOLD)}")
    try:
        Assumptions().changed(options.assumed)
    except ValueError as error:
        raise CheckRefused(str(error)) from error


def _first_contact(run: Run) -> str:
    """Return the first response in words. Raises CheckRefused where nothing could be learnt."""
    where, answers = run.options.base_url, []
    # Of a project, and of whose role the contract says nothing.
    specs = [s for s in CALLS.values() if s.method == "GET" and isinstance(s.role, AssumedRole)]
    try:
        for spec in specs:
            answer = run.call(spec.call_id, judged=False)
            if answer.status == 401:
                raise CheckRefused(f"{where} refuses the token of --token (401)")
            if answer.status == 0:
                return str(answer)  # the checks will say so
            answers.append(answer)
    except Unreachable as error:
        raise CheckRefused(f"{where} cannot be reached: {error}") from error
    if all(answer.document is None and answer.body.strip() != b"null" for answer in answers):
        came = f"{where}: {answers[0].status}, {answers[0].media_type or 'no media type'}"
        raise CheckRefused(f"No response there is JSON: is this the API? ({came})")
    if all(answer.code == "resource_not_found" for answer in answers):
        unknown = f"{where} finds no project {run.options.project_id} with this token (404)"
        raise CheckRefused(f"{unknown}: is --project right?")
    return str(answers[0])


def _report(run: Run, unchecked: str | None) -> Report:
    """Write the report: no token, key or ticket is in it, wherever a server put one."""
    options, settled = run.options, run.settled()
    sentences: list[SentenceReport] = []
    for key, section, text, unseen in CLAUSES.values():
        outcome, seen = run.verdict(key, unseen)
        sentences.append(
            {"key": key, "section": section, "sentence": text, "verdict": outcome, "seen": seen}
        )
    verdicts = [sentence["verdict"] for sentence in sentences]
    assumptions: list[dict[str, Any]] = []
    for name in DEFAULTS.__struct_fields__:
        needed = needed_to_observe(name)
        why = why_unseen(name) or (f"it needs {needed}" if needed else "")
        why = why or "no permitted request showed it"
        one = {"observed": settled[name]} if name in settled else {"why": why}
        assumptions.append({"name": name, "default": to_builtins(getattr(DEFAULTS, name)), **one})
    report: Report = {
        "base_url": options.base_url,
        "project_id": options.project_id,
        "organization_id": options.organization_id,
        "allowed": sorted(options.allow),
        "requests": run.requests,
        "summary": {outcome: verdicts.count(outcome) for outcome in get_args(Outcome)},
        "sentences": sentences,
        "assumptions": {n: v for n, v in settled.items() if v != getattr(DEFAULTS, n)},
        "observed": assumptions,
        "words": {name: sorted(words) for name, words in run.words.items()},
        "created": run.created,
        "notes": run.notes,
        "unchecked": unchecked,
    }

    def told(text: str) -> str:
        for secret in run.secrets:
            text = text.replace(secret, "…")
        return text

    for part in ("sentences", "assumptions", "observed", "words", "notes"):
        report[part] = each_text(report[part], told)
    return report
