"""The limit on open files is raised as far as the system allows, and other errors are not hidden."""

from __future__ import annotations

import resource
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.http import file_limits
from hosting_emulator.http.file_limits import FileLimitReports, raise_file_limit


class Limits:
    """The limits of a system that accepts no more than `most` files."""

    RLIMIT_NOFILE = resource.RLIMIT_NOFILE
    RLIM_INFINITY = resource.RLIM_INFINITY

    def __init__(self, soft: int, hard: int, most: int) -> None:
        self.limits = (soft, hard)
        self.most = most

    def getrlimit(self, _: int) -> tuple[int, int]:
        return self.limits

    def setrlimit(self, _: int, limits: tuple[int, int]) -> None:
        if limits[0] > self.most:
            raise ValueError("current limit exceeds maximum limit")
        self.limits = limits


@pytest.mark.parametrize(
    ("soft", "hard", "most", "raised"),
    [
        (256, 100_000, 100_000, 65_536),
        (256, resource.RLIM_INFINITY, 10_240, 10_240),
        (256, 4_096, 4_096, 4_096),
        (256, 100_000, 256, 256),
        (70_000, 100_000, 100_000, 70_000),
    ],
)
def test_the_limit_on_open_files_is_raised_as_far_as_the_system_allows(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int, raised: int
):
    limits = Limits(soft, hard, most)
    monkeypatch.setattr(file_limits, "resource", limits)

    raise_file_limit()

    assert limits.limits == (raised, hard)


def test_other_errors_of_the_event_loop_are_not_hidden():
    contexts: list[dict[str, Any]] = []
    loop: Any = SimpleNamespace(default_exception_handler=contexts.append, time=lambda: 0.0)
    reports = FileLimitReports()
    other: dict[str, Any] = {"exception": OSError(5, "Input/output error"), "message": "x"}

    reports(loop, other)
    reports(loop, {"exception": OSError(24, "Too many open files"), "message": "y"})

    assert contexts == [other]
