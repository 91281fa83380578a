"""Formats the report of a replay as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hosting_emulator.sdk.text import count_text
from hosting_emulator_cli.printable import printable

if TYPE_CHECKING:
    from hosting_emulator_lab.replay import Recording, ReplayedExchange, ReplayReport

#: The maximum length of a value, in characters. Longer values are truncated.
_SHOWN_CHARACTERS = 100


def replay_text(report: ReplayReport, record: Recording) -> str:
    """Format a report as text: the requests with their differences, notes and a summary."""
    width = max((len(_number(request)) for request in report.requests), default=0)
    lines: list[str] = []
    for request in report.requests:
        lines += _request_lines(request, width)
    lines.append("")
    lines += [f"Note: {sentence}." for sentence in report.notes]
    if record.left_out:
        others = ""
        if len(record.left_out) > 1:
            others = f" and {len(record.left_out) - 1} more"
        lines.append(
            f"Note: entries that are not calls were skipped: {record.left_out[0]}{others}."
        )
    lines.append(_summary(report))
    return "\n".join(map(printable, lines))


def _number(request: ReplayedExchange) -> str:
    return f"#{request.recorded.n}"


def _request_lines(request: ReplayedExchange, width: int) -> Iterator[str]:
    target = f"{request.recorded.method} {request.recorded.target}"
    number = _number(request).ljust(width)
    if request.skipped is not None:
        yield f"{number}  skipped  {target}: {request.skipped}"
        return
    verdict = "same"
    if request.differences:
        verdict = "differs"
    status = "---"
    if request.response is not None:
        status = str(request.response.status)
    yield f"{number}  {verdict:<7}  {status}  {target}"
    for path, recorded, new in request.differences:
        yield f"{'':{width}}    {path}: was {_value_text(recorded)}, now {_value_text(new)}"


def _value_text(value: Any) -> str:
    text = value
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    if len(text) > _SHOWN_CHARACTERS:
        return f"{text[: _SHOWN_CHARACTERS - 1]}…"
    return str(text)


def _summary(report: ReplayReport) -> str:
    sent = len(report.requests) - len(report.skipped)
    differing = len(report.differing)
    text = (
        f"{count_text(sent, 'request')} sent to {report.world}: {sent - differing} the same, "
        f"{differing} different"
    )
    if report.skipped:
        text += f", {len(report.skipped)} skipped"
    return text
