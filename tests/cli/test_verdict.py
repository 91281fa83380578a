"""The verdict of `exec` on a run: unfinished requests, and reports on several worlds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk import report_text
from hosting_emulator_cli.verdict import RunVerdict, report_texts


def chapter(index: int) -> Any:
    return SimpleNamespace(index=index, world="w", requests=1, released=False, ended=None)


def verdict_of(*, unfinished: int = 0, chapters: tuple[Any, ...] = ()) -> RunVerdict:
    in_progress = [
        SimpleNamespace(method="GET", path="/v1/x", world="w", n=n)
        for n in range(1, unfinished + 1)
    ]
    report: Any = SimpleNamespace(in_progress=in_progress, chapters=chapters)
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
        ["6 worlds received requests. The reports on the latest 5 follow."] if count == 6 else []
    )
    assert texts == [*remarks, *(f"report {index}" for index in range(count - 5, count))]
