"""What came of exploring, as a value, a matrix, JSON, a text, JUnit and a page; all say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from hosting_emulator import junit
from hosting_emulator.contract.calls import ALL_CALLS, GET_OPERATION
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import JsonObject
from hosting_emulator.sdk.text import count_text, paint, plain
from hosting_emulator_lab.judge.fault_points import KINDS, FaultPoint, kind_of, order_of, points_of
from hosting_emulator_lab.judge.lasting_effects import lasting_effect
from hosting_emulator_lab.judge.point_plan import PointPlan
from hosting_emulator_lab.judge.run_results import (
    UNDECIDED_VERDICTS,
    VERDICT_MEANINGS,
    CleanRun,
    ConductChoice,
    PointResult,
    VerdictMeaning,
    count_verdicts,
)


@dataclass(frozen=True)
class Exploration:
    """All that is known of one exploration. `subject` is what was run, as one types it.

    `results` are in the plan's order; `repeat` writes the line that runs a point again; `cut` says
    why others of the plan were not run, if so. `conduct` says what is made of it, and `repeat_clean`
    is the line that shows the clean run's again, if there is one.
    """

    subject: str
    clean: CleanRun
    plan: PointPlan
    results: Sequence[PointResult]
    repeat: Callable[[FaultPoint], str]
    cut: str = ""
    conduct: ConductChoice = "report"
    repeat_clean: str = ""

    @property
    def survived(self) -> bool:
        """Whether the client survived: nothing was found, and what was run decides something."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0: the client survived; 1: something was found; 2: nothing was found and nothing proven."""
        if self.found or self.clean_findings:
            return 1
        return 2 if self.undecided else 0

    @property
    def clean_findings(self) -> tuple[str, ...]:
        """The conduct findings of the clean run that count: errors, or all of them."""
        seen = self.clean.observation
        counted = {"off": (), "report": seen.conduct_errors, "error": seen.conduct}
        return counted[self.conduct]

    @cached_property
    def found(self) -> list[PointResult]:
        """The points that the client did not survive."""
        return [r for r in self.results if not r.fine and r.verdict not in UNDECIDED_VERDICTS]

    @property
    def undecided(self) -> str:
        """Why the results do not prove that the client survives; empty: they do."""
        if not self.results:
            return "No failure was tried, so nothing is known about the command."
        if all(result.verdict == "not reached" for result in self.results):
            return "No failure hit a request, so nothing is known about the command."
        unclear = sum(result.verdict == "unclear" for result in self.results)
        if unclear:
            points = count_text(unclear, "point")
            return (
                f"Unclear at {points}: only the command's output can show whether it noticed the "
                "failure. Let it end with another exit code than 0 where it does not succeed."
            )
        return ""

    @property
    def told(self) -> list[PointResult]:
        """The results that a reader must look at: what was found, and what is unclear."""
        return [r for r in self.results if not r.fine]

    @cached_property
    def not_run(self) -> list[FaultPoint]:
        """The points of the plan that were not run."""
        run = {result.point for result in self.results}
        return [point for point in self.plan.points if point not in run]


def coverage(exploration: Exploration) -> dict[str, JsonObject]:
    """Return which calls met a fault, and which kinds, and all codes it met; each of how many."""
    hit = [r.point for r in exploration.results if r.hit]
    plan = exploration.plan
    outcomes = {point.fault for point in (*plan.points, *plan.left_out) if point.lasting}
    codes = exploration.clean.observation.codes.union(
        *(result.codes for result in exploration.results)
    )
    calls = [call_id for call_id in ALL_CALLS if call_id != GET_OPERATION.call_id]
    figures = (
        ("calls", calls, {point.call for point in hit}),
        ("fault_kinds", KINDS, {kind_of(point.fault) for point in hit if not point.lasting}),
        ("outcomes", sorted(outcomes), {point.fault for point in hit}),
        ("problem_codes", PROBLEMS, codes),
    )
    return {
        name: {"met": [word for word in words if word in met], "of": len(words)}
        for name, words, met in figures
        if words
    }


def coverage_counts(exploration: Exploration) -> dict[str, str]:
    """Return how many of what were met, such as `calls`: `1 of 8`."""
    figures = coverage(exploration).items()
    return {name.replace("_", " "): f"{len(f['met'])} of {f['of']}" for name, f in figures}


