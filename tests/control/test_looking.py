"""The resources that the page shows: projects, API keys, history and the timeline of operations."""

from __future__ import annotations

import json
import re
import urllib.request
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.browser.control_views import document_at, items
from tests.support.http_world import HttpWorld

STATIC = files("hosting_emulator.dashboard").joinpath("static")


def shop(api: HttpWorld) -> dict[str, Any]:
    return next(row for row in items(api, "projects") if row["alias"] == "shop")


def timeline(api: HttpWorld, operation: str) -> dict[str, Any]:
    return next(row for row in items(api, "timeline") if row["id"] == operation)


def states(row: dict[str, Any]) -> list[str]:
    return [span["phase"] + (" stuck" if span["stuck"] else "") for span in row["spans"]]


def test_a_project_lists_everything_that_belongs_to_it(api: HttpWorld):
    operation = api.initialize().json["id"]

    project = shop(api)

    assert project["organization"] == "acme"
    assert project["claim"] == operation
    assert project["dns"] == api.dns().json
    assert project["databases"]["dev"]["compute"] == api.compute().json["database"]
    assert project["deployments"] == api.deployments("?limit=10").json["items"]
    assert project["flag"]["enabled"] is True


def test_a_project_lists_the_role_of_each_user_and_its_source(api: HttpWorld):
    users = {row["user"]: (row["role"], row["through"]) for row in shop(api)["users"]}

    assert users == {
        "owner": ("owner", "organization"),
        "member": ("maintainer", "project"),
        "reader": ("reader", "project"),
    }


def test_a_ticket_shows_its_state_and_no_secret(api: HttpWorld):
    issued = api.ticket().json
    tickets = shop(api)["tickets"]

    assert [(row["user"], row["state"]) for row in tickets] == [("owner", "unused")]
    assert issued["redeem_url"].rpartition("=")[2] not in json.dumps(tickets)

    api.emulator.clock.advance("11m")
    assert shop(api)["tickets"][0]["state"] == "expired"


def test_the_list_of_api_keys_shows_no_value(api: HttpWorld):
    value = api.create_key("ci").json["value"]
    api.dns(token=value)

    (key,) = items(api, "keys")

    assert (key["name"], key["user"], key["organization"]) == ("ci", "owner", "acme")
    assert key["last_used_at"] is not None
    assert value not in json.dumps(key)
    api.emulator.intervene("revoke_key", key=key["id"])
    assert items(api, "keys")[0]["revoked"] is True
    api.emulator.clock.advance("91d")
    assert items(api, "keys")[0]["expired"] is True


def test_the_timeline_contains_each_state_of_an_operation(api: HttpWorld):
    operation = api.initialize().json["id"]
    api.emulator.clock.advance("3s")
    api.emulator.intervene("stick_operation", operation=operation)
    api.emulator.clock.advance("5m")
    api.emulator.intervene("release_operation", operation=operation)
    api.emulator.clock.until(operation)

    row = timeline(api, operation)

    assert states(row) == [
        "queued",
        "building",
        "building stuck",
        "building",
        "deploying",
        "verifying",
        "done",
    ]
    spans = row["spans"]
    assert all(span["to"] == following["from"] for span, following in pairwise(spans))
    assert spans[2]["from"] == "2026-01-01T00:00:03.000Z"
    assert spans[2]["to"] == "2026-01-01T00:05:03.000Z"
    assert spans[-1]["from"] == spans[-1]["to"]


def test_the_timeline_contains_states_that_no_request_observed(api: HttpWorld):
    operation = api.apply_domains().json["id"]
    api.emulator.clock.advance("11s")

    spans = timeline(api, operation)["spans"]

    assert [
        (span["state"], span["phase"], span["from"][17:], span["to"][17:]) for span in spans
    ] == [
        ("queued", "queued", "00.000Z", "02.000Z"),
        ("running", "deploying", "02.000Z", "06.000Z"),
        ("running", "verifying", "06.000Z", "10.000Z"),
        ("succeeded", "done", "10.000Z", "10.000Z"),
    ]


def test_the_present_state_in_the_timeline_has_no_end(api: HttpWorld):
    operation = api.apply_domains().json["id"]

    (span,) = timeline(api, operation)["spans"]

    assert (span["state"], span["to"]) == ("queued", None)


