"""Overview, calls, projects and operations of the dashboard, checked against the world itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hosting_emulator.contract.calls import CALLS
from tests.browser.control_views import items
from tests.browser.dashboard import Dashboard
from tests.service.test_plain_redemption import fetch
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]
#: The title of the call that shows or hides the flag.
FLAG_CALL = CALLS["set_project_powered_by_flag"].summary
#: A browser repeats a request only on a connection that it has used before; this always repeats it.
_SENT_AGAIN = """window.once = window.fetch, window.fetch = async (url, options) => {
  if (String(url).includes("/v1/")) await window.once(url, options).catch(() => {});
  return window.once(url, options);
}, void 0"""


def project(api: HttpWorld, alias: str = "shop") -> dict[str, Any]:
    return next(row for row in items(api, "projects") if row["alias"] == alias)


def test_the_copied_token_and_command_work(
    dashboard: Dashboard, api: HttpWorld, panel: Panel, origin: str
):
    permissions = {"name": "clipboard-write"}, {"name": "clipboard-read"}
    with dashboard(panel("connect")) as page:
        for permission in permissions:
            page.ask(
                "Browser.setPermission", permission=permission, setting="granted", origin=origin
            )
        page.click("button", "Copy token of reader")
        page.read("Copied.")
        token = page.evaluate("navigator.clipboard.readText()")
        page.click("button", "Copy curl as owner")
        page.wait("document.querySelectorAll('.toast').length === 2")
        command = page.evaluate("navigator.clipboard.readText()")

    assert api.dns(token=token).status == 200
    assert api.set_flag(True, token=token).status == 403
    assert api.emulator.base_url in command


def test_the_overview_shows_unfinished_operations_and_armed_faults(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.initialize().json["id"]
    fault = api.emulator.fault("abort", call="list_deployments", code="forbidden")
    with dashboard(panel("connect")) as page:
        page.find("link", fault.id)
        page.find("link", "initialize managed source of shop")
        api.emulator.clock.until(operation)
        page.read("no operation")
        api.deployments()
        page.read("1 hit")


def test_the_api_console_sends_a_call_as_the_chosen_user(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("try")) as page:
        page.choose("Call", FLAG_CALL)
        page.choose("As", "reader")
        page.click("button", "Send")
        page.read("Status 403")
        page.choose("As", "owner")
        page.fill("textbox", "Body", '{"enabled": false}')
        page.click("button", "Send")
        page.read("Status 200")
        page.click("link", "Request 2")
        page.find("heading", "Request 2")

    assert project(api)["flag"]["enabled"] is False


def test_the_api_console_shows_a_plain_http_address_for_a_new_ticket(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("try?call=create_dev_access_ticket")) as page:
        page.click("button", "Send")
        page.read("Over plain HTTP")
        url = page.evaluate("document.querySelector('p > code.mono').textContent")

    assert url.startswith(f"{api.emulator.base_url}/.service/")
    assert fetch(url).status == 303


def test_the_api_console_reports_a_request_that_the_browser_sent_twice(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.emulator.fault("connection_reset", after_commit=True, times=1)
    with dashboard(panel("try?call=set_project_powered_by_flag")) as page:
        page.evaluate(_SENT_AGAIN)
        page.click("button", "Send")
        page.read("times: browsers retry when a connection breaks.")
        page.find("link", "Request 1: why")
        page.read("response lost: connection_reset")
        page.find("link", "Request 2: why")
        page.evaluate("window.fetch = window.once, void 0")


def test_the_api_console_links_to_a_request_that_got_no_response(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.emulator.fault("connection_reset")
    with dashboard(panel("try?call=set_project_powered_by_flag")) as page:
        page.click("button", "Send")
        page.read("No response")
        page.click("link", "Request 1: why")
        page.find("heading", "Request 1")


def test_an_operation_behind_a_held_claim_offers_only_possible_actions(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.emulator.intervene("hold_claim", project="shop")
    holding_operation = items(api, "operations?unfinished=true")[0]["id"]
    waiting_operation = api.initialize().json["id"]
    with dashboard(panel(f"operations/{waiting_operation}")) as page:
        page.find("button", "Release held claim")
        assert not page.has("button", "Advance time")
        assert not page.has("button", "Take a step")
        page.press("Escape")
        page.wait("location.hash.startsWith('#/operations?')")
    with dashboard(panel(f"operations/{holding_operation}")) as page:
        page.find("button", "Release held claim")
        assert not page.has("button", "Fail")
        page.click("button", "Release held claim")
        page.read("is released")
    with dashboard(panel(f"operations/{waiting_operation}")) as page:
        page.click("button", "Advance time until it ends")
        page.read("This state is final")


def test_the_api_console_rejects_a_body_that_is_not_json(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("try")) as page:
        page.fill("textbox", "Body", "{")
        page.click("button", "Send")
        page.read("Body is not JSON")

    assert items(api, "requests") == []


def test_the_project_panel_switches_the_flag(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    before = project(api)["flag"]["enabled"]
    with dashboard(panel("projects/shop")) as page:
        page.click("switch", "Show the flag")
        page.read(f"The flag is {'hidden' if before else 'shown'}")
        page.wait(
            f"document.querySelector('[role=switch]').ariaChecked === '{str(not before).lower()}'"
        )

    assert project(api)["flag"]["enabled"] is not before


def test_the_project_panel_changes_dns_deployments_databases_and_tickets(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.ticket()
    with dashboard(panel("projects/shop")) as page:
        page.click("button", "Move DNS")
        page.choose("To", "revoked")
        page.click("button", "Move DNS", nth=1)
        page.read("is revoked.")
        page.click("button", "Add deployments")
        page.fill("spinbutton", "How many", "3")
        page.click("button", "Add deployments", nth=1)
        page.read("Deployments (")
        page.click("button", "Fail provider")
        page.read("failing")
        page.click("button", "Expire")
        page.read("has expired.")

    row = project(api)
    assert row["dns"]["status"] == "revoked"
    assert row["databases"]["dev"]["provider_failing"]
    assert row["tickets"][0]["state"] == "expired"


def test_a_form_shows_why_its_intervention_was_refused(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("projects/blog")) as page:
        page.click("button", "Move DNS")
        page.fill("textbox", "Zone", "no zone")
        page.choose("To", "authorized")
        page.click("button", "Move DNS", nth=1)
        page.read("is not a zone")

    assert project(api, "blog")["dns"]["status"] == "pending"


def test_the_projects_panel_lists_keys_without_values_and_revokes_them(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    value = api.create_key("ci").json["value"]
    with dashboard(panel("projects")) as page:
        page.read("ci")
        assert value not in page.text()
        page.click("button", "Revoke")
        page.gone("button", "Revoke")

    assert api.dns(token=value).status == 401


def test_the_operation_panel_sticks_releases_and_advances_an_operation(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.initialize().json["id"]
    with dashboard(panel(f"operations/{operation}")) as page:
        page.click("button", "Make it stuck")
        page.read("It is stuck while")
        page.click("button", "Release")
        page.read("becomes")
        page.click("button", "Take a step")
        page.click("button", "Advance time until it ends")
        page.read("This state is final")

    assert api.poll(operation).json["state"] == "succeeded"


def test_an_operation_older_than_the_history_ends_at_its_last_update(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    newest = max(items(api, "operations"), key=lambda operation: str(operation["created_at"]))
    with dashboard(panel("operations")) as page:
        page.wait("document.querySelector('tbody tr time')")
        times = page.evaluate(
            "[...document.querySelectorAll('tbody tr:first-child time')].map(time => time.dateTime)"
        )

    assert times == [newest["created_at"], newest["updated_at"]]
    assert newest["created_at"] < newest["updated_at"]


def test_the_operation_timeline_names_the_states(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.initialize().json["id"]
    api.emulator.clock.until(operation)
    with dashboard(panel("operations")) as page:
        page.find("link", "initialize managed source of shop: queued for")
        page.click("link", "initialize managed source of shop: queued for")
        page.find("heading", f"Operation {operation}")
