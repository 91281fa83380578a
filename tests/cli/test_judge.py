"""`judge` reads its own options and none of the command's (tests/lab/judge runs it for real)."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import judging, sealing
from hosting_emulator_cli.judging import CommandJudgment
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
