"""Formats a report on a world as text that is short enough to show with a failed test."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from hosting_emulator.messages import (
    ConductReport,
    JsonObject,
    ReportedExchange,
    ReportedRequests,
    VariationState,
    Why,
    WorldReport,
)
from hosting_emulator.sdk.conduct_text import finding_lines, summary
from hosting_emulator.sdk.exchange_text import exchange_row, fold_rows
from hosting_emulator.sdk.fault_text import commit_text, fault_words, short_text, unused_text
from hosting_emulator.sdk.text import align, count_text, one_line, paint, plain

_OPERATIONS = 3
_FAULTS = 5
_FINDINGS = 5
_REQUESTS = 20
_WIDEST = 160
_WIDEST_WHY = 110
_WIDEST_VARIED = 1000


def report_text(
    report: WorldReport, conduct: ConductReport | None = None, *, color: bool = False
) -> str:
    """Format a report on a world as about 40 lines of text, including the findings in `conduct`."""
    rows = _head(report)
    lines = [f"{paint('bold', name.ljust(7))}  {text}" for name, text in rows]
    lines += [paint("red", f"timeline: {reason}") for reason in report.refused]
    lines += _requests(report.requests)
    lines += _operations(report.operations)
    lines += _armed(report.faults, "fault")
    lines += _armed(report.outcomes, "outcome")
    if conduct is not None and conduct.findings:
        lines.append(paint("bold", f"conduct: {summary(conduct.findings)}"))
        lines += finding_lines(conduct.findings[:_FINDINGS])
    text = "\n".join(lines)
    return text if color else plain(text)


def _head(report: WorldReport) -> list[tuple[str, str]]:
    """Return the first lines of a report as (label, text) pairs."""
    scenario = f", scenario {report.scenario}" if report.scenario else ""
    world = f"{report.world} at {report.base_url}{scenario}, commit {report.commit}"
    clock = report.clock
    rate = f" at {clock.rate:g}x" if clock.mode == "scaled" else ""
    time = f"{clock.mode}{rate}, {clock.now}"
    if clock.next_due_at:
        pending = count_text(clock.pending, "event")
        time += f"; {pending} to come, the next at {clock.next_due_at}"
    rows = [("world", one_line(world, _WIDEST)), ("clock", one_line(time, _WIDEST))]
    if report.assumptions:
        values = ", ".join(
            f"{name}={short_text(value)}" for name, value in report.assumptions.items()
        )
        rows.append(("assumed", one_line(values, _WIDEST)))
    if report.variation is not None:
        # Allow long lines here, because the variation is needed to reproduce a failure.
        for name, text in variation_lines(report.variation):
            rows.append((name, one_line(text, _WIDEST_VARIED)))
    return rows


def without_commands(report: WorldReport) -> WorldReport:
    """Return a report without its suggested commands, which are of no use for a deleted world."""
    operations = [replace(why, commands=[]) for why in report.operations]
    return replace(report, operations=operations)


def variation_lines(variation: VariationState) -> list[tuple[str, str]]:
    """Describe a world's variation and how to repeat it. Each row consists of a label and a text."""
    seed = shlex.quote(variation.seed)
    only = variation.only or []
    points = ", ".join(variation.varied) or "nothing yet"
    confined = f", confined to {', '.join(only)}" if only else ""
    command = f"--vary {seed}{''.join(f' --vary-only {point}' for point in only)}"
    pytest = f"--hosting-emulator-vary={seed}"
    if only:
        pytest += f" --hosting-emulator-vary-only={','.join(only)}"
    return [
        ("varied", f"by seed {variation.seed}{confined}: {points}"),
        ("again", f"{command} (start, exec, scenario run), or {pytest} (pytest)"),
    ]


def _requests(requests: ReportedRequests) -> list[str]:
    rows = [[*exchange_row(item), _reason(item)] for item in requests.items]
    folded_rows = fold_rows(rows)[-_REQUESTS:]
    if not folded_rows:
        return [paint("bold", "no requests")]
    head = count_text(requests.total, "request")
    shown_count = sum(row.count for row in folded_rows)
    if requests.total > shown_count:
        head += f", the last {shown_count}"
    lines = [paint("bold", head)]
    aligned = align([row.cells for row in folded_rows])
    for line, row in zip(aligned, folded_rows, strict=True):
        item = requests.items[row.first]
        if item.lost or item.status >= 500:
            lines.append(paint("red", line))
        elif item.status >= 400:
            lines.append(paint("yellow", line))
        else:
            lines.append(line)
    return lines


def _reason(exchange: ReportedExchange) -> str:
    why = list(exchange.why)
    if not why and exchange.problem is not None:
        why = [exchange.problem.detail]
    return f"— {one_line('; '.join(why), _WIDEST_WHY)}" if any(why) else ""


def _operations(operations: Sequence[Why]) -> list[str]:
    if not operations:
        return []
    lines = [paint("bold", f"{count_text(len(operations), 'operation')} not ended")]
    for why in operations[:_OPERATIONS]:
        phase = f" ({why.phase})" if why.phase != why.state else ""
        lines.append(f"  {why.operation}  {why.kind} of {why.project} is {why.state}{phase}")
        story = why.sentences[:2]
        if why.next is not None:
            story = [f"next, at {why.next.at}: {why.next.event}"]
        story = [*story, *(f"try: {command}" for command in why.commands[:1])]
        lines += [paint("dim", f"    {one_line(line, _WIDEST)}") for line in story]
    return lines + _more(operations, _OPERATIONS)


def _armed(faults: Sequence[JsonObject], noun: str) -> list[str]:
    if not faults:
        return []
    head = count_text(len(faults), noun)
    used = sum(bool(fault["spent"]) for fault in faults)
    head += f": {len(faults) - used} armed, {used} used up" if used else " armed"
    rows = []
    for fault in faults[:_FAULTS]:
        words = fault_words(fault)
        when = [commit_text(fault), words.matches, words.conditions]
        counts = f"considered {fault['considered']}, seen {fault['seen']}, hits {fault['hits']}"
        if fault["spent"]:
            counts += ", used up"
        rows.append([f"  {fault['id']}", words.effect, " ".join(filter(None, when)), counts])
    unused = [
        f"  {paint('red', one_line(unused_text(fault), _WIDEST_VARIED))}"
        for fault in faults[:_FAULTS]
        if fault["unused"] is not None and not fault.get("optional")
    ]
    return [paint("bold", head), *align(rows), *unused, *_more(faults, _FAULTS)]


def _more(things: Sequence[object], shown: int) -> list[str]:
    return [f"  … and {len(things) - shown} more"] if len(things) > shown else []
