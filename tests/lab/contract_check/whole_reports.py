"""Golden files about the contract check: the requests that it sends, and its reports about many servers.

The files are in the folder `reports`. A file has one section for each server or set of options, and
the first line of a section is its name. `make record` renews the files.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from hosting_emulator_lab.contract_check import ALLOWED, CheckOptions, Report, check
from hosting_emulator_lab.contract_check.address import Address
from hosting_emulator_lab.contract_check.options import TOKENS
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import UNUSED_ID
from tests.lab.contract_check.deviations import DEVIATIONS, Deviation
from tests.lab.contract_check.hidden import HIDDEN, HiddenDeviation
from tests.lab.contract_check.legal import LEGAL, Legal
from tests.lab.contract_check.legal_refusals import LEGAL_REFUSALS
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Tampering
from tests.support.recorded_texts import HEADER

FOLDER = Path(__file__).with_name("reports")
#: Headers that are listed only if they have another value.
_USUAL_HEADERS = {
    "Accept": "application/json, application/problem+json",
    "Authorization": "Bearer <token>",
    "Content-Type": "application/json",
}
_LONG_RUN = re.compile(r"(.)\1{30,}")
_ULID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_TICKET_OR_KEY = re.compile(r"phk_[\w-]{43}|(?<=ticket=)[\w-]{43}")


# --- The requests of a check ----------------------------------------------------------------------


class _Names:
    """Replaces values that a reader cannot tell apart by names: ids, tokens and tickets."""

    def __init__(self, options: CheckOptions) -> None:
        self._names = {
            options.project_id: "{project_id}",
            options.organization_id: "{organization_id}",
            UNUSED_ID: "<unused id>",
        }
        tokens = {option: getattr(options, option) for option in TOKENS}
        tokens = {option: token for option, token in tokens.items() if token is not None}
        for option, token in tokens.items():
            self._names[b64encode(f"user:{token}".encode()).decode()] = f"base64(user:<{option}>)"
            self._names[token] = f"<{option}>"
        # The check sends changed copies of its own token.
        header, payload, signature = options.token.split(".")
        self._names[header] = "<header>"
        self._names[payload] = "<payload>"
        self._names[signature[1:]] = "<signature without its first letter>"
        self._count = 0

    def replace(self, text: str) -> str:
        """Return a text with names. A long run of one letter becomes the letter and its number."""
        text = _LONG_RUN.sub(lambda run: f"{run[1]}…({len(run[0])} times)", text)
        for pattern in (_ULID, _TICKET_OR_KEY):
            for value in pattern.findall(text):
                if value not in self._names:
                    self._count += 1
                    self._names[value] = f"<{self._count}>"
        for value, name in self._names.items():
            text = text.replace(value, name)
        return text


class _Step(NamedTuple):
    """Something that a check did: a request to a target, or a wait without a target."""

    target: str
    text: str


class _ListedAddress(Address):
    """Passes requests on to another address, and adds each request to a list of steps."""

    def __init__(self, address: Address, url: str, steps: list[_Step], names: _Names) -> None:
        self._address = address
        self._url = url
        self._steps = steps
        self._names = names

    def exchange(
        self, title: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> ServerResponse:
        response = self._address.exchange(title, method, path, headers, body)
        target = self._names.replace(f"{method} {path}")
        parts = [self._names.replace(title).removeprefix(target).strip() or "(no purpose)"]
        for name in {**_USUAL_HEADERS, **headers}:
            value = self._names.replace(headers.get(name, "absent"))
            if name == "Idempotency-Key" and len(value) == 1:
                value = "<a random letter>"
            if value != _USUAL_HEADERS.get(name) and (body is not None or name != "Content-Type"):
                parts.append(f"{name}: {value}")
        if body is not None:
            parts.append(f"body {self._names.replace(json.dumps(json_or_text(body)))}")
        self._steps.append(_Step(target, f"{', '.join(parts)} → {response.status}"))
        return response


def json_or_text(body: bytes) -> Any:
    """Return a body as JSON or, if it is not JSON, as a text."""
    try:
        return json.loads(body)
    except ValueError:
        return body.decode()


def emulator_text() -> str:
    """Return what a check does to the emulator, with everything that its report says."""
    served = TamperedWorld()
    steps: list[_Step] = []
    names = _Names(served.options())

    def connect(url: str, **options: Any) -> Address:
        steps.append(_Step("", f"connect to {url}, {json.dumps(options)}"))
        return _ListedAddress(served.connect(url, **options), url, steps, names)

    def pause(seconds: float) -> None:
        steps.append(_Step("", f"wait {seconds:g} s"))
        served.pause(seconds)

    report = served.checked(connect=connect, pause=pause)
    lines = [*_step_lines(steps), "", *_report_lines(report)]
    return names.replace("\n".join(lines))


def _step_lines(steps: Iterable[_Step]) -> Iterator[str]:
    for target, group in groupby(steps, lambda step: step.target):
        if target:
            yield target
        for step in group:
            yield f"    {step.text}" if target else step.text


# --- Reports --------------------------------------------------------------------------------------


def _report_lines(report: Report) -> Iterator[str]:
    """Yield everything that a report says, except for the texts of the sentences."""
    for name in ("base_url", "project_id", "organization_id", "allowed", "requests", "summary"):
        yield f"{name}: {_json(report[name])}"
    for name in ("assumptions", "words", "notes", "causes", "unchecked"):
        yield f"{name}: {_json(report[name])}"  # type: ignore[literal-required]
    yield from report["created"]
    yield ""
    for sentence in report["sentences"]:
        yield f"{sentence['key']} {sentence['verdict']}: {'; '.join(sentence['seen'])}"
    yield ""
    for row in report["observed"]:
        value = _json(row["observed"]) if "observed" in row else row["why"]
        yield f"{row['name']}: {value}"


def count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@cache
def usual_report() -> Report:
    """Return the report about the emulator with all options."""
    return TamperedWorld().checked()


def report_text(report: Report) -> str:
    """Return what a report says, but the usual report does not say."""
    text = "\n".join((*_cause_lines(report), *_other_lines(report)))
    return _ULID.sub(lambda match: match[0] if match[0] == UNUSED_ID else "<id>", text)


def _cause_lines(report: Report) -> Iterator[str]:
    for cause in report["causes"]:
        yield cause["cause"]
        calls = ", ".join(cause["calls"]) or "no call"
        yield f"    breaks {', '.join(cause['sentences'])}"
        yield f"    in {count_text(cause['responses'], 'response')} to {calls}"
        for example in cause["examples"]:
            yield f"    {example}"


def _other_lines(report: Report) -> Iterator[str]:
    """Yield notes, unusual values, and the sentences with another verdict than usual, by reason."""
    for note in report["notes"]:
        yield f"note: {note}"
    for name, value in report["assumptions"].items():
        yield f"observed {name}: {_json(value)}"
    if report["unchecked"] is not None:
        yield f"unchecked: {report['unchecked']}"
    keys: dict[str, list[str]] = {}
    for sentence, usual in zip(report["sentences"], usual_report()["sentences"], strict=True):
        if sentence["verdict"] not in ("differs", usual["verdict"]):
            reason = f"{sentence['verdict']}: {'; '.join(sentence['seen'])}"
            keys.setdefault(reason, []).append(sentence["key"])
    for reason, keys_with_reason in keys.items():
        yield f"{', '.join(keys_with_reason)} {reason}"


# --- The files ------------------------------------------------------------------------------------


def deviation_report(deviation: Deviation) -> Report:
    """Check a server with a deviation."""
    return _report_about(deviation.make, ALLOWED)


def hidden_report(hidden: HiddenDeviation) -> Report:
    """Check a server with a hidden deviation."""
    return _report_about(hidden.make, hidden.allow)


def _report_about(make: Callable[[CheckOptions], Tampering], allow: tuple[str, ...]) -> Report:
    served = TamperedWorld()
    options = served.options(allow=frozenset(allow))
    served.tampering = make(options)
    return check(options)


def legal_report(legal: Legal) -> Report:
    """Check an unusual server within the contract."""
    return TamperedWorld(legal.make()).checked()


def legal_refusal_report(name: str) -> Report:
    """Check a server of LEGAL_REFUSALS."""
    make, _ = LEGAL_REFUSALS[name]
    return TamperedWorld(make()).checked()


#: Checks of the emulator with other options than usual.
OTHER_OPTIONS: dict[str, dict[str, Any]] = {
    "no permission": {"allow": frozenset()},
    **{f"only the permission {word}": {"allow": frozenset([word])} for word in ALLOWED},
    "no token except the owner's": {
        "maintainer_token": None,
        "reader_token": None,
        "outsider_token": None,
        "no_organization_token": None,
    },
    "a user API key, and no permission": {"allow": frozenset(), "api_key": "phk_not-issued"},
    "no patience": {"patience_s": 0.0},
    "less patience than a ticket's lifetime": {"patience_s": 120.0},
    "other names of parameters": {
        "assumed": {
            "cursor_parameter": "from",
            "limit_parameter": "n",
            "environment_parameter": "where",
            "operation_path": "/v1/jobs/{operation_id}",
        }
    },
}


def options_report(name: str) -> Report:
    """Check the emulator with options of OTHER_OPTIONS."""
    return TamperedWorld().checked(**OTHER_OPTIONS[name])


def new_sections() -> Iterator[tuple[str, str, str]]:
    """Yield each section: its file, its name, and its text."""
    yield "emulator.txt", "the emulator", emulator_text()
    for name in OTHER_OPTIONS:
        yield "options.txt", name, report_text(options_report(name))
    for deviation in DEVIATIONS:
        yield "deviations.txt", deviation.name, report_text(deviation_report(deviation))
    for hidden in HIDDEN:
        yield "hidden_deviations.txt", hidden.name, report_text(hidden_report(hidden))
    for legal in LEGAL:
        yield "legal_servers.txt", legal.name, report_text(legal_report(legal))
    for name in LEGAL_REFUSALS:
        yield "legal_refusals.txt", name, report_text(legal_refusal_report(name))


def recorded_text(file: str, name: str) -> str:
    """Return a section of a golden file, or a hint if there is no such section."""
    hint = "There is no such section. Run `make record` and read the diff."
    return recorded_sections(file).get(name, hint)


@cache
def recorded_sections(file: str) -> dict[str, str]:
    """Return the texts of a golden file by name."""
    text = (FOLDER / file).read_text("utf-8")
    sections = (section.partition("\n") for section in text.split("\n# ")[1:])
    return {name: content.strip("\n") for name, _, content in sections}


def write_sections() -> None:
    """Write all golden files anew."""
    texts: dict[str, list[str]] = {}
    for file, name, text in new_sections():
        texts.setdefault(file, [HEADER]).append(f"\n# {name}\n{text}\n")
    for file, parts in texts.items():
        (FOLDER / file).write_text("".join(parts), "utf-8")


if __name__ == "__main__":
    write_sections()
