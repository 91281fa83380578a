"""The page of promises: every promise names an existing proof, and every assumption is listed."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import CallTable
from tests.support.http_world import HttpWorld

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "maintainers" / "promises.md"
TEXT = PAGE.read_text(encoding="utf-8")
WORTH = {"contract", "assumed", "ours", "not emulated"}
PROOF = re.compile(r"`(tests/[a-z_/0-9]+\.py)(?:::(test_[a-z_0-9]+))?`")
BEGIN = "<!-- assumptions -->\n"
END = "<!-- end of assumptions -->"


def rows() -> list[list[str]]:
    """Return the cells of every row except headings and legend."""
    lines = [line for line in TEXT.splitlines() if line.startswith("| ") and "**" not in line]
    table_rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [cells for cells in table_rows if cells[-1] not in ("proof", "meaning")]


def assumption_table() -> str:
    """Return the table of assumptions as the page must have it."""
    lines = ["| assumption | worth | default | leaves it open | proof |", "|---|---|---|---|---|"]
    for row in describe(DEFAULTS):
        default = "default" if row["default"] == {} else str(row["default"])
        sentence = row["sentence"].replace("|", "\\|")
        if row["fixed"]:
            default = f"{row['about']} It cannot be set: {row['fixed']}."
            proof = "`tests/service/test_assumptions.py::test_a_fixed_choice_is_explained_and_cannot_be_set`"
            lines.append(f"| `{row['name']}` | assumed | {default} | {sentence} | {proof} |")
            continue
        if row["outside_the_letter"]:
            default += f" ({', '.join(row['outside_the_letter'])}: contradicts the contract)"
        proof = "`tests/service/test_assumptions.py::test_an_alternative_changes_the_response`"
        lines.append(f"| `{row['name']}` | assumed | {default} | {sentence} | {proof} |")
    return "\n".join(lines) + "\n"


@lru_cache
def proofs_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, functions) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("cells", rows(), ids=lambda cells: cells[0][:60])
def test_every_promise_has_a_known_worth_and_an_existing_proof(cells: list[str]):
    assert cells[1] in WORTH
    match = PROOF.fullmatch(cells[-1])
    assert match is not None, f"no proof in {cells}"
    path, name = match.groups()
    assert (ROOT / path).is_file(), f"{path} is gone"
    assert name is None or name in proofs_in(path), f"{path} has no {name}"


def test_the_page_has_promises_of_every_worth():
    assert {cells[1] for cells in rows()} == WORTH


def test_every_promise_is_unique():
    promises = [cells[0] for cells in rows()]
    assert len(promises) == len(set(promises))


def test_the_promises_list_every_assumption():
    begin = TEXT.index(BEGIN) + len(BEGIN)
    end = TEXT.index(END)
    assert TEXT[begin:end] == assumption_table(), (
        "write it anew: python -m tests.docs.test_promises"
    )


#: Patterns of behavior that an assumption decides, so that it is no promise of the contract.
DECIDED_BY = {
    "idempotency_retention": "forever|remember",
    "idempotency_in_flight": "[Ss]imultaneous|at the same time|in progress",
    "idempotency_remembers": "refused request leaves",
    "operation_replay": "byte for byte, even after",
    "mutation_claim": "one operation at a time|order of arrival",
    "cursor_life": "exactly once",
    "rate_limit": "[Rr]ate limit says",
    "request_id": "X-Request-Id",
    "operation_transitions": "along their tables",
    "default_page_size": "by default",
    "deployment_order": "newest first|oldest first",
}


def promised() -> list[list[str]]:
    """Return the rows of promises about the service, without the table of assumptions."""
    names = {row["name"] for row in describe(DEFAULTS)}
    return [
        cells
        for cells in rows()
        if cells[0].strip("`") not in names and cells[1] in ("contract", "assumed")
    ]


def test_a_promise_that_an_assumption_decides_is_marked_as_assumed():
    """A promise that depends on an assumption is `assumed` and names the assumption."""
    worth = {cells[0].strip("`"): cells[1] for cells in rows()}
    names = {row["name"] for row in describe(DEFAULTS)}
    assert names >= set(DECIDED_BY)

    assert names <= worth.keys(), "write it anew: python -m tests.docs.test_promises"
    assert {worth[name] for name in names} == {"assumed"}
    for promise, word, *_ in promised():
        named_assumptions = names.intersection(re.findall(r"`(\w+)`", promise))
        words = re.sub(r"`\w+`", "", promise)
        decided = {name for name, pattern in DECIDED_BY.items() if re.search(pattern, words)}
        assert bool(named_assumptions) is (word == "assumed"), promise
        assert decided <= named_assumptions, promise


@pytest.mark.parametrize("name", DECIDED_BY)
def test_a_contract_promise_never_states_what_an_assumption_decides(name: str):
    contract = [promise for promise, word, *_ in promised() if word == "contract"]

    assert contract
    assert [promise for promise in contract if re.search(DECIDED_BY[name], promise)] == []


def test_the_service_has_eight_calls_and_the_poll():
    called = {spec.call_id for spec in CallTable(DEFAULTS)}
    assert len(called) == 9, (
        "a ninth call is a new promise: see other_calls in docs/maintainers/promises.md"
    )


def test_the_host_of_a_deployment_is_not_served(api: HttpWorld):
    url = api.deployments().json["items"][0]["url"]
    host = url.removeprefix("https://")

    response = api.call("GET", "/", headers={"Host": host})

    assert response.status == 404


def test_no_response_contains_credits(api: HttpWorld):
    responses = [api.set_flag(True), api.create_key(), api.dns(), api.deployments(), api.compute()]
    assert [response.status < 300 for response in responses] == [True] * 5
    assert not any(
        re.search(rb"\"[a-z_]*(credit|fee|bonus)[a-z_]*\":", response.body)
        for response in responses
    )


def test_the_emulator_opens_no_connection_to_other_hosts():
    """Nothing in the emulator opens a connection to anywhere."""
    sources = (ROOT / "emulator/hosting_emulator").rglob("*.py")
    callers = [
        path.relative_to(ROOT).as_posix()
        for path in sources
        if re.search(
            r"create_connection|ClientSession|urlopen|http\.client|open_connection",
            path.read_text(encoding="utf-8"),
        )
    ]
    # These packages are clients that a user runs: the client of the control API, replays and the
    # contract check, which connect where the user says.
    client_packages = ("/sdk/", "/replay/", "/contract_check/")
    assert [
        path for path in callers if not any(package in path for package in client_packages)
    ] == []


def test_the_default_world_has_no_rate_limit(api: HttpWorld):
    assert DEFAULTS.rate_limit == "off"
    assert {api.dns().status for _ in range(300)} == {200}


if __name__ == "__main__":
    head, rest = TEXT.split(BEGIN)
    PAGE.write_text(head + BEGIN + assumption_table() + END + rest.split(END)[1], encoding="utf-8")
