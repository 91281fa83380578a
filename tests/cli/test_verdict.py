"""The verdict of `exec` on a run: unfinished requests, and reports on several worlds."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk import ConductFinding, ConductReport, report_text
from hosting_emulator_cli import verdict as verdict_module
from hosting_emulator_cli.verdict import RunVerdict, keep_worlds, report_texts


def chapter(index: int, world: str = "w", **fields: Any) -> Any:
    values = {"requests": 1, "released": False, "ended": None, "conduct": conduct_of(), **fields}
    return SimpleNamespace(index=index, world=world, **values)


def conduct_of(*severities: Any, **fields: Any) -> ConductReport:
    """Return a conduct report with a finding of each severity."""
    findings = [
        ConductFinding(
            rule="poll-early",
            severity=severity,
            title="It polls early",
            message="It polled early.",
            requests=[number],
            more_requests=0,
            at="2026-01-01T00:00:00.000Z",
            because="The contract says so.",
            place="Section 1",
            matters="It harms.",
            instead="Wait.",
        )
        for number, severity in enumerate(severities, 1)
    ]
    values: dict[str, Any] = {"judged": 5, "unseen": 0, "remarks": [], "complete": True}
    values |= {"counts": {}, "skipped_rules": [], "errors": [], "findings": findings, **fields}
    return ConductReport(**values)


def verdict_of(*, unfinished: int = 0, chapters: tuple[Any, ...] = ()) -> RunVerdict:
    in_progress = [
        SimpleNamespace(method="GET", path="/v1/x", world="w", n=n)
        for n in range(1, unfinished + 1)
    ]
    report: Any = SimpleNamespace(
        in_progress=in_progress,
        chapters=chapters,
        errors=["a judge failed"],
        requests=len(chapters),
        remarks=["The log was full."],
    )
    return RunVerdict(report)


@pytest.mark.parametrize(
    ("count", "ending"),
    [(5, "GET /v1/x (world w, #5)."), (7, "GET /v1/x (world w, #5), and 2 more.")],
)
def test_five_unfinished_requests_are_named_and_the_others_counted(count: int, ending: str):
    text = verdict_of(unfinished=count).in_progress_text()

    assert text.startswith(
        "Requests without a response when the command ended: GET /v1/x (world w, #1)"
    )
    assert text.endswith(ending)
    assert text.count("world w") == 5


@pytest.mark.parametrize("count", [5, 6])
def test_only_the_latest_five_worlds_are_reported(monkeypatch: pytest.MonkeyPatch, count: int):
    monkeypatch.setattr(report_text, "report_text", lambda report, **_: f"report {report}")
    monkeypatch.setattr(report_text, "without_commands", lambda report: report)
    chapters = tuple(chapter(index) for index in range(count))
    observation: Any = SimpleNamespace(world_report=lambda index, **_: index)

    texts = list(report_texts(verdict_of(chapters=chapters), observation, color=False))

    remarks = (
        ["6 worlds received requests. The reports on the 5 most recently created ones follow."]
        if count == 6
        else []
    )
    assert texts == [*remarks, *(f"report {index}" for index in range(count - 5, count))]


def test_the_reports_name_worlds_that_have_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(report_text, "report_text", lambda report, color: f"{report}, {color}")
    monkeypatch.setattr(report_text, "without_commands", lambda report: f"{report} only")
    chapters = (
        chapter(0, "default", requests=0),
        chapter(1, "shop", ended="reset"),
        chapter(2, "blog", released=True),
    )
    observation: Any = SimpleNamespace(
        world_report=lambda index, requests: f"world {index}, {requests} requests"
    )

    ended = list(report_texts(verdict_of(chapters=chapters), observation, color=True))
    idle = list(report_texts(verdict_of(chapters=chapters[::2]), observation, color=False))

    assert ended == ["world shop (reset)\nworld 1, 1000 requests only, True"]
    assert idle == ["world 0, 1000 requests only, False"]


# --- Conduct --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("severities", "has_findings", "is_bad"),
    [((), False, False), (("note",), True, False), (("note", "warning"), True, True)],
)
def test_a_run_is_bad_from_a_warning_on(
    severities: tuple[str, ...], has_findings: bool, is_bad: bool
):
    verdict = verdict_of(chapters=(chapter(0), chapter(1, conduct=conduct_of(*severities))))

    assert (verdict.has_findings, verdict.is_bad) == (has_findings, is_bad)
    assert verdict.errors == ["a judge failed"]
    assert verdict.has_requests
    assert not verdict_of().has_requests


FINDING = """\
conduct: 1 finding (1 warning) in 5 requests

warning: It polls early [poll-early]
    #1: It polled early.
    why      It harms. “The contract says so.” (Section 1)
    instead  Wait."""


def test_findings_are_listed_by_world_unless_only_the_default_world_has_some():
    warning = {"conduct": conduct_of("warning")}
    current = chapter(0, "default", **warning)
    ended = chapter(1, "default", ended="reset", **warning)
    shop = chapter(2, "shop", **warning)
    idle = chapter(3, "idle")

    assert verdict_of(chapters=(current, idle)).conduct_text() == FINDING
    assert verdict_of(chapters=(ended, idle)).conduct_text() == f"world default (reset)\n{FINDING}"
    assert verdict_of(chapters=(idle, shop)).conduct_text() == f"world shop\n{FINDING}"
    assert verdict_of(chapters=(current, shop)).conduct_text() == (
        f"world default\n{FINDING}\n\nworld shop\n{FINDING}"
    )
    assert "\x1b[" in verdict_of(chapters=(shop,)).conduct_text(color=True)


def test_a_run_without_findings_has_one_report_with_each_remark_once():
    conducts = [conduct_of(judged=2, remarks=["Twice."]), conduct_of(judged=3, remarks=["Twice."])]
    chapters = tuple(chapter(n, conduct=conduct) for n, conduct in enumerate(conducts))

    assert verdict_of(chapters=chapters).conduct_text().splitlines() == [
        "conduct: no findings in 5 requests",
        "Twice.",
        "The log was full.",
    ]


# --- Kept worlds ----------------------------------------------------------------------------------


def test_the_main_chapter_is_the_default_world_unless_only_others_received_requests():
    ended = chapter(0, "default", ended="reset")
    default = chapter(1, "default")
    idle_default = chapter(2, "default", requests=0)
    shop = chapter(3, "shop")
    released = chapter(4, "blog", released=True)

    assert verdict_of(chapters=(ended, default, shop)).main_chapter() is default
    assert verdict_of(chapters=(ended, idle_default)).main_chapter() is ended
    assert verdict_of(chapters=(ended, idle_default, shop)).main_chapter() is shop
    assert verdict_of(chapters=(idle_default, released)).main_chapter() is idle_default


def test_the_main_world_and_the_latest_others_are_kept_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(verdict_module, "MOST_KEPT", 2)
    chapters = (
        chapter(0, "left-out"),
        chapter(1, "default"),
        chapter(2, "shop", ended="deleted"),
        chapter(3, "blog"),
    )
    observation: Any = SimpleNamespace(state=lambda index: {"chapter": index})
    path = tmp_path / "world.json"

    main, others = keep_worlds(verdict_of(chapters=chapters), observation, path)

    assert main == path
    assert others == [tmp_path / "world.shop-deleted-2.json", tmp_path / "world.blog-3.json"]
    assert [json.loads(file.read_text()) for file in (main, *others)] == [
        {"chapter": index} for index in (1, 2, 3)
    ]
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 3
