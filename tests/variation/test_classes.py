"""Variation shows every member of a class of responses, and keeps a choice within its scope."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.variation.draws import draw_index, objects_in
from hosting_emulator.variation.extra_members import EXTRA_MEMBERS
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.timestamp_forms import FRACTION_DIGITS, OFFSETS, respell
from hosting_emulator.variation.worlds import STATUSES
from tests.support.calls import Response
from tests.support.in_process import InProcess
from tests.support.varied_worlds import new_varied_world

SEEDS = range(1, 201)
#: Enough seeds for what is drawn many times with each.
FEW_SEEDS = range(1, 25)


def worlds(*points: str, seeds: range = SEEDS) -> Iterator[InProcess]:
    """Yield a varied world for each seed."""
    for seed in seeds:
        yield InProcess(new_varied_world(str(seed), *points))


def followed(api: InProcess) -> list[dict[str, Any]]:
    """Start an operation and poll it to its end. Return all documents that show it."""
    documents = [api.initialize().json]
    while documents[-1]["state"] in ("queued", "running"):
        documents.append(api.poll(documents[0]["id"]).json)
    return documents


# --- Seeds take turns --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_as_many_consecutive_seeds_as_there_are_choices_draw_each_choice_once(count: int):
    for first in (1, 1 + count, 1 + 10 * count):
        seeds = range(first, first + count)
        drawn = [draw_index(str(seed), count, "page-size", "x") for seed in seeds]
        assert sorted(drawn) == list(range(count))


def test_a_seed_of_letters_draws_every_choice():
    assert {draw_index(f"seed {n}", 3, "page-size") for n in range(40)} == {0, 1, 2}


def test_two_points_do_not_always_vary_together():
    pairs = {(draw_index(str(n), 2, "a"), draw_index(str(n), 2, "b")) for n in range(1, 60)}

    assert len(pairs) == 4


# --- Every member of a class occurs ------------------------------------------------------------------

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def test_every_offset_and_every_number_of_fraction_digits_occurs():
    offsets = set()
    digits = set()
    for api in worlds("timestamp-form"):
        for item in api.deployments("?limit=3").json["items"]:
            match = _TIMESTAMP.fullmatch(item["created_at"])
            assert match is not None, item["created_at"]
            digits.add(len(match[1] or ""))
            offsets.add(match[2])

    assert offsets == set(OFFSETS)
    assert digits == set(FRACTION_DIGITS) == set(range(10))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("text", ["2026-01-01T00:00:00.000Z", "2026-02-28T23:59:59.120Z"])
def test_a_timestamp_keeps_its_moment_in_every_form(offset: str, text: str):
    for digits in FRACTION_DIGITS:
        assert parse_timestamp(respell(text, offset, digits)) == parse_timestamp(text)


def test_a_fraction_has_the_digits_that_its_moment_needs():
    assert respell("2026-01-01T00:00:00.120Z", "Z", 0) == "2026-01-01T00:00:00.12Z"
    assert respell("2026-01-01T00:00:00.000Z", "-03:00", 0) == "2025-12-31T21:00:00-03:00"
    assert respell("2026-01-01T00:00:00.007Z", "+05:30", 9) == "2026-01-01T05:30:00.007000000+05:30"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("1970-01-01T23:59:59.999Z", "1970-01-01T23:59:59.999Z"),
        ("1970-01-02T00:00:00.000Z", "1970-01-01T21:00:00-03:00"),
    ],
)
def test_a_timestamp_on_the_first_day_keeps_its_form(text: str, changed: str):
    assert respell(text, "-03:00", 0) == changed


def test_every_page_size_from_one_to_the_limit_occurs():
    sizes = set()
    for api in worlds("page-size"):
        sizes.add(len(api.deployments("?limit=12").json["items"]))

    assert sizes == set(range(1, 13))


def test_every_length_of_a_cursor_occurs():
    lengths = {
        len(api.deployments("?limit=3").json["next_cursor"]) for api in worlds("cursor-form")
    }

    assert {length - 16 for length in lengths} == {0, 1, 6, 20, 48, 80, 300, 480}


def test_every_field_that_may_be_absent_gets_its_turn():
    absent: set[tuple[str, str]] = set()
    for api in worlds("absent-fields"):
        for name, document in _documents(api):
            for part in objects_in(name, document):
                kind = part.resource.name
                omissible = set(part.resource.omissible_fields)
                absent |= {(kind, field) for field in omissible - set(part.members)}

    assert absent == {
        (name, field) for name, resource in RESOURCES.items() for field in resource.omissible_fields
    }


def _documents(api: InProcess) -> list[tuple[str, Any]]:
    """Return documents that together have every field of every resource."""
    documents = [("Operation", document) for document in followed(api)]
    waiting = api.apply_domains()
    blocked = api.initialize(2).json
    api.intervene("require_reconciliation", operation=waiting.json["id"])
    documents += [("Operation", api.poll(waiting.json["id"]).json), ("Operation", blocked)]
    documents.append(("UserApiKeyCreation", api.create_key().json))
    documents.append(("DeploymentPage", api.deployments().json))
    documents.append(("DevAccessTicket", api.ticket().json))
    documents.append(("DatabaseCompute", api.compute("?environment=prod").json))
    return documents


def test_every_unknown_member_occurs():
    names = set()
    for api in worlds("extra-fields", "problem-extras"):
        document = api.compute().json
        names |= set(document) - RESOURCES["DatabaseCompute"].names
        problem = api.dns(user=None).json
        names |= set(problem) - RESOURCES["ProblemDetails"].names

    assert names == {name for name, _ in EXTRA_MEMBERS}


def test_unknown_members_have_every_json_type_and_are_nested():
    values = [value for _, value in EXTRA_MEMBERS]

    assert {type(value) for value in values} == {int, float, bool, str, list, dict, type(None)}
    assert any("[[" in json.dumps(value) for value in values)
    assert any(isinstance(value, dict) and value for value in values)


@pytest.mark.parametrize("code", STATUSES)
def test_every_status_of_a_problem_occurs(code: str):
    statuses = set()
    for api in worlds("problem-status", seeds=FEW_SEEDS):
        drawn = api.world.assumptions.problem_statuses
        statuses.add(drawn.get(code, PROBLEMS[code].status))

    assert statuses == {PROBLEMS[code].status, *STATUSES[code]}


def test_every_unknown_phase_occurs():
    phases = set()
    for api in worlds("unknown-phase"):
        phases |= {document.get("progress", {}).get("phase") for document in followed(api)}

    assert set(POINTS["unknown-phase"].words[0].others) <= phases


def test_the_result_of_an_operation_has_contents_of_different_shapes():
    usual = InProcess(new_varied_world("1", "page-size"))
    shapes = {tuple(followed(api)[-1]["result"]) for api in worlds("result-content")}

    assert tuple(followed(usual)[-1]["result"]) in shapes
    assert {(), ("outcome", "warnings"), ("log",)} < shapes


def test_every_time_until_the_next_poll_occurs():
    seconds = set()
    for api in worlds("next-poll"):
        for document in followed(api):
            seconds.add(document.get("progress", {}).get("next_poll_after_seconds"))

    assert {0, 1, 2, 3, 5, 10, 20, 30, 60} <= seconds


def test_every_spelling_of_a_response_keeps_its_content():
    usual = InProcess(new_varied_world("1", "page-size")).dns()
    bodies = set()
    for api in worlds("key-order", "json-whitespace", "json-escapes"):
        response = api.dns()
        assert response.json == usual.json
        bodies.add(response.body)

    assert len(bodies) > 60
    assert any(body.endswith(b"\n" * 20) for body in bodies)


def test_a_slash_may_be_escaped_but_a_timestamp_is_not():
    """Go reads no timestamp with escapes, and no library writes one."""
    bodies = [api.deployments().body for api in worlds("json-escapes")]

    assert any(rb"https:\/\/" in body for body in bodies)
    assert all(b'"created_at":"2025-' in body for body in bodies)


def test_parameters_of_the_media_type_occur_quoted_and_in_every_case():
    types = {api.dns().headers["Content-Type"] for api in worlds("content-type-parameter")}

    assert {text.partition(";")[0].strip() for text in types} == {"application/json"}
    assert 'application/json ; CHARSET="UTF-8"' in types
    assert "application/json" in types
    assert len(types) == 8


def test_texts_of_problems_may_be_long_and_need_not_be_ascii():
    problems = [api.dns(user=None).json for api in worlds("problem-wording")]

    for member in ("title", "detail", "suggested_action"):
        texts = [problem[member] for problem in problems if member in problem]
        assert any(len(text) > 1000 for text in texts)
        assert any(not text.isascii() for text in texts)
    assert any("detail" not in problem for problem in problems)
    assert "" in {problem.get("detail") for problem in problems}


# --- A choice lasts ----------------------------------------------------------------------------------

#: The points that a service chooses anew for each response.
EACH_TIME = ("page-size", "problem-wording", "problem-extras", "request-id-on-success")


def test_a_world_writes_the_same_response_in_the_same_way_each_time():
    points = [point for point in POINTS if point not in EACH_TIME]
    for seed in FEW_SEEDS:
        api = InProcess(new_varied_world(str(seed), *points, mode="frozen"))
        for call in (api.dns, api.deployments, api.compute):
            responses = [call() for _ in range(4)]
            assert len({response.body for response in responses}) == 1
            assert len({_header_text(response) for response in responses}) == 1


def _header_text(response: Response) -> str:
    return str(sorted((name, value) for name, value in response.headers.items() if name != "Date"))


def test_an_operation_shows_the_same_fields_and_next_poll_at_each_poll():
    points = ("absent-fields", "progress-absent", "next-poll", "extra-fields", "unknown-phase")
    shapes: Counter[bool] = Counter()
    for seed in FEW_SEEDS:
        api = InProcess(new_varied_world(str(seed), *points, mode="frozen"))
        operation_id = api.apply_domains().json["id"]
        documents = [api.poll(operation_id).json for _ in range(5)]
        assert len({json.dumps(document) for document in documents}) == 1
        shapes["progress" in documents[0]] += 1

    assert min(shapes[True], shapes[False]) > 3


def test_an_operation_that_starts_running_is_never_queued():
    first_states: Counter[str] = Counter()
    for api in worlds("starts-running", seeds=FEW_SEEDS):
        states = list(dict.fromkeys(document["state"] for document in followed(api)))
        first_states[states[0]] += 1
        assert states in (["queued", "running", "succeeded"], ["running", "succeeded"])

    assert min(first_states["queued"], first_states["running"]) > 3


def test_an_operation_that_waits_for_another_one_stays_queued():
    for api in worlds("starts-running", seeds=FEW_SEEDS):
        api.initialize()
        waiting = api.apply_domains().json
        assert "blocking_operation_id" in waiting
        assert waiting["state"] == "queued"


def test_a_replay_shows_the_same_first_state():
    for api in worlds("starts-running", seeds=FEW_SEEDS):
        states = [api.apply_domains(key="k").json["state"] for _ in range(2)]
        assert states[0] == states[1]


def test_a_time_until_the_next_poll_lasts_for_the_operation():
    for api in worlds("next-poll", seeds=FEW_SEEDS):
        drawn = set()
        for document in followed(api):
            exchange_varied = "next-poll" in api.engine.log.newest(1)[0].varied
            if "progress" in document and exchange_varied:
                drawn.add(document["progress"]["next_poll_after_seconds"])
        assert len(drawn) <= 1


def test_two_problems_of_one_code_have_one_title():
    for api in worlds("problem-wording", seeds=FEW_SEEDS):
        problems = [api.dns(user=None).json for _ in range(5)]
        assert len({(problem["title"], problem["suggested_action"]) for problem in problems}) == 1


def test_a_world_may_have_a_form_of_timestamps_for_each_field_or_object():
    kinds: Counter[tuple[bool, bool]] = Counter()
    for api in worlds("timestamp-form"):
        items = api.deployments("?limit=9").json["items"]
        form_rows = [(_form(item["created_at"]), _form(item["updated_at"])) for item in items]
        by_field = any(created != updated for created, updated in form_rows)
        by_object = len(set(form_rows)) > 1
        kinds[by_field, by_object] += 1

    assert {(False, False), (True, False), (False, True)} <= set(kinds)


def _form(text: str) -> str:
    match = _TIMESTAMP.fullmatch(text)
    assert match is not None
    return match[2]
