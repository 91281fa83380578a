"""What is wrong with a scenario is said at its place: what was found, what is right, what is near."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.scenario.reading import read_scenario, without_seed
from hosting_emulator.scenario.story import check_text
from tests.support.stories import run, scenario_error, schema_check, text_of
from tests.support.world_changes import needs_fields

WORLD = """
world:
  organizations:
    - {alias: acme}
  users:
    - alias: boss
      organizations: {acme: owner}
  projects:
    - {alias: site, organization: acme}
"""


@pytest.mark.parametrize(("length", "is_cached"), [(10, True), (40_000, False)])
def test_only_a_scenario_of_usual_length_is_cached(length: int, is_cached: bool):
    text = text_of("story:\n  - advance: 1s  # " + "x" * length)

    assert (read_scenario(text, "x.yaml") is read_scenario(text, "x.yaml")) == is_cached


@pytest.mark.parametrize(
    ("rest", "line", "place", "message"),
    [
        (
            "parts: [{name: 01-init, steps: [{note: x}]}]",
            3,
            "01-init",
            "name cannot be '01-init': it must be 1 to 41 lowercase letters, digits and",
        ),
        ("storry: []", 3, "storry:", "unknown field 'storry'; did you mean story?"),
        ("clock: scaled", 3, "scaled", "not 'scaled'; write clock: {mode: scaled}"),
        (
            "timeline: [{at: 1m, abort: {code: rate_limited}}]",
            3,
            "abort:",
            "put it in fault, as in fault: {abort: …}",
        ),
        (
            "timeline: [{at: 1m, stick_operation: {project: shop}}]",
            3,
            "stick_operation:",
            "put it in intervene, as in intervene: {stick_operation: …}",
        ),
        ("story: [{stick: {}}]", 3, "stick:", "put it in outcome, as in outcome: {stick: …}"),
        ("users: []", 3, "users:", "put it in world, as in world: {users: …}"),
        (
            "story: [{zzz: 5s}]",
            3,
            "zzz:",
            "unknown field 'zzz'; the actions of a step are call, poll, ",
        ),
        (
            "story: [{call: list_deployments, status: 200}]",
            3,
            "status:",
            "put it in expect, as in expect: {status: …}",
        ),
        (
            "story: [{call: apply_project_domains, expect: {state: queued}}]",
            3,
            "state:",
            "put it in body, as in body: {state: …}",
        ),
        (
            "story: [{call: set_project_powered_by_flag, expect: {body: {retryable: true}}}]",
            3,
            "retryable:",
            "is a field of a problem, but the step expects a success: add code or status",
        ),
        (
            "story: [{call: set_project_powered_by_flag, expect: {code: forbidden, body: {enabled: true}}}]",
            3,
            "enabled:",
            "is a field of a success, but the step expects a problem",
        ),
        ("timeline: [{after: 3s, fault: {timeout: }}]", 3, "after:", "did you mean at?"),
        ("timeline: [{after: 3, fault: {timeout: }}]", 3, "after:", "did you mean after_calls?"),
        ("story: [{poll: ${op}, expect: {}}]", 3, "{op}", 'put a variable in quotes: "${op}"'),
        ("story: [\n  {poll: ${op}}]", 4, "{op}", 'put a variable in quotes: "${op}"'),
        ("clock: {mode: freezed}", 3, "freezed", "mode cannot be 'freezed'; did you mean frozen?"),
        ("clock: {mode: scaled}", 3, "clock:", "a scaled clock needs a rate"),
        ("clock: {at: tomorrow}", 3, "tomorrow", "'tomorrow'"),
        ("seed: 5", 3, "5", "seed must be a string, not 5; put it in quotes"),
        ("story: [{advance: 5}]", 3, "5", "advance must be a duration, such as 5s, not 5"),
        (
            "timeline: [{at: 5, fault: {timeout: }}]",
            3,
            "5",
            "at must be a timestamp such as 2026-01-31T09:30:00Z, or a duration such as 5s, not 5",
        ),
        ("assumptions: {token_lifetime: 5}", 3, "5", "it must be a duration, such as 5s"),
        ("assumptions: {token_lifetme: 1h}", 3, "token_lifetme:", "did you mean"),
        ("assumptions:\n  token_lifetime: long", 4, "long", "'long' is not a duration"),
        ("faults: [{abort: {}}]", 3, "abort:", "the field 'code' is missing in abort"),
        (
            "faults:\n  - abort:\n      code: rate_limitd",
            5,
            "rate_limitd",
            "did you mean rate_limited?",
        ),
        ("faults:\n  - abort: {code: rate_limited}\n    cal: x", 5, "cal:", "did you mean call?"),
        ("faults: [{timeout: , project: shpo}]", 3, "shpo", "did you mean shop?"),
        ("faults: [{timeout: , until: long}]", 3, "long", "nor a duration from now"),
        (
            "timeline: [{after_calls: 1, call: list_deploys, fault: {timeout: }}]",
            3,
            "list_deploys",
            "did you mean list_deployments?",
        ),
        (
            "timeline:\n  - at: 1s\n    intervene: {stick_operation: {project: '${p}'}}",
            5,
            "'${p",
            "only the steps of a story can use variables",
        ),
        (
            "story: [{call: list_deployment}]",
            3,
            "list_deployment",
            "did you mean list_deployments?",
        ),
        ("story: [{expect: {status: 200}}]", 3, "{expect:", "but has none"),
        (
            "story: [{advance: 1s, expect: {status: 200}}]",
            3,
            "expect:",
            "expect is an option of call or poll",
        ),
        (
            "story: [{note: x, key: y}]",
            3,
            "key:",
            "key is an option of call or request, not of note",
        ),
        ("story: [{advance: 1 moment}]", 3, "1", "'1 moment' is not a duration"),
        ("story: [{to: noon}]", 3, "noon", "'noon'"),
        ("story: [{poll: '${operation}'}]", 3, "'${operation", "saved so far: nothing"),
        ("story: [{poll: '${project.shpo}'}]", 3, "'${project.shpo", "did you mean shop?"),
        (
            "story: [{poll: '${project.shop}', expect: {body: {state: succeded}}}]",
            3,
            "succeded",
            "succeeded",
        ),
        (
            "story: [{call: apply_project_dxomains, expect: {status: 202}}]",
            3,
            "apply_project_dxomains",
            "did you mean apply_project_domains?",
        ),
        ("story: [{sign_in: onwer}]", 3, "onwer", "did you mean owner?"),
        ("story: [{call: list_deployments, user: redaer}]", 3, "redaer", "did you mean reader?"),
        ("story: [{call: list_deployments, project: shpo}]", 3, "shpo", "did you mean shop?"),
        (
            "story: [{intervene: {stik_operation: {}}}]",
            3,
            "stik_operation:",
            "did you mean stick_operation?",
        ),
        (
            "story: [{intervene: {set_plan: {organization: acme, plan: gold}}}]",
            3,
            "gold",
            "set_plan.plan: 'gold' is not allowed; the allowed values are free, paid",
        ),
        (
            "story: [{intervene: {set_plan: {organisation: acme, plan: free}}}]",
            3,
            "organisation:",
            "did you mean organization?",
        ),
        (
            "story: [{intervene: {transfer_ownership: {organization: acme, to: membre}}}]",
            3,
            "membre",
            "did you mean member?",
        ),
        (
            "story: [{call: list_deployments, expect: {code: not_found}}]",
            3,
            "not_found",
            "there is no problem code 'not_found'",
        ),
        ("story: [{call: list_deployments, expect: {same_as: x}}]", 3, "x", "saved response 'x'"),
        (
            "story: [{call: list_deployments, expect: {lost: reset}}]",
            3,
            "reset",
            "there is no kind of lost response 'reset'",
        ),
        (
            "story:\n  - call: list_deployments\n    expect:\n      body: {items: ['/(/']}",
            6,
            "'/(/'",
            "not a valid regular expression",
        ),
        (
            "story:\n  - call: list_deployments\n    headers:\n      X-A: x\n      X-B: 1",
            7,
            "1",
            "X-B must be a string, not 1",
        ),
        ("story: [{assume: {token_lifetme: 1h}}]", 3, "token_lifetme:", "did you mean"),
        (
            "story: [{call: create_user_api_key, project: shop, body: {name: x}}]",
            3,
            "project:",
            "create_user_api_key is a call on an organization: remove the project",
        ),
        (
            "story: [{call: list_deployments, user: nobody, interactive: false}]",
            3,
            "interactive:",
            "interactive is an option of a new access token, but this step creates no token",
        ),
        (
            "story: [{call: list_deployments, token: x, organization: acme}]",
            3,
            "organization:",
            "organization is an option of a new access token, but this step creates no token",
        ),
        (
            "story: [{api_key: owner, body: 5}]",
            3,
            "5",
            "the body of api_key must be a mapping with name and permissions",
        ),
        (
            "story: [{api_key: owner, body: {nam: x}}]",
            3,
            "nam:",
            "the body of api_key has no field 'nam'; did you mean name?",
        ),
        (
            "story: [{api_key: owner, body: {zzz: x}}]",
            3,
            "zzz:",
            "has no field 'zzz'; the fields are name and permissions",
        ),
        ("seed: {a: 1}", 3, "seed:", "seed must be a string, not a mapping"),
        ("seed: [a]", 3, "seed:", "seed must be a string, not a list"),
        ("seed: true", 3, "true", "seed must be a string, not true; put it in quotes"),
        (
            f"clock: {{mode: {'x' * 61}}}",
            3,
            "xxx",
            f"mode cannot be '{'x' * 60}'…; it must be one of real, frozen",
        ),
        (f"clock: {{mode: {'x' * 60}}}", 3, "xxx", f"mode cannot be '{'x' * 60}'; it must be one"),
        (
            "story: [{call: list_deployments, expect: {code: {not: '*'}}}]",
            3,
            "code:",
            "no possible problem code matches this expectation",
        ),
        (
            "story: [{call: list_deployments, expect: {status: 200, code: forbidden}}]",
            3,
            "forbidden",
            "a response with a success status has no problem code",
        ),
        (
            "story: [{call: get_dns_authorization, expect: {status: [200, 404], body: {status: 700}}}]",
            3,
            "700",
            "it must be a whole number of at least 400 and at most 599, so it can never be 700",
        ),
        (
            "story: [{call: apply_project_domains, expect: {items: 3}}]",
            3,
            "items:",
            "the response to this call has no items",
        ),
        (
            "story: [{call: list_deployments, expect: {headers: {X-A b: x}}}]",
            3,
            "X-A b:",
            "'X-A b' is not a valid header name",
        ),
        (
            "story: [{call: list_deployments, expect: {headers: {Connection: x}}}]",
            3,
            "Connection:",
            "in a story, responses have no header Connection, because no connection is opened",
        ),
        (
            "story: [{call: list_deployments, expect: {lost: [timeout, null]}, save: {x: id}}]",
            3,
            "lost:",
            "a response that may be lost has no values to save: remove `save` from this step",
        ),
        (
            "story: [{call: list_deployments, expect: {absent: [zzz]}}]",
            3,
            "zzz",
            "the response cannot have the field 'zzz'; the fields are items, next_cursor, type",
        ),
        (
            "story: [{call: list_deployments, expect: {absent: [itms]}}]",
            3,
            "itms",
            "the response cannot have the field 'itms'; did you mean items?",
        ),
        (
            "story: [{call: list_deployments, collect: {x: headers.Allow}}, {check: {x: {has: true}}}]",
            3,
            "true",
            "it must be a string or a number, not true",
        ),
        (
            "story: [{log: {path: '/v1/projects/*/operations/*', count: 0}}]",
            3,
            "'/v1/projects",
            "no request can match, because no call has the path '/v1/projects/*/operations/*'",
        ),
        (
            WORLD
            + "    - {alias: blog, organization: acme}\n"
            + "story: [{call: list_deployments, user: boss}]",
            12,
            "{call:",
            "name the project",
        ),
        (
            WORLD.replace("  projects", "    - {alias: ann}\n  projects") + "story: [{poll: x}]",
            12,
            "{poll:",
            "set `user` to name the user; the world has ann, boss",
        ),
        (
            WORLD.replace("alias: acme", "alias: acme, permissions: [projects.red]"),
            5,
            "projects.red",
            "there is no permission 'projects.red'; did you mean projects.read?",
        ),
        (
            WORLD.replace("acme: owner", "acne: owner"),
            8,
            "acne:",
            "did you mean acme?",
        ),
        (
            WORLD.replace("acme: owner", "acme: boss"),
            8,
            "boss",
            "owner, member",
        ),
        (
            WORLD.replace("alias: site", "alias: Site"),
            10,
            "Site",
            "alias cannot be 'Site': it must be 1 to 41 lowercase letters, digits and",
        ),
        (
            WORLD.replace("alias: site", "alias: site, source_generation: -1"),
            10,
            "-1",
            "source_generation cannot be -1: it must be a whole number >= 0",
        ),
        (
            WORLD.replace("organization: acme", "organization: acm"),
            10,
            "acm",
            "did you mean acme?",
        ),
    ],
)
def test_an_error_names_its_line_path_and_the_nearest_word(rest, line, place, message):
    error = scenario_error(rest)
    stands_there = text_of(rest).splitlines()[error.line - 1][error.column - 1 :]

    assert message in error.message
    assert error.line == line
    assert stands_there.startswith(place)


@pytest.mark.parametrize(
    "step",
    ["poll: op", "until: op", "remove_fault: op", "remove_outcome: op", "redeem: op", "to: op"],
)
def test_a_saved_name_without_its_braces_is_refused_with_the_variable(step: str):
    error = scenario_error(
        f"story:\n  - {{call: apply_project_domains, save: {{op: id}}}}\n  - {step}\n"
    )

    assert "did you mean ${op}?" in error.message
    assert (error.line, error.column) == (5, 5 + step.index("op"))


def test_all_errors_are_reported_at_once_in_the_order_of_the_file():
    shapes = scenario_error(
        """
        clock: {mode: freezed}
        storry: []
        timeline:
          - {at: 1s}
          - {at: 1s, fault: {timeout: }, afterwards: 1}
        story:
          - {call: list_deployments, times: 0}
          - {call: list_deployments, poll: x}
          - {advance: 1s, expect: {}}
        """
    )
    meanings = scenario_error(
        """
        assumptions: {token_lifetme: 1h, rate_limit: fast}
        """
    )
    further = scenario_error(
        """
        faults:
          - {timeout: , project: shpo}
          - {timeout: , call: zzz}
        timeline:
          - {at: later, intervene: {stik_operation: {}}}
        story:
          - {call: list_deployment, user: redaer, expect: {code: nothing}}
          - {poll: "${operation}"}
        """
    )

    assert [error.line for error in (shapes, *shapes.more)] == [3, 4, 6, 7, 9, 10, 11]
    assert [error.line for error in (meanings, *meanings.more)] == [3, 3]
    assert [error.line for error in (further, *further.more)] == [4, 5, 7, 7, 9, 9, 9, 10]
    assert str(shapes).count("\n") == 6
    assert all(line.startswith("small.yaml:") for line in str(shapes).splitlines())


@pytest.mark.parametrize(
    "rest",
    [
        {"story": [{}]},
        {"story": [{"expect": {"status": 200}}]},
        {"story": [{"call": "list_deployments", "poll": "x"}]},
        {"story": [{"advance": "1s", "expect": {"status": 200}}]},
        {"story": [{"note": "x", "key": "y"}]},
        {"story": [{"call": "list_deployments", "expect": {"code": "not_found"}}]},
        {"story": [{"call": "list_deployments", "expect": {"lost": "timeout", "status": 200}}]},
        {"story": [{"call": "list_deployments", "expect": {"lost": ["timeout"], "status": 200}}]},
        {"timeline": [{"at": "1s"}]},
        {"timeline": [{"fault": {"timeout": {}}}]},
        {"timeline": [{"at": "1s", "fault": {"timeout": {}}, "intervene": {}}]},
        {"faults": [{"abort": {"code": "rate_limitd"}}]},
        {"faults": [{"abort": {"code": "forbidden"}, "timeout": {}}]},
    ],
)
def test_the_schema_refuses_each_scenario_that_the_reader_refuses(rest: dict[str, object]):
    document = {"name": "small", "description": "A small one.", **rest}

    assert not schema_check().is_valid(document)
    with pytest.raises(ScenarioError):
        check_text(json.dumps(document), "small.yaml")


def is_in_schema(comparison: dict[str, object]) -> bool:
    """Return whether the schema allows a comparison, for instance of a response's status."""
    story = [{"call": "list_deployments", "expect": {"status": comparison}}]
    document = {"name": "small", "description": "A small one.", "story": story}
    return bool(schema_check().is_valid(document))


