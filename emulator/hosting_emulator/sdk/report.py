"""A world's story as text, short enough to stand below a failed test.

It is written from the control API's report document alone, wherever that has travelled.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hosting_emulator.sdk.conduct import finding_lines, summary
from hosting_emulator.sdk.text import align, count_text, exchange_row, one_line, paint

Document = Mapping[str, Any]

_OPERATIONS = 3
_FAULTS = 5
_FINDINGS = 5
_REQUESTS = 20
_WIDEST = 160
_WIDEST_WHY = 110
_WIDEST_VARIED = 1000
#: What every armed fault has; the rest is its effect and what it matches.
_COUNTS = frozenset("id order phase armed_at seen hits spent".split())


def report_text(document: Document, *, color: bool = False) -> str:
    """Write a report document (`ControlClient.report`) as text of about 40 lines at most.

    `color` adds ANSI colours. With `conduct` in the document, it ends with what was found.
    """
    bold = partial(paint, "bold", color=color)
    findings = (document.get("conduct") or {}).get("findings") or ()
    lines = [
        *(f"{bold(name.ljust(7))}  {text}" for name, text in _head(document)),
        *_requests(document["requests"], color),
        *_operations(document["operations"], color),
        *_faults(document["faults"], color),
    ]
    if findings:
        lines += [bold(f"conduct: {summary(findings)}"), *finding_lines(findings[:_FINDINGS])]
    return "\n".join(lines)


def _head(document: Document) -> list[tuple[str, str]]:
    clock, changed = document["clock"], document["assumptions"]
    scenario = f", scenario {document['scenario']}" if document["scenario"] else ""
    world = f"{document['world']} at {document['base_url']}{scenario}, commit {document['commit']}"
    rate = f" at {clock['rate']}x" if clock["mode"] == "scaled" else ""
    time = f"{clock['mode']}{rate}, {clock['now']}"
    if clock["next_due_at"]:
        time += (
            f"; {count_text(clock['pending'], 'event')} to come, the next at {clock['next_due_at']}"
        )
    rows = [("world", one_line(world, _WIDEST)), ("clock", one_line(time, _WIDEST))]
    if changed:
        text = ", ".join(f"{name}={_brief(value)}" for name, value in changed.items())
        rows.append(("assumed", one_line(text, _WIDEST)))
    # Hardly cut: it is what is needed to see the same failure again.
    varied = variation_lines(document["variation"]) if document.get("variation") else ()
    return rows + [(name, one_line(text, _WIDEST_VARIED)) for name, text in varied]


def variation_lines(variation: Document) -> list[tuple[str, str]]:
    """Say how a world's answers varied and how to have that again, as rows: a word and its text."""
    seed, only = shlex.quote(variation["seed"]), variation["only"] or ()
    points = ", ".join(variation["varied"]) or "nothing yet"
    confined = f", confined to {', '.join(only)}" if only else ""
    again = f"--vary {seed}{''.join(f' --only {point}' for point in only)}"
    pytest = f"--hosting-emulator-vary={seed}"
    if only:
        pytest += f" --hosting-emulator-vary-only={','.join(only)}"
    return [
        ("varied", f"by seed {variation['seed']}{confined}: {points}"),
        ("again", f"{again} (start, exec), or {pytest} (pytest)"),
    ]


def _requests(requests: Document, color: bool) -> list[str]:
    items, total = requests["items"][-_REQUESTS:], requests["total"]
    if not items:
        return [paint("bold", "no requests", color=color)]
    left = f", the last {len(items)}" if total > len(items) else ""
    lines = [paint("bold", f"{count_text(total, 'request')}{left}", color=color)]
    table = align([[*exchange_row(item), _reason(item)] for item in items])
    for line, item in zip(table, items, strict=True):
        if item["lost"] or item["status"] >= 500:
            lines.append(paint("red", line, color=color))
        else:
            lines.append(paint("yellow", line, color=color) if item["status"] >= 400 else line)
    return lines


def _reason(item: Document) -> str:
    why = item["why"] or ([item["problem"]["detail"]] if item["problem"] else [])
    return f"— {one_line('; '.join(why), _WIDEST_WHY)}" if any(why) else ""


def _operations(operations: Sequence[Document], color: bool) -> list[str]:
    if not operations:
        return []
    lines = [paint("bold", f"{count_text(len(operations), 'operation')} not ended", color=color)]
    for one in operations[:_OPERATIONS]:
        where = f" ({one['phase']})" if one["phase"] != one["state"] else ""
        lines.append(
            f"  {one['operation']}  {one['kind']} of {one['project']} is {one['state']}{where}"
        )
        then = one["next"]
        story = [f"next, at {then['at']}: {then['what']}"] if then else one["says"][:2]
        story += [f"try: {command}" for command in one["commands"][:1]]
        lines += [paint("dim", f"    {one_line(line, _WIDEST)}", color=color) for line in story]
    return lines + _more(operations, _OPERATIONS)


def _faults(faults: Sequence[Document], color: bool) -> list[str]:
    if not faults:
        return []
    head = paint("bold", f"{count_text(len(faults), 'fault')} armed", color=color)
    table = align([_fault_row(fault) for fault in faults[:_FAULTS]])
    return [head, *table, *_more(faults, _FAULTS)]


def _more(things: Sequence[Document], shown: int) -> list[str]:
    return [f"  … and {len(things) - shown} more"] if len(things) > shown else []


def _fault_row(fault: Document) -> list[str]:
    written = {name: value for name, value in fault.items() if name not in _COUNTS}
    # Of what was written, the effect alone is an object, but for the headers that it matches.
    effect = next(n for n, v in written.items() if isinstance(v, Mapping) and n != "header")
    options = [f"{n}={_brief(v)}" for n, v in written.pop(effect).items() if v is not None]
    rule = [f"{name}={_brief(value)}" for name, value in written.items()]
    counts = f"seen {fault['seen']}, hits {fault['hits']}{', spent' if fault['spent'] else ''}"
    return [
        f"  {fault['id']}",
        " ".join([effect, *options]),
        " ".join([fault["phase"], *rule]),
        counts,
    ]


def _brief(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{_brief(part)}" for name, part in value.items())
    return str(value)
