"""An exploration as text: the matrix, a summary, and what happened at each point that matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from hosting_emulator.explore.judging import MEANINGS, Result, Verdict, counts
from hosting_emulator.explore.matrix import Cell, Matrix, legend, matrix, short
from hosting_emulator.explore.planning import Plan
from hosting_emulator.explore.report import Exploration, coverage

Paint = Callable[[str, str], str]
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_STYLES: dict[Verdict, str] = {
    "survived": "green",
    "not reached": "dim",
    "failed": "red",
    "hung": "red",
    "doubled": "red",
    "differs": "yellow",
    "misbehaved": "yellow",
}
_WIDEST = 120
_WIDEST_LINE = 160


def plan_text(plan: Plan, jobs: int) -> str:
    """Say beforehand how many runs there will be, and which are left out."""
    many = len(plan.points)
    said = [f"{_counted(len(plan.requests), 'request')}: {_counted(many, 'run')}"]
    if jobs > 1:
        said.append(f"{jobs} at a time")
    if plan.merged:
        said.append(f"{_are(len(plan.merged), ' more')} alike and merged")
    if plan.left_out:
        said.append(f"{_are(len(plan.left_out))} left out by the bound on runs")
    return ", ".join(said) + "."


def report_text(exploration: Exploration, *, color: bool = False) -> str:
    """Write the whole report, ending without a newline."""
    paint = painted if color else plain
    parts = [
        matrix_text(matrix(exploration), paint),
        *(_story(alike, exploration, paint) for alike in stories(exploration)),
        "\n".join(conduct_lines(exploration)),
        _summary(exploration, paint),
    ]
    return "\n\n".join(part for part in parts if part)


def matrix_text(found: Matrix, paint: Paint) -> str:
    """Write the matrix, each cell two marks: the fault before the commit, and after it."""
    names = [short(fault) for fault in found.faults]
    first = max((len(row.request) for row in found.rows), default=0)
    numbered = first + sum(max(2, len(name)) + 2 for name in names) > _WIDEST
    heads = [str(n) for n, _ in enumerate(names, 1)] if numbered else names
    widths = [max(2, len(head)) for head in heads]
    lines = [paint("bold", "  ".join([" " * first, *_padded(heads, widths)]).rstrip())]
    for row in found.rows:
        cells = [
            "".join(_mark(cell, paint) for cell in pair) + " " * (width - 2)
            for pair, width in zip(row.cells, widths, strict=True)
        ]
        lines.append("  ".join([row.request.ljust(first), *cells]).rstrip())
    if numbered:
        lines.append("  ".join(f"{n} {name}" for n, name in enumerate(names, 1)))
    words = ", ".join(f"{mark} {word}" for mark, word in legend(found))
    lines.append(paint("dim", f"Two marks each, before and after the commit: {words}."))
    return "\n".join(lines)


def result_text(result: Result, paint: Paint) -> str:
    """Write one line on a result: its point, its verdict and why."""
    why = f": {'; '.join(result.says)}" if result.says else ""
    return f"{result.point}  {paint(_STYLES[result.verdict], result.verdict)}{why}"


def _story(results: Sequence[Result], exploration: Exploration, paint: Paint) -> str:
    """Write what happened at points of one request that all came to the same."""
    first = results[0]
    where = f"at {_counted(len(results), 'point')}"
    why = f": {'; '.join(first.says)}" if first.says else ""
    lines = [f"{first.point.request}  {paint(_STYLES[first.verdict], first.verdict)} {where}{why}"]
    lines += [paint("dim", f"  | {line[:_WIDEST_LINE]}") for line in first.output]
    lines += [f"  conduct: {finding}" for finding in first.conduct]
    lines += [f"  again: {exploration.repeat(result.point)}" for result in results]
    return "\n".join(lines)


def conduct_lines(exploration: Exploration) -> list[str]:
    """Say in lines what `conduct` returns."""
    lines: list[str] = []
    for finding, again in conduct(exploration):
        lines += [f"conduct: {finding}", *([f"  again: {again}"] if again else [])]
    return lines


def conduct(exploration: Exploration) -> list[tuple[str, str]]:
    """Say what the client did that it should not in runs that went well, each thing once.

    With each comes the line that shows it again, or nothing.
    """
    if exploration.conduct == "off":
        return []
    lines = dict.fromkeys(exploration.clean.seen.conduct, exploration.repeat_clean)
    found = {finding: ["the clean run"] for finding in lines}
    for result in exploration.results:
        for finding in result.conduct if result.fine else ():
            lines.setdefault(finding, exploration.repeat(result.point))
            found.setdefault(finding, []).append(str(result.point))
    return [
        (f"{finding} ({points[0]}{f' and {len(points) - 1} more' if points[1:] else ''})", line)
        for (finding, points), line in zip(found.items(), lines.values(), strict=True)
    ]


def stories(exploration: Exploration) -> list[list[Result]]:
    """Return the results that matter, request by request, those that came to the same together."""
    place = {request.name: n for n, request in enumerate(exploration.plan.requests)}
    found: dict[tuple[object, ...], list[Result]] = {}
    for result in sorted(exploration.found, key=lambda result: place[result.point.request]):
        alike = (result.point.request, result.verdict, result.says, result.output, result.conduct)
        found.setdefault(alike, []).append(result)
    return list(found.values())


def _summary(exploration: Exploration, paint: Paint) -> str:
    found = counts(exploration.results)
    runs = _counted(len(exploration.results), "run")
    said = ", ".join(f"{count} {verdict}" for verdict, count in found.items()) or "nothing"
    met = ", ".join(map(str, coverage(exploration)))
    lines = [
        paint("green" if exploration.survived else "red", f"{runs}: {said}."),
        *notes(exploration),
    ]
    return "\n".join([*lines, f"Met: {met}."])


def notes(exploration: Exploration) -> list[str]:
    """Return what a reader of the figures must know, each a sentence."""
    plan, clean = exploration.plan, exploration.clean
    said = []
    if exploration.not_run:
        said.append(f"{_counted(len(exploration.not_run), 'point')} not run: {exploration.cut}.")
    if plan.left_out:
        said.append(f"{_counted(len(plan.left_out), 'point')} left out by the bound on runs.")
    reasons = Counter(merged.why for merged in plan.merged)
    said += [f"{_counted(count, 'point')} merged: {why}." for why, count in reasons.items()]
    if clean.vague:
        said.append(f"Not the same in two clean runs, so not compared: {', '.join(clean.vague)}.")
    said += [
        f"Not each time: {result.point} ({'; '.join(result.says)})."
        for result in exploration.results
        if result.fine and result.says
    ]
    if exploration.conduct == "error" and clean.seen.conduct:
        said.append("The clean run itself did what the real service would not bear.")
    if any(result.verdict == "not reached" for result in exploration.results):
        said.append(f"Not reached: {MEANINGS['not reached']}.")
    return said


def _mark(cell: Cell, paint: Paint) -> str:
    return cell.mark if cell.verdict is None else paint(_STYLES[cell.verdict], cell.mark)


def _padded(texts: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [text.ljust(width) for text, width in zip(texts, widths, strict=True)]


def _are(count: int, more: str = "") -> str:
    return f"{count:,}{more} {'is' if count == 1 else 'are'}"


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def plain(_: str, text: str) -> str:
    """Paint nothing."""
    return text


def painted(style: str, text: str) -> str:
    """Paint with ANSI colours."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else text
