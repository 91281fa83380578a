"""A fault, an outcome or a timeline entry that never acted fails the story that contains it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner, Result
from msgspec import to_builtins

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.http_world import HttpWorld

HEAD = "name: small\ndescription: A small scenario.\n"
RunStory = Callable[[str], dict[str, Any]]
APPLY = """
    story:
      - call: apply_project_domains
        expect: {status: 202}
        save: {operation: id}
      - until: ${operation}
      - poll: ${operation}
        expect: {status: 200}
"""

#: Entries that never act in `APPLY`, by what keeps them from acting: the entry, and a word that the
#: reason must contain.
UNUSED = {
    "call": ("faults: [{abort: {code: forbidden}, call: list_deployments}]", "list_deployments"),
    "project": ("faults: [{abort: {code: forbidden}, project: blog}]", "project"),
    "organization": (
        "faults: [{abort: {code: forbidden}, organization: hobby}]",
        "organization",
    ),
    "principal": ("faults: [{abort: {code: forbidden}, principal: member}]", "principal"),
    "method": ("faults: [{abort: {code: forbidden}, method: POST}]", "method"),
    "path": ("faults: [{abort: {code: forbidden}, path: '/v1/projects/*/edge-dns'}]", "path"),
    "header": ("faults: [{abort: {code: forbidden}, header: {X-Color: green}}]", "X-Color"),
    "headers": (
        "faults: [{abort: {code: forbidden}, header: {X-Color: green, Host: other}}]",
        "X-Color: none, Host: ",
    ),
    "query": ("faults: [{abort: {code: forbidden}, query: {limit: '7'}}]", "limit"),
    "body": ("faults: [{abort: {code: forbidden}, body: {name: ci}}]", "name"),
    "credentials": ("faults: [{abort: {code: forbidden}, credentials: none}]", "credentials"),
    "while": ("faults: [{abort: {code: forbidden}, while: {plan: free}}]", "plan"),
    "impossible while": (
        "faults: [{abort: {code: forbidden}, while: {plan: paid, not: {plan: paid}}}]",
        "which `not` excludes",
    ),
    "from": ("faults: [{abort: {code: forbidden}, from: 10d}]", "in the future"),
    "skip_first": ("faults: [{abort: {code: forbidden}, skip_first: 9}]", "`skip_first` is 9"),
    "every": ("faults: [{abort: {code: forbidden}, every: 9}]", "`every` is 9"),
    "probability": ("faults: [{abort: {code: forbidden}, probability: 0.000001}]", "probability"),
    "rate limit": (
        "faults: [{rate_limit: {limit: 9, window: 1s}}]",
        "the request limit has not been reached",
    ),
    "after commit": (
        "faults: [{connection_reset: {}, call: list_deployments, after_commit: true}]",
        "list_deployments",
    ),
    "another fault first": (
        "faults: [{latency: {delay_ms: 5}}, {abort: {code: forbidden}, times: 1, every: 9}]",
        "`every` is 9",
    ),
    "outcome of another call": (
        "outcomes: [{cancel: {}, call: initialize_managed_source}]",
        "initialize_managed_source",
    ),
    "second outcome": ("outcomes: [{cancel: {}}, {fail: {}}]", "outcome-1 was applied"),
    "timeline at": (
        "timeline: [{at: 1d, intervene: {set_plan: {organization: acme, plan: free}}}]",
        "due",
    ),
    "timeline after calls": (
        "timeline: [{after_calls: 3, intervene: {set_plan: {organization: acme, plan: free}}}]",
        "successful call",
    ),
    "fault of the timeline": (
        "timeline: [{at: 1s, fault: {abort: {code: forbidden}, call: list_deployments}}]",
        "list_deployments",
    ),
    "intervention of the timeline": (
        "timeline: [{at: 1s, intervene: {leave_key_creation_uncertain: {}}}]",
        "create_user_api_key",
    ),
}


@pytest.fixture
def run_story(hosting_emulator: HostingEmulator) -> RunStory:
    """Run a story through the control API and return its report."""

    def run(rest: str) -> dict[str, Any]:
        text = HEAD + dedent(rest).lstrip("\n")
        return dict(to_builtins(hosting_emulator.control.run_scenario(text=text)))

    return run


def unused_of(report: dict[str, Any]) -> dict[str, str]:
    return {entry["id"]: entry["unused"] for entry in report["entries"] if entry["unused"]}


@pytest.mark.parametrize("name", UNUSED)
def test_an_entry_that_never_acted_fails_the_story_and_the_report_says_why(
    run_story: RunStory, name: str
) -> None:
    entry, reason = UNUSED[name]

    report = run_story(f"{entry}\n{dedent(APPLY)}")

    assert not report["passed"]
    assert all(step["passed"] for step in report["steps"])
    (unused,) = unused_of(report).values()
    assert reason in unused


def test_the_nearest_request_is_named_by_number_method_path_and_difference(
    run_story: RunStory,
) -> None:
    report = run_story(f"{UNUSED['header'][0]}\n{dedent(APPLY)}")

    (unused,) = unused_of(report).values()
    assert re.search(
        r"the nearest request was number \d+, (PUT|GET) /v1/\S+, which differs in header "
        r"\(X-Color: none instead of X-Color: green\)",
        unused,
    )


def test_a_difference_in_the_body_is_shown_as_in_a_scenario(run_story: RunStory) -> None:
    report = run_story(
        """
        faults: [{timeout: , call: set_project_powered_by_flag, body: {enabled: true}}]
        story:
          - {call: set_project_powered_by_flag, body: {enabled: false}}
        """
    )

    (unused,) = unused_of(report).values()
    assert unused.endswith("differs in body (enabled: false instead of enabled: true)")


@pytest.mark.parametrize("name", UNUSED)
def test_an_optional_entry_can_stay_unused(run_story: RunStory, name: str) -> None:
    entry = UNUSED[name][0]
    for brace in ("[{", "}, {"):
        entry = entry.replace(brace, f"{brace}optional: true, ")

    report = run_story(f"{entry}\n{dedent(APPLY)}")

    assert unused_of(report)
    assert report["passed"]


UNCERTAIN_KEYS = """
    story:
      - note: No key is created.
      - intervene: {leave_key_creation_uncertain: {times: 2OPTIONAL}}
      - call: list_deployments
        expect: {status: 200}