@pytest.mark.parametrize(
    ("comparison", "other"),
    [
        ({"item_count": {"of": 1, "is": 1}}, {"item_count": {"of": 1, "is": 1, "more": 1}}),
        ({"item_count": {"at_least": 1}}, {"item_count": {"of": 1}}),
        ({"item_count": 1}, {"item_count": None}),
        ({"sorted_by": {"id": "descending"}}, {"sorted_by": {"id": "down"}}),
        ({"sorted_by": "id"}, {"sorted_by": {}}),
        ({"one_of": [1]}, {"one_of": []}),
        ({"not_in": [1]}, {"not_in": 1}),
        ({"distinct": True}, {"distinct": False}),
        ({"distinct": "id"}, {"distinct": ""}),
        ({"above": 1}, {}),
        ({"above": 1, "below": 3}, {"above": 1, "under": 3}),
    ],
    ids=str,
)
def test_the_schema_knows_the_operands_of_a_comparison(
    comparison: dict[str, object], other: dict[str, object]
):
    assert is_in_schema(comparison)
    assert not is_in_schema(other)


def test_the_schema_accepts_a_valid_step():
    steps = [{"note": "x"}, {"call": "list_deployments", "note": "x", "expect": {"code": None}}]
    document = {"name": "small", "description": "A small one.", "story": steps}

    schema_check().validate(document)


