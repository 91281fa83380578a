"""Variation never sends what the contract forbids, and each of its points is drawn."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.properties.varied_walk import Walk
from tests.support.calls import Response
from tests.support.in_process import InProcess, fresh_world
from tests.support.product_tables import variation_points, variation_texts
from tests.support.request_logs import logged_exchanges, varied_counts
from tests.support.sampling import rotating
from tests.support.varied_worlds import new_varied_world

SEEDS = range(200)
#: The tests that share the seeds. Each sees every point.
CHUNKS = 8


def whole_walk(seed: str, *points: str) -> Walk:
    """Walk through a varied world, without the schemas, which take long to check."""
    return Walk(new_varied_world(seed, *points), by_document=False).whole()


def responses_of_each_call(api: InProcess) -> list[Response]:
    """Send each call once, and some that are refused."""
    return [
        api.set_flag(True),
        api.initialize(),
        api.create_key(),
        api.apply_domains(),
        api.dns(),
        api.deployments("?limit=9"),
        api.ticket(),
        api.compute(),
        api.set_flag("x"),
        api.dns(user=None),
        api.deployments("?cursor=x"),
    ]


def without_request_id(body: bytes) -> bytes:
    """Return a body without its request id, which is made of the moment."""
    return re.sub(rb'"req_[0-9A-Z]{26}"', b'""', body)


@pytest.mark.parametrize("chunk", rotating(range(CHUNKS), 1))
def test_every_varied_response_is_one_that_the_contract_allows(chunk: int) -> None:
    counts: Counter[str] = Counter()
    for number, seed in enumerate(SEEDS[chunk::CHUNKS]):
        # The document's schemas say what the models do, and take ten times as long to check.
        walk = Walk(new_varied_world(str(seed)), by_document=number % 12 == 0).whole()
        counts.update(varied_counts(walk.api))

    assert set(counts) == set(variation_points())


def test_the_same_seed_and_requests_give_the_same_bytes() -> None:
    first = whole_walk("7").responses

    assert whole_walk("7").responses == first
    assert whole_walk("8").responses != first


def test_the_log_counts_each_point_at_which_a_response_varied() -> None:
    walk = whole_walk("7")
    exchanges = logged_exchanges(walk.api)

    points = [point for exchange in exchanges for point in exchange["varied"]]
    assert varied_counts(walk.api) == Counter(points) != {}
    plain_walk = Walk(fresh_world(mode="skip"), by_document=False).whole()
    assert varied_counts(plain_walk.api) == {}


def test_a_response_that_varies_at_no_point_is_as_usual_byte_for_byte() -> None:
    usual = responses_of_each_call(InProcess(fresh_world(mode="skip")))
    compared_indexes = set()

    # All points together vary nearly every response.
    for point in variation_points():
        api = InProcess(new_varied_world("7", point))
        responses = responses_of_each_call(api)
        for index, exchange in enumerate(logged_exchanges(api)):
            if not exchange["varied"]:
                body = without_request_id(responses[index].body)
                assert body == without_request_id(usual[index].body), (point, index)
                assert responses[index].status == usual[index].status
                compared_indexes.add(index)

    assert compared_indexes == set(range(len(usual)))


def test_the_explanation_of_a_varied_response_describes_each_point() -> None:
    texts = variation_texts()
    exchanges = logged_exchanges(whole_walk("7").api)
    exchange = next(exchange for exchange in exchanges if exchange["varied"])

    sentences = [step["text"] for step in exchange["trail"] if step["step"] == "variation"]

    assert sentences == [f"{point}: {texts[point]}." for point in exchange["varied"]]


@pytest.mark.parametrize("point", rotating(variation_points(), 10))
def test_a_variation_limited_to_a_point_varies_that_point_and_no_other(point: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range(6):
        walk = whole_walk(str(seed), point)
        assert set(varied_counts(walk.api)) <= {point}
        counts.update(varied_counts(walk.api))
        if seed > 0 and counts:
            break

    assert set(counts) == {point}


def test_a_world_that_no_longer_varies_responds_with_the_usual_bytes() -> None:
    # Ids of deployments vary in a world that begins with a variation, and never change after that.
    api = InProcess(fresh_world(mode="skip"))
    api.vary("7")
    api.unvary()

    usual = responses_of_each_call(InProcess(fresh_world(mode="skip")))

    assert responses_of_each_call(api) == usual


def test_the_log_of_a_varied_response_contains_no_secret() -> None:
    for seed in range(30):
        api = InProcess(new_varied_world(str(seed)))
        key = api.create_key().json["value"]
        ticket = api.ticket().json["redeem_url"].partition("ticket=")[2]
        log = str(logged_exchanges(api))

        assert key not in log
        assert ticket not in log
