"""How exchanges, conduct and a world's story are written in assertions, reports and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import wrap
from typing import Any, NamedTuple

from msgspec.structs import replace

from hosting_emulator.messages import (
    ConductFinding,
    ConductReport,
    Exchange,
    ExchangeSummary,
    JsonObject,
    ReportedExchange,
    ReportedRequests,
    TrailStep,
    VariationState,
    WholeExchange,
    Why,
    WorldMember,
    WorldReport,
)

Document = Mapping[str, Any]

_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{22}([0-9A-HJKMNP-TV-Z]{4})")
_COLORS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35"}


class ExchangeCells(NamedTuple):
    """An exchange as a line of the log tells it, part by part; an empty part has nothing to tell."""

    number: str
    at: str
    status: str
    method: str
    asked: str
    about: str
    user: str
    took: str
    response: str
    why: str


def exchange_cells(
    exchange: ExchangeSummary, projects: Mapping[str, str], trail: Sequence[TrailStep] = ()
) -> ExchangeCells:
    """Write an exchange; `projects` are aliases by id.

    A 404 for something out of reach says who could see it, if that is in the `trail`.
    """
    why = "; ".join(exchange.why)
    scope = [step.text for step in trail if step.step == "scope"]
    if exchange.status == 404 and scope:
        why = scope[0]
    about = exchange.operation or ""
    if exchange.project:
        about = projects.get(exchange.project, exchange.project)
    return ExchangeCells(
        number=f"#{exchange.n}",
        at=exchange.at,
        status=str(exchange.status or "---"),
        method=exchange.method,
        asked=exchange.call or exchange.path,
        about=about,
        user=exchange.user or "",
        took=f"{exchange.duration_us / 1000:.2f} ms",
        response=", ".join(_response_words(exchange, "lost: {}")),
        why=why,
    )


def trail_of(exchange: ExchangeSummary) -> Sequence[TrailStep]:
    """Return the trail of an exchange that has one, or else nothing."""
    if isinstance(exchange, Exchange | WholeExchange):
        return exchange.trail or ()
    return ()


def exchange_row(exchange: ExchangeSummary) -> list[str]:
    """Write an exchange in short: number, request (ids cut to their ends), user, response."""
    target = exchange.call or _ULID.sub(r"…\1", exchange.path)
    return [
        f"  #{exchange.n}",
        f"{exchange.method:<4} {target}",
        exchange.user or "-",
        response_text(exchange),
    ]


def response_text(exchange: ExchangeSummary) -> str:
    """Describe a response: `409 idempotency_key_reused`, `202 replayed`, `lost (timeout)`."""
    words = _response_words(exchange, "lost ({})")
    if exchange.status:
        words.insert(0, str(exchange.status))
    return " ".join(words) or "no response"


def _response_words(exchange: ExchangeSummary, lost: str) -> list[str]:
    words = []
    if exchange.code:
        words.append(exchange.code)
    if exchange.replayed:
        words.append("replayed")
    if exchange.lost:
        words.append(lost.format(exchange.lost))
    if exchange.in_progress:
        words.append("in progress")
    return words


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows, which may differ in length, as lines whose columns begin below each other."""
    columns = zip_longest(*(row[:-1] for row in rows), fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for *cells, last in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        lines.append("  ".join([*padded, last]).rstrip())
    return lines


def count_text(count: int, thing: str) -> str:
    """Say how many things there are: `1 request`, `2 requests`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def one_line(text: str, longest: int) -> str:
    """Return text on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def paint(style: str, text: str) -> str:
    """Return a text in bold, dim, red, green, yellow or magenta; without a style as it is."""
    return f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if style and text else text


def plain(text: str) -> str:
    """Return a text without its colours."""
    return re.sub("\x1b\\[[0-9]+m", "", text)


class NoSuchName(KeyError):
    """A name that nothing in the world goes by; its text says which is nearest."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its text in quotes


class Aliases(dict[str, str]):
    """Ids by alias. An alias that is not there is a `NoSuchName`, which is a KeyError."""

    def __init__(self, kind: str, members: Iterable[WorldMember]) -> None:
        super().__init__((member.alias, member.id) for member in members)
        self._kind = kind

    def __missing__(self, alias: str) -> str:
        raise NoSuchName(unknown(self._kind, alias, self))

    def id_of(self, name: str) -> str:
        """Return the id that `name` is, or is the alias of. Raises NoSuchName."""
        return name if name in self.values() else self[name]

    def alias_of(self, id_: str | None) -> str | None:
        """Return the alias of an id, or the id itself where it has none."""
        return next((alias for alias, member_id in self.items() if member_id == id_), id_)


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that no `kind` is called so, which name is nearest, and what names there are."""
    from hosting_emulator.contract.suggestions import nearest  # only for a mistake

    names, lower = sorted(known), str(name).lower()
    there_are = f"there are {', '.join(names)}" if names else f"there is no {kind} at all"
    near = nearest(lower.replace("-", "_"), names) or nearest(lower, names) or ";"
    return f"no {kind} is {name!r}{near} {there_are}"


# --- How a client behaved ----------------------------------------------------------------------

_WORST = ("error", "warning", "note")
_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "note": "dim"}
_TEXT_WIDTH = 100
#: More findings of one rule than these say the same.
_OF_A_RULE = 10
_NUMBERS = 6
_wrapped = partial(wrap, break_long_words=False, break_on_hyphens=False)


