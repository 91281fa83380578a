"""What is wrong with a scenario is said at its place: what was found, what is right, what is near."""

from __future__ import annotations

import pytest

from tests.unit.scenario.stories import refused, run

WORLD = """
world:
  organizations:
    - {alias: acme}
  people:
    - alias: boss
      organizations: {acme: owner}
  projects:
    - {alias: site, organization: acme}
"""


@pytest.mark.parametrize(
    ("rest", "line", "column", "message"),
    [
        ("storry: []", 3, 1, "unknown field 'storry'; did you mean story?"),
        ("clock: {mode: freezed}", 3, 9, "mode cannot be 'freezed'; did you mean frozen?"),
        ("clock: {mode: scaled}", 3, 1, "a scaled clock needs a rate"),
        ("clock: {at: tomorrow}", 3, 9, "'tomorrow'"),
        ("seed: 5", 3, 7, "seed must be text, not 5; put it in quotes"),
        ("assumptions: {token_lifetme: 1h}", 3, 15, "did you mean"),
        ("assumptions:\n  token_lifetime: long", 4, 19, "'long' is not a duration"),
        ("faults: [{abort: {}}]", 3, 11, "abort"),
        ("faults:\n  - abort:\n      code: rate_limitd", 4, 5, "did you mean rate_limited?"),
        ("faults:\n  - abort: {code: rate_limited}\n    cal: x", 5, 5, "did you mean call?"),
        ("faults: [{timeout: , project: shpo}]", 3, 22, "did you mean shop?"),
        ("faults: [{timeout: , ttl: long}]", 3, 22, "'long' is not a duration"),
        ("timeline: [{at: 1s}]", 3, 12, "either fault or intervene"),
        ("timeline: [{fault: {timeout: }}]", 3, 12, "either at or after_calls"),
        ("timeline: [{at: later, fault: {timeout: }}]", 3, 13, "nor a timestamp"),
        (
            "timeline: [{after_calls: 1, call: list_deploys, fault: {timeout: }}]",
            3,
            29,
            "did you mean list_deployments?",
        ),
        (
            "timeline:\n  - at: 1s\n    intervene: {stick_operation: {project: '${p}'}}",
            5,
            34,
            "only the steps of a story have variables",
        ),
        ("story: [{call: list_deployment}]", 3, 10, "did you mean list_deployments?"),
        ("story: [{call: list_deployments, poll: x}]", 3, 9, "here is call and poll"),
        ("story: [{expect: {status: 200}}]", 3, 9, "here is none"),
        ("story: [{advance: 1s, expect: {status: 200}}]", 3, 23, "expect belongs to call or poll"),
        ("story: [{note: x, key: y}]", 3, 19, "key belongs to call, not to note"),
        ("story: [{advance: 1 moment}]", 3, 10, "'1 moment' is not a duration"),
        ("story: [{to: noon}]", 3, 10, "'noon'"),
        ("story: [{poll: '${operation}'}]", 3, 10, "saved so far is nothing"),
        ("story: [{poll: '${project.shpo}'}]", 3, 10, "did you mean shop?"),
        ("story: [{sign_in: onwer}]", 3, 10, "did you mean owner?"),
        ("story: [{call: list_deployments, as: redaer}]", 3, 34, "did you mean reader?"),
        ("story: [{call: list_deployments, project: shpo}]", 3, 34, "did you mean shop?"),
        ("story: [{intervene: {stik_operation: {}}}]", 3, 22, "did you mean stick_operation?"),
        (
            "story: [{intervene: {set_plan: {organization: acme, plan: gold}}}]",
            3,
            53,
            "set_plan.plan",
        ),
        (
            "story: [{intervene: {set_plan: {organisation: acme, plan: free}}}]",
            3,
            33,
            "did you mean organization?",
        ),
        (
            "story: [{intervene: {transfer_ownership: {organization: acme, to: membre}}}]",
            3,
            63,
            "did you mean member?",
        ),
        (
            "story: [{call: list_deployments, expect: {code: not_found}}]",
            3,
            43,
            "there is no problem code 'not_found'",
        ),
        ("story: [{call: list_deployments, expect: {same_as: x}}]", 3, 43, "saved answer 'x'"),
        (
            "story: [{call: list_deployments, expect: {lost: reset}}]",
            3,
            43,
            "lost cannot be 'reset'",
        ),
        (
            "story:\n  - call: list_deployments\n    expect:\n      body: {a: ['/(/']}",
            6,
            17,
            "not a regular expression",
        ),
        (
            "story:\n  - call: list_deployments\n    headers:\n      X-A: x\n      X-B: 1",
            7,
            12,
            "headers must be text",
        ),
        ("story: [{assume: {token_lifetme: 1h}}]", 3, 19, "did you mean"),
        (WORLD + "story: [{call: list_deployments}]", 11, 9, "say which project"),
        (WORLD + "story: [{poll: x}]", 11, 9, "say which person with `as`: there are boss"),
        (WORLD.replace("acme: owner", "acne: owner"), 7, 23, "did you mean acme?"),
        (WORLD.replace("acme: owner", "acme: boss"), 7, 23, "owner, member"),
        (WORLD.replace("alias: site", "alias: Site"), 9, 8, "alias is 'Site'"),
        (WORLD.replace("organization: acme", "organization: acm"), 9, 21, "did you mean acme?"),
    ],
)
def test_an_error_names_place_found_and_near(rest, line, column, message):
    error = refused(rest)

    assert message in error.message
    # Flow keys: the value's column is what an editor jumps to; the line is what counts.
    assert error.line == line


def test_a_list_is_no_scenario():
    from hosting_emulator.scenario.check import check_text
    from hosting_emulator.scenario.errors import ScenarioError

    with pytest.raises(ScenarioError, match="^a.yaml:1:1: a scenario is a mapping"):
        check_text("- a\n- b\n", "a.yaml")


def test_a_scenario_without_a_story_passes():
    assert run("")["passed"] is True