def test_the_timeline_is_newest_first_and_states_the_total(api: HttpWorld):
    starts = [row["spans"][0]["from"] for row in items(api, "timeline?limit=1000")]

    assert starts == sorted(starts, reverse=True)
    assert document_at(api, "timeline?limit=1")["total"] == len(starts) > 30


def test_a_project_lists_as_many_deployments_as_are_requested(api: HttpWorld):
    rows = items(api, "projects?deployments=1000")
    (project,) = [row for row in rows if row["alias"] == "shop"]

    assert len(project["deployments"]) == project["counts"]["deployments"] > 10
    assert len(shop(api)["deployments"]) == 10


def test_a_claim_says_whether_an_intervention_holds_it(api: HttpWorld):
    assert not shop(api)["claim_held"]
    api.emulator.intervene("hold_claim", project="shop")
    assert shop(api)["claim_held"]
    api.emulator.intervene("release_claim", project="shop")
    api.initialize()
    assert not shop(api)["claim_held"]


def test_the_history_says_what_commits_changed(api: HttpWorld):
    api.emulator.clock.scale(60)
    api.emulator.clock.freeze()
    value = api.create_key("ci").json["value"]
    api.apply_domains()
    api.dns(token=value)
    api.emulator.clock.advance("1h")

    last, *_ = sentences = [row["summary"] for row in items(api, "history")]

    assert last == "time moved by 1h; apply project domains of shop: succeeded"
    assert "the API key ci was used" in sentences
    assert "apply project domains of shop: queued" in sentences
    assert any(says.startswith("the clock is frozen") for says in sentences)
    assert any(says.startswith("the clock is scaled to 60x real time") for says in sentences)


def test_the_history_names_three_changes_of_a_commit_and_counts_the_others(api: HttpWorld):
    for project in ("shop", "blog", "docs"):
        assert api.initialize(project=project).status == 202
    api.emulator.clock.advance("1h")

    last, *_ = [row["summary"] for row in items(api, "history")]

    assert last == (
        "time moved by 1h; initialize managed source of shop: succeeded; "
        "initialize managed source of blog: succeeded; and 1 more"
    )


def test_the_clock_names_the_next_event(api: HttpWorld):
    assert {"DNS", "shop", "expires"} <= set(document_at(api, "clock")["next_event"].split())
    api.initialize()
    following = "initialize managed source of shop becomes"
    assert document_at(api, "clock")["next_event"] == f"{following} running"
    api.emulator.clock.advance("2s")
    assert document_at(api, "clock")["next_event"] == f"{following} deploying"


def test_a_summary_counts_what_there_is_and_nothing_that_was_removed(api: HttpWorld):
    before = document_at(api, "")["counts"]

    api.emulator.intervene("add_deployments", project="shop", count=5)
    api.emulator.intervene("remove_deployments", project="shop", count=3)
    api.apply_domains()
    api.create_key("ci")
    api.create_key("cd")
    for _ in range(3):
        api.ticket()

    after = document_at(api, "")["counts"]
    differences = {name: after[name] - before[name] for name in after}
    assert differences == {
        "projects": 0,
        "operations": 6,
        "deployments": 2,
        "tickets": 3,
        "api_keys": 2,
    }


def test_a_summary_has_the_generation_that_is_expected_next(api: HttpWorld):
    def generation() -> int:
        projects = document_at(api, "")["projects"]
        (project,) = [project for project in projects if project["alias"] == "shop"]
        return int(project["source_generation"])

    before = generation()
    api.emulator.clock.until(api.initialize(before).json["id"])

    assert generation() == before + 1


def test_the_timeline_begins_where_the_history_begins(api: HttpWorld):
    row = items(api, "timeline?limit=1")[0]

    assert [span["state"] for span in row["spans"]] == [row["state"]]


def test_the_page_reads_the_calls_from_the_server_and_contains_no_path_of_theirs():
    texts = {
        path.name: path.read_text(encoding="utf-8") for path in Path(str(STATIC)).rglob("*.js")
    }

    assert "/contract/calls" in texts["calls.js"]
    assert [name for name, text in texts.items() if "/v1/organizations" in text] == []


def test_the_html_of_the_page_has_no_inline_script_or_style(api: HttpWorld):
    parts = urlsplit(api.emulator.base_url)
    with urllib.request.urlopen(f"{parts.scheme}://{parts.netloc}/_emulator/") as response:
        html = response.read().decode()

    assert re.findall(r"<script(?![^>]* src=)[^>]*>|<style|style=|\son\w+=", html) == []
    assert "<noscript><main>" in html
