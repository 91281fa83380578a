"""Clocks that are off: the identity provider's, and that of the Date headers."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.http_world import HttpWorld
from tests.support.stories import run, scenario_error, verdict_of

NOW_S = 1_767_225_600  # 2026-01-01T00:00:00Z, where a frozen clock begins


def read_with_new_token(api: HttpWorld, lifetime_s: int = 3600) -> Any:
    """Read the DNS authorization with a token that is issued now."""
    token = api.emulator.mint_token("owner", lifetime=lifetime_s).access_token
    return api.dns(user=None, token=token)


def date_s(response: Any) -> int:
    """Return the time of a response's Date header, in seconds since 1970."""
    return int(parsedate_to_datetime(response.headers["Date"]).timestamp())


def test_a_token_of_a_clock_that_is_ahead_is_valid_when_world_time_catches_up(api: HttpWorld):
    api.intervene("skew_clock", tokens="5m")
    token = api.emulator.mint_token("owner", lifetime="1h").access_token

    early = api.dns(user=None, token=token)
    api.advance("5m")

    assert early.status == 401
    assert api.dns(user=None, token=token).status == 200


def test_a_token_of_a_clock_that_is_behind_lives_shorter(api: HttpWorld):
    api.intervene("skew_clock", tokens="-1h")

    assert read_with_new_token(api, lifetime_s=3600).status == 401
    assert read_with_new_token(api, lifetime_s=3601).status == 200


def test_a_skew_outlasts_the_moves_of_the_clock_and_ends_with_0s(api: HttpWorld):
    api.intervene("skew_clock", tokens="5m", date="-10m")
    api.advance("1h")
    api.emulator.clock.set(mode="scaled", rate=0.001)
    skewed = read_with_new_token(api)
    api.intervene("skew_clock", tokens="0s", date="0s")

    assert skewed.status == 401
    assert date_s(skewed) == NOW_S + 3600 - 600
    assert read_with_new_token(api).status == 200


def test_the_two_clocks_are_skewed_apart_from_each_other(api: HttpWorld):
    api.intervene("skew_clock", date="-10m")
    api.intervene("skew_clock", tokens="1s")

    assert date_s(api.dns()) == NOW_S - 600
    assert read_with_new_token(api).status == 401


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "tokens"),
        ({"tokens": "soon"}, "tokens"),
        (
            {"tokens": "${x}"},
            "write 5m for a clock that is ahead, or -2h for a clock that is behind",
        ),
        ({"date": "-367d"}, "date"),
    ],
)
def test_a_skew_that_is_none_is_refused_with_its_field(
    api: HttpWorld, fields: dict[str, str], field: str
):
    with pytest.raises(ControlRefused, match=field):
        api.intervene("skew_clock", **fields)


def test_a_story_sees_the_skewed_date_at_each_time_of_the_timeline():
    timeline = "timeline: [{at: 1m, intervene: {skew_clock: {date: 1h}}}]"

    report = run(
        f"""
        {timeline}
        story:
          - {{call: list_deployments, expect: {{headers: {{Date: "${{now}}"}}}}}}
          - advance: 1m
          - {{call: list_deployments, expect: {{headers: {{Date: "${{now+1h}}"}}}}}}
          - advance: 1m
          - {{call: list_deployments, expect: {{headers: {{Date: {{above: "${{now+59m}}"}}}}}}}}
        """
    )

    assert report["passed"], report["steps"]


def test_an_impossible_skew_is_refused_where_it_is_written():
    line = "story: [{intervene: {skew_clock: {tokens: soon}}}]"

    error = scenario_error(line)

    assert "such as 5m or -2h" in error.message
    assert (error.line, error.column) == (3, line.index("soon") + 1)


def test_a_skew_may_be_a_variable_of_the_story():
    story: list[dict[str, Any]] = [
        {"call": "list_deployments", "save": {"id": "items.0.id"}},
        {"intervene": {"skew_clock": {"tokens": "${id}"}}},
    ]

    assert verdict_of(story) == "red"
