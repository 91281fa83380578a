"""The rate limit: so many requests in a window of world time, for each principal."""

import pytest

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import RateLimiter

START_MS = 1_000_000


@pytest.fixture
def limiter():
    return RateLimiter()


def limit(setting):
    return Assumptions(rate_limit=setting)


def refused(limiter, now_ms, who="me", setting="3/10s"):
    with pytest.raises(Refused) as found:
        limiter.count(limit(setting), who, now_ms)
    assert found.value.code == "rate_limited"
    return found.value.retry_after_seconds


def test_one_too_many_is_told_when_to_come_back(limiter):
    for _ in range(3):
        limiter.count(limit("3/10s"), "me", START_MS)

    assert refused(limiter, START_MS) == 10
    assert refused(limiter, START_MS + 9_001) == 1
    assert refused(limiter, START_MS + 9_999) == 1

    limiter.count(limit("3/10s"), "me", START_MS + 10_000)


def test_who_comes_back_when_told_is_let_in(limiter):
    for _ in range(3):
        limiter.count(limit("3/10s"), "me", START_MS)
    wait = refused(limiter, START_MS + 1_234)

    limiter.count(limit("3/10s"), "me", START_MS + 1_234 + wait * 1_000)


def test_principals_do_not_count_for_each_other(limiter):
    for _ in range(3):
        limiter.count(limit("3/10s"), "me", START_MS)

    limiter.count(limit("3/10s"), "you", START_MS)


def test_off_is_off(limiter):
    for _ in range(1_000):
        limiter.count(limit("off"), "me", START_MS)


def test_a_day_is_the_longest_wait(limiter):
    limiter.count(limit("1/24h"), "me", START_MS)

    assert refused(limiter, START_MS, setting="1/24h") == 86_400