def of_severity(report: ConductReport, at_least: str) -> ConductReport:
    """Return a conduct report with only what is at least so severe. ValueError for no severity."""
    if at_least not in _WORST:
        raise ValueError(f"at_least must be note, warning or error, not {at_least!r}")
    severe = _WORST[: _WORST.index(at_least) + 1]
    findings = [finding for finding in report.findings if finding.severity in severe]
    return replace(report, findings=findings)


def worst_first(findings: Iterable[ConductFinding]) -> list[ConductFinding]:
    """Return findings by severity; those of one severity stay in their order."""
    return sorted(findings, key=lambda finding: _WORST.index(finding.severity))


def conduct_text(report: ConductReport, *, color: bool = False) -> str:
    """Write a conduct report: by rule, the worst first, each with requests, why and instead."""
    findings = worst_first(report.findings)
    what = summary(findings) if findings else "no findings"
    lines = [paint("bold", f"conduct: {what} in {count_text(report.judged, 'request')}")]
    for rule in dict.fromkeys(finding.rule for finding in findings):
        of_rule = [finding for finding in findings if finding.rule == rule]
        count = max(report.counts.get(rule, 0), len(of_rule))
        lines += ["", *_rule_text(of_rule, count)]
    if findings and report.remarks:
        lines.append("")
    for remark in report.remarks:
        lines += _wrapped(remark, _TEXT_WIDTH) or [""]
    text = "\n".join(lines)
    return text if color else plain(text)


def _rule_text(findings: Sequence[ConductFinding], count: int) -> list[str]:
    """Write the findings of one rule, of `count` in all."""
    first = findings[0]
    shown = findings[:_OF_A_RULE]
    severity = paint(_SEVERITY_COLORS[first.severity], first.severity)
    lines = [f"{severity}: {first.title} [{first.rule}]"]
    for finding in shown:
        lines += _part("", f"{request_numbers(finding)}: {finding.message}")
    left = count - len(shown)
    if left > 0:
        lines.append(f"    … and {left:,} more")
    lines += _part("why", f"{first.matters} {quotes(shown)}")
    return lines + _part("instead", first.instead)


def headline(findings: Iterable[ConductFinding]) -> str:
    """Name the rules that were broken, the worst first, in the line that summaries show."""
    rules = dict.fromkeys(finding.rule for finding in worst_first(findings))
    return f"conduct: {', '.join(rules)}"


def finding_lines(findings: Sequence[ConductFinding]) -> list[str]:
    """Write findings in short, the worst first: severity, rule, requests, what was done."""
    lines: list[str] = []
    for finding in worst_first(findings)[:_OF_A_RULE]:
        rule = f"{finding.severity} {finding.rule}"
        lines += _part("", f"{rule} {request_numbers(finding)}: {finding.message}")
    left = len(findings) - _OF_A_RULE
    return [*lines, f"    … and {left:,} more"] if left > 0 else lines


def rule_lines(findings: Iterable[ConductFinding]) -> list[str]:
    """Write what each rule advises, in the words of its last finding."""
    lines: list[str] = []
    last_of_rule = {finding.rule: finding for finding in findings}
    for rule, finding in last_of_rule.items():
        lines += [f"{rule}: {finding.title}", *_part("instead", finding.instead)]
    return lines


def request_numbers(finding: ConductFinding) -> str:
    """Name the requests of a finding: `#3, #5 and 12 more`."""
    text = ", ".join(f"#{n}" for n in finding.requests[:_NUMBERS])
    more = max(0, len(finding.requests) - _NUMBERS) + finding.more_requests
    if more:
        text += f" and {more:,} more"
    if finding.chapter is not None:
        text += f" ({finding.chapter})"
    return text


def quotes(findings: Iterable[ConductFinding]) -> str:
    """Quote what findings of one rule rest upon, each sentence once, with its place."""
    return " ".join(dict.fromkeys(f"“{f.because}” ({f.place})" for f in findings))


