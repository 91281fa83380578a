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
