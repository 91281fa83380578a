"""The failure panels in a real browser: faults, interventions and scenarios."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.contract.calls import CALLS
from tests.browser.dashboard import Dashboard
from tests.browser.page import Page
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]
#: The title of the call that shows or hides the flag.
FLAG_CALL = CALLS["set_project_powered_by_flag"].summary
MORE = "Every way to match and to count"
#: Waits until a condition holds; otherwise the error says what it waited for.
UNTIL = """const until = async (what, holds) => {
    const end = performance.now() + 30000;
    while (!holds()) {
      if (performance.now() > end) throw new Error(what);
      await new Promise(later => setTimeout(later, 10));
    }
  };"""
#: Clicks the link of each intervention and returns the names of the fields of its form.
WALK = f"""async words => {{ {UNTIL}
  const fields = {{}};
  for (const word of words) {{
    [...document.querySelectorAll("main a")].find(link => link.innerText.startsWith(word)).click();
    await until(word, () => document.activeElement.ariaLabel === word);
    const form = document.activeElement.querySelector("form");
    if (form.querySelector("[type=submit]").innerText !== "Apply") throw new Error(word);
    fields[word] = [...form.querySelectorAll("[name]")].map(field => field.name);
  }}
  return fields;
}}"""
#: Chooses each kind and arms it with the values in the form.
ARM = f"""async kinds => {{ {UNTIL}
  const rows = () => document.querySelectorAll("main tbody tr").length;
  for (const kind of kinds) {{
    const [choice, armed] = [document.querySelector("main select[name=kind]"), rows()];
    choice.value = kind;
    for (const name of ["input", "change"]) choice.dispatchEvent(new Event(name, {{bubbles: true}}));
    await new Promise(drawn => setTimeout(drawn));
    [...document.querySelectorAll("main [type=submit]")].find(button => button.innerText === "Arm").click();
    await until(kind, () => rows() === armed + 1);
  }}
}}"""


def rows(page: Page) -> list[str]:
    texts: list[str] = page.evaluate(
        "[...document.querySelectorAll('main tbody tr')]"
        ".map(row => row.innerText.replace(/\\s+/g, ' '))"
    )
    return texts


def test_the_faults_panel_arms_a_fault_counts_its_hits_live_and_removes_it(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("faults?kind=abort")) as page:
        page.choose("Kind", "abort")
        page.choose("code", "service_unavailable")
        page.choose("call", "list_deployments")
        page.fill("spinbutton", "times", "1")
        page.click("button", "Arm")
        page.read("fault-1 is armed.")
        page.read("Live")
        api.dns()
        page.read("list_deployments, times 1 1 0 0 armed")
        response = api.deployments()
        page.read("list_deployments, times 1 2 1 1 used up")
        (row,) = rows(page)
        page.click("button", "Remove fault-1")
        page.read("No fault is armed")
        page.wait("document.activeElement.id === 'panel-title'")

    assert (response.status, response.json["code"]) == (503, "service_unavailable")
    assert response.headers["Retry-After"] is None
    assert "abort code service_unavailable" in row
    assert "call list_deployments, times 1 2 1 1 used up" in row
    assert api.emulator.faults == []


def test_everyday_faults_are_armed_with_one_click(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("faults")) as page:
        page.choose("Call", FLAG_CALL)
        page.click("button", "Service unavailable")
        page.read("fault-1 is armed.")
        page.choose("How often", "until removed")
        page.choose("Call", "any call")
        page.click("button", "Slow")
        page.click("button", "Rate limited")
        page.click("button", "Connection lost")
        page.click("button", "Response lost")
        page.read("fault-5 is armed.")
        assert not page.has("combobox", "Kind")
        page.click("DisclosureTriangle", "Advanced")
        page.find("combobox", "Kind")

    armed: list[Any] = [fault.now.written for fault in api.emulator.faults]
    assert (armed[0]["abort"]["code"], armed[0]["times"]) == ("service_unavailable", 1)
    assert armed[0]["call"] == "set_project_powered_by_flag"
    assert [
        next(iter({"latency", "abort", "connection_reset"} & set(fault))) for fault in armed
    ] == [
        "abort",
        "latency",
        "abort",
        "connection_reset",
        "connection_reset",
    ]
    response_lost: Any = api.emulator.faults[4].now
    assert response_lost.after_commit is True
    assert not any("times" in fault for fault in armed[1:])


def test_a_fault_removed_elsewhere_leaves_the_faults_panel_without_a_hit(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    removed = api.emulator.fault("timeout", call="list_deployments")
    api.emulator.fault("abort", code="forbidden", call="get_dns_authorization")
    watch = """Promise.all([import("/_emulator/static/dashboard/lib.js"),
      import("/_emulator/static/dashboard/store.js")]).then(([{effect}, {faults}]) => {
        window.seen = [];
        effect(() => void seen.push(faults.value.map(fault => ({...fault}))));
      })"""

    with dashboard(panel("faults")) as page:
        page.read("Live")
        page.wait("document.querySelectorAll('main tbody tr').length === 2")
        page.evaluate(watch)
        removed.remove()
        page.wait("document.querySelectorAll('main tbody tr').length === 1")
        api.dns()
        page.wait("seen.at(-1)[0].hits === 1")
        snapshots = page.evaluate("seen")

    assert [fault for faults in snapshots for fault in faults if "removed" in fault] == []
    assert [len(faults) for faults in snapshots] == sorted(
        (len(faults) for faults in snapshots), reverse=True
    )


def test_the_triggers_panel_shows_what_waits_and_why_it_has_not_acted_as_it_happens(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.emulator.fault("abort", code="forbidden", call="list_deployments", project="blog")

    with dashboard(panel("triggers")) as page:
        page.read("a request of list_deployments with project blog")
        page.read("there was no request while the fault was armed")
        api.deployments()
        page.read("which differs in project (shop instead of blog)")
        page.find("link", "Open request 1")
        api.deployments(project="blog")
        page.wait("!document.querySelector('main tbody tr').innerText.includes('differs')")
        [row] = rows(page)

    assert row.split()[:3] == ["fault-1", "abort", "code=forbidden"]
    assert row.split()[-4:] == ["2", "1", "1", "waiting"]


def test_every_fault_kind_can_be_armed_with_its_example_values(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    effects = api.emulator.control.contract("fault-kinds")["effects"]
    # This emulator has no TLS port, so it refuses a fault at the TLS handshake.
    kinds = [effect["kind"] for effect in effects if effect["kind"] != "bad_certificate"]
    # Requests can wait in a queue only while the clock runs.
    api.emulator.clock.set(mode="real")

    with dashboard(panel("faults?kind=abort")) as page:
        page.find("button", "Arm")
        page.evaluate(f"({ARM})({json.dumps(kinds)})")

    armed = [set(kinds) & fault.now.written.keys() for fault in api.emulator.faults]
    assert armed == [{kind} for kind in kinds]


def test_an_altered_field_and_a_matched_body_are_entered_and_listed_as_text(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("faults?kind=alter")) as page:
        page.click("checkbox", MORE)
        page.fill("textbox", "set", "/enabled_at: null")
        page.fill("textbox", "body", "enabled: true")
        page.click("checkbox", "breaking")
        page.click("button", "Arm")
        page.read("fault-1 is armed.")
        page.wait("document.querySelectorAll('main tbody tr').length === 1")
        [row] = rows(page)

    fault: Any = api.emulator.faults[0].now.written
    assert fault["alter"] == {"set": {"/enabled_at": None}, "breaking": True}
    assert fault["body"] == {"enabled": True}
    assert 'alter set {"/enabled_at":null}' in row
    assert 'body {"enabled":true}' in row


def test_the_faults_panel_sends_every_matching_condition(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("faults?kind=abort")) as page:
        page.click("checkbox", MORE)
        page.fill("spinbutton", "probability", "0.5")
        page.fill("textbox", "header", "X-Client: mobile*")
        page.fill("textbox", "until", "10m")
        page.click("button", "Arm")
        page.read("is armed.")

    fault: Any = api.emulator.faults[0].now.written
    assert fault["probability"] == 0.5
    assert fault["header"] == {"X-Client": "mobile*"}
    assert "until" in fault


def test_a_refused_fault_shows_its_reason_and_is_not_armed(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("faults?kind=abort")) as page:
        page.click("checkbox", MORE)
        page.fill("textbox", "path", "projects")
        page.click("button", "Arm")
        page.read("does not match any call")

    assert api.emulator.faults == []


def test_clearing_all_faults_needs_confirmation(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    api.emulator.fault("timeout")
    api.emulator.fault("connection_reset")

    with dashboard(panel("faults")) as page:
        page.click("button", "Clear all")
        page.click("button", "Cancel")
        assert len(rows(page)) == 2
        page.click("button", "Clear all")
        page.click("button", "Remove all")
        page.read("No fault is armed")

    assert api.emulator.faults == []


def test_the_outcomes_panel_shows_an_outcome_as_pending_until_it_is_applied(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("outcomes")) as page:
        page.choose("Kind", "cancel")
        page.click("button", "Add")
        page.read("outcome-1 is pending.")
        page.read("Live")
        api.initialize()
        page.wait("document.querySelector('main tbody .badge').innerText === 'applied'")
        page.click("button", "Remove outcome-1")
        page.read("No outcome is armed")


def test_the_interventions_panel_sticks_and_releases_an_operation(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.initialize().json["id"]

    with dashboard(panel("interventions/stick_operation")) as page:
        page.choose("project", "shop")
        page.click("button", "Apply")
        page.read("is stuck while queued.")
    assert api.emulator.why(operation).held_by

    with dashboard(panel("interventions/release_operation")) as page:
        page.choose("operation", "initialize managed source of shop")
        page.click("button", "Apply")
        page.read("is no longer stuck.")
    assert api.emulator.why(operation).held_by is None


def test_choosing_an_intervention_focuses_its_form(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("interventions")) as page:
        page.fill("searchbox", "Find", "own domain")
        page.click("link", "disconnect domain")
        page.wait("document.activeElement.ariaLabel === 'disconnect domain'")
        page.choose("project", "shop")
        page.click("button", "Apply")
        page.read("Shop no longer has ")


@pytest.mark.parametrize(
    ("intervention", "field", "message"),
    [("expire_ticket", "ticket", "has expired."), ("revoke_key", "key", "is revoked.")],
)
def test_intervention_forms_offer_only_usable_tickets_and_keys(
    dashboard: Dashboard, api: HttpWorld, panel: Panel, intervention: str, field: str, message: str
):
    api.ticket()
    api.create_key("ci")

    with dashboard(panel(f"interventions/{intervention}")) as page:
        page.choose(field, {"ticket": "owner's", "key": "ci (owner)"}[field])
        page.click("button", "Apply")
        page.read(message)
        page.read(f"there is no {field} at the moment")


def test_the_add_intervention_accepts_users_in_the_form_of_a_world_file(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("interventions/add")) as page:
        page.fill("textbox", "users", '[{"alias": "zoe", "organizations": {"amce": "owner"}}]')
        page.click("button", "Apply")
        page.read("did you mean acme")
        page.wait("document.activeElement.name === 'users'")
        page.fill("textbox", "users", '[{"alias": "zoe", "organizations": {"acme": "owner"}}]')
        page.click("button", "Apply")
        page.read("Added zoe.")

    assert api.emulator.token("zoe")


def test_every_intervention_has_a_form_with_all_its_fields(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    expected = {
        row["name"].replace("_", " "): [field["name"] for field in row["fields"]]
        for row in api.emulator.control.contract("interventions")
    }

    with dashboard(panel("interventions")) as page:
        page.find("link", next(iter(expected)))
        fields_by_form = page.evaluate(f"({WALK})({json.dumps(list(expected))})")

    assert len(expected) > 30
    assert fields_by_form == expected


def test_the_story_of_a_scenario_runs_in_a_temporary_world(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    before = api.emulator.summary.commit

    with dashboard(panel("scenarios")) as page:
        page.fill("searchbox", "Find", "stuck-op")
        page.click("link", "stuck-operation")
        page.read("stick_operation: {project: shop}")
        page.click("button", "Run its story")
        page.read("7 steps, in a temporary world")
        page.read("time moved by 1h")
        passed = page.evaluate("document.querySelectorAll('.steps > li:not(.bad)').length")

    assert passed == 7
    assert api.emulator.summary.commit == before


def test_a_scenario_is_loaded_into_the_world_after_confirmation(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("scenarios/provider-outage")) as page:
        page.click("button", "Load into this world")
        page.click("button", "Load", within=("dialog", "Load this scenario"))
        page.read("now has the world of provider-outage. The clock is frozen")
        page.click("button", "Worlds")
        page.click("button", "Reset to the default world")
        page.click(
            "button",
            "Reset",
            within=("dialog", f"Reset {api.emulator.name} to the default world"),
        )
        page.read("is the default world again.")

    assert api.emulator.summary.scenario is None
    history = api.emulator.control.get(f"/worlds/{api.emulator.name}/history")
    assert [item["title"] for item in history["items"][:2]] == ["reset", "scenario provider-outage"]


OWN = """name: mine
description: One call is answered.
clock: {mode: frozen}
story:
  - call: get_dns_authorization
    expect: {status: 200}
