"""The views on a terminal as text, with the style of each piece.

`rich_views.txt` is the golden file, in which a piece with a style is written as `«style|text»`.
`make record` renews it after an intended change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import convert
from rich.console import Console, RenderableType

from hosting_emulator.sdk import ExchangeSummary, WholeExchange, Why
from hosting_emulator_cli.rich_views import line_view, process_panel, whole_view, why_panel
from tests.support.control_samples import exchange, message

GOLDEN = Path(__file__).with_name("rich_views.txt")
#: The width in columns of the long line.
LONG_LINE = 113
ALIASES = {"01PROJ1": "shop"}
#: What is special about an exchange, and its fields.
EXCHANGES: list[tuple[str, dict[str, Any]]] = [
    *((f"status {status}", {"status": status}) for status in (299, 300, 399, 400, 499, 500)),
    ("no response", {"status": 0}),
    ("a lost response", {"lost": "timeout"}),
    ("a reason", {"why": ["fault-1 acted"]}),
    ("no user and no project", {"user": None, "project": None}),
    ("a code", {"status": 404, "code": "resource_not_found"}),
    (
        "a request that is no call",
        {"call": None, "path": "/v1/\x1b[31m[red]\r\n", "method": "OPTIONS"},
    ),
]
STEPS = [
    {"step": "user", "text": "owner, whose session began at noon."},
    {"step": "refusal", "text": "404 resource_not_found: No such \x1b[2Jproject."},
    {"step": "fault", "text": "fault-1 acted."},
    {"step": "fault", "text": "fault-2 acted."},
    {"step": "commit", "text": "commit 7"},
    {"step": "due", "text": "an event was due"},
]
WHY: dict[str, Any] = {
    "operation": "01OP",
    "kind": "apply_project_domains",
    "project": "shop",
    "state": "running",
    "finished": False,
    "phase": "deploying",
    "at": "2030-01-31T09:30:00.000Z",
    "sentences": ["It is running (deploying), and goes on.", "The clock is [frozen]."],
    "next": {"at": "2030-01-31T09:30:02.000Z", "event": "it changes to verifying"},
    "waits_for": "a ticket",
    "held_by": "its profile",
    "reconciliation": None,
    "commands": ["hosting-emulator clock advance --until-operation 01OP"],
}


def test_each_view_on_a_terminal_has_this_text_and_these_styles():
    text = "\n".join(line for lines in views() for line in lines)

    if os.environ.get("RENEW_GOLDEN_FILES"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "run `make record` if the change is intended"


def views() -> Iterator[list[str]]:
    """Yield the lines of each view, below a heading."""
    for title, fields in EXCHANGES:
        yield shown(title, line_view(summary(**fields), ALIASES, 120))
    for room in (109, 110):
        yield shown(f"a terminal of {room} columns", line_view(summary(), ALIASES, room), room)
    long = summary(project=None, path="/v1/" + "long/" * 10 + "ab", call=None)
    for room in (LONG_LINE - 1, LONG_LINE):
        title = f"a line that {'just fits' if room == LONG_LINE else 'is too long'}"
        yield shown(title, line_view(long, ALIASES, room), room)
    responses = {
        "a JSON body": message('{"a":1}', headers=[["X-A", "b\x07"]]),
        "a truncated body": message("{", body_bytes=900, body_cut=True),
        "a binary body": message(None, body_bytes=2),
        "no body": message(None, body_bytes=0),
    }
    for title, response in responses.items():
        fields = {"request": message(None, body_bytes=0), "response": response}
        yield shown(title, whole_view(whole(trail=[], **fields), ALIASES, 120))
    fields = {"request": responses["a JSON body"], "response": responses["no body"], "status": 0}
    yield shown("steps, and no response", whole_view(whole(trail=STEPS, **fields), ALIASES, 120))
    for state in ("running", "queued", "succeeded", "failed", "cancelled"):
        changes: dict[str, Any] = {} if state == "running" else {"next": None, "held_by": None}
        if state == "failed":
            changes["commands"] = []
        why = convert({**WHY, "state": state, **changes}, Why)
        yield shown(f"why: {state}", why_panel(why))
    pairs = [("base URL", "http://127.0.0.1:4620"), ("process", 7), ("state", None)]
    yield shown("status", process_panel(pairs))


def shown(title: str, view: RenderableType, width: int = 120) -> list[str]:
    """Return a heading, and the lines of a view."""
    console = Console(width=width, color_system="truecolor", force_terminal=True)
    lines = [f"=== {title}"]
    for segments in console.render_lines(view, pad=False):
        pieces = []
        for segment in segments:
            style = str(segment.style or "none")
            is_plain = style == "none" or not segment.text.strip()
            pieces.append(segment.text if is_plain else f"«{style}|{segment.text}»")
        lines.append("".join(pieces).rstrip())
    return [*lines, ""]


def summary(**fields: Any) -> ExchangeSummary:
    return convert(exchange(2, **{"trail": [], **fields}), ExchangeSummary)


def whole(**fields: Any) -> WholeExchange:
    return convert(exchange(2, **fields), WholeExchange)
