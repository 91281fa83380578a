"""The timeline: at a world time, after the n-th call, and what makes no sense any more is noted."""

from __future__ import annotations

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.tables import ORGANIZATIONS, TIMELINE
from tests.unit.scenario.stories import run_on


def notes(engine):
    planned = sorted((row.order, row) for _, row in engine.world.rows(TIMELINE))
    return [(row.done, row.said) for _, row in planned]


def test_an_entry_happens_at_its_moment_and_not_before():
    report, engine = run_on(
        """
        timeline:
          - at: 10m
            intervene: {move_dns: {project: labs, to: pending}}
          - at: 2026-01-01T01:00:00Z
            intervene: {move_dns: {project: labs, to: authorized}}
        story:
          - advance: 9m59s999ms
          - call: get_dns_authorization
            project: labs
            expect: {body: {status: not_authorized}}
          - advance: 1ms
          - call: get_dns_authorization
            project: labs
            expect: {body: {status: pending}}
        """
    )

    assert report["passed"], report["steps"][-1]
    assert notes(engine) == [(True, "the DNS authorization of labs is pending"), (False, None)]


def test_after_calls_counts_every_successful_call():
    report, _ = run_on(
        """
        timeline:
          - after_calls: 2
            fault: {abort: {code: service_unavailable}}
        story:
          - call: list_deployments
          - call: create_dev_access_ticket
            as: reader
            expect: {status: 403}
          - call: get_dns_authorization
          - call: get_dns_authorization
            expect: {status: 503, code: service_unavailable}
        """
    )

    assert report["passed"], report["steps"][-1]


def test_after_calls_of_one_call_counts_no_other():
    report, _ = run_on(
        """
        timeline:
          - after_calls: 2
            call: get_operation
            intervene: {cancel_operation: {project: shop}}
        story:
          - call: apply_project_domains
            save: {operation: id}
          - call: list_deployments
            times: 5
          - poll: ${operation}
            times: 2
            expect: {body: {state: queued}}
          - poll: ${operation}
            expect: {body: {state: cancelled}}
        """
    )

    assert report["passed"], report["steps"][-1]


def test_an_intervention_that_makes_no_sense_any_more_is_noted_and_time_goes_on():
    report, engine = run_on(
        """
        timeline:
          - at: 1s
            intervene: {release_operation: {project: shop}}
          - at: 2s
            intervene: {set_credits: {organization: acme, credits: 7}}
          - after_calls: 1
            intervene: {revoke_key: {key: nobodys}}
        story:
          - advance: 1m
          - call: list_deployments
            expect: {status: 200}
        """
    )

    assert report["passed"], report["steps"][-1]
    assert notes(engine) == [
        (True, "refused: no operation of project shop is under way"),
        (True, "acme has 7 credits"),
        (True, "refused: no API key is 'nobodys' (by id or name)"),
    ]


def test_entries_of_one_moment_happen_in_the_order_of_the_file():
    _, engine = run_on(
        """
        timeline:
          - at: 1s
            intervene: {set_plan: {organization: acme, plan: free}}
          - at: 1s
            intervene: {set_plan: {organization: acme, plan: paid}}
        story:
          - advance: 1s
        """
    )

    assert [said for _, said in notes(engine)] == [
        "acme is on the free plan",
        "acme is on the paid plan",
    ]
    [acme] = [row for _, row in engine.world.rows(ORGANIZATIONS) if row.alias == "acme"]
    assert acme.plan == "paid"


def test_what_comes_and_goes_in_one_move_of_time_is_in_the_history():
    _, engine = run_on(
        """
        timeline:
          - at: 3s
            intervene: {stick_operation: {project: shop}}
          - at: 5m
            intervene: {release_operation: {project: shop}}
        story:
          - call: apply_project_domains
          - advance: 10m
        """
    )
    moment = engine.history.newest(1)[0]

    assert [
        (format_timestamp(at_ms)[14:19], operation.phase, operation.stuck)
        for at_ms, operation in moment.entered
    ] == [
        ("00:02", "deploying", False),
        ("00:03", "deploying", True),
        ("05:00", "deploying", False),
        ("05:03", "verifying", False),
        ("05:07", "done", False),
    ]