def test_a_list_is_no_scenario():
    with pytest.raises(ScenarioError, match=r"^a\.yaml:1:1: a scenario must be a mapping"):
        check_text("- a\n- b\n", "a.yaml")


def test_a_note_alone_is_a_step():
    assert run("story: [{note: Nothing happens.}]")["passed"] is True


def test_a_note_can_contain_the_syntax_of_a_variable():
    together = "{together: [{call: list_deployments, note: '${b}', times: 2}]}"
    report = run(f"story: [{{note: 'This is ${{a}}.'}}, {together}]")

    assert report["passed"] is True
    assert report["steps"][0]["title"] == "This is ${a}."


def test_a_scenario_without_a_story_passes():
    assert run("")["passed"] is True


def test_a_shared_database_has_one_state():
    text = (
        "name: shared\ndescription: One database for both environments.\nworld:\n"
        "  organizations: [{alias: acme}]\n  users: []\n  projects:\n"
        "    - alias: shop\n      organization: acme\n"
        "      database: {data_mode: shared, dev: ready, prod: suspended}\n"
    )

    with pytest.raises(ScenarioError, match=r"shared\.yaml:9:\d+: both environments share a"):
        check_text(text, "shared.yaml")


@pytest.mark.parametrize("word", schema_check().schema["$defs"]["Intervention"]["properties"])
def test_the_schema_accepts_an_intervention_without_fields(word: str):
    schema = schema_check().schema["$defs"]["Intervention"]["properties"][word]

    assert ("anyOf" in schema) == (not needs_fields(word))


