"""A world's story as text, short enough to stand below a failed test.

It is written from the control API's report document alone, wherever that has travelled, and makes
do with whatever parts of it are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hosting_emulator.sdk.conduct_text import finding_lines, summary
from hosting_emulator.sdk.varying import variation_lines
from hosting_emulator.sdk.wording import aligned, answered, asked, counted, one_line

Document = Mapping[str, Any]
_Paint = Callable[[str, str], str]

_CODES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33"}
_OPERATIONS = 3
_FAULTS = 5
_FINDINGS = 5
_REQUESTS = 20
_WIDEST = 160
_WIDEST_WHY = 110
_WIDEST_VARIED = 1000
#: What every armed fault has; the rest is its effect and what it matches.
_COUNTS = frozenset("id order phase armed_at seen hits spent".split())
_RULE = frozenset("call project principal method path header times skip_first every".split()) | {
    "probability",
    "from",
    "until",
}


def report_text(document: Document, *, color: bool = False) -> str:
    """Write a report document (`ControlClient.report`) as text of about 40 lines at most.

    `color` adds ANSI colours. Parts that are missing are left out; nothing is raised for them.
    """
    paint = _painted if color else _plain
    lines = [
        *_head(document, paint),
        *_requests(document.get("requests") or {}, paint),
        *_operations(document.get("operations") or (), paint),
        *_faults(document.get("faults") or (), paint),
        *_conduct((document.get("conduct") or {}).get("findings") or (), paint),
    ]
    return "\n".join(lines)


def _plain(_: str, text: str) -> str:
    return text


def _painted(style: str, text: str) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else text


# --- The world and its clock -----------------------------------------------------------------


def _head(document: Document, paint: _Paint) -> list[str]:
    rows = [("world", _world(document)), ("clock", _clock(document.get("clock") or {}))]
    changed = document.get("assumptions") or {}
    if changed:
        rows.append(("assumed", ", ".join(f"{name}={_brief(v)}" for name, v in changed.items())))
    lines = [
        f"{paint('bold', name.ljust(7))}  {one_line(text, _WIDEST)}" for name, text in rows if text
    ]
    # Not cut: it is what is needed to see the same failure again.
    return lines + [
        f"{paint('bold', name.ljust(7))}  {one_line(text, _WIDEST_VARIED)}"
        for name, text in variation_lines(document.get("variation") or {})
        if document.get("variation")
    ]


def _world(document: Document) -> str:
    parts = [str(document.get("world") or "?")]
    if document.get("base_url"):
        parts.append(f"at {document['base_url']}")
    if document.get("scenario"):
        parts.append(f"scenario {document['scenario']}")
    if document.get("commit") is not None:
        parts.append(f"commit {document['commit']}")
    return f"{' '.join(parts[:2])}{''.join(f', {part}' for part in parts[2:])}"


def _clock(clock: Document) -> str:
    if not clock:
        return ""
    rate = f" at {clock.get('rate', '?')}x" if clock.get("mode") == "scaled" else ""
    text = f"{clock.get('mode') or '?'}{rate}, {clock.get('now') or '?'}"
    if clock.get("next_due_at"):
        text += f"; {counted(clock.get('pending') or 1, 'event')} to come, the next at "
        text += str(clock["next_due_at"])
    return text


# --- Requests --------------------------------------------------------------------------------


def _requests(requests: Document, paint: _Paint) -> list[str]:
    items = list(requests.get("items") or ())[-_REQUESTS:]
    total = requests.get("total") or len(items)
    if not items:
        return [paint("bold", "no requests")]
    left = f", the last {len(items)}" if total > len(items) else ""
    table = aligned([_request_row(item) for item in items])
    return [
        paint("bold", f"{counted(total, 'request')}{left}"),
        *(_request_line(line, item, paint) for line, item in zip(table, items, strict=True)),
    ]


def _request_row(item: Document) -> list[str]:
    return [
        f"  #{item.get('n', '?')}",
        asked(item.get("method") or "?", item.get("call"), item.get("path") or "?"),
        str(item.get("who") or "-"),
        _answered(item),
        _why(item),
    ]


def _answered(item: Document) -> str:
    code = item.get("code") or (item.get("problem") or {}).get("code")
    return answered(item.get("status") or 0, code, item.get("lost"), bool(item.get("replayed")))


def _why(item: Document) -> str:
    said = [str(sentence) for sentence in item.get("why") or ()]
    if not said and item.get("problem"):
        said = [str(item["problem"].get("detail") or "")]
    return f"— {one_line('; '.join(said), _WIDEST_WHY)}" if any(said) else ""


def _request_line(line: str, item: Document, paint: _Paint) -> str:
    status = item.get("status") or 0
    if item.get("lost") or status >= 500:
        return paint("red", line)
    return paint("yellow", line) if status >= 400 else line


# --- Operations and faults -------------------------------------------------------------------


def _operations(operations: Sequence[Document], paint: _Paint) -> list[str]:
    if not operations:
        return []
    lines = [paint("bold", f"{counted(len(operations), 'operation')} not ended")]
    for told in operations[:_OPERATIONS]:
        phase = told.get("phase")
        where = f" ({phase})" if phase and phase != told.get("state") else ""
        lines.append(
            f"  {told.get('operation', '?')}  {told.get('kind', '?')} of {told.get('project', '?')}"
            f" is {told.get('state', '?')}{where}"
        )
        lines += [paint("dim", f"    {one_line(line, _WIDEST)}") for line in _story(told)]
    if len(operations) > _OPERATIONS:
        lines.append(f"  … and {len(operations) - _OPERATIONS} more")
    return lines


def _story(told: Document) -> list[str]:
    coming = told.get("next") or {}
    says = [str(sentence) for sentence in told.get("says") or ()][:2]
    lines = says if not coming else [f"next, at {coming.get('at', '?')}: {coming.get('what', '?')}"]
    return [*lines, *(f"try: {command}" for command in list(told.get("commands") or ())[:1])]


def _faults(faults: Sequence[Document], paint: _Paint) -> list[str]:
    if not faults:
        return []
    rows = [_fault_row(fault) for fault in faults[:_FAULTS]]
    lines = [paint("bold", f"{counted(len(faults), 'fault')} armed"), *aligned(rows)]
    if len(faults) > _FAULTS:
        lines.append(f"  … and {len(faults) - _FAULTS} more")
    return lines


def _conduct(findings: Sequence[Document], paint: _Paint) -> list[str]:
    if not findings:
        return []
    head = f"conduct: {summary(findings)}"
    return [paint("bold", head), *finding_lines(findings[:_FINDINGS])]


def _fault_row(fault: Document) -> list[str]:
    effect = [name for name in fault if name not in _COUNTS and name not in _RULE]
    options = [
        f"{name}={_brief(value)}"
        for kind in effect
        if isinstance(fault[kind], Mapping)
        for name, value in fault[kind].items()
        if value is not None
    ]
    matches = [f"{name}={_brief(fault[name])}" for name in fault if name in _RULE]
    counts = f"seen {fault.get('seen', '?')}, hits {fault.get('hits', '?')}"
    return [
        f"  {fault.get('id', '?')}",
        " ".join([*effect, *options]) or "?",
        " ".join([str(fault.get("phase") or ""), *matches]).strip(),
        f"{counts}{', spent' if fault.get('spent') else ''}",
    ]


def _brief(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{_brief(part)}" for name, part in value.items())
    return str(value)
