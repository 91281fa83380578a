"""A client that picks items by their position omits a line or a request if a list is reversed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator_lab.judge.client_behavior import ClientBehavior
from hosting_emulator_lab.judge.list_order import ItemValues, omitted_line, omitted_request
from tests.lab.judge.samples import requests

ITEMS: list[dict[str, Any]] = [
    {"id": "01JGFJJZ0A", "status": "ready", "commit_sha": "4be1c0ffee77", "labels": ["blue"]},
    {"id": "01JGFJJZ0B", "status": "failed", "commit_sha": "9f00ba4d5511", "labels": []},
    {"id": "01JGFJJZ0C", "status": "failed", "commit_sha": "77aa0123beef", "labels": []},
]
[LISTING] = requests("list_deployments")
VALUES = ItemValues.of_list(
    [replace(LISTING, known_response={"items": ITEMS})], "list_deployments", "/items"
)


def printing(*lines: str) -> ClientBehavior:
    """Return the behavior of a client that prints lines."""
    return ClientBehavior(0, hung=False, requests=(), lines=lines)


def sending(*texts: str) -> ClientBehavior:
    """Return the behavior of a client that sends requests."""
    return ClientBehavior(0, hung=False, requests=texts, lines=())


def omission(usual: list[str], altered: list[str], second: list[str] | None = None) -> str:
    """Return the line that a client omits, which prints the same in both unaltered runs by default."""
    other = usual if second is None else second
    return omitted_line(printing(*altered), printing(*usual), printing(*other), VALUES)


def rows(items: list[dict[str, Any]]) -> list[str]:
    """Return a numbered row for each item."""
    return [f"{n:>2}. {item['id']:<30} {item['status']}" for n, item in enumerate(items, 1)]


def columns(items: list[dict[str, Any]]) -> list[str]:
    """Return rows with two items each."""
    ids = [item["id"] for item in items]
    return ["  ".join(ids[:2]), "  ".join(ids[2:])]


@pytest.mark.parametrize(
    "show",
    [
        rows,
        columns,
        lambda items: [json.dumps(items)],
        lambda items: json.dumps(items, indent=2).splitlines(),
        lambda items: ["found: " + ", ".join(item["id"] for item in items)],
        lambda items: [f"took {len(str(items[0])) / 7:.3f} s", f"{len(items)} deployments"],
    ],
    ids=["numbered rows", "columns", "JSON in a line", "JSON", "a line", "numbers alone"],
)
def test_a_client_that_prints_a_list_in_the_order_of_arrival_omits_nothing(show: Any) -> None:
    assert omission(show(ITEMS), show(ITEMS[::-1])) == ""


@pytest.mark.parametrize(
    "show",
    [
        lambda item: f"latest: {item['id']}",
        lambda item: f"commit {item['commit_sha'][:7]} is live",
        lambda item: f"the last deployment is {item['status']}",
        lambda item: "all is well" if item["status"] == "ready" else "the deployment FAILED",
        lambda item: f"labels={','.join(item['labels']) or 'none'}",
    ],
    ids=["an id", "a shortened value", "a status", "a judgment", "a part of an item"],
)
def test_a_client_that_shows_the_first_item_omits_its_line(show: Any) -> None:
    line = show(ITEMS[0])

    assert omission([*rows(ITEMS), line], [*rows(ITEMS[::-1]), show(ITEMS[-1])]) == line


def test_a_client_that_marks_the_first_item_omits_its_line() -> None:
    usual = ["01JGFJJZ0A current", "01JGFJJZ0B", "01JGFJJZ0C"]
    altered = ["01JGFJJZ0C current", "01JGFJJZ0B", "01JGFJJZ0A"]

    assert omission(usual, altered) == usual[0]


def test_a_line_that_differs_between_the_unaltered_runs_is_not_omitted() -> None:
    assert omission(["token abc"], ["token xyz"], second=["token def"]) == ""
    assert omission(["done", "done"], ["done"], second=["done"]) == ""


def test_output_that_is_unknown_omits_nothing() -> None:
    silent = ClientBehavior(0, hung=False, requests=())
    shown = printing("latest: 01JGFJJZ0A")
    assert omitted_line(silent, shown, shown, VALUES) == ""
    assert omitted_line(shown, silent, shown, VALUES) == ""
    assert omitted_line(shown, shown, silent, VALUES) == ""


def test_a_request_that_both_unaltered_runs_send_is_omitted() -> None:
    usual = sending("GET /list", "GET /a", "GET /a", "GET /b")
    assert omitted_request(sending("GET /list", "GET /b"), usual, usual) == "GET /a"
    assert omitted_request(sending("GET /b", "GET /a", "GET /list"), usual, usual) == ""
    other = sending("GET /list", "GET /b")
    assert omitted_request(sending("GET /list", "GET /c"), usual, other) == "GET /b"
    assert omitted_request(other, usual, other) == ""


def test_the_values_of_a_list_inside_other_lists_and_of_plain_texts_are_found() -> None:
    content = {"groups": [{"names": ["web", "mail"]}, {"names": ["web"]}, {}], "id": "X"}
    nested = [replace(LISTING, known_response=content)]

    values = ItemValues.of_list(nested, "list_deployments", "/groups/*/names")

    assert values.items == [frozenset({"web"}), frozenset({"mail"})]
    assert ItemValues.of_list(nested, "list_deployments", "/id").items == []
    assert ItemValues.of_list(nested, "read_database_compute", "/groups").items == []