def document(exploration: Exploration) -> JsonObject:
    """Return an exploration as JSON; but for durations it is the same each time."""
    plan, clean = exploration.plan, exploration.clean
    shown = ("method", "path", "status", "code")
    return {
        "command": exploration.subject,
        "exit_code": exploration.exit_code,
        "undecided": exploration.undecided or None,
        "clean": {
            "exit_code": clean.end.exit_code,
            "duration_s": round(clean.end.duration_s, 3),
            "requests": [
                {
                    "request": request.name,
                    **{name: getattr(request.exchange, name) for name in shown},
                    "idempotency_key": request.exchange.idempotency_key is not None,
                }
                for request in plan.requests
            ],
            "conduct": [] if exploration.conduct == "off" else list(clean.observation.conduct),
            "not_the_same_each_time": clean.varying_kinds,
        },
        "points": [result_document(result, exploration.repeat) for result in exploration.results],
        "merged": [
            {"point": str(m.point), "into": str(m.into), "why": m.reason} for m in plan.merged
        ],
        "left_out": [str(point) for point in plan.left_out],
        "not_run": [str(point) for point in exploration.not_run],
        "cut": exploration.cut or None,
        "summary": count_verdicts(exploration.results),
        "coverage": coverage(exploration),
    }


#: The keys of a result in JSON that differ from the names of its fields.
_JSON_KEYS = {"reasons": "says"}


def result_document(
    result: PointResult, repeat: Callable[[FaultPoint], str] | None = None
) -> JsonObject:
    """Return a result as JSON; `read_result` reads it."""
    found = {
        _JSON_KEYS.get(name, name): list(value) if isinstance(value, tuple) else value
        for name, value in asdict(result).items()
    }
    found["point"] = str(result.point)
    if repeat is not None and (result.conduct or not result.fine):
        found["repeat"] = repeat(result.point)
    return found


def read_result(found: Mapping[str, Any]) -> PointResult:
    """Read a result again. Raises ValueError, TypeError or KeyError for anything else."""
    names = {key: name for name, key in _JSON_KEYS.items()}
    values: dict[str, Any] = {
        names.get(key, key): tuple(value) if isinstance(value, list) else value
        for key, value in found.items()
    }
    return PointResult(**{**values, "point": FaultPoint.read(found["point"])})


#: What a matrix shows of a point: its verdict; that another stands for it, or that it was not run.
_SHOWN: Mapping[str, VerdictMeaning] = {
    **{str(verdict): meaning for verdict, meaning in VERDICT_MEANINGS.items()},
    "merged": VerdictMeaning("=", "", "equivalent to another, and merged"),
    "not run": VerdictMeaning("-", "", "not run"),
}
_SHORT = {
    "gateway_error": "gateway",
    "connection_reset": "reset",
    "empty_response": "empty",
    "malformed_response": "malformed",
    "slow_response": "slow",
    "rate_limit": "limit",
    "abort:service_unavailable": "503",
    "abort:api_key_creation_uncertain": "uncertain",
}


#: A point, and the word for what is shown of it; None: no point.
Cell = tuple[FaultPoint, str] | None


class Matrix(NamedTuple):
    """`faults` are the columns, each a pair of cells of each row: before and after the commit."""

    faults: list[str]
    rows: Mapping[str, Sequence[Cell]]
    #: The marks that occur, and what each means.
    legend: list[tuple[str, str]]


def matrix(exploration: Exploration) -> Matrix:
    """Lay an exploration out. Reads that are merged as a whole get no row of their own."""
    plan = exploration.plan
    known = {*plan.points, *plan.left_out}
    results: dict[FaultPoint, str] = {r.point: r.verdict for r in exploration.results}
    merged = {merged.point for merged in plan.merged}

    def cell(point: FaultPoint) -> Cell:
        if point in known:
            return point, results.get(point, "not run")
        return (point, "merged") if point in merged else None

    faults = sorted({point.fault for point in known})
    faults.sort(key=lambda word: (order_of(word), word != "abort:service_unavailable"))
    named = {point.request for point in known}
    rows = {
        request.name: [
            found for word in faults for found in [*map(cell, points_of(request, word)), None][:2]
        ]
        for request in plan.requests
        if request.name in named
    }
    words = {cell[1] for cells in rows.values() for cell in cells if cell}
    return Matrix(faults, rows, [(_SHOWN[word].mark, word) for word in _SHOWN if word in words])


def short(fault: str) -> str:
    """Return a fault's name in a narrow column."""
    return _SHORT.get(fault) or fault.removeprefix("abort:")


