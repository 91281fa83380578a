"""The table of sentences quotes the contract exactly and completely, and each can be judged."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from ruamel.yaml import YAML

from hosting_emulator.contract.assumption_table import why_unseen
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator_lab.contract_check import Report, checks
from hosting_emulator_lab.contract_check.checks import CHECKS
from hosting_emulator_lab.contract_check.clauses import CALL_CLAUSES, CLAUSES
from hosting_emulator_lab.contract_check.declared_check import Check
from hosting_emulator_scenarios import FOLDER
from tests.lab.contract_check.check_run import differing, with_verdict
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.support.http_world import HttpWorld

CONTRACT = (Path(__file__).parents[2] / "support" / "contract.txt").read_text(encoding="utf-8")

#: The rest of the contract without the quoted sentences: it states nothing that can be checked.
REST = [
    # titles of sections and tables
    r"#+ .*",
    r"\|[-|]+\|",
    r"\| (#|Name|Field|State|Condition|Item) \|.*",
    r"Operations specified below:",
    r"Gaps in this resource:",
    r"Flag semantics: +",
    r"Codes \(exact\):",
    r"Known conditions:",
    r" Common headers: ; ; ",
    # the subject of the contract
    r"This single document covers the whole service: .*",
    r"The service is a REST control API for hosting web projects\. *",
    r"\| [1-8] \| .* \| .*\|",
    # stated and quoted elsewhere
    r"See the Errors part\.",
    r"- Path: \w+ \(Ulid\)\. Headers?: .*",
    r" The flag endpoint lists statuses 400, 401, 403, 404, 409, 503\. .*",
    # explicitly not shown
    r".*: (content )?not shown\.",
    r" and ",
    r"Names of ticket states are not given in the interface\.",
]


def test_every_clause_quotes_the_contract_exactly() -> None:
    inexact = [key for key, clause in CLAUSES.items() if clause.text not in CONTRACT]

    assert inexact == [], (
        "write the contract's text into tests/support/contract.txt, or quote it exactly: in the"
        " declaration of the resource, or, for a call whose response it describes in other words"
        " than `Response: Name.`, in contract_check/contract_sentences.py"
    )


def test_the_key_of_every_clause_consists_of_lowercase_words() -> None:
    assert [key for key in CLAUSES if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)?", key)] == []


def test_every_sentence_of_a_resource_is_among_the_clauses() -> None:
    keys = {key for resource in RESOURCES.values() for key in resource.sentences}

    assert keys <= CLAUSES.keys()


def test_every_call_has_clauses_for_its_address_and_its_response() -> None:
    for name, spec in CALLS.items():
        address, response = (CLAUSES[key] for key in CALL_CLAUSES[name])

        assert address.text == f"{spec.method} {spec.path}"
        assert spec.response.removesuffix("Resource") in response.text or name == "list_deployments"


def test_every_sentence_of_the_contract_is_a_clause_or_says_nothing_checkable() -> None:
    rest = CONTRACT
    for sentence in sorted(CLAUSES.values(), key=lambda clause: -len(clause.text)):
        rest = rest.replace(sentence.text, "")
    lines = [line for line in rest.splitlines() if re.search(r"\w", line)]

    unquoted = [line for line in lines if not any(re.fullmatch(pattern, line) for pattern in REST)]

    assert unquoted == [], (
        "quote the sentence in contract_check/contract_sentences.py, or add it to REST if nothing can"
        " break it"
    )


def test_no_clause_quotes_a_sentence_more_often_than_the_contract_states_it() -> None:
    texts = [sentence.text for sentence in CLAUSES.values()]

    too_often = [text for text in set(texts) if texts.count(text) > max(1, CONTRACT.count(text))]

    assert too_often == [], "a sentence of a new resource must stand in tests/support/contract.txt"


def test_every_check_judges_existing_clauses() -> None:
    # Other checks judge the same sentences, too.
    only_confirming = ("call_as_maintainer", "call_as_outsider")
    for check in CHECKS:
        assert set(check.judges) <= CLAUSES.keys(), check.name
        assert check.judges or not check.needs or check.name in only_confirming


def test_every_declared_check_is_made_once() -> None:
    modules = [
        import_module(f"{checks.__name__}.{module.name}")
        for module in iter_modules(checks.__path__)
    ]

    declared = [
        value.name
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Check)
    ]
    assert sorted(declared) == sorted(check.name for check in CHECKS)


@pytest.fixture(scope="module")
def report() -> Report:
    return TamperedWorld().checked()


def test_every_clause_is_judged_or_explains_why_not(report: Report) -> None:
    """The skipped sentences need a failure to be observed."""
    assert differing(report) == {}
    assert with_verdict(report, "skipped").keys() == {
        "operation.error",
        "error-object",
        "operation.reconciliation",
        "reconciliation-object",
        "flag.off-refused",
        "flag.hiding-refused",
        "problem.instance",
        "problem.retry_after_seconds",
        "limit.retry-after",
    }
    unseen = with_verdict(report, "unseen")
    assert unseen.keys() == {key for key, clause in CLAUSES.items() if clause.unseen}
    assert all("no response showed it" not in sentence["seen"] for sentence in report["sentences"])


def test_every_assumption_is_observed_or_explains_why_not(report: Report) -> None:
    observed = {row["name"] for row in report["observed"] if "observed" in row}
    unseen = {name for name in DEFAULTS.__struct_fields__ if why_unseen(name)}
    assert observed.isdisjoint(unseen)
    assert observed | unseen == set(DEFAULTS.__struct_fields__)
    assert all(row.get("why", "x") for row in report["observed"])


def test_a_role_that_was_not_observed_names_the_options_that_show_it() -> None:
    report = TamperedWorld().checked(
        maintainer_token=None, reader_token=None, allow=frozenset({"flag", "keys", "tickets"})
    )

    reasons = {row["name"]: row.get("why") for row in report["observed"]}
    tokens = "--maintainer-token and --reader-token"
    assert {name: why for name, why in reasons.items() if name.endswith("_role")} == {
        "source_role": f"it needs --allow source, {tokens}",
        "domains_role": f"it needs --allow domains, {tokens}",
        "operation_role": f"it needs --allow source or --allow domains, {tokens}",
        "dns_role": f"it needs {tokens}",
        "deployments_role": f"it needs {tokens}",
    }


#: The variation points that draw other words for assumptions that list words.
DRAWN_WORDS = {
    "progress_phases": "unknown-phase",
    "reconciliation_states": "unknown-reconciliation-state",
    "deployment_statuses": "unknown-deployment-status",
    "database_states": "unknown-database-state",
    "data_modes": "unknown-data-mode",
}


def _assumptions_of_scenarios() -> set[str]:
    """Return the assumptions that a scenario of the library sets, at its start or in its story."""
    names: set[str] = set()
    yaml = YAML(typ="safe", pure=True)
    for path in FOLDER.glob("*.yaml"):
        document = yaml.load(path)
        names |= document.get("assumptions", {}).keys()
        for step in document["story"]:
            names |= step.get("assume", {}).keys()
    return names


def test_each_settable_assumption_is_seen_by_a_tool_or_shown_in_a_scenario(
    report: Report, api: HttpWorld
) -> None:
    observed = {row["name"] for row in report["observed"] if "observed" in row}
    points = {point["id"]: point for point in api.emulator.control.contract("variation-points")}
    drawn = {name for point in points.values() for name in point["assumptions"]}

    assert set(DRAWN_WORDS.values()) <= points.keys()
    visible = observed | drawn | DRAWN_WORDS.keys() | _assumptions_of_scenarios()
    assert set(DEFAULTS.__struct_fields__) - visible == set(), (
        "show the assumption in a scenario of the library (`assumptions:`, or a step with `assume:`),"
        " or make it fixed: a row of contract/fixed_assumptions.py"
    )
