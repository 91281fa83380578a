"""Variation never says what the contract forbids, and leaves no point of its table out."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from hosting_emulator.engine.engine import unvary
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.request_log import exchange_view
from hosting_emulator.variation.points import POINTS
from tests.properties.varied_walk import Walk, varied
from tests.support.in_process import InProcess, fresh_world
from tests.support.sampling import rotating

SEEDS = range(200)
#: Tests that share them: each sees every point.
CHUNKS = 8


@pytest.mark.parametrize("chunk", rotating(range(CHUNKS), 1))
def test_every_varied_answer_is_one_that_the_contract_allows(chunk: int):
    seen: Counter[str] = Counter()
    for number, seed in enumerate(SEEDS[chunk::CHUNKS]):
        # The document's schemas say what the models do, and take ten times as long to check.
        walk = Walk(varied(str(seed)), by_document=number % 12 == 0).whole()
        seen.update(walk.api.engine.log.varied)

    assert set(seen) == set(POINTS)


def test_the_same_seed_and_requests_give_the_same_bytes():
    one, other = (Walk(varied("7"), by_document=False).whole() for _ in range(2))

    assert one.answers == other.answers
    assert Walk(varied("8"), by_document=False).whole().answers != one.answers


def test_every_answer_says_in_the_log_what_was_varied():
    walk = Walk(varied("7"), by_document=False).whole()
    plain = Walk(fresh_world(mode="skip"), by_document=False).whole()
    entries = walk.api.engine.log.newest(1000)[::-1]

    assert walk.api.engine.log.varied == dict(Counter(p for e in entries for p in e.varied))
    assert plain.api.engine.log.varied == {}
    for entry, (_, usual, _) in zip(entries, plain.answers, strict=False):
        if not entry.varied:  # nothing varied: the very bytes of a world that does not
            # but for the request id, which is made of the moment
            assert _without_id(entry.answer) == _without_id(usual)
    steps = Explanations(walk.api.engine.log).steps(
        walk.api.world, next(e for e in entries if e.varied)
    )
    says = [step["says"] for step in steps if step["step"] == "variation"]
    first = next(e for e in entries if e.varied).varied
    assert says == [f"{point}: {POINTS[point].about}." for point in first]


def _without_id(answer: bytes) -> bytes:
    return re.sub(rb'"req_[0-9A-Z]{26}"', b'""', answer)


@pytest.mark.parametrize("point", rotating(POINTS, 10))
def test_only_confines_it_to_a_point_and_draws_what_all_draw(point: str):
    whole: Counter[str] = Counter()
    for seed in range(6):
        walk = Walk(varied(str(seed), point), by_document=False).whole()
        assert set(walk.api.engine.log.varied) <= {point}
        whole.update(walk.api.engine.log.varied)
        if seed and whole:
            break

    assert set(whole) == {point}


def test_a_world_without_variation_answers_the_very_bytes_it_did():
    touched = InProcess(varied("7"))
    unvary(touched.engine)
    plain = InProcess(fresh_world(mode="skip"))

    for api in (touched, plain):
        api.answers = [  # type: ignore[attr-defined]
            *(api.set_flag(True), api.initialize(), api.create_key(), api.apply_domains()),
            *(api.dns(), api.deployments("?limit=9"), api.ticket(), api.compute()),
            *(api.set_flag("x"), api.dns(who=None), api.deployments("?cursor=x")),
        ]

    assert touched.answers == plain.answers  # type: ignore[attr-defined]


def test_a_varied_answer_leaks_no_secret_into_the_log():
    for seed in range(30):
        api = InProcess(varied(str(seed)))
        key = api.create_key().json["value"]
        ticket = api.ticket().json["redeem_url"].partition("ticket=")[2]
        told = str([exchange_view(api.world, entry) for entry in api.engine.log.newest(9)])

        assert key not in told
        assert ticket not in told
