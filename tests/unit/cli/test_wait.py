"""`wait` ends as soon as the emulator answers, and with exit code 1 when time is over."""

import itertools

import pytest

from hosting_emulator_cli.commands.status import POLL_S, wait_until
from hosting_emulator_cli.groups import Failure
from tests.unit.sdk.fake_control import FakeControl, Says


class MachineTime:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.at = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def fail_times(times: float):
    attempts = itertools.count(1)

    def attempt(timeout_s: float) -> None:
        number = next(attempts)
        if number <= times:
            raise Failure(f"not yet ({number})")

    return attempt


def test_up_at_once_sleeps_never():
    time = MachineTime()

    assert wait_until(fail_times(0), timeout_s=30, now=time.now, sleep=time.sleep) is None
    assert time.slept == []


def test_polls_every_50_ms_until_up():
    time = MachineTime()

    assert wait_until(fail_times(3), timeout_s=30, now=time.now, sleep=time.sleep) is None
    assert time.slept == [POLL_S] * 3 == [0.05] * 3


def test_gives_the_last_reason_when_time_is_over():
    time = MachineTime()

    reason = wait_until(fail_times(999), timeout_s=0.12, now=time.now, sleep=time.sleep)

    assert reason == "not yet (4)"
    assert sum(time.slept) == pytest.approx(0.12)


def test_no_time_is_one_attempt():
    time = MachineTime()

    assert wait_until(fail_times(1), timeout_s=0, now=time.now, sleep=time.sleep) == "not yet (1)"


def test_an_attempt_may_hang_only_as_long_as_there_is_time():
    time = MachineTime()
    allowed: list[float] = []

    def hang(timeout_s: float) -> None:
        allowed.append(timeout_s)
        time.sleep(timeout_s)
        raise Failure("no answer")

    wait_until(hang, timeout_s=3, now=time.now, sleep=time.sleep)

    assert allowed == pytest.approx([2.0, 0.95])
    assert time.at == pytest.approx(103)


def test_wait_says_nothing_when_up(ask, control: FakeControl):
    control.on("GET /health", {"status": "ok", "version": "0.1.0"})

    result = ask("wait", "--timeout", "10s")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_wait_fails_with_one_line(ask, control: FakeControl):
    control.on("GET /health", Says({"title": "Starting"}, 503))

    result = ask("wait", "--timeout", "0s")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: Starting\n"


def test_wait_goes_on_while_the_emulator_comes_up(ask, control: FakeControl):
    control.on(
        "GET /health",
        Says({"title": "Starting"}, 503),
        Says(text="<html>", content_type="text/html"),
        {"status": "ok"},
    )

    assert ask("wait", "--timeout", "10s").exit_code == 0
    assert len(control.asked) == 3