"""


def test_a_fault_that_an_intervention_armed_is_reported_at_its_step(run_story: RunStory) -> None:
    report = run_story(UNCERTAIN_KEYS.replace("OPTIONAL", ""))

    (entry,) = report["entries"]
    assert not report["passed"]
    assert entry["unused"]
    assert entry["at"] == "story[1].intervene"
    assert entry["line"] == 5


def test_a_fault_that_an_intervention_armed_can_be_optional(run_story: RunStory) -> None:
    report = run_story(UNCERTAIN_KEYS.replace("OPTIONAL", ", optional: true"))

    assert report["entries"][0]["unused"]
    assert report["passed"]


def test_the_nearest_request_is_the_one_that_differs_least(run_story: RunStory) -> None:
    report = run_story(
        """
        faults:
          - {abort: {code: forbidden}, call: list_deployments, project: blog, principal: reader}
        story:
          - call: apply_project_domains
            expect: {status: 202}
          - call: list_deployments
            user: reader
            project: shop
            expect: {status: 200}
          - call: list_deployments
            expect: {status: 200}
        """
    )

    reason = unused_of(report)["fault-1"]
    assert "number 2" in reason
    assert "project (shop instead of blog)" in reason
    assert "principal" not in reason
    assert "the rule ended" not in reason


def test_the_report_has_the_counts_and_the_line_of_each_entry(run_story: RunStory) -> None:
    report = run_story(
        """
        faults:
          - {abort: {code: service_unavailable}, call: list_deployments, times: 1}
        timeline:
          - {after_calls: 1, intervene: {set_plan: {organization: acme, plan: free}}}
        story:
          - {call: get_dns_authorization, expect: {status: 200}}
          - {call: list_deployments, expect: {code: service_unavailable}}
          - {call: list_deployments, expect: {status: 200}}
        """
    )

    assert report["passed"]
    counts = ("at", "line", "considered", "seen", "hits", "unused")
    assert [[entry[name] for name in counts] for entry in report["entries"]] == [
        ["faults[0]", 4, 3, 2, 1, None],
        ["timeline[0]", 6, 1, 1, 1, None],
    ]


def test_a_fault_that_a_step_arms_must_act(run_story: RunStory) -> None:
    story = """
        story:
          - call: get_dns_authorization
            expect: {status: 200}
          - fault: {abort: {code: forbidden}, call: list_deployments%s}
          - call: get_dns_authorization
            expect: {status: 200}
    """

    report = run_story(story % "")

    assert not report["passed"]
    (entry,) = report["entries"]
    assert (entry["at"], entry["line"]) == ("story[1].fault", 6)
    assert run_story(story % ", optional: true")["passed"]


@pytest.mark.parametrize("removal", ["remove_fault: ${id}", "clear_faults: true"])
def test_a_fault_that_the_story_removes_before_it_acted_fails_the_story(
    run_story: RunStory, removal: str
) -> None:
    story = f"""
        story:
          - fault: {{abort: {{code: forbidden}}, call: list_deployments}}
            save: {{id: id}}
          - call: %s
            expect: {{status: %s}}
          - {removal}
          - call: list_deployments
            expect: {{status: 200}}
    """

    unused = run_story(story % ("get_dns_authorization", 200))
    used = run_story(story % ("list_deployments", 403))

    assert not unused["passed"]
    assert "removed before it acted" in unused_of(unused)["fault-1"]
    assert used["passed"]


def test_an_outcome_acts_when_its_phase_ends_and_not_before(run_story: RunStory) -> None:
    story = """
        outcomes:
          - fail: {phase: deploying}
        story:
          - call: apply_project_domains
            expect: {status: 202}
            save: {operation: id}
          - advance: %s
    """

    early = run_story(story % "1ms")
    late = run_story(story % "1h")

    assert not early["passed"]
    assert "before the end of the deploying phase" in unused_of(early)["outcome-1"]
    assert late["passed"]


def test_an_outcome_for_a_cancelled_operation_has_not_acted(run_story: RunStory) -> None:
    report = run_story(
        """
        outcomes:
          - fail: {phase: deploying}
        story:
          - call: apply_project_domains
            expect: {status: 202}
            save: {operation: id}
          - intervene: {cancel_operation: {operation: "${operation}"}}
          - advance: 1h
        """
    )

    assert not report["passed"]
    assert list(unused_of(report)) == ["outcome-1"]


def test_secrets_of_the_nearest_request_are_not_shown(run_story: RunStory) -> None:
    report = run_story(
        """
        faults:
          - {abort: {code: forbidden}, header: {Authorization: "Bearer none", X-HttpWorld-Key: none}}
        story:
          - call: get_dns_authorization
            headers: {X-HttpWorld-Key: very-secret-value}
            expect: {status: 200}
        """
    )

    reason = unused_of(report)["fault-1"]
    assert "Authorization" in reason
    assert "eyJ" not in reason
    assert "very-secret-value" not in reason


def test_the_schema_knows_optional_entries(hosting_emulator: HostingEmulator) -> None:
    schema = hosting_emulator.control.contract("scenario-schema.json")
    entry = {"at": "1s", "optional": True, "intervene": {"set_plan": {}}}
    fault = {"abort": {"code": "forbidden"}, "optional": True}
    document = {"name": "small", "description": "Small.", "faults": [fault], "timeline": [entry]}
    check = jsonschema.Draft202012Validator(schema)

    assert not [error for error in check.iter_errors(document) if "optional" in str(error.message)]
    fault["optional"] = "yes"
    assert list(check.iter_errors(document))


# --- what other readers of the counts show ---------------------------------------------------------


@pytest.fixture
def command(
    hosting_emulator_server: BackgroundEmulator,
    hosting_emulator: HostingEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Result]:
    """Run a command line in this test's world."""
    monkeypatch.setenv("HOSTING_EMULATOR_URL", hosting_emulator_server.ready.base_url)
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", hosting_emulator.name)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, prog_name="hosting-emulator")

    return run


