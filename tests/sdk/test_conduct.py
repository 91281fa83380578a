"""The findings of a world about its client, as a list, as text and as an assertion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient
from hosting_emulator.sdk.conduct import WorldConduct
from tests.support.control_samples import conduct_report, world
from tests.support.fake_control import FakeControl

Read = Callable[[WorldConduct], object]


def finding(severity: str) -> dict[str, Any]:
    return {
        "rule": f"a-{severity}",
        "severity": severity,
        "title": f"The {severity}",
        "message": "It happened.",
        "requests": [3, 4],
        "more_requests": 1,
        "at": "2030-01-31T09:30:00.000Z",
        "because": "A quote.",
        "place": "Section 1",
        "matters": "A reason.",
        "instead": "A remedy.",
    }


ERROR = """\
error: The error [a-error]
    #3, #4 and 1 more: It happened.
    why      A reason. “A quote.” (Section 1)
    instead  A remedy.
"""
WARNING = ERROR.replace("error", "warning")
NOTE = ERROR.replace("error", "note")
ALL = f"""\
conduct: 3 findings (1 error, 1 warning, 1 note) in 12 requests

{ERROR}
{WARNING}
{NOTE}"""


@pytest.fixture
def conduct(control: FakeControl, client: ControlClient) -> WorldConduct:
    """The conduct of a client for which there are a note, an error and a warning."""
    control.on("GET /worlds/w", world("w"))
    report = conduct_report(*map(finding, ("note", "error", "warning")))
    for query in (
        "",
        "?final=true",
        "?skip_rules=a-error%2Ca-note",
        "?skip_rules=a-error&final=true",
        "?skip_rules=a-error%2Ca-note&final=true",
    ):
        control.on(f"GET /worlds/w/conduct{query}", report)
    return client.world("w").conduct


RULES = ["a-error", "a-note"]


@pytest.mark.parametrize(
    ("read", "query"),
    [
        (lambda it: it.read(), ""),
        (lambda it: it.read(final=True), "?final=true"),
        (lambda it: it.read(skip_rules=RULES), "?skip_rules=a-error%2Ca-note"),
        (lambda it: it.findings(), "?final=true"),
        (lambda it: it.findings(final=False), ""),
        (lambda it: it.findings(skip_rules=RULES), "?skip_rules=a-error%2Ca-note&final=true"),
        (lambda it: it.findings(skip_rules="a-error"), "?skip_rules=a-error&final=true"),
        (lambda it: it.report(), "?final=true"),
        (lambda it: it.report(final=False), ""),
        (lambda it: it.report(skip_rules=RULES), "?skip_rules=a-error%2Ca-note&final=true"),
    ],
)
def test_the_conduct_is_read_with_its_options(
    control: FakeControl, conduct: WorldConduct, read: Read, query: str
) -> None:
    read(conduct)

    assert control.requests[-1].path == f"/worlds/w/conduct{query}"


@pytest.mark.parametrize(
    ("options", "severities"),
    [
        ({}, ["note", "error", "warning"]),
        ({"at_least": "note"}, ["note", "error", "warning"]),
        ({"at_least": "warning"}, ["error", "warning"]),
        ({"at_least": "error"}, ["error"]),
    ],
)
def test_findings_are_selected_by_severity(
    conduct: WorldConduct, options: dict[str, Any], severities: list[str]
) -> None:
    assert [row.severity for row in conduct.findings(**options)] == severities


def test_the_report_lists_the_worst_rule_first(conduct: WorldConduct) -> None:
    assert conduct.report() == ALL.rstrip("\n")
    assert conduct.report(at_least="error") == (
        f"conduct: 1 finding (1 error) in 12 requests\n\n{ERROR}".rstrip("\n")
    )


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({}, "a-error, a-warning"),
        ({"at_least": "note"}, "a-error, a-warning, a-note"),
        ({"at_least": "error", "final": False}, "a-error"),
        ({"skip_rules": RULES}, "a-error, a-warning"),
    ],
)
def test_a_failed_assertion_names_the_rules_and_contains_the_report(
    conduct: WorldConduct, options: dict[str, Any], rules: str
) -> None:
    with pytest.raises(AssertionError) as failure:
        conduct.assert_clean(**options)

    report_options = {"at_least": "warning"} | options
    assert str(failure.value) == f"conduct: {rules}\n\n{conduct.report(**report_options)}"


def test_findings_below_the_severity_pass_an_assertion(
    control: FakeControl, conduct: WorldConduct
) -> None:
    control.on("GET /worlds/w/conduct?final=true", conduct_report(finding("note")))
    conduct.assert_clean()

    control.on("GET /worlds/w/conduct?final=true", conduct_report(finding("warning")))
    conduct.assert_clean(at_least="error")


def test_an_unknown_severity_is_refused(conduct: WorldConduct) -> None:
    unknown: Any = "bad"

    with pytest.raises(ValueError, match="at_least must be note, warning or error, not 'bad'"):
        conduct.findings(at_least=unknown)
