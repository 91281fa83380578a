"""What waits to act is listed with what it waits for, the counts of stories, and why it has not acted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from hosting_emulator.sdk import HostingEmulator, Trigger
from hosting_emulator_cli.main import cli
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.http_world import HttpWorld

SCENARIO = """
name: waiting
description: A fault, an outcome and two entries of the timeline wait.
faults:
  - {abort: {code: forbidden}, call: list_deployments, project: blog}
outcomes:
  - {stick: {phase: verifying}, call: apply_project_domains}
timeline:
  - {at: 5m, intervene: {move_dns: {project: shop, to: revoked}}}
  - {after_calls: 2, call: list_deployments, fault: {abort: {code: rate_limited}}}
  - {at: 1s, intervene: {stick_operation: {project: labs}}}
"""


def trigger_of(world: HostingEmulator, id_: str) -> Trigger:
    """Return the trigger of an id."""
    return next(trigger for trigger in world.triggers if trigger.id == id_)


@pytest.mark.parametrize(
    ("fault", "awaited"),
    [
        ({"timeout": {}}, "a request"),
        ({"timeout": {}, "call": "list_deployments"}, "a request of list_deployments"),
        (
            {"timeout": {}, "project": "blog", "principal": "member"},
            "a request with project blog and principal member",
        ),
        (
            {"timeout": {}, "header": {"X-Token": "abc", "X-Color": "green"}},
            "a request with header X-Token: …, X-Color: green",
        ),
        (
            {"timeout": {}, "while": {"dns": ["expired", "revoked"]}},
            "a request, while dns is expired or revoked",
        ),
        (
            {"timeout": {}, "from": "1m", "until": "2m"},
            "a request, from 2026-01-01T00:01:00.000Z on, before 2026-01-01T00:02:00.000Z",
        ),
        (
            {"timeout": {}, "call": "list_deployments", "connection": "reused"},
            "a request of list_deployments with connection reused",
        ),
        ({"stale_read": {"age": "1m"}}, "a read"),
        ({"timeout": {}, "pauses": ["10s", "20s"]}, "a request"),
        (
            {"timeout": {}, "pauses": ["2025-12-31T00:00:00Z", "20s"]},
            "a request, after the pause, which ends at 2026-01-01T00:00:20.000Z",
        ),
        ({"timeout": {}, "skip_first": 1}, "a request, after 1 more match"),
        ({"timeout": {}, "skip_first": 1, "every": 3}, "a request, after 3 more matches"),
        ({"timeout": {}, "probability": 0.5}, "a request, with probability 0.5"),
        ({"timeout": {}, "times": 3}, "a request, 3 more times"),
        ({"timeout": {}, "times": 1}, "a request"),
    ],
)
def test_a_trigger_says_what_it_waits_for(
    hosting_emulator: HostingEmulator, fault: dict[str, Any], awaited: str
) -> None:
    hosting_emulator.arm(fault)

    (trigger,) = hosting_emulator.triggers

    assert (trigger.type, trigger.waits_for, trigger.spent) == ("fault", awaited, False)


def test_a_fault_waits_for_fewer_requests_after_each_that_matches(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    hosting_emulator.fault("abort", code="forbidden", skip_first=2, times=2)

    awaited = [trigger_of(hosting_emulator, "fault-1").waits_for]
    for _ in range(4):
        api.dns()
        awaited.append(trigger_of(hosting_emulator, "fault-1").waits_for)

    assert awaited == [
        "a request, after 2 more matches, 2 more times",
        "a request, after 1 more match, 2 more times",
        "a request, 2 more times",
        "a request",
        None,
    ]


def test_triggers_have_the_counts_of_faults_and_outcomes_and_name_the_nearest_request(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    fault = hosting_emulator.fault(
        "connection_reset", call="list_deployments", project="blog", after_commit=True
    )
    outcome = hosting_emulator.outcome("fail", call="initialize_managed_source")

    api.deployments()
    api.apply_domains()

    for armed in (fault, outcome):
        trigger = trigger_of(hosting_emulator, armed.id)
        counts = (trigger.considered, trigger.seen, trigger.hits, trigger.unused)
        assert counts == (armed.considered, armed.seen, armed.hits, armed.unused)
    triggers = hosting_emulator.triggers
    assert [trigger.effect for trigger in triggers] == ["connection_reset after commit", "fail"]
    assert "number 1" in str(triggers[0].unused)
    assert "project (shop instead of blog)" in str(triggers[0].unused)
    assert "call (apply_project_domains instead of" in str(triggers[1].unused)


def test_an_outcome_that_applies_waits_for_the_end_of_its_phase(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    hosting_emulator.outcome("fail", phase="verifying")
    operation = api.apply_domains().json["id"]

    before = trigger_of(hosting_emulator, "outcome-1")
    hosting_emulator.clock.until(operation)
    after = trigger_of(hosting_emulator, "outcome-1")

    assert before.waits_for == f"the end of the verifying phase of operation {operation}"
    assert "is still in the state queued" in str(before.unused)
    assert (after.waits_for, after.unused, after.hits) == (None, None, 1)


def test_an_outcome_with_a_condition_waits_for_it_in_its_operation(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    hosting_emulator.outcome("fail", phase="deploying", while_={"dns": "revoked"})
    before = trigger_of(hosting_emulator, "outcome-1")
    operation = api.apply_domains().json["id"]

    waiting = trigger_of(hosting_emulator, "outcome-1")
    hosting_emulator.intervene("move_dns", project="shop", to="revoked")
    hosting_emulator.clock.until(operation)
    after = trigger_of(hosting_emulator, "outcome-1")

    assert before.waits_for == "an operation, while dns is revoked"
    assert (
        waiting.waits_for
        == f"dns is revoked, while operation {operation} is in the deploying phase"
    )
    assert "with this condition met: dns is revoked" in str(waiting.unused)
    assert (after.hits, after.waits_for, after.unused) == (1, None, None)


def test_timeline_entries_are_triggers_that_report_what_they_did(
    hosting_emulator: HostingEmulator,
) -> None:
    api = HttpWorld(hosting_emulator)
    hosting_emulator.load_scenario(text=SCENARIO)
    before = {trigger.id: trigger.waits_for for trigger in hosting_emulator.triggers}

    api.deployments()
    hosting_emulator.clock.advance("5m")
    first, second, third = hosting_emulator.triggers[2:]

    assert list(before) == ["fault-1", "outcome-1", "timeline[0]", "timeline[1]", "timeline[2]"]
    assert before["timeline[0]"] == "the world time 2026-01-01T00:05:00.000Z"
    assert before["timeline[1]"] == "2 more successful calls of list_deployments"
    assert (first.spent, first.hits, first.waits_for) == (True, 1, None)
    assert first.result == "the DNS authorization of shop is revoked"
    assert second.waits_for == "1 more successful call of list_deployments"
    assert (third.spent, third.hits) == (True, 0)
    assert third.result == (
        "stick_operation was refused: project labs has no operation in progress"
    )


def test_a_story_reports_the_counts_that_triggers_show(
    hosting_emulator: HostingEmulator,
) -> None:
    story = f"{SCENARIO}story:\n  - call: list_deployments\n  - call: apply_project_domains\n"

    report = hosting_emulator.control.run_scenario(
        text=story, world=hosting_emulator.name, replace=True
    )

    counts = {entry.id: (entry.considered, entry.seen, entry.hits) for entry in report.entries}
    assert counts == {
        trigger.id: (trigger.considered, trigger.seen, trigger.hits)
        for trigger in hosting_emulator.triggers
    }


def test_the_command_lists_triggers(
    hosting_emulator: HostingEmulator,
    hosting_emulator_server: BackgroundEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_URL", hosting_emulator_server.ready.base_url)
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", hosting_emulator.name)
    nothing = CliRunner().invoke(cli, ["triggers"])
    hosting_emulator.load_scenario(text=SCENARIO)
    HttpWorld(hosting_emulator).deployments()

    text = CliRunner().invoke(cli, ["triggers"])
    listed = json.loads(CliRunner().invoke(cli, ["triggers", "--json"]).stdout)
    status = CliRunner().invoke(cli, ["status"])

    assert nothing.stdout == "This world has no faults, outcomes or timeline entries.\n"
    assert text.exit_code == 0
    header, *rows = text.stdout.splitlines()
    assert header.split() == ["TRIGGER", "EFFECT", "WAITS", "FOR", "CONSIDERED", "SEEN", "HITS"]
    assert rows[0].split()[0] == listed[0]["id"] == "fault-1"
    assert "fault-1 has not acted: the nearest request was number 1" in text.stdout
    assert f"timeline[0] of {hosting_emulator.name} (move_dns)" in status.stdout
    assert "Waits for an operation that apply_project_domains begins." in " ".join(
        status.stdout.split()
    )
