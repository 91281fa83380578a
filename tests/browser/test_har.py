"""An exported HAR in the network panel of a real browser, read by the importer of the panel.

A headless browser cannot open the panel, but it serves the modules of its developer tools.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.chromium import Chromium
from tests.support.http_world import HttpWorld

#: The module of Chromium that reads a HAR for its network panel.
IMPORTER = "devtools://devtools/bundled/models/har/har.js"
#: Reads the rows of the panel and their details.
READ_ROWS = """(async har => {
  const {HARFormat, Importer} = await import("./har.js");
  const requests = Importer.Importer.requestsFromHARLog(new HARFormat.HARRoot(har).log);
  return Promise.all(requests.map(async one => ({
    method: one.requestMethod, url: one.url(), status: one.statusCode, text: one.statusText,
    type: one.resourceType().name(), mime: one.mimeType, size: one.resourceSize,
    request_body: await one.requestFormData(), transferred: one.transferSize,
    query: (one.queryParameters ?? []).map(({name, value}) => [name, value]),
    started: new Date(one.issueTime() * 1000).toISOString(), took: one.duration,
    latency: one.latency, headers: one.responseHeaders.length, request_headers: one.requestHeaders().length,
    finished: one.finished, response: (await one.requestContentData()).text,
  })));
})"""


def rows_of_network_panel(chromium: Chromium, har: Any) -> list[dict[str, Any]]:
    """Return the rows of the network panel for a HAR."""
    with chromium.page(IMPORTER) as page:
        if "HARRoot" not in page.text():
            pytest.skip("this Chromium keeps its HAR importer elsewhere")
        rows: list[dict[str, Any]] = page.evaluate(f"{READ_ROWS}({json.dumps(har)})")
        return rows


def test_the_network_panel_shows_every_field_of_an_exported_har(chromium: Chromium, api: HttpWorld):
    api.deployments("?limit=2&more=")
    api.set_flag(True)
    api.dns(token="wrong")
    api.emulator.fault("connection_reset", times=1)
    with pytest.raises(OSError, match=r"."):
        api.compute()
    api.call("GET", "/v1/nowhere?a=1&a=&b=%20", user=None)

    rows = rows_of_network_panel(chromium, api.emulator.requests.har())

    assert [(row["method"], row["status"]) for row in rows] == [
        ("GET", 200),
        ("PUT", 200),
        ("GET", 401),
        ("GET", 0),
        ("GET", 401),
    ]
    page, flag, refused, lost, nowhere = rows
    assert page["url"].startswith(f"{api.emulator.base_url}/v1/projects/")
    assert page["query"] == [["limit", "2"], ["more", ""]]
    assert json.loads(flag["request_body"]) == {"enabled": True}
    assert json.loads(flag["response"])["enabled"] is True
    assert (refused["text"], refused["mime"]) == ("Unauthorized", "application/problem+json")
    assert (lost["size"], lost["transferred"], lost["text"]) == (0, 0, "")
    assert nowhere["query"] == [["a", "1"], ["a", ""], ["b", "%20"]]
    for row in rows:
        assert row["started"] == api.emulator.clock.now
        assert row["took"] > 0
        assert row["latency"] >= 0
        assert row["transferred"] == row["size"]
        assert (row["type"], row["finished"]) == ("fetch", True)
        assert row["request_headers"] > 0


def test_the_network_panel_rejects_a_broken_har(chromium: Chromium, api: HttpWorld):
    api.dns()
    har: Any = api.emulator.requests.har()
    har["log"]["entries"][0]["timings"]["wait"] = "soon"

    with pytest.raises(AssertionError, match="NaN"):
        rows_of_network_panel(chromium, har)