def test_a_bad_name_and_a_bad_expectation_do_not_hide_mistakes_in_the_rest():
    text = """\
name: Many
description: Mistakes of several kinds.
faults:
  - {abort: {code: forbiden}, user: reader}
timeline:
  - {at: 5x, intervene: {hold_clam: {project: shop}}}
story:
  - {call: list_deployments, project: shopp, expect: {bdy: 1, boddy: 2, status: "200"}}
  - {call: list_deployment}
"""
    with pytest.raises(ScenarioError) as caught:
        check_text(text, "small.yaml")

    error = caught.value
    assert [mistake.line for mistake in (error, *error.more)] == [1, 4, 4, 6, 6, 8, 8, 8, 8, 9]


def test_all_errors_of_shape_in_one_entry_are_reported():
    error = scenario_error(
        """
        story:
          - {call: list_deployments, foo: 1, bar: 2, times: many, query: 5, user: 7}
          - {advance: 5}
        """
    )

    assert [mistake.line for mistake in (error, *error.more)] == [4, 4, 4, 4, 4, 5]


def test_a_mistake_that_can_cause_others_is_reported_without_them():
    error = scenario_error(
        """
        story:
          - {call: list_deployments, sav: {x: id}}
          - {poll: "${x}"}
        """
    )

    assert [mistake.message for mistake in (error, *error.more)] == [
        "unknown field 'sav'; did you mean save?"
    ]