"""


def test_a_custom_scenario_is_checked_and_loaded_with_the_keyboard(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("scenarios")) as page:
        page.find("heading", "Your own scenario")
        page.wait("!document.querySelector('main .loading')")
        page.tab_to("textbox", "Scenario, as YAML", most=120)
        page.ask("Input.insertText", text=OWN)
        page.tab_to("button", "Check")
        page.press("Enter")
        page.read("1 step, in a temporary world")
        assert len(api.emulator.requests) == 0
        page.press("Tab", "Enter")
        page.find("dialog", "Load your scenario")
        page.tab_to("button", "Load")
        page.press("Enter")
        page.read("now has the world of your scenario.")

    history = api.emulator.control.get(f"/worlds/{api.emulator.name}/history")
    assert history["items"][0]["title"] == "scenario mine"


@pytest.mark.parametrize(
    ("button", "text", "position", "phrase", "selection"),
    [
        *(
            (
                button,
                OWN.replace("call: get_dns", "call: get_dsn"),
                "Line 5, column 11: ",
                "get_dsn_authorization",
                "get_dsn_authorization",
            )
            for button in ("Check", "Load into this world")
        ),
        ("Check", "name: mine\nstory: [\n", "Line 3, column 1: ", "", ""),
        ("Check", f"{OWN}clok: {{}}\n", "Line 7, column 1: ", "clok", "clok: {}"),
        ("Check", "name: mine\n", "Line 1, column 1: ", "description", "name: mine"),
    ],
)
def test_a_mistake_in_a_custom_scenario_is_shown_with_its_position(
    dashboard: Dashboard,
    api: HttpWorld,
    panel: Panel,
    button: str,
    text: str,
    position: str,
    phrase: str,
    selection: str,
):
    before = api.emulator.summary.commit

    with dashboard(panel("scenarios")) as page:
        page.fill("textbox", "Scenario, as YAML", text)
        page.click("button", button)
        if button != "Check":
            page.click("button", "Load", within=("dialog", "Load your scenario"))
        page.read(position)
        alert = page.evaluate("document.querySelector('[role=alert]').innerText")
        page.wait("document.activeElement.localName === 'textarea'")
        selected = page.evaluate("getSelection().toString()")

    assert phrase in alert
    assert selected == selection
    assert api.emulator.summary.commit == before


def test_a_scenario_draft_is_kept_until_a_library_scenario_replaces_it(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    field = "document.querySelector('textarea')?.value"
    with dashboard(panel("scenarios")) as page:
        page.fill("textbox", "Scenario, as YAML", "name: draft")
        page.click("link", "stuck-operation")
        page.click("button", "Edit a copy")
        page.click("button", "Cancel", within=("dialog", "Edit a copy"))
        page.click("link", "Your own")
        page.wait("document.activeElement.localName === 'textarea'")
        page.wait(f"{field} === 'name: draft'")
        page.click("link", "stuck-operation")
        page.click("button", "Edit a copy")
        page.click("button", "Replace", within=("dialog", "Edit a copy"))
        page.wait(f"{field}?.includes('stick_operation')")
        page.wait("document.activeElement.localName === 'textarea'")
        page.click("button", "Check")
        page.read("7 steps, in a temporary world")
