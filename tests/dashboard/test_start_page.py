"""The start page: its first request works as shown, and no text of a world becomes markup."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from msgspec import convert
from msgspec.structs import replace

from hosting_emulator.dashboard.start_body import start_body
from hosting_emulator.sdk import WorldSummary
from tests.support.http_world import HttpWorld


def world(**members: Any) -> WorldSummary:
    document = {
        "name": "default",
        "seed": "",
        "scenario": None,
        "ephemeral": True,
        "control_url": "http://h/_emulator/worlds/default",
        "commit": 1,
        "assumptions": {},
        "warnings": [],
        "variation": None,
        "triggers": [],
        "base_url": "http://h",
        "issuer": "http://h/_emulator/idp",
        "clock": {
            "mode": "real",
            "now": "2026-01-01T00:00:00.000Z",
            "rate": 1.0,
            "next_due_at": None,
            "next_event": None,
            "pending": 0,
        },
        "counts": {"projects": 0, "deployments": 0, "operations": 0},
        "organizations": [],
        "users": [],
        "projects": [],
        **members,
    }
    return convert(document, WorldSummary)


def test_the_first_request_on_the_start_page_works_in_a_shell(api: HttpWorld):
    parts = urlsplit(api.emulator.base_url)
    with urllib.request.urlopen(f"{parts.scheme}://{parts.netloc}/_emulator") as response:
        html = response.read().decode()
    lines = re.search(r"<pre[^>]*><code>(.*?)</code></pre>", html, re.DOTALL)
    assert lines

    process = subprocess.run(
        ["bash", "-c", unescape(lines[1])], capture_output=True, text=True, check=True
    )

    assert len(json.loads(process.stdout)["items"]) == 20


def test_an_empty_world_has_no_first_request():
    html = start_body("http://h", "in memory", [world()])

    assert "A first request" not in html
    assert "<h2>Worlds</h2>" in html


def test_names_on_the_start_page_are_escaped():
    evil = "<script>&"
    row = {
        "id": evil,
        "alias": evil,
        "name": evil,
        "plan": evil,
        "organization_id": evil,
        "email": evil,
        "handle": evil,
        "source_generation": 0,
    }

    html = start_body(
        evil, evil, [world(users=[row], projects=[row], organizations=[row], base_url=evil)]
    )

    assert "<script" not in html


def test_the_start_page_shows_the_rate_of_a_scaled_clock():
    summary = world()
    scaled = replace(summary, clock=replace(summary.clock, mode="scaled", rate=60.0))

    assert "scaled, 60x" in start_body("http://h", "in memory", [scaled])


def member(id: str, alias: str, **fields: Any) -> dict[str, Any]:
    """Return a user, a project or an organization of a world."""
    owner = {"organization_id": "o1", "handle": alias, "source_generation": 0}
    return {**owner, "id": id, "alias": alias, "name": alias.title(), "email": "", **fields}


#: What the page shows of a world with these members: each cell between two bars.
TABLES = """\
World | Clock | Holds | Look at
default http://h | real 2026-01-01T00:00:00.000Z | projects: 2, deployments: 3, operations: 4 \
| requests assumptions state
ci http://h | real 2026-01-01T00:00:00.000Z | projects: 0, deployments: 0, operations: 0 \
| requests assumptions state

Alias | Id | Organization
shop | p1 | acme
lost | p2 | o9

Alias | Id | Name and plan
acme | o1 | Acme, paid

Alias | Id | Name
reader | u1 | Reader
owner | u2 | Owner
"""


def text_of_tables(page: str) -> str:
    """Return the tables of a page as text, and check that each cell is labeled with its heading."""
    text = ""
    for table in re.findall(r"<table><thead><tr>(.*?)</tbody></table>", page, re.DOTALL):
        head, *rows = table.split("<tr>")
        headings = re.findall(r'<th scope="col">(.*?)</th>', head)
        text += " | ".join(headings) + "\n"
        for row in rows:
            cells = re.findall(r'<td data-label="(.*?)">(.*?)</td>', row)
            assert [label for label, _ in cells] == headings
            plain = [re.sub("<[^>]*>", "", cell.replace("<br>", " ")) for _, cell in cells]
            text += " | ".join(plain) + "\n"
        text += "\n"
    return text[:-1]


def test_the_start_page_shows_each_world_and_the_members_of_the_first():
    first = world(
        users=[member("u1", "reader"), member("u2", "owner")],
        projects=[member("p1", "shop"), member("p2", "lost", organization_id="o9")],
        organizations=[member("o1", "acme", plan="paid")],
        counts={"projects": 2, "deployments": 3, "operations": 4},
    )

    page = start_body("http://h", "in memory", [first, world(name="ci")])

    assert text_of_tables(page) == TABLES
    for name in ("default", "ci"):
        for link in ("requests", "assumptions", "state"):
            assert f'<a href="/_emulator/worlds/{name}/{link}">{link}</a>' in page
    assert """-d '{"user":"owner"}'""" in page
    assert '<span class="mark retry">real</span> <time>2026' in page
    assert "<dd>in memory</dd>" in page


def test_the_first_request_is_that_of_the_first_user_if_there_is_no_owner():
    members = {"users": [member("u1", "reader")], "projects": [member("p1", "shop")]}

    assert """-d '{"user":"reader"}'""" in start_body("http://h", "in memory", [world(**members)])
    for name in members:
        page = start_body("http://h", "in memory", [world(**{**members, name: []})])
        assert "A first request" not in page
