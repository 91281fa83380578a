"""The API documentation in a real browser: its calls can be tried, by anybody in any world."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.chromium import Chromium
from tests.conftest import Api


def try_it(chromium: Chromium, api: Api, origin: str, person: str, call: str) -> str:
    """Try a call as a person does, and return the status that is shown."""
    block = f"document.querySelector('[id$=\"-{call}\"]')"
    with chromium.page(f"{origin}/_emulator/docs?world={api.emulator.name}") as page:
        page.read("Requests carry a token of owner")
        page.choose("Person", person)
        page.wait(f"document.querySelector('#said').textContent.includes({SAID[person]!r})")
        page.evaluate(f"{block}.querySelector('.opblock-summary-control').click()")
        page.wait(f"{block}.querySelector('input[placeholder$=_id]')?.value")
        page.wait(_sent(block))
        status = page.evaluate(f"{block}.querySelector('{LIVE}').textContent")
        page.watch()
        assert page.visit.complaints == [] or status[0] == "4"
        assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []
    return str(status).strip()[:3]


#: Where the answer's status is shown.
LIVE = ".live-responses-table .response-col_status:not(.col_header)"
#: What is said once a person was chosen, by the beginning of the choice.
SAID = {"Olive": "of owner", "Rita": "of reader", "Nobody": "without a token"}


def _sent(block: str) -> str:
    """Press Execute until something was sent: Swagger UI takes in what it shows some turns later."""
    sent = "performance.getEntriesByType('resource').some(({ name }) => name.includes('/v1/'))"
    press = f"{block}.querySelector('button.execute').click()"
    return f"({sent} || {press}, {block}.querySelector('{LIVE}'))"


def projects(api: Api) -> Any:
    return api.emulator.export()["tables"]["projects"]


def test_a_call_that_is_tried_changes_the_world_as_that_person(
    chromium: Chromium, api: Api, origin: str
):
    api.set_flag(False)
    before = projects(api)

    assert try_it(chromium, api, origin, "Olive", "setProjectPoweredByFlag") == "200"

    assert projects(api) != before


def test_the_body_that_is_offered_is_accepted_as_the_world_stands(
    chromium: Chromium, api: Api, origin: str
):
    for _ in range(2):
        assert try_it(chromium, api, origin, "Olive", "initializeManagedSource") == "202"
        api.emulator.clock.advance("1h")


def test_each_try_has_a_new_idempotency_key(chromium: Chromium, api: Api, origin: str):
    for _ in range(2):
        assert try_it(chromium, api, origin, "Olive", "createUserApiKey") == "201"

    tables = api.emulator.export()["tables"]
    assert len(tables["user_api_keys"]) >= 2


@pytest.mark.parametrize(("person", "status"), [("Rita", "403"), ("Nobody", "401")])
def test_a_person_who_may_not_is_refused(
    chromium: Chromium, api: Api, origin: str, person: str, status: str
):
    assert try_it(chromium, api, origin, person, "createDevAccessTicket") == status


@pytest.mark.parametrize("call", ["listDeployments", "readDatabaseCompute", "getDnsAuthorization"])
def test_ids_are_filled_in_for_reading(chromium: Chromium, api: Api, origin: str, call: str):
    assert try_it(chromium, api, origin, "Olive", call) == "200"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_the_page_opens_without_complaint(
    chromium: Chromium, api: Api, origin: str, width: int, scheme
):
    with chromium.page(f"{origin}/_emulator/docs", width=width, scheme=scheme) as page:
        page.read("Requests carry a token of owner")
        assert page.visit.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