def summary(findings: Sequence[ConductFinding]) -> str:
    """Count findings by severity: `3 findings (1 error, 2 warnings)`."""
    counts = {kind: sum(f.severity == kind for f in findings) for kind in _WORST}
    parts = [count_text(count, kind) for kind, count in counts.items() if count]
    return f"{count_text(len(findings), 'finding')} ({', '.join(parts)})"


def _part(label: str, text: str) -> list[str]:
    indent = 13 if label else 4
    first, *rest = _wrapped(text, _TEXT_WIDTH - indent) or [""]
    head = f"    {label:<9}" if label else " " * 4
    return [head + first, *(" " * indent + line for line in rest)]


# --- A world's story, short enough to stand below a failed test ----------------------------------

_OPERATIONS = 3
_FAULTS = 5
_FINDINGS = 5
_REQUESTS = 20
_WIDEST = 160
_WIDEST_WHY = 110
_WIDEST_VARIED = 1000
#: What every armed fault has, and what it may match and when it may act; the rest is its effect.
_COUNTS = (
    "id",
    "order",
    "phase",
    "armed_at",
    "considered",
    "seen",
    "hits",
    "spent",
    "unused",
)
_MATCHES = "call project organization principal method path header query body credentials".split()
_CONDITIONS = "times skip_first every probability from until while optional".split()


def report_text(
    report: WorldReport, conduct: ConductReport | None = None, *, color: bool = False
) -> str:
    """Write the report of a world as about 40 lines of text, with what was found about `conduct`."""
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
    """Return the first lines of a report as rows: a word and its text."""
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
        values = ", ".join(f"{name}={_brief(value)}" for name, value in report.assumptions.items())
        rows.append(("assumed", one_line(values, _WIDEST)))
    if report.variation is not None:
        # Hardly cut: it is what is needed to see the same failure again.
        for name, text in variation_lines(report.variation):
            rows.append((name, one_line(text, _WIDEST_VARIED)))
    return rows


def without_commands(report: WorldReport) -> WorldReport:
    """Return a report whose operations name no commands: the world will be gone."""
    operations = [replace(why, commands=[]) for why in report.operations]
    return replace(report, operations=operations)


def variation_lines(variation: VariationState) -> list[tuple[str, str]]:
    """Say how a world's responses varied and how to repeat that, as rows: a word and its text."""
    seed = shlex.quote(variation.seed)
    only = variation.only or []
    points = ", ".join(variation.varied) or "nothing yet"
    confined = f", confined to {', '.join(only)}" if only else ""
    command = f"--vary {seed}{''.join(f' --only {point}' for point in only)}"
    pytest = f"--hosting-emulator-vary={seed}"
    if only:
        pytest += f" --hosting-emulator-vary-only={','.join(only)}"
    return [
        ("varied", f"by seed {variation.seed}{confined}: {points}"),
        ("again", f"{command} (start, exec, scenario run), or {pytest} (pytest)"),
    ]


def _requests(requests: ReportedRequests) -> list[str]:
    items = requests.items[-_REQUESTS:]
    if not items:
        return [paint("bold", "no requests")]
    head = count_text(requests.total, "request")
    if requests.total > len(items):
        head += f", the last {len(items)}"
    rows = [[*exchange_row(item), _reason(item)] for item in items]
    lines = [paint("bold", head)]
    for line, item in zip(align(rows), items, strict=True):
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
        when = [fault.get("phase"), words.matches, words.conditions]
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


def unused_text(entry: Document) -> str:
    """Say of a fault or outcome that it has never acted, and why."""
    return f"{entry['id']} never acted: {entry['unused']}."


def _more(things: Sequence[object], shown: int) -> list[str]:
    return [f"  … and {len(things) - shown} more"] if len(things) > shown else []


class FaultWords(NamedTuple):
    """A fault as people read it: its effect with its options, what it matches, when it acts."""

    effect: str
    matches: str
    conditions: str


def fault_words(fault: Document) -> FaultWords:
    """Write a fault: `abort code=rate_limited`, `call=list_deployments`, `times=2`."""
    # Whatever is nothing else is the effect: a kind that this does not know is shown too.
    known = (*_MATCHES, *_CONDITIONS, *_COUNTS)
    effects = [" ".join([k, *_pairs(fault[k], fault[k])]) for k in fault if k not in known]
    rule = (" ".join(_pairs(fault, names)) for names in (_MATCHES, _CONDITIONS))
    return FaultWords("; ".join(effects), *rule)


def _pairs(fields: Document, names: Iterable[str]) -> list[str]:
    values = {name: fields.get(name) for name in names}
    return [f"{name}={_brief(value)}" for name, value in values.items() if value is not None]


def _brief(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{_brief(part)}" for name, part in value.items())
    return str(value)
