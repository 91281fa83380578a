"""What became of a recording that was sent again, as plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.looks.terminal import printable

if TYPE_CHECKING:
    from hosting_emulator.replay import RecordedAnswer, Recording, Replayed, ReplayReport


def report_text(report: ReplayReport, record: Recording) -> str:
    """Lay out a report: a line for each request, what differs below it, and the sum."""
    width = max((len(f"#{one.recorded.n}") for one in report.requests), default=0)
    lines = [line for one in report.requests for line in _lines(one, width)]
    lines += ["", *(printable(f"Note: {sentence}.") for sentence in report.notes)]
    if record.left_out:
        more = len(record.left_out) - 1
        rest = f" and {more} more" if more else ""
        lines.append(printable(f"Note: left out, for it is no call: {record.left_out[0]}{rest}."))
    return "\n".join([*lines, _sum(report)])


def _lines(one: Replayed, width: int) -> Iterator[str]:
    asked = f"{one.recorded.method} {one.recorded.target}"
    number = f"#{one.recorded.n}".ljust(width)
    if one.skipped is not None:
        yield printable(f"{number}  skipped  {asked}: {one.skipped}")
        return
    word = "differs" if one.differences else "same"
    yield printable(f"{number}  {word:<7}  {_status(one.answer)}  {asked}")
    for at, recorded, answered in one.differences:
        yield printable(f"{'':{width}}    {at}: {_value(recorded)} then, {_value(answered)} now")


def _status(answer: RecordedAnswer | None) -> str:
    return "---" if answer is None else str(answer.status)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _sum(report: ReplayReport) -> str:
    sent = len(report.requests) - len(report.skipped)
    differ = len(report.differing)
    skipped = f", {len(report.skipped)} skipped" if report.skipped else ""
    return f"{sent} requests sent to {report.world}: {sent - differ} same, {differ} differ{skipped}"
