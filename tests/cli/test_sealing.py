"""`--sealed` is refused where there is no network to seal (tests/doors/cli seals for real)."""

from __future__ import annotations

import errno
import os

import pytest

from hosting_emulator_cli import execution, exploration, judging, sealing
from hosting_emulator_cli.exploration import CommandExploration
from hosting_emulator_cli.judging import CommandJudgment

COMMANDS = ("exec", "explore", "judge")


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test fail that starts an emulator, or that seals the process of the tests."""

    def fail(*_: object) -> None:
        pytest.fail("must not be called")

    monkeypatch.setattr(execution, "execute", fail)
    monkeypatch.setattr(exploration, "explore", fail)
    monkeypatch.setattr(judging, "judge", fail)
    monkeypatch.setattr(sealing, "enter_namespaces", fail)
    monkeypatch.setattr(sealing, "start_loopback", fail)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EPERM, "not permitted. Many containers refuse namespaces"),
        (errno.ENOSPC, "user.max_user_namespaces"),
        (errno.EINVAL, os.strerror(errno.EINVAL)),
    ],
)
def test_a_system_without_namespaces_is_an_error_with_the_reason(
    run, monkeypatch: pytest.MonkeyPatch, command: str, number: int, reason: str
) -> None:
    def refuse() -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(sealing, "enter_namespaces", refuse)
    result = run(command, "--sealed", "--", "true")

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: --sealed needs a new user namespace")
    assert reason in result.stderr
    assert "omit --sealed" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_loopback_that_does_not_start_is_an_error(
    run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def refuse() -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(sealing, "enter_namespaces", lambda: None)
    monkeypatch.setattr(sealing, "start_loopback", refuse)
    result = run(command, "--sealed", "--", "true")

    assert (result.exit_code, "not permitted" in result.stderr) == (2, True)


@pytest.mark.parametrize("command", COMMANDS)
def test_another_system_than_linux_is_an_error(
    run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    result = run(command, "--sealed", "--", "true")

    assert (result.exit_code, "requires Linux namespaces" in result.stderr) == (2, True)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "emulator.example"])
def test_a_sealed_emulator_listens_only_on_loopback(run, host: str) -> None:
    result = run("exec", "--sealed", "--host", host, "--", "true")

    assert (result.exit_code, f"at {host}" in result.stderr) == (2, True)


@pytest.mark.parametrize("command", COMMANDS)
def test_another_emulator_cannot_be_sealed(run, command: str) -> None:
    result = run(command, "--sealed", "--url", "http://127.0.0.1:4620", "--", "true")

    assert (result.exit_code, "No such option '--url'" in result.stderr) == (2, True)


@pytest.fixture
def sealed_hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the sealing: list the hosts with which it is called."""
    hosts: list[str] = []
    monkeypatch.setattr(sealing, "seal", hosts.append)
    return hosts


def test_the_line_that_repeats_a_trial_is_sealed_too(
    run, monkeypatch: pytest.MonkeyPatch, sealed_hosts: list[str]
) -> None:
    judgments: list[CommandJudgment] = []

    def judge(judgment: CommandJudgment) -> int:
        judgments.append(judgment)
        return 0

    monkeypatch.setattr(judging, "judge", judge)
    result = run("judge", "--sealed", "--", "true")

    assert (result.exit_code, sealed_hosts) == (0, ["127.0.0.1"])
    assert judgments[0].repeat("clean") == "hosting-emulator judge --sealed --trial clean -- true"


def test_the_lines_of_a_sealed_exploration_are_sealed_too(
    run, monkeypatch: pytest.MonkeyPatch, sealed_hosts: list[str]
) -> None:
    explorations: list[CommandExploration] = []

    def explore(exploration: CommandExploration) -> int:
        explorations.append(exploration)
        return 0

    monkeypatch.setattr(exploration, "explore", explore)
    trial = "list_deployments#1/timeout/before_commit"
    result = run("explore", "--sealed", "--trial", trial, "--", "true")

    assert (result.exit_code, sealed_hosts) == (0, ["127.0.0.1"])
    (sealed,) = explorations
    assert sealed.point is not None
    line = sealed.repeat(sealed.point)
    assert line == f"hosting-emulator explore --sealed --trial '{trial}' -- true"
    assert sealed.repeat_clean.startswith("hosting-emulator exec --sealed ")
