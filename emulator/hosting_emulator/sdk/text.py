"""How exchanges, conduct and a world's story are written in assertions, reports and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hosting_emulator.messages import ConductReport

if TYPE_CHECKING:
    from hosting_emulator.messages import Exchange, WorldMember

Document = Mapping[str, Any]
_F = TypeVar("_F", bound=Document)

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


def exchange_cells(exchange: Exchange, projects: Mapping[str, str]) -> ExchangeCells:
    """Write an exchange; `projects` are aliases by id. What is out of reach says who could see it."""
    scope = [step["text"] for step in exchange.get("trail", ()) if step["step"] == "scope"]
    project = exchange.project
    return ExchangeCells(
        number=f"#{exchange.n}",
        at=exchange.at,
        status=str(exchange.status or "---"),
        method=exchange.method,
        asked=exchange.call or exchange.path,
        about=projects.get(project, project) if project else exchange.operation or "",
        user=exchange.user or "",
        took=f"{exchange.duration_us / 1000:.2f} ms",
        response=", ".join(_answer(exchange, "lost: {}")),
        why=scope[0] if exchange.status == 404 and scope else "; ".join(exchange.why),
    )


def exchange_row(exchange: Mapping[str, Any]) -> list[str]:
    """Write an exchange in short: number, what was asked (ids cut to their ends), who, the answer."""
    asked = exchange["call"] or _ULID.sub(r"…\1", exchange["path"])
    what, user = f"{exchange['method']:<4} {asked}", exchange["user"] or "-"
    return [f"  #{exchange['n']}", what, user, response_text(exchange)]


def response_text(exchange: Mapping[str, Any]) -> str:
    """Say what came back: `409 idempotency_key_reused`, `202 replayed`, `lost (timeout)`."""
    status = [str(exchange["status"])] if exchange["status"] else []
    return " ".join([*status, *_answer(exchange, "lost ({})")]) or "no response"


def _answer(exchange: Mapping[str, Any], lost: str) -> list[str]:
    replayed = "replayed" if exchange["replayed"] else None
    eaten = lost.format(exchange["lost"]) if exchange["lost"] else None
    waiting = "in progress" if exchange.get("in_progress") else None
    return [part for part in (exchange["code"], replayed, eaten, waiting) if part]


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
        super().__init__((one["alias"], one["id"]) for one in members)
        self._kind = kind

    def __missing__(self, alias: str) -> str:
        raise NoSuchName(unknown(self._kind, alias, self))

    def id_of(self, name: str) -> str:
        """Return the id that `name` is, or is the alias of. Raises NoSuchName."""
        return name if name in self.values() else self[name]

    def alias_of(self, id_: str | None) -> str | None:
        """Return the alias of an id, or the id itself where it has none."""
        return next((alias for alias, known in self.items() if known == id_), id_)


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


def of_severity(report: Document, at_least: str) -> ConductReport:
    """Return a conduct report with only what is at least so severe. ValueError for no severity."""
    if at_least not in _WORST:
        raise ValueError(f"at_least must be note, warning or error, not {at_least!r}")
    severe = _WORST[: _WORST.index(at_least) + 1]
    findings = [found for found in report["findings"] if found["severity"] in severe]
    return ConductReport({**report, "findings": findings})


def worst_first(findings: Iterable[_F]) -> list[_F]:
    """Return findings by severity; those of one severity stay in their order."""
    return sorted(findings, key=lambda found: _WORST.index(found["severity"]))


def conduct_text(report: Document, *, color: bool = False) -> str:
    """Write a conduct report: by rule, the worst first, each with requests, why and instead."""
    findings, remarks = worst_first(report["findings"]), report["remarks"]
    what = summary(findings) if findings else "no findings"
    head = f"conduct: {what} in {count_text(report['judged'], 'request')}"
    lines = [paint("bold", head)]
    for rule in dict.fromkeys(found["rule"] for found in findings):
        of_rule = [found for found in findings if found["rule"] == rule]
        first, shown = of_rule[0], of_rule[:_OF_A_RULE]
        severity = paint(_SEVERITY_COLORS[first["severity"]], first["severity"])
        lines += ["", f"{severity}: {first['title']} [{rule}]"]
        for found in shown:
            lines += _part("", f"{request_numbers(found)}: {found['message']}")
        left = max(report["counts"].get(rule, 0), len(of_rule)) - len(shown)
        if left > 0:
            lines.append(f"    … and {left:,} more")
        lines += _part("why", f"{first['matters']} {quotes(shown)}")
        lines += _part("instead", first["instead"])
    if findings and remarks:
        lines.append("")
    for remark in remarks:
        lines += _wrapped(remark, _TEXT_WIDTH) or [""]
    text = "\n".join(lines)
    return text if color else plain(text)


def headline(findings: Iterable[Document]) -> str:
    """Name the rules that were broken, the worst first, in the line that summaries show."""
    return f"conduct: {', '.join(dict.fromkeys(f['rule'] for f in worst_first(findings)))}"


def finding_lines(findings: Sequence[Document]) -> list[str]:
    """Write findings in short, the worst first: severity, rule, requests, what was done."""
    lines: list[str] = []
    for found in worst_first(findings)[:_OF_A_RULE]:
        rule = f"{found['severity']} {found['rule']}"
        lines += _part("", f"{rule} {request_numbers(found)}: {found['message']}")
    left = len(findings) - _OF_A_RULE
    return [*lines, f"    … and {left:,} more"] if left > 0 else lines


def rule_lines(findings: Iterable[Document]) -> list[str]:
    """Write what each rule advises; of each the last finding tells."""
    lines: list[str] = []
    for rule, found in {found["rule"]: found for found in findings}.items():
        lines += [f"{rule}: {found['title']}", *_part("instead", found["instead"])]
    return lines


def request_numbers(found: Document) -> str:
    """Name the requests of a finding: `#3, #5 and 12 more`."""
    numbers = ", ".join(f"#{n}" for n in found["requests"][:_NUMBERS])
    more = max(0, len(found["requests"]) - _NUMBERS) + (found["more_requests"] or 0)
    text = f"{numbers} and {more:,} more" if more else numbers
    chapter = found.get("chapter")
    return f"{text} ({chapter})" if chapter else text


def quotes(findings: Iterable[Document]) -> str:
    """Quote what findings of one rule rest upon, each sentence once, with its place."""
    return " ".join(dict.fromkeys(f"“{f['because']}” ({f['place']})" for f in findings))


def summary(findings: Sequence[Document]) -> str:
    """Count findings by severity: `3 findings (1 error, 2 warnings)`."""
    counts = {kind: sum(found["severity"] == kind for found in findings) for kind in _WORST}
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


def report_text(document: Document, *, color: bool = False) -> str:
    """Write a report document as about 40 lines of text; its `conduct`, if it has one, comes last."""
    findings = (document.get("conduct") or {}).get("findings") or ()
    clock, changed = document["clock"], document["assumptions"]
    scenario = f", scenario {document['scenario']}" if document["scenario"] else ""
    world = f"{document['world']} at {document['base_url']}{scenario}, commit {document['commit']}"
    rate = f" at {clock['rate']}x" if clock["mode"] == "scaled" else ""
    time = f"{clock['mode']}{rate}, {clock['now']}"
    if clock["next_due_at"]:
        pending = count_text(clock["pending"], "event")
        time += f"; {pending} to come, the next at {clock['next_due_at']}"
    head = [("world", one_line(world, _WIDEST)), ("clock", one_line(time, _WIDEST))]
    if changed:
        values = ", ".join(f"{name}={_brief(value)}" for name, value in changed.items())
        head.append(("assumed", one_line(values, _WIDEST)))
    # Hardly cut: it is what is needed to see the same failure again.
    varied = variation_lines(document["variation"]) if document.get("variation") else ()
    head += [(name, one_line(text, _WIDEST_VARIED)) for name, text in varied]
    lines = [
        *(f"{paint('bold', name.ljust(7))}  {text}" for name, text in head),
        *(paint("red", f"timeline: {said}") for said in document.get("refused", ())),
        *_requests(document["requests"]),
        *_operations(document["operations"]),
        *_armed(document["faults"], "fault"),
        *_armed(document.get("outcomes", ()), "outcome"),
    ]
    if findings:
        conduct = paint("bold", f"conduct: {summary(findings)}")
        lines += [conduct, *finding_lines(findings[:_FINDINGS])]
    text = "\n".join(lines)
    return text if color else plain(text)


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
        ("again", f"{again} (start, exec, scenario run), or {pytest} (pytest)"),
    ]


def _requests(requests: Document) -> list[str]:
    items, total = requests["items"][-_REQUESTS:], requests["total"]
    if not items:
        return [paint("bold", "no requests")]
    left = f", the last {len(items)}" if total > len(items) else ""
    lines = [paint("bold", f"{count_text(total, 'request')}{left}")]
    rows = []
    for item in items:
        why = item["why"] or ([item["problem"]["detail"]] if item["problem"] else [])
        reason = f"— {one_line('; '.join(why), _WIDEST_WHY)}" if any(why) else ""
        rows.append([*exchange_row(item), reason])
    for line, item in zip(align(rows), items, strict=True):
        if item["lost"] or item["status"] >= 500:
            lines.append(paint("red", line))
        else:
            lines.append(paint("yellow", line) if item["status"] >= 400 else line)
    return lines


def _operations(operations: Sequence[Document]) -> list[str]:
    if not operations:
        return []
    lines = [paint("bold", f"{count_text(len(operations), 'operation')} not ended")]
    for one in operations[:_OPERATIONS]:
        where = f" ({one['phase']})" if one["phase"] != one["state"] else ""
        lines.append(
            f"  {one['operation']}  {one['kind']} of {one['project']} is {one['state']}{where}"
        )
        then = one["next"]
        story = [f"next, at {then['at']}: {then['event']}"] if then else one["sentences"][:2]
        story += [f"try: {command}" for command in one["commands"][:1]]
        lines += [paint("dim", f"    {one_line(line, _WIDEST)}") for line in story]
    return lines + _more(operations, _OPERATIONS)


def _armed(faults: Sequence[Document], noun: str) -> list[str]:
    if not faults:
        return []
    head, used = count_text(len(faults), noun), sum(bool(fault["spent"]) for fault in faults)
    head += f": {len(faults) - used} armed, {used} used up" if used else " armed"
    rows = []
    for fault in faults[:_FAULTS]:
        effect, *rule = fault_words(fault)
        when = " ".join(filter(None, [fault.get("phase"), *rule]))
        spent = ", used up" if fault["spent"] else ""
        counts = (
            f"considered {fault['considered']}, seen {fault['seen']}, hits {fault['hits']}{spent}"
        )
        rows.append([f"  {fault['id']}", effect, when, counts])
    unused = [
        f"  {paint('red', one_line(unused_text(fault), _WIDEST_VARIED))}"
        for fault in faults[:_FAULTS]
        if fault["unused"] is not None and not fault.get("optional")
    ]
    return [paint("bold", head), *align(rows), *unused, *_more(faults, _FAULTS)]


def unused_text(entry: Document) -> str:
    """Say of a fault or outcome that it has never acted, and why."""
    return f"{entry['id']} never acted: {entry['unused']}."


def _more(things: Sequence[Document], shown: int) -> list[str]:
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
