"""The limit on open files is raised as far as the system allows, and reported when it is reached."""

from __future__ import annotations

import errno
import resource
from typing import Any

import pytest

from hosting_emulator.http import file_limits
from hosting_emulator.http.file_limits import FileLimitReports, raise_file_limit


class Limits:
    """The limits of a system that accepts no more than `most` files."""

    RLIMIT_NOFILE = resource.RLIMIT_NOFILE
    RLIM_INFINITY = resource.RLIM_INFINITY

    def __init__(self, soft: int, hard: int, most: int, error: Exception) -> None:
        self.limits = (soft, hard)
        self.most = most
        self.error = error

    def getrlimit(self, _: int) -> tuple[int, int]:
        return self.limits

    def setrlimit(self, _: int, limits: tuple[int, int]) -> None:
        if limits[0] > self.most:
            raise self.error
        self.limits = limits


@pytest.mark.parametrize(
    "error", [ValueError("current limit exceeds maximum limit"), PermissionError("not permitted")]
)
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
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int, raised: int, error: Exception
):
    limits = Limits(soft, hard, most, error)
    monkeypatch.setattr(file_limits, "resource", limits)

    raise_file_limit()

    assert limits.limits == (raised, hard)


class Loop:
    """An event loop with a clock that the test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.contexts: list[dict[str, Any]] = []

    def time(self) -> float:
        return self.now_s

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.contexts.append(context)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_a_reached_limit_is_reported_at_most_every_ten_seconds(
    caplog: pytest.LogCaptureFixture, number: int
):
    loop: Any = Loop()
    reports = FileLimitReports()

    counts = []
    for now_s in (0.0, 9.9, 10.0, 19.9, 20.0):
        loop.now_s = now_s
        reports(loop, {"exception": OSError(number, "Too many open files"), "message": "x"})
        counts.append(len(caplog.messages))

    assert counts == [1, 1, 2, 2, 3]
    assert set(caplog.messages) == {
        "no more connections can be accepted for now: Too many open files"
    }
    assert loop.contexts == []


def test_other_errors_of_the_event_loop_are_not_hidden(caplog: pytest.LogCaptureFixture):
    loop: Any = Loop()
    reports = FileLimitReports()
    limit = {"exception": OSError(errno.EMFILE, "Too many open files"), "message": "x"}
    # asyncio tries to accept connections even after the server has been closed.
    late: dict[str, Any] = {
        "exception": ValueError("closed"),
        "handle": "<TimerHandle _start_serving()>",
    }
    others: list[dict[str, Any]] = [
        {"exception": OSError(errno.EIO, "Input/output error"), "message": "x"},
        {"exception": ValueError("closed"), "handle": "<TimerHandle f()>"},
        {"message": "without an exception"},
    ]

    reports(loop, late)
    for context in (limit, late, *others):
        reports(loop, context)

    assert loop.contexts == [late, *others]
    assert len(caplog.messages) == 1
