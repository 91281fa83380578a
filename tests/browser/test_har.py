"""An exported HAR in the network panel of a real browser: read by the importer that the panel uses.

No panel can be opened without a screen, but a browser serves the modules of its developer tools.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.chromium import Chromium
from tests.support.http_world import HttpWorld

#: Where Chromium keeps what reads a HAR for its network panel.
IMPORTER = "devtools://devtools/bundled/models/har/har.js"
#: What stands in the panel's rows, and behind them.
SHOWN = """(async har => {
  const {HARFormat, Importer} = await import("./har.js");
  const found = Importer.Importer.requestsFromHARLog(new HARFormat.HARRoot(har).log);
  return Promise.all(found.map(async one => ({
    method: one.requestMethod, url: one.url(), status: one.statusCode, text: one.statusText,
    type: one.resourceType().name(), mime: one.mimeType, size: one.resourceSize,
    sent: await one.requestFormData(), transferred: one.transferSize,
    query: (one.queryParameters ?? []).map(({name, value}) => [name, value]),
    started: new Date(one.issueTime() * 1000).toISOString(), took: one.duration,
    latency: one.latency, headers: one.responseHeaders.length, asked: one.requestHeaders().length,
    finished: one.finished, answer: (await one.requestContentData()).text,
  })));
})"""


def in_the_panel(chromium: Chromium, har: Any) -> list[dict[str, Any]]:
    """Return what the network panel makes of a HAR."""
    with chromium.page(IMPORTER) as page:
        if "HARRoot" not in page.text():
            pytest.skip("this Chromium keeps its HAR importer elsewhere")
        found: list[dict[str, Any]] = page.evaluate(f"{SHOWN}({json.dumps(har)})")
        return found


def test_the_network_panel_shows_every_field_of_an_exported_har(chromium: Chromium, api: HttpWorld):
    api.deployments("?limit=2&more=")
    api.set_flag(True)
    api.dns(token="wrong")
    api.emulator.fault("connection_reset", times=1)
    with pytest.raises(OSError, match=r"."):
        api.compute()
    api.call("GET", "/v1/nowhere?a=1&a=&b=%20", who=None)

    shown = in_the_panel(chromium, api.emulator.requests.har())

    assert [(one["method"], one["status"]) for one in shown] == [
        ("GET", 200),
        ("PUT", 200),
        ("GET", 401),
        ("GET", 0),
        ("GET", 401),
    ]
    listed, flag, refused, lost, nowhere = shown
    assert listed["url"].startswith(f"{api.emulator.base_url}/v1/projects/")
    assert listed["query"] == [["limit", "2"], ["more", ""]]
    assert json.loads(flag["sent"]) == {"enabled": True}
    assert json.loads(flag["answer"])["enabled"] is True
    assert (refused["text"], refused["mime"]) == ("Unauthorized", "application/problem+json")
    assert (lost["size"], lost["transferred"], lost["text"]) == (0, 0, "")
    assert nowhere["query"] == [["a", "1"], ["a", ""], ["b", "%20"]]
    for one in shown:
        assert one["started"] == api.emulator.clock.now
        assert one["took"] > 0
        assert one["latency"] >= 0
        assert one["transferred"] == one["size"]
        assert (one["type"], one["finished"]) == ("fetch", True)
        assert one["asked"] > 0


def test_the_network_panel_rejects_a_broken_har(chromium: Chromium, api: HttpWorld):
    api.dns()
    har: Any = api.emulator.requests.har()
    har["log"]["entries"][0]["timings"]["wait"] = "soon"

    with pytest.raises(AssertionError, match="NaN"):
        in_the_panel(chromium, har)