# --- text ----------------------------------------------------------------------------------------

_WIDEST = 120
_WIDEST_LINE = 160
#: Programs that print so many last lines alike break for the same reason.
_END_LINES = 3


def plan_text(plan: PointPlan, jobs: int) -> str:
    """Say beforehand how many runs there will be, and which are left out."""
    text = f"{count_text(len(plan.requests), 'request')}: {count_text(len(plan.points), 'run')}"
    text += f", {jobs} at a time" if jobs > 1 else ""
    for points, more, what in (
        (plan.merged, " more", "merged as equivalent"),
        (plan.left_out, "", f"left out by {plan.left_out_by}"),
    ):
        are = "is" if len(points) == 1 else "are"
        text += f", {len(points):,}{more} {are} {what}" if points else ""
    return f"{text}."


def report_text(exploration: Exploration, *, color: bool = False) -> str:
    """Write the whole report, ending without a newline."""
    found = "\n".join(
        f"conduct: {finding}" + (f"\n  again: {again}" if again else "")
        for finding, again in conduct(exploration)
    )
    verdicts = count_verdicts(exploration.results).items()
    came_to = ", ".join(f"{count} {verdict}" for verdict, count in verdicts) or "nothing"
    runs = f"{count_text(len(exploration.results), 'run')}: {came_to}."
    met = ", ".join(f"{name} {count}" for name, count in coverage_counts(exploration).items())
    style = {0: "green", 1: "red", 2: "magenta"}[exploration.exit_code]
    summary = "\n".join([paint(style, runs), *notes(exploration), f"Met: {met}."])
    parts = (_matrix_text(matrix(exploration)), *_stories_text(exploration), found, summary)
    text = "\n\n".join(filter(None, parts))
    return text if color else plain(text)


def result_text(result: PointResult, *, color: bool = False) -> str:
    """Write one line on a result: its point, its verdict and why."""
    why = f": {'; '.join(result.reasons)}" if result.reasons else ""
    text = f"{result.point}  {_verdict(result)}{why}"
    return text if color else plain(text)


def stories(exploration: Exploration) -> list[list[PointResult]]:
    """Return the results that matter, request by request, those that came to the same together."""
    place = {request.name: n for n, request in enumerate(exploration.plan.requests)}
    found: dict[tuple[object, ...], list[PointResult]] = {}
    for result in sorted(exploration.told, key=lambda result: place[result.point.request]):
        alike = (
            result.point.request,
            result.verdict,
            result.reasons,
            result.output,
            result.conduct,
        )
        found.setdefault(alike, []).append(result)
    return list(found.values())


def conduct(exploration: Exploration) -> list[tuple[str, str]]:
    """Say what the client did wrong in runs that went well, and the line that shows it again, if any."""
    if exploration.conduct == "off":
        return []
    clean = exploration.clean.observation.conduct
    found = {finding: (exploration.repeat_clean, ["the clean run"]) for finding in clean}
    for result in exploration.results:
        for finding in result.conduct if result.fine else ():
            told = found.setdefault(finding, (exploration.repeat(result.point), []))
            told[1].append(str(result.point))
    return [
        (f"{finding} ({points[0]}{f' and {len(points) - 1} more' if points[1:] else ''})", line)
        for finding, (line, points) in found.items()
    ]


def notes(exploration: Exploration) -> list[str]:
    """Return what a reader of the figures must know, each a sentence."""
    plan, clean = exploration.plan, exploration.clean
    points = Counter({f"not run: {exploration.cut}": len(exploration.not_run)})
    points[f"left out by {plan.left_out_by}"] = len(plan.left_out)
    points.update(f"merged: {merged.reason}" for merged in plan.merged)
    found = [exploration.undecided] if exploration.undecided else []
    found += [f"{count_text(count, 'point')} {why}." for why, count in points.items() if count]
    if clean.varying_kinds:
        found.append(
            f"Different in two clean runs, so not compared: {', '.join(clean.varying_kinds)}."
        )
    found += [
        f"Only in one of two runs: {result.point} ({'; '.join(result.reasons)})."
        for result in exploration.results
        if result.fine and result.reasons
    ]
    if clean.same_keys:
        found.append(
            f"Same Idempotency-Key in both clean runs: {', '.join(clean.same_keys)}. "
            "If the change is undone and sent again with this key, the first response is replayed "
            "and nothing is done."
        )
    if exploration.clean_findings:
        found.append("The clean run itself has conduct findings.")
    if any(result.verdict == "not reached" for result in exploration.results):
        found.append(f"Not reached: {VERDICT_MEANINGS['not reached'].text}.")
    return found


