"""`conduct` reports the behavior of clients as text, JSON and JUnit XML, and by its exit code."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator_cli.commands.conduct import ask_conduct
from hosting_emulator_cli.connection import connected
from hosting_emulator_cli.main import Failure
from tests.support.control_samples import conduct_report
from tests.support.data_directories import write_address
from tests.support.fake_control import FakeControl, FakeResponse, refusal
from tests.support.product_tables import conduct_rules

PATH = "GET /worlds/default/conduct"

RULES = conduct_rules()


def finding(rule: str, requests: list[int], **fields: Any) -> dict[str, Any]:
    row = RULES[rule]
    copied = ("severity", "title", "because", "place", "matters", "instead")
    return {
        "rule": rule,
        **{name: row[name] for name in copied},
        "message": "create_user_api_key <did> it.",
        "requests": requests,
        "more_requests": 0,
        "at": "2030-01-31T09:30:00.000Z",
        **fields,
    }


WARNING = finding("polled-too-early", [3, 4], more_requests=7)
ERROR = finding("new-key-after-uncertainty", [1, 2])
NOTE = finding("operation-not-followed", [9])


@pytest.fixture
def rules(control: FakeControl) -> None:
    control.on("GET /contract/conduct-rules", {"items": list(RULES.values())})


def test_conduct_prints_the_most_severe_finding_first(ask, control: FakeControl):
    control.on(PATH, conduct_report(WARNING, ERROR, remarks=["The clock skips."]))

    result = ask("conduct")

    assert result.exit_code == 1
    assert result.stdout.startswith(
        "conduct: 2 findings (1 error, 1 warning) in 12 requests\n"
        "\n"
        "error: Retried with a new Idempotency-Key while the result of the first attempt was unknown "
        "[new-key-after-uncertainty]\n"
        "    #1, #2: create_user_api_key <did> it.\n"
        "    why      The first attempt may have succeeded"
    )
    assert "    #3, #4 and 7 more: create_user_api_key <did> it.\n" in result.stdout
    assert "    instead  Before the next poll, wait for the number of seconds in" in result.stdout
    assert result.stdout.endswith("\n\nThe clock skips.\n")
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_conduct_prints_ten_findings_of_a_rule_and_counts_the_others(ask, control: FakeControl):
    findings = [finding("operation-not-followed", [n]) for n in range(1, 12)]
    control.on(PATH, conduct_report(*findings))

    lines = ask("conduct").stdout.splitlines()

    assert "    #10: create_user_api_key <did> it." in lines
    assert "    … and 1 more" in lines
    assert not [line for line in lines if "#11:" in line]


def test_conduct_prints_remarks_in_lines_of_at_most_100_characters(ask, control: FakeControl):
    start = "x" * 49
    longest = f"{start} {'y' * 50}"
    control.on(PATH, conduct_report(NOTE, remarks=[longest, f"{longest}y"]))

    lines = ask("conduct").stdout.splitlines()

    assert lines[-3:] == [longest, start, "y" * 51]


def test_conduct_exits_0_without_findings(ask, control: FakeControl):
    control.on(PATH, conduct_report())

    result = ask("conduct")

    assert (result.exit_code, result.stdout) == (0, "conduct: no findings in 12 requests\n")


@pytest.mark.parametrize(
    ("finding", "severity", "code"),
    [
        (NOTE, "warning", 0),
        (NOTE, "note", 1),
        (WARNING, "warning", 1),
        (WARNING, "error", 0),
        (ERROR, "error", 1),
    ],
)
def test_the_exit_code_of_conduct_depends_on_the_severity(
    ask, control: FakeControl, finding: dict[str, Any], severity: str, code: int
):
    control.on(PATH, conduct_report(finding))

    assert ask("conduct", "--severity", severity).exit_code == code


def test_conduct_prints_the_report_of_the_control_api_as_json(ask, control: FakeControl):
    control.on(PATH, conduct_report(NOTE))

    assert json.loads(ask("conduct", "--json").stdout) == conduct_report(NOTE)


def test_conduct_passes_off_and_final_on(ask, control: FakeControl):
    rules = "polled-too-early%2Cmade-up-cursor%2Cunread-field"
    request_line = f"GET /worlds/w/conduct?skip_rules={rules}&final=true"
    control.on(request_line, conduct_report())
    off = ("--skip-rule", "polled-too-early,made-up-cursor", "--skip-rule", "unread-field")

    assert ask("conduct", "--final", *off, "--world", "w").exit_code == 0


@pytest.mark.usefixtures("rules")
def test_junit_of_conduct_has_a_case_for_each_rule(ask, control: FakeControl, tmp_path: Path):
    control.on(PATH, conduct_report(WARNING, NOTE, ERROR, skipped_rules=["made-up-cursor"]))
    path = tmp_path / "conduct.xml"

    assert ask("conduct", "--junit", str(path)).exit_code == 1

    root = Xml.parse(path).getroot()
    cases = {str(case.get("name")).partition(":")[0]: case for case in root.iter("testcase")}
    assert list(cases) == [rule for rule in RULES if rule != "made-up-cursor"]
    failed = [rule for rule, case in cases.items() if case.find("failure") is not None]
    assert failed == ["new-key-after-uncertainty", "polled-too-early"]
    assert (root.get("tests"), root.get("failures")) == (str(len(cases)), "2")
    text = cases["polled-too-early"].findtext("failure") or ""
    rule = RULES["polled-too-early"]
    did, why, instead = text.splitlines()
    assert did == "#3, #4 and 7 more: create_user_api_key <did> it."
    assert why.startswith(f"Why: {rule['matters']} ")
    assert instead == f"Instead: {rule['instead']}"
    assert "#9" in (cases["operation-not-followed"].findtext("system-out") or "")


def test_a_rule_that_does_not_exist_is_refused_with_the_command_that_lists_them(
    ask, control: FakeControl
):
    detail = "there is no rule 'nope'; /_emulator/contract/conduct-rules lists the rules"
    control.on(f"{PATH}?skip_rules=nope", refusal(400, detail))

    result = ask("conduct", "--skip-rule", "nope")

    assert result.exit_code == 2
    assert (
        "there is no rule 'nope'; `hosting-emulator conduct rules` lists the rules" in result.stderr
    )


@pytest.mark.usefixtures("rules")
def test_conduct_exits_2_for_a_world_without_requests(ask, control: FakeControl, tmp_path: Path):
    control.on(PATH, conduct_report(judged=0))
    junit = tmp_path / "conduct.xml"

    result = ask("conduct", "--junit", str(junit))

    assert result.exit_code == 2
    assert "no request" in result.stderr
    assert Xml.parse(junit).getroot().find(".//error") is not None


def test_the_help_of_conduct_explains_the_exit_code_1(run):
    text = " ".join(run("conduct", "--help").stdout.split())

    assert "a finding of the severity in --severity (by default, warning) or worse" in text


@pytest.mark.usefixtures("rules")
def test_each_finding_of_a_rule_quotes_its_own_sentence(ask, control: FakeControl):
    body = finding("unread-field", [1], because="No request body.", place="the contract, 4")
    control.on(PATH, conduct_report(body, finding("unread-field", [2])))

    text = " ".join(ask("conduct").stdout.split())

    assert "“No request body.” (the contract, 4) “Query: a continuation cursor" in text


def test_conduct_rules_needs_no_emulator(run):
    # A state folder whose emulator does not run is an error of commands that need the emulator.
    write_address(Path(".hosting-emulator"), "http://127.0.0.1:1")

    listed = run("conduct", "rules").stdout
    rules = json.loads(run("conduct", "rules", "--json").stdout)

    assert [line.split()[0] for line in listed.splitlines()[1:]] == list(RULES)
    assert rules == list(RULES.values())


# --- Around a command -----------------------------------------------------------------------------


def test_exec_refuses_a_rule_that_does_not_exist_before_the_command_begins(control: FakeControl):
    with connected(control.url, None) as client, pytest.raises(Failure, match="--skip-rule"):
        ask_conduct(client.world(), skip_rules=["no-such-rule"], option="--skip-rule: ")


def test_conduct_clear_discards_the_findings(ask, control: FakeControl):
    control.on("DELETE /worlds/default/conduct", FakeResponse(status=204))

    result = ask("conduct", "clear")

    assert (result.exit_code, result.output) == (0, "")
    assert [(request.method, request.path) for request in control.requests] == [
        ("DELETE", "/worlds/default/conduct")
    ]


def test_conduct_gives_no_verdict_if_a_request_was_not_checked(ask, control: FakeControl):
    control.on(PATH, conduct_report(complete=False))

    result = ask("conduct")

    assert result.exit_code == 2
    assert result.stderr == (
        "No verdict: not every request was checked. `conduct clear` restarts the checks.\n"
    )