def test_a_mistake_is_reported_without_those_after_a_step_that_adds_records():
    error = scenario_error(
        """
        story:
          - {call: list_deployments, user: onwer}
          - intervene: {add: {users: [{alias: ada}]}}
          - {call: list_deployments, user: adda}
        """
    )

    assert [mistake.line for mistake in (error, *error.more)] == [4]


def test_mistakes_in_one_line_are_reported_in_the_order_of_their_columns():
    line = "story: [{call: list_deployments, user: onwer, query: {cursor: '${x}'}}]"

    error = scenario_error(line)

    columns = [line.index("onwer") + 1, line.index("'${x}'") + 1]
    assert [mistake.column for mistake in (error, *error.more)] == columns


def test_mistakes_around_a_step_without_new_records_are_all_reported():
    error = scenario_error(
        """
        story:
          - {call: list_deployments, user: onwer}
          - intervene: {set_plan: {organization: acme, plan: free}}
          - {call: list_deployments, user: adda}
        """
    )

    assert [mistake.line for mistake in (error, *error.more)] == [4, 6]


#: A pattern that would need hours for a word of 26 letters that it does not match.
SLOW_PATTERN = r"'/^(\w|\w\w)+\W$/'"


@pytest.mark.parametrize("step", ["call: list_deployments, expect: {code: %s}", "log: {code: %s}"])
def test_a_pattern_that_takes_too_long_is_refused_at_its_place(step: str):
    error = scenario_error(f"story: [{{{step % SLOW_PATTERN}}}]")

    assert "takes more than 50 ms" in error.message
    assert error.line == 3
    assert error.column > len("story: [{")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: \xff\n", "the file is not UTF-8 text"),
        (None, "the file cannot be read: No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_path(
    tmp_path: Path, content: bytes | None, message: str
):
    path = tmp_path / "my.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ScenarioError) as caught:
        ScenarioLibrary(None).find(str(path))

    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ("", "story"),
        ("seed: a\nparts: [{name: a, steps: [{note: x}]}]\nstory: [{use: a}]", "story"),
        ("world: {organizations: [{alias: studio}]}", "world"),
        ("faults: [{timeout: }]", "world"),
    ],
)
def test_a_scenario_that_changes_nothing_in_the_default_world_is_a_story(rest: str, kind: str):
    scenario = read_scenario(text_of(rest), "small.yaml")

    assert scenario.kind == kind
    assert scenario.row().kind == kind


@pytest.mark.parametrize("length", [80, 81])
def test_a_long_name_of_a_missing_scenario_is_quoted_by_its_first_80_characters(length: int):
    with pytest.raises(ScenarioError) as caught:
        ScenarioLibrary(None).find("a" * length)

    assert caught.value.file == "a" * 80


def test_a_missing_library_has_no_scenarios():
    library = ScenarioLibrary(None)

    assert library.names() == []
    with pytest.raises(ScenarioError, match="no scenario with this name; `hosting-emulator scen"):
        library.find("happy-path")


def test_only_a_valid_text_loses_its_seed():
    assert json.loads(without_seed(text_of("seed: a"))) == {
        "name": "small",
        "description": "A small one.",
    }
    assert without_seed(text_of("")) == text_of("")
    assert without_seed("seed: [") == "seed: ["