def _matrix_text(found: Matrix) -> str:
    """Write the matrix, each cell two marks: the fault before the commit, and after it."""
    names = [short(fault) for fault in found.faults]
    first = max(map(len, found.rows), default=0)
    numbered = first + sum(max(2, len(name)) + 2 for name in names) > _WIDEST
    heads = [str(n) for n, _ in enumerate(names, 1)] if numbered else names
    widths = [max(2, len(head)) for head in heads]
    padded = (head.ljust(width) for head, width in zip(heads, widths, strict=True))
    lines = [paint("bold", "  ".join([" " * first, *padded]).rstrip())]
    for request, cells in found.rows.items():
        shown = (_SHOWN[cell[1]] if cell else VerdictMeaning(" ", "", "") for cell in cells)
        marks = [paint(meaning.color, meaning.mark) for meaning in shown]
        columns = zip(marks[::2], marks[1::2], widths, strict=True)
        pairs = [before + after + " " * (width - 2) for before, after, width in columns]
        lines.append("  ".join([request.ljust(first), *pairs]).rstrip())
    if numbered:
        lines.append("  ".join(f"{n} {name}" for n, name in enumerate(names, 1)))
    words = ", ".join(f"{mark} {word}" for mark, word in found.legend)
    both = not all(map(lasting_effect, found.faults))
    lines.append(paint("dim", f"{'Two marks each, before and after the commit: ' * both}{words}."))
    return "\n".join(lines)


def _stories_text(exploration: Exploration) -> Iterator[str]:
    """Write all stories, what a program printed once for those that end alike."""
    known: dict[tuple[object, ...], FaultPoint] = {}
    for alike in stories(exploration):
        first, output = alike[0], alike[0].output
        if output[_END_LINES:]:
            same = known.setdefault((first.verdict, output[-_END_LINES:]), first.point)
            output = output if same == first.point else (f"… as at {same}", output[-1])
        where = f"{_verdict(first)} at {count_text(len(alike), 'point')}"
        why = f": {'; '.join(first.reasons)}" if first.reasons else ""
        lines = [
            f"{first.point.request}  {where}{why}",
            *(paint("dim", f"  | {line[:_WIDEST_LINE]}") for line in output),
            *(f"  conduct: {finding}" for finding in first.conduct),
            *(f"  again: {exploration.repeat(result.point)}" for result in alike),
        ]
        yield "\n".join(lines)


def _verdict(result: PointResult) -> str:
    return paint(VERDICT_MEANINGS[result.verdict].color, result.verdict)


def junit_text(exploration: Exploration) -> str:
    """Write a suite for each request, a case for each point of the plan. Ends in a newline."""

    def case(point: FaultPoint, result: PointResult | None) -> Any:
        meaning = VERDICT_MEANINGS[result.verdict].text if result else f"not run: {exploration.cut}"
        seconds, outcome = f"{result.duration_s:.3f}" if result else "0", None
        if result is None or result.verdict == "not reached":
            outcome = junit.element("skipped", message=meaning)
        elif result.verdict == "unclear":
            message = f"unclear: {'; '.join(result.reasons) or meaning}"
            outcome = junit.element("error", "\n".join(result.output), message=message)
        elif not result.fine:
            again = f"again: {exploration.repeat(point)}"
            text = "\n".join([*result.output, *result.conduct, again])
            message = f"{result.verdict}: {'; '.join(result.reasons) or meaning}"
            outcome = junit.element("failure", text, type=result.verdict, message=message)
        return junit.case(point.request, f"{point.fault} {point.phase}", outcome, time=seconds)

    suites = []
    for name in (request.name for request in exploration.plan.requests):
        results = [result for result in exploration.results if result.point.request == name]
        cases = [case(result.point, result) for result in results]
        cases += [case(point, None) for point in exploration.not_run if point.request == name]
        if cases:
            seconds = sum(result.duration_s for result in results)
            suites.append(junit.suite(name, cases, time=f"{seconds:.3f}"))
    whole = _whole_cases(exploration)
    if whole:
        suites.append(junit.suite("whole command", whole, time="0"))
    return junit.report(f"hosting-emulator explore {exploration.subject}", suites)


