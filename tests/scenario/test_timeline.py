"""The timeline: at a world time, after the n-th call; what makes no sense any more fails the story."""

from __future__ import annotations

from hosting_emulator.contract.timestamps import format_timestamp
from tests.support.stories import differences_of, run_on, scenario_error


def notes(engine):
    planned = sorted((row.order, row) for row in engine.world.tables["timeline"].values())
    return [(row.happened, row.message) for _, row in planned]


def test_a_timeline_entry_happens_at_its_time_and_not_before():
    report, engine = run_on(
        """
        timeline:
          - at: 10m
            intervene: {move_dns: {project: labs, to: pending}}
          - at: 2026-01-01T01:00:00Z
            optional: true
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
            user: reader
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


def test_an_impossible_timeline_intervention_fails_its_step_and_time_goes_on():
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
          - call: list_deployments
          - advance: 1m
        """
    )

    key = "revoke_key was refused: there is no API key with the id or name 'nobodys'"
    assert [differences_of(step) for step in report["steps"]] == [
        [("timeline[2]", "to be possible", key)]
    ]
    assert notes(engine)[2:] == [(True, key)]

    engine.move_by(60_000)
    release = "release_operation was refused: project shop has no operation in progress"
    assert notes(engine)[:2] == [(True, release), (True, "acme has 7 credits")]


def test_an_impossible_timeline_fault_fails_its_step():
    report, _ = run_on(
        """
        timeline:
          - at: 1m
            fault: {abort: {code: forbidden}, until: 2026-01-01T00:00:30Z}
        story:
          - advance: 59s
          - advance: 1s
        """
    )

    assert [step["passed"] for step in report["steps"]] == [True, False]
    [difference] = report["steps"][1]["differences"]
    assert difference["line"] < report["steps"][0]["line"]
    assert "abort was refused: until" in report["steps"][1]["differences"][0]["found"]


def test_a_fault_of_the_timeline_that_never_acted_is_reported_at_its_place():
    report, _ = run_on(
        """
        timeline:
          - {at: 1s, intervene: {set_plan: {organization: acme, plan: free}}}
          - at: 2s
            fault: {timeout: , call: apply_project_domains}
        story:
          - advance: 10s
          - call: list_deployments
        """
    )

    assert not report["passed"]
    places = {entry.id: (entry.at, entry.line) for entry in report["entries"]}
    assert places == {
        "fault-1": ("timeline[1].fault", 6),
        "timeline[0]": ("timeline[0]", 4),
        "timeline[1]": ("timeline[1]", 5),
    }


def test_simultaneous_timeline_entries_happen_in_the_order_of_the_file():
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

    assert [sentence for _, sentence in notes(engine)] == [
        "acme is on the free plan",
        "acme is on the paid plan",
    ]
    [acme] = [row for row in engine.world.tables["organizations"].values() if row.alias == "acme"]
    assert acme.plan == "paid"


def test_history_has_states_that_begin_and_end_within_one_move_of_time():
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
    moment = engine.history[-1]

    assert [
        (
            format_timestamp(transition.at_ms)[14:19],
            transition.operation.phase,
            transition.operation.stuck,
        )
        for transition in moment.entered
    ] == [
        ("00:02", "deploying", False),
        ("00:03", "deploying", True),
        ("05:00", "deploying", False),
        ("05:03", "verifying", False),
        ("05:07", "done", False),
    ]


def test_after_calls_counts_a_replay_but_no_refused_call():
    report, _ = run_on(
        """
        timeline:
          - after_calls: 2
            call: set_project_powered_by_flag
            fault: {abort: {code: service_unavailable}, call: get_dns_authorization}
        story:
          - call: set_project_powered_by_flag
            key: hide
            body: {enabled: false}
          - call: set_project_powered_by_flag
            user: reader
            body: {enabled: true}
            expect: {status: 403}
          - call: get_dns_authorization
          - call: set_project_powered_by_flag
            key: hide
            body: {enabled: false}
          - call: get_dns_authorization
            expect: {code: service_unavailable}
        """
    )

    assert report["passed"], report["steps"][-1]


def test_a_time_before_the_worlds_start_is_refused_at_its_column():
    error = scenario_error(
        """
        timeline:
          - {at: "2020-01-01T00:00:00Z", fault: {abort: {code: service_unavailable}}}
        story:
          - call: list_deployments
        """
    )

    assert (error.line, error.column) == (4, 10)
    assert error.message == (
        "2020-01-01T00:00:00Z is before the world starts: write 2026-01-01T00:00:00.000Z or a later "
        "time, or a duration after the start, such as 10m"
    )


def test_an_entry_can_act_at_the_worlds_start():
    report, _ = run_on(
        """
        clock: {at: "2026-03-01T12:00:00Z"}
        timeline:
          - {at: "2026-03-01T12:00:00Z", fault: {abort: {code: service_unavailable}}}
        story:
          - {call: list_deployments, expect: {status: 503}}
        """
    )

    assert report["passed"], report["steps"][-1]