@pytest.mark.parametrize("verb", ["check", "run"])
def test_text_json_and_junit_name_the_unused_entry_and_the_exit_code_is_1(
    command: Callable[..., Result], tmp_path: Path, verb: str
) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(f"{HEAD}{UNUSED['project'][0]}\n{dedent(APPLY)}", encoding="utf-8")
    junit = tmp_path / "junit.xml"

    text = command("scenario", verb, str(file), "--junit", str(junit))
    document = command("scenario", verb, str(file), "--json")

    assert (text.exit_code, document.exit_code) == (1, 1)
    assert "fault-1 (abort) never acted" in text.stdout
    (report,) = json.loads(document.stdout)
    assert not report["passed"]
    (failure,) = ElementTree.parse(junit).findall(".//failure")
    assert "fault-1" in (failure.get("message") or "")


def test_lists_reports_and_status_show_the_three_counts(
    command: Callable[..., Result], hosting_emulator: HostingEmulator
) -> None:
    api = HttpWorld(hosting_emulator)
    fault = hosting_emulator.fault(
        "abort", code="rate_limited", call="list_deployments", skip_first=1
    )
    outcome = hosting_emulator.outcome("fail", call="initialize_managed_source")

    api.apply_domains()
    api.deployments()

    assert (fault.considered, fault.seen, fault.hits) == (2, 1, 0)
    assert "`skip_first` is 1" in str(fault.unused)
    assert (outcome.considered, outcome.seen, outcome.hits) == (1, 0, 0)
    assert "call" in str(outcome.unused)
    status = json.loads(command("status", "--json").stdout)
    (world,) = [world for world in status["worlds"] if world["name"] == hosting_emulator.name]
    counts = [(entry["id"], entry["considered"], entry["seen"]) for entry in world["triggers"]]
    assert counts == [("fault-1", 2, 1), ("outcome-1", 1, 0)]
    assert "fault-1" in command("status").stdout
    api.deployments()
    assert (fault.considered, fault.seen, fault.hits, fault.unused) == (3, 2, 1, None)


def test_the_command_line_arms_an_optional_fault(
    command: Callable[..., Result], hosting_emulator: HostingEmulator
) -> None:
    assert command("fault", "add", "timeout", "--optional").exit_code == 0
    assert command("outcome", "add", "cancel", "--optional").exit_code == 0

    assert [fault.state.optional for fault in hosting_emulator.faults] == [True]
    assert [outcome.state.optional for outcome in hosting_emulator.outcomes] == [True]


# --- the counts beside the world -------------------------------------------------------------------


def test_a_request_that_a_fault_only_considered_makes_no_commit(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    fault = hosting_emulator.fault("timeout", call="list_deployments")
    commit = hosting_emulator.summary.commit

    api.dns()

    assert hosting_emulator.summary.commit == commit
    assert fault.considered == 1


def test_a_rewind_leaves_the_considered_requests_and_a_fork_starts_without_them(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    fault = hosting_emulator.fault("timeout", call="list_deployments")
    commit = hosting_emulator.summary.commit
    api.apply_domains()

    hosting_emulator.rewind(commit)
    with hosting_emulator.fork() as fork:
        assert [entry.considered for entry in fork.faults] == [0]

    assert fault.considered == 1
    hosting_emulator.reset()
    assert hosting_emulator.faults == []
