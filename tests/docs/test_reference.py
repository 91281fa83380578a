"""The generated reference is up to date and complete, and its examples run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import cache

import pytest
from click.testing import CliRunner
from reference.pages import FOLDER, file_names, texts

import pytest_hosting_emulator
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import Filters, HostingEmulator, Requests, WorldClock
from hosting_emulator_cli.main import cli
from hosting_emulator_scenarios import FOLDER as SCENARIOS
from pytest_hosting_emulator import MoreWorlds, plugin
from tests.docs.command_line import all_option_names, command_names, command_of
from tests.docs.markdown import anchors, blocks
from tests.support.http_world import HttpWorld, exchange
from tests.support.service_declarations import DEFAULT_POPULATION, LIFECYCLES

ADVICE = "the code has changed: run `make record`"
Prepare = Callable[[HttpWorld], object]


@cache
def pages() -> dict[str, str]:
    """Return the text of each page by its file name. Writing them takes more than a second."""
    return texts()


def headings(page: str, level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+)$", pages()[page], re.MULTILINE)


def cells(page: str) -> set[str]:
    """Return the names in the first cells of the tables of a page."""
    return set(re.findall(r"^\| \[?`([^`]+)`", pages()[page], re.MULTILINE))


@pytest.mark.parametrize("name", file_names())
def test_the_page_is_what_the_generator_writes(name: str):
    path = FOLDER / name

    assert path.is_file(), ADVICE
    assert path.read_text(encoding="utf-8") == pages()[name], ADVICE


def test_the_reference_has_no_page_that_the_generator_does_not_write():
    assert {path.name for path in FOLDER.iterdir()} == set(pages()), ADVICE


def test_the_generator_writes_the_same_pages_every_time():
    assert texts() == pages()


# --- Completeness --------------------------------------------------------------------------------


def test_the_reference_shows_every_command_and_option():
    sections = {*headings("cli.md", 2), *headings("cli.md", 3)}

    for name in command_names():
        subcommands = getattr(command_of([name]), "commands", {})
        assert {name, *(f"{name} {word}" for word in subcommands)} <= sections
    shown = set(re.findall(r"--?[a-z][a-z-]*", pages()["cli.md"]))
    options = {name for name in all_option_names() if name.startswith("-")}
    assert options - shown == set()


def test_the_reference_shows_every_call():
    assert [name for name in headings("calls.md", 2) if name not in ALL_CALLS] == []
    assert len(headings("calls.md", 2)) == 9, "the contract has eight calls, and the poll"


def test_the_reference_shows_for_each_call_what_the_contract_says_and_what_we_assume():
    sections = dict(re.findall(r"^## (\w+)\n(.+?)(?=^## |\Z)", pages()["calls.md"], re.M | re.S))

    assert "“An exact replay (same name and Idempotency-Key)" in sections["create_user_api_key"]
    assert "`default_page_size`" in sections["list_deployments"]
    for name, text in sections.items():
        assert ("“" in text) == (name != "get_operation"), "the contract does not show this call"
        assert "\nWe assume:\n" in text


def test_the_reference_shows_every_state_of_every_lifecycle():
    for lifecycle in LIFECYCLES:
        text = pages()["lifecycles.md"].lower().partition(f"## {lifecycle.name.lower()}\n")[2]
        states = re.findall(r"^\| `(\w+)`", text.partition("\n## ")[0], re.MULTILINE)

        assert states == list(lifecycle.transitions)


def test_the_reference_shows_every_user_project_and_organization_of_the_default_world():
    population = DEFAULT_POPULATION
    organizations = {organization.alias for organization in population.organizations}
    users = {user.alias for user in population.users}
    projects = {project.alias for project in population.projects}

    assert cells("default-world.md") == organizations | users | projects


def test_the_reference_shows_every_problem_code():
    assert headings("problems.md", 2) == list(PROBLEMS)


def test_the_reference_shows_every_rule_of_conduct(api: HttpWorld):
    rules = api.emulator.control.contract("conduct-rules")

    assert headings("conduct-rules.md", 2) == ["What counts", *(rule["id"] for rule in rules)]
    for rule in rules:
        assert f"({rule['place']})" in pages()["conduct-rules.md"]


def test_the_reference_shows_every_variation_point(api: HttpWorld):
    points = api.emulator.control.contract("variation-points")

    assert headings("variation.md", 2) == [
        "Rules for all points",
        *(point["id"] for point in points),
    ]


def test_the_reference_shows_every_assumption(api: HttpWorld):
    rows = api.emulator.control.contract("assumptions")

    settable = [row["name"] for row in rows if not row["fixed"]]
    assert headings("assumptions.md", 3) == settable
    assert cells("assumptions.md") == {row["name"] for row in rows} - set(settable)


def test_the_reference_says_that_an_assumption_can_have_any_value():
    text = pages()["assumptions.md"].partition("### default_page_size\n")[2].partition("###")[0]

    assert "Default: `20`. Alternatives: any other valid value." in text


def test_the_reference_shows_every_scenario_of_the_library():
    assert cells("library.md") == {path.stem for path in SCENARIOS.glob("*.yaml")}


def test_the_reference_shows_every_field_of_a_world_file(api: HttpWorld):
    definitions = api.emulator.control.contract("scenario-schema.json")["$defs"]
    parts = [name for name in definitions if name.endswith("Part")]
    fields = {field for name in parts for field in definitions[name]["properties"]}
    interventions = {row["name"] for row in api.emulator.control.contract("interventions")}

    assert {"source_generation", "data_mode", "commit"} <= fields
    assert fields - interventions - cells("scenario-file.md") == set()


def test_the_reference_shows_every_fixture_mark_and_option_of_the_plugin(
    pytestconfig: pytest.Config,
):
    fixtures = {name for name in vars(plugin) if name.startswith("hosting_emulator")}
    marks = {
        mark.partition("(")[0]
        for mark in pytestconfig.getini("markers")
        if mark.startswith("hosting_")
    }
    options = {name for name in vars(pytestconfig.option) if name.startswith("hosting_emulator_")}

    assert (len(fixtures), len(marks), len(options) >= 8) == (5, 2, True)
    assert {*fixtures, *marks, *pytest_hosting_emulator.__all__} <= set(headings("python.md", 3))
    assert {f"--{name.replace('_', '-')}" for name in options} <= cells("python.md")


@pytest.mark.parametrize("kind", [HostingEmulator, WorldClock, Requests])
def test_the_reference_shows_every_public_member_of_the_handle(kind: type):
    own_classes = [base for base in kind.__mro__ if base.__module__.startswith("hosting_emulator.")]
    names = {name for base in own_classes for name in vars(base) if not name.startswith("_")}

    shown = {name.partition(".")[2] for name in headings("python.md", 4)}
    assert names - shown == set()


def test_the_reference_shows_every_filter_of_requests():
    assert set(Filters.__annotations__) <= cells("python.md")


def test_the_reference_shows_every_path_of_the_control_api(api: HttpWorld):
    document = exchange("GET", f"{api.emulator.control.control_url}/openapi.json", None, {})
    paths = document.json["paths"]

    shown = headings("control-api.md", 3)
    for path, operations in paths.items():
        for method in operations:
            assert f"{method.upper()} {path}" in shown


# --- Examples ------------------------------------------------------------------------------------


def run(api: HttpWorld, line: str) -> None:
    """Run a command line of a page with the emulator of the test."""
    program, *arguments = shlex.split(line)
    environment = {
        "HOSTING_EMULATOR_URL": api.emulator.control.control_url.removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": api.emulator.name,
    }
    result = CliRunner().invoke(cli, arguments, env=environment, prog_name=program)
    assert result.exit_code == 0, f"{line}\n{result.output}"


def examples(page: str) -> dict[str, str]:
    """Return the example of each kind of a page, by the name of the kind."""
    lines = [block.text.strip() for block in blocks(pages()[page]) if block.language == "bash"]
    kinds = [name for name in headings(page, 2) if re.fullmatch(r"[a-z_]+", name)]
    assert len(kinds) == len(lines)
    return dict(zip(kinds, lines, strict=True))


def test_the_example_of_every_kind_of_fault_arms_it(hosting_emulator_worlds: MoreWorlds):
    api = HttpWorld(hosting_emulator_worlds(clock="real"))
    effects = api.emulator.control.contract("fault-kinds")["effects"]
    lines = examples("faults.md")

    assert set(lines) == {effect["kind"] for effect in effects}
    for kind, line in lines.items():
        assert line.startswith(f"hosting-emulator fault add {kind}")
        if kind == "bad_certificate":
            continue  # It needs a TLS port, which this emulator does not have.
        run(api, line)


def test_the_example_of_every_kind_of_outcome_sets_it(api: HttpWorld):
    effects = api.emulator.control.contract("outcome-kinds")["effects"]
    lines = examples("outcomes.md")

    assert set(lines) == {effect["kind"] for effect in effects}
    for kind, line in lines.items():
        assert line.startswith(f"hosting-emulator outcome add {kind}")
        run(api, line)


#: What makes the example of an intervention possible, for those that need more than a fresh world.
PREPARATIONS: dict[str, list[Prepare]] = {
    name: [lambda api: api.apply_domains()]
    for name in (
        "stick_operation",
        "step_operation",
        "fail_operation",
        "cancel_operation",
        "require_reconciliation",
    )
} | {
    "fail_deployment": [lambda api: api.initialize()],
    "release_operation": [
        lambda api: api.apply_domains(),
        lambda api: api.intervene("stick_operation", project="shop"),
    ],
    "release_claim": [lambda api: api.intervene("hold_claim", project="shop")],
    "expire_ticket": [lambda api: api.ticket()],
    "revoke_ticket": [lambda api: api.ticket()],
    "expire_key": [lambda api: api.create_key("deploy")],
    "revoke_key": [lambda api: api.create_key("deploy")],
    "recover_database_provider": [
        lambda api: api.intervene("fail_database_provider", project="shop", environment="dev")
    ],
    "connect_domain": [lambda api: api.intervene("disconnect_domain", project="garden")],
}
PREPARATIONS["run_reconciliation"] = [
    lambda api: api.apply_domains(),
    lambda api: api.intervene("require_reconciliation", project="shop"),
]
for _name in ("complete_reconciliation", "exhaust_reconciliation"):
    PREPARATIONS[_name] = [
        *PREPARATIONS["run_reconciliation"],
        lambda api: api.intervene("run_reconciliation", project="shop"),
    ]


def test_the_example_of_every_intervention_is_possible(
    api: HttpWorld, hosting_emulator_worlds: MoreWorlds
):
    interventions = api.emulator.control.contract("interventions")
    lines = examples("interventions.md")

    assert set(lines) == {row["name"] for row in interventions}
    for name, line in lines.items():
        world = HttpWorld(hosting_emulator_worlds())
        for prepare in PREPARATIONS.get(name, ()):
            prepare(world)
        run(world, line)


def test_the_links_inside_the_reference_have_targets():
    targets = {
        name: {"", *(f"#{word}" for word in anchors(page))} for name, page in pages().items()
    }
    broken_links = [
        (name, file, anchor)
        for name, page in pages().items()
        for file, anchor in re.findall(r"\]\(([\w-]+\.md)?(#[\w-]+)?\)", page)
        if anchor not in targets.get(file or name, ())
    ]

    assert broken_links == []
