"""`judge` reads its own options and none of the command's (tests/lab/judge runs it for real)."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import judging, sealing
from hosting_emulator_cli.judging import CommandJudgment
from hosting_emulator_cli.main import Failure
from hosting_emulator_scenarios import FOLDER
from tests.cli.conftest import Run

TRIAL = "create_user_api_key#1/timeout/after_commit"
RULE = "sent-twice-at-once"
SETTINGS = Settings(port=0, data_dir=None, library=FOLDER, clock="skip")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[CommandJudgment]:
    """Replace the judgment: each one is listed and ends with exit code 1."""
    judgments: list[CommandJudgment] = []

    def judge(judgment: CommandJudgment) -> int:
        judgments.append(judgment)
        return 1

    monkeypatch.setattr(judging, "judge", judge)
    return judgments


def test_judge_without_options_uses_the_clock_skip(run: Run, judged: list[CommandJudgment]):
    result = run("judge", "--", "node", "--test")

    assert (result.exit_code, result.output) == (1, "")
    (judgment,) = judged
    assert judgment == CommandJudgment(
        command=("node", "--test"),
        settings=SETTINGS,
        user=None,
        exports=(),
        budget_s=60.0,
        limit_s=None,
        jobs=None,
        severity="warning",
        skip_rules=(),
        trial=None,
        junit_file=None,
        html_file=None,
        as_json=False,
        sealed=False,
        repeat=judgment.repeat,
    )


def test_judge_passes_every_option_on(
    run: Run, judged: list[CommandJudgment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sealed_hosts: list[str] = []
    monkeypatch.setattr(sealing, "seal", sealed_hosts.append)
    files = [tmp_path / name for name in ("junit.xml", "page.html")]
    run(
        *shlex.split(
            "judge --scenario mine.yaml --seed 42 --at 2030-01-31T09:30:00Z "
            "--assume accepted_status=200 --user reader --export HOSTING_BASE_URL=API_URL "
            f"--budget 10m --time-limit 5s -j 3 --severity error --skip-rule {RULE} "
            f"--junit {files[0]} --html {files[1]} --json --sealed -- node"
        )
    )

    (judgment,) = judged
    assert judgment == CommandJudgment(
        command=("node",),
        settings=replace(
            SETTINGS,
            scenario="mine.yaml",
            seed="42",
            at="2030-01-31T09:30:00Z",
            assumptions={"accepted_status": "200"},
        ),
        user="reader",
        exports=(("HOSTING_BASE_URL", "API_URL"),),
        budget_s=600.0,
        limit_s=5.0,
        jobs=3,
        severity="error",
        skip_rules=(RULE,),
        trial=None,
        junit_file=files[0],
        html_file=files[1],
        as_json=True,
        sealed=True,
        repeat=judgment.repeat,
    )
    assert sealed_hosts == ["127.0.0.1"]
    assert judgment.report_files == tuple(files)
    assert judgment.repeat("a trial") == (
        "hosting-emulator judge --scenario mine.yaml --seed 42 --at 2030-01-31T09:30:00Z "
        "--assume accepted_status=200 --user reader --export HOSTING_BASE_URL=API_URL "
        "--time-limit 5s --sealed --trial 'a trial' -- node"
    )


def test_judge_reads_a_trial_and_leaves_a_state_its_clock(
    run: Run, judged: list[CommandJudgment], tmp_path: Path
):
    run("judge", "--trial", TRIAL, "--", "node")
    run("judge", "--import", str(tmp_path / "kept.json"), "--", "node")

    assert [str(judgment.trial) for judgment in judged] == [TRIAL, "None"]
    assert judged[1].settings == replace(SETTINGS, clock=None, state=tmp_path / "kept.json")


# --- The runs -------------------------------------------------------------------------------------


def judge_of(judgment: CommandJudgment, **fields: Any) -> Any:
    return judging._CommandJudge(replace(judgment, **fields))


def test_a_single_trial_prints_the_output_of_the_command_and_the_result(
    run: Run,
    judged: list[CommandJudgment],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    run("judge", "--trial", TRIAL, "--budget", "3s", "--", "node")
    calls: list[object] = []

    def try_once(runs: object, trial: object, *, limit_s: float, severity: str) -> Any:
        calls.append((str(trial), limit_s, severity))
        return SimpleNamespace(printed_lines=["a\x1b", "b"], text="It fails.\x07", exit_code=5)

    monkeypatch.setattr(judging, "try_once", try_once)
    monkeypatch.setattr(judging, "connections_remark", lambda watch: ["It connected."])

    assert judge_of(judged[0], sealed=True)._judge() == 5
    captured = capsys.readouterr()
    assert captured.out == "a\\x1b\nb\n"
    assert captured.err == "It fails.\\x07\nIt connected.\n"
    assert calls == [(TRIAL, 3.0, "warning")]


def test_a_trial_that_the_command_does_not_reach_is_an_error(
    run: Run, judged: list[CommandJudgment], monkeypatch: pytest.MonkeyPatch
):
    run("judge", "--trial", TRIAL, "--", "node")

    def fail(*_: object, **__: object) -> None:
        raise ValueError("there is no such request")

    monkeypatch.setattr(judging, "try_once", fail)

    with pytest.raises(Failure) as caught:
        judge_of(judged[0], sealed=True)._judge()

    assert caught.value.message == "--trial: there is no such request"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            "CleanRunFailed",
            "the command does not end even without failures; judge needs clean runs that succeed. "
            "The command's output is above",
        ),
        (
            "ScaledRunFailed",
            "the command does not end when the world's clock runs, although it succeeds when polling "
            "advances the clock. The command's output is above",
        ),
    ],
)
def test_a_run_that_fails_is_an_error_below_its_output(
    error: str,
    message: str,
    run: Run,
    judged: list[CommandJudgment],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    run("judge", "--", "node")

    class RunFailed(Exception):
        end = SimpleNamespace(hung=False, output=("a line",))
        is_second = False

    def fail() -> None:
        raise RunFailed("does not end")

    monkeypatch.setattr(judging, error, RunFailed)
    judge = judge_of(judged[0])
    judge._judge_all = fail

    with pytest.raises(Failure) as caught:
        judge._judge()

    assert caught.value.message == message
    assert capsys.readouterr().err == "| a line\n"


def test_a_judgment_is_limited_by_the_options_and_reports_connections(
    run: Run,
    judged: list[CommandJudgment],
    monkeypatch: pytest.MonkeyPatch,
):
    run("judge", "--severity", "error", "--budget", "3s", "--", "node", "a b")

    @dataclass(frozen=True)
    class Judgment:
        remarks: tuple[str, ...] | list[str]
        exit_code: int = 4

    judges: list[Any] = []

    def client_judge(runs: object, choices: object, listener: object, stop_reason: Any) -> Any:
        judges.append(choices)
        assert stop_reason() == ""
        return SimpleNamespace(judge=lambda: Judgment(("a remark",)))

    monkeypatch.setattr(judging, "ClientJudge", client_judge)
    monkeypatch.setattr(judging, "connections_remark", lambda watch: ["It connected."])
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    judge = judge_of(judged[0], sealed=True)
    reported: list[Judgment] = []
    judge._write_reports = reported.append

    assert judge._judge() == 4

    [choices] = judges
    assert (choices.command, choices.budget_s, choices.severity) == ("node 'a b'", 3.0, "error")
    assert (choices.jobs, choices.processors) == (24, 3)
    assert reported == [Judgment(["a remark", "It connected."])]