def _whole_cases(exploration: Exploration) -> list[Any]:
    """Return a case for each verdict that is about no single point."""
    cases = []
    if exploration.clean_findings:
        message = "; ".join(exploration.clean_findings)
        failure = junit.element("failure", message=message, type="misbehaved")
        cases.append(junit.case("clean run", "conduct", failure, time="0"))
    if exploration.exit_code == 2:
        error = junit.element("error", message=exploration.undecided)
        cases.append(junit.case("all runs", "decided", error, time="0"))
    return cases


# --- page ----------------------------------------------------------------------------------------

_PARTS = ("html", "css")
#: The page's heading by exit code.
_HEADINGS = {
    0: "survived every failure",
    1: "did not survive every failure",
    2: "is not judged: nothing was proven",
}
_PHASES = (
    '<th scope="col" title="before commit">before</th>'
    '<th scope="col" title="after commit">after</th>'
)
_LASTING = '<th scope="col" colspan="2" title="from this request on">from then on</th>'


def page(exploration: Exploration) -> str:
    """Write a whole HTML document, with no script and no other file; all that is shown is escaped."""
    found, told = matrix(exploration), stories(exploration)
    figures = {
        "requests": len(exploration.plan.requests),
        "runs": len(exploration.results),
        **count_verdicts(exploration.results),
        **coverage_counts(exploration),
    }
    anchors = {
        str(result.point): f"story-{n}" for n, alike in enumerate(told, 1) for result in alike
    }
    rows = (
        f'<tr><th scope="row">{escape(request)}</th>'
        f"{''.join(_cell_html(cell, anchors) for cell in cells)}</tr>"
        for request, cells in found.rows.items()
    )
    conduct_items = "".join(
        f"<li>{escape(finding)}{f'<pre>{escape(again)}</pre>' if again else ''}</li>"
        for finding, again in conduct(exploration)
    )
    sections = "\n".join(_story_html(n, alike, exploration) for n, alike in enumerate(told, 1))
    heading = "<h2>Conduct findings in successful runs</h2>"
    html, style = (Path(__file__).with_name(f"page.{kind}").read_text("utf-8") for kind in _PARTS)
    return Template(html).substitute(
        subject=escape(exploration.subject),
        verdict=_HEADINGS[exploration.exit_code],
        style=style,
        figures="".join(
            f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items()
        ),
        faults="".join(
            f'<th scope="colgroup" colspan="2" title="{escape(fault)}">{escape(short(fault))}</th>'
            for fault in found.faults
        ),
        phases="".join(_LASTING if lasting_effect(fault) else _PHASES for fault in found.faults),
        rows="\n".join(rows),
        legend="".join(
            f'<li><b class="{word.replace(" ", "-")}">{escape(mark)}</b> {word}</li>'
            for mark, word in found.legend
        ),
        notes="".join(f"<li>{escape(text)}</li>" for text in notes(exploration)),
        stories=f"<h2>What happened</h2>\n{sections}" if told else "",
        conduct=f"{heading}\n<ul>{conduct_items}</ul>" if conduct_items else "",
    )


def _cell_html(cell: Cell, anchors: dict[str, str]) -> str:
    if cell is None:
        return "<td></td>"
    point, word = cell
    kind, says = (
        (word.replace(" ", "-"), word) if word in VERDICT_MEANINGS else ("none", _SHOWN[word].text)
    )
    title, mark = escape(f"{point}: {says}"), escape(_SHOWN[word].mark)
    if (anchor := anchors.get(str(point))) is not None:
        mark = f'<a href="#{anchor}" aria-label="{title}">{mark}</a>'
    return f'<td class="{kind}" title="{title}">{mark}</td>'


def _story_html(n: int, alike: Sequence[PointResult], exploration: Exploration) -> str:
    first = alike[0]
    says = "; ".join(first.reasons) or VERDICT_MEANINGS[first.verdict].text
    output = f"<pre>{escape(chr(10).join(first.output))}</pre>" if first.output else ""
    findings = "".join(f"<p>Conduct: {escape(finding)}</p>" for finding in first.conduct)
    lines = "\n".join(escape(exploration.repeat(result.point)) for result in alike)
    return (
        f'<section class="story" id="story-{n}"><h3><code>{escape(first.point.request)}</code> '
        f'<span class="verdict {first.verdict.replace(" ", "-")}">{first.verdict}</span></h3>'
        f"<p>{escape(says)}.</p>{output}{findings}"
        f"<p>Again:</p><pre>{lines}</pre></section>"
    )
