"""A page of another site, recognized by its request headers, can neither read nor control the emulator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_hosting_emulator import BackgroundEmulator
from tests.support.emulator_in_loop import refusal_of_settings
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.wire import Headers, exchange_raw, host_of, wire

Check = Callable[[], None]

#: Method, path and body of requests that another site might want to send.
CONTROL = {
    "read the state": ("GET", "/_emulator/worlds/default/state", ""),
    "read what was asked": ("GET", "/_emulator/worlds/default/requests", ""),
    "read the facts": ("GET", "/_emulator/info", ""),
    "read a page": ("GET", "/_emulator", ""),
    "read the documentation": ("GET", "/_emulator/docs", ""),
    "read the keys": ("GET", "/_emulator/idp/jwks.json", ""),
    "get a token": ("POST", "/_emulator/idp/token", "grant_type=password&username=owner"),
    "mint a token": ("POST", "/_emulator/worlds/default/tokens", "{}"),
    "make a world": ("POST", "/_emulator/worlds", '{"name":"theirs"}'),
    "reset a world": ("POST", "/_emulator/worlds/default/reset", ""),
    "replace a world": ("PUT", "/_emulator/worlds/default/state", "{}"),
    "arm a fault": ("POST", "/_emulator/worlds/default/faults", '{"kind":"timeout"}'),
    "stop time": ("PUT", "/_emulator/worlds/default/clock", '{"mode":"real"}'),
    "delete a world": ("DELETE", "/_emulator/worlds/default", ""),
    "knock": ("GET", "/_emulator/no-such-path", ""),
}
#: Origins of pages that do not belong to the emulator. `{host}` and `{port}` are its own.
FOREIGN_ORIGINS = [
    "null",
    "NULL",
    "",
    "http://evil.example",
    "http://evil.example:{port}",
    "http://localhost.evil.example:3000",
    "http://127.0.0.1.nip.io",
    "http://evillocalhost",
    "http://localhost@evil.example",
    "http://localhost:3000/",
    "http://localhost:3000 http://localhost:3000",
    "http://192.168.1.7:3000",
    "http://{host}.evil.example",
    "http://evil.example#{host}",
    "http://evil.example/{host}",
    "http://{host}@evil.example",
    "http://{host}/",
    "ftp://{host}",
    "file://",
    "{host}",
    "http://{host} http://{host}",
    "chrome-extension://abcdef",
    "chrome-extension://localhost",
]
#: Origins of web apps under development: other ports of this machine.
LOCAL_ORIGINS = [
    "http://localhost:3000",
    "http://localhost",
    "https://app.localhost:5173",
    "http://127.0.0.1",
    "http://127.0.0.2:3000",
    "http://[::1]:{port}",
]
#: Headers of a request without an Origin that a page of another site caused.
FOREIGN_FETCHES = [
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "object"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "style"},
    {"Sec-Fetch-Site": "Cross-Site"},
    {"Sec-Fetch-Site": "new-value-of-a-later-browser"},
]
#: Names under which a page of another site may have been loaded.
REBOUND = [
    "evil.example.com",
    "evil.example.com:{port}",
    "EVIL.EXAMPLE.COM:{port}",
    "evil.example.com.:{port}",
    "127.0.0.1.evil.example.com:{port}",
    "localhost.evil.example.com:{port}",
    "evillocalhost.com",
    "127.0.0.1.nip.io:{port}",
    "xn--lcalhost-n4a.com",
    "evil.example.com@127.0.0.1:{port}",
    "127.0.0.1/evil.example.com",
    "127.0.0.1:{port}?",
    "127.0.0.1:{port}#",
    "127.0.0.1:{port}, evil.example.com",
    "[::1",
    "[::1].evil.example.com",
    "127.0.0.1:99999999",
    "localhóst",
    "..localhost.com",
]
OWN = [
    "127.0.0.1:{port}",
    "127.0.0.1",
    "127.0.0.2:{port}",
    "localhost:{port}",
    "LocalHost:{port}",
    "localhost.:{port}",
    "control.localhost:{port}",
    "[::1]:{port}",
    "[::1]",
    "[::ffff:127.0.0.1]:{port}",
]


def _filled(text: str, server: BackgroundEmulator) -> str:
    host = host_of(server.base_url)
    return text.replace("{host}", host).replace("{port}", host.partition(":")[2])


def _refused(server: BackgroundEmulator, name: str, headers: Headers, **options: str) -> None:
    method, path, body = CONTROL[name]
    response = exchange_raw(server.base_url, method, path, headers, body, **options)

    assert response.status == 403
    assert response.headers["Content-Type"] == "application/problem+json"
    assert "Access-Control-Allow-Origin" not in response.headers
    assert b"access_token" not in response.body


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_origin_is_refused(server: BackgroundEmulator, unchanged: Check, origin: str):
    headers = [("Host", host_of(server.base_url)), ("Origin", _filled(origin, server))]

    for name in CONTROL:
        _refused(server, name, headers)


@pytest.mark.parametrize("origin", LOCAL_ORIGINS)
def test_a_local_web_app_gets_nothing_of_the_control_api(
    server: BackgroundEmulator, unchanged: Check, origin: str
):
    headers = [("Host", host_of(server.base_url)), ("Origin", _filled(origin, server))]

    for name, (_, path, _) in CONTROL.items():
        if not path.startswith("/_emulator/idp/"):
            _refused(server, name, headers)


@pytest.mark.parametrize("origin", LOCAL_ORIGINS)
def test_a_local_web_app_may_sign_people_in_but_not_take_a_token_by_name(
    server: BackgroundEmulator, unchanged: Check, origin: str
):
    origin = _filled(origin, server)
    headers = [("Host", host_of(server.base_url)), ("Origin", origin)]

    keys = exchange_raw(server.base_url, "GET", "/_emulator/idp/jwks.json", headers)
    for grant in ("password&username=owner", "client_credentials&client_id=owner"):
        form = f"grant_type={grant}"
        refused = exchange_raw(server.base_url, "POST", "/_emulator/idp/token", headers, form)
        assert (refused.status, refused.json["error"]) == (400, "unauthorized_client")
        assert refused.headers["Access-Control-Allow-Origin"] == origin

    assert keys.status == 200
    assert keys.headers["Access-Control-Allow-Origin"] == origin
    assert keys.headers["Vary"] == "Origin"
    # The sign-in page is not open to it: the page can neither be read nor submitted.
    for method in ("GET", "POST"):
        page = exchange_raw(server.base_url, method, "/_emulator/idp/authorize", headers)
        assert page.status == 403


@pytest.mark.parametrize("origin", LOCAL_ORIGINS)
def test_a_local_web_app_may_call_the_public_api(
    server: BackgroundEmulator, unchanged: Check, origin: str
):
    origin = _filled(origin, server)
    headers = [("Host", host_of(server.base_url)), ("Origin", origin)]
    bearer = (
        "Authorization",
        f"Bearer {server.control.world().mint_token('reader').access_token}",
    )
    path = f"/v1/projects/{server.ready.project_id}/edge-dns"
    question = ("Access-Control-Request-Method", "PUT")

    preflight = exchange_raw(server.base_url, "OPTIONS", path, [*headers, question])
    responses = [
        exchange_raw(server.base_url, "GET", path, headers)
        for headers in (headers, [*headers, bearer])
    ]

    assert (preflight.status, preflight.body) == (204, b"")
    for name in ("Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"):
        assert name in preflight.headers["Access-Control-Allow-Headers"]
    assert "PUT" in preflight.headers["Access-Control-Allow-Methods"]
    assert [response.status for response in responses] == [401, 200]
    for response in (preflight, *responses):
        assert response.headers["Access-Control-Allow-Origin"] == origin
        assert response.headers["Vary"] == "Origin"
        assert response.headers["Access-Control-Expose-Headers"] == "X-Request-Id, Retry-After"
        assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_page_cannot_read_the_public_api(
    server: BackgroundEmulator, unchanged: Check, origin: str
):
    headers = [("Host", host_of(server.base_url)), ("Origin", _filled(origin, server))]

    for method in ("GET", "OPTIONS"):
        path = f"/v1/projects/{server.ready.project_id}/edge-dns"
        question = [("Access-Control-Request-Method", "GET")] if method == "OPTIONS" else []
        response = exchange_raw(server.base_url, method, path, [*headers, *question])
        assert response.status >= 400
        assert not [name for name in response.headers if name.lower().startswith("access-control")]


def test_a_rebound_name_gives_a_local_origin_no_access(
    server: BackgroundEmulator, unchanged: Check
):
    headers = [("Host", "evil.example.com"), ("Origin", "http://localhost:3000")]

    public = f"/v1/projects/{server.ready.project_id}/edge-dns"
    for path in ("/_emulator/idp/jwks.json", public):
        response = exchange_raw(server.base_url, "GET", path, headers)
        assert response.status in (400, 403)
        assert "Access-Control-Allow-Origin" not in response.headers


def test_an_allowed_origin_may_read_the_public_keys():
    with emulator_in_thread(allowed_origins=("http://App.test:3000",)) as server:
        for origin, status in (("http://app.test:3000", 200), ("http://app.test:3001", 403)):
            headers = [("Host", host_of(server.base_url)), ("Origin", origin)]
            keys = exchange_raw(server.base_url, "GET", "/_emulator/idp/jwks.json", headers)
            assert keys.status == status


@pytest.mark.parametrize("origin", ["*", "null", "app.test", "http://app.test/", "ftp://app.test"])
def test_an_invalid_origin_cannot_be_allowed(origin: str):
    assert "--allow-origin" in refusal_of_settings(allowed_origins=(origin,))


@pytest.mark.parametrize("fetch", FOREIGN_FETCHES, ids=lambda fetch: "-".join(fetch.values()))
def test_requests_that_a_foreign_page_causes_are_refused(
    server: BackgroundEmulator, unchanged: Check, fetch: dict[str, str]
):
    headers = [("Host", host_of(server.base_url)), *fetch.items()]

    for name in CONTROL:
        _refused(server, name, headers)


@pytest.mark.parametrize("host", REBOUND)
def test_a_name_that_others_can_own_is_refused(
    server: BackgroundEmulator, unchanged: Check, host: str
):
    host = _filled(host, server)

    for name in CONTROL:
        _refused(server, name, [("Host", host)])
        _refused(server, name, [("Host", host), ("Origin", f"http://{host}")])


@pytest.mark.parametrize("host", REBOUND)
def test_the_public_api_refuses_names_that_others_can_own(
    server: BackgroundEmulator, unchanged: Check, host: str
):
    """Not even a valid token helps: whoever knows the seed can make one."""
    bearer = (
        "Authorization",
        f"Bearer {server.control.world().mint_token('owner').access_token}",
    )
    path = f"/v1/projects/{server.ready.project_id}/powered-by-flag"
    headers = [("Host", _filled(host, server)), bearer, ("Idempotency-Key", "theirs")]
    kind = ("Content-Type", "application/json")

    write = exchange_raw(server.base_url, "PUT", path, [*headers, kind], '{"enabled":false}')
    read = exchange_raw(
        server.base_url, "GET", f"/v1/projects/{server.ready.project_id}/deployments", headers
    )

    for response in (write, read):
        assert (response.status, response.json["code"]) == (400, "invalid_request")
        assert "--allow-host" in response.json["detail"]


def test_each_request_of_a_connection_is_checked_for_its_host(
    server: BackgroundEmulator, unchanged: Check
):
    bearer = (
        "Authorization",
        f"Bearer {server.control.world().mint_token('owner').access_token}",
    )
    path = f"/v1/projects/{server.ready.project_id}/edge-dns"
    with wire(server.base_url) as connection:
        for host, status in (("localhost", 200), ("evil.example.com", 400), ("localhost", 200)):
            connection.host = host
            connection.send_request("GET", path, [bearer])
            assert connection.read_response().status == status


@pytest.mark.parametrize("host", OWN)
def test_the_emulators_own_names_and_pages_are_answered(server: BackgroundEmulator, host: str):
    host = _filled(host, server)
    for origin in (None, f"http://{host}", f"HTTP://{host.upper()}", f"https://{host}"):
        headers = [("Host", host)] + ([] if origin is None else [("Origin", origin)])
        assert exchange_raw(server.base_url, "GET", "/_emulator/info", headers).status == 200
        assert (
            exchange_raw(
                server.base_url, "POST", "/_emulator/worlds/default/tokens", headers
            ).status
            == 201
        )


@pytest.mark.parametrize("host", ["emulator:4620", "host.docker.internal:4620", "api.test"])
def test_names_that_nobody_else_can_own_reach_the_public_api_only(
    server: BackgroundEmulator, host: str
):
    bearer = (
        "Authorization",
        f"Bearer {server.control.world().mint_token('reader').access_token}",
    )
    path = f"/v1/projects/{server.ready.project_id}/edge-dns"

    assert exchange_raw(server.base_url, "GET", path, [("Host", host), bearer]).status == 200
    assert exchange_raw(server.base_url, "GET", "/_emulator/health", [("Host", host)]).status == 200
    assert exchange_raw(server.base_url, "GET", "/_emulator/info", [("Host", host)]).status == 403


def test_a_link_from_another_site_opens_a_page(server: BackgroundEmulator):
    """A user may follow a link from another site, which never sees the response."""
    headers = [
        ("Host", host_of(server.base_url)),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Dest", "document"),
    ]

    assert exchange_raw(server.base_url, "GET", "/_emulator", headers).status == 200
    assert (
        exchange_raw(server.base_url, "POST", "/_emulator/worlds/default/reset", headers).status
        == 403
    )


def test_requests_with_two_hosts_or_none_are_refused(server: BackgroundEmulator, unchanged: Check):
    own_host = ("Host", host_of(server.base_url))
    foreign_host = ("Host", "evil.example.com")
    for hosts in ([own_host, foreign_host], [foreign_host, own_host], [own_host, own_host]):
        for path in ("/_emulator/info", "/v1/nothing"):
            response = exchange_raw(server.base_url, "GET", path, hosts)
            assert response.status in (400, 403), response.body
    assert exchange_raw(server.base_url, "GET", "/_emulator/info", version="1.0").status == 403
    assert exchange_raw(server.base_url, "GET", "/_emulator/info").status in (400, 403)


def test_two_origins_are_refused(server: BackgroundEmulator, unchanged: Check):
    host = host_of(server.base_url)
    own_origin = ("Origin", f"http://{host}")

    for origins in ([own_origin, ("Origin", "null")], [own_origin, own_origin]):
        assert exchange_raw(
            server.base_url, "POST", "/_emulator/worlds", [("Host", host), *origins]
        ).status in (400, 403)


@pytest.mark.parametrize("authority", ["http://evil.example.com", "http://{host}", "HTTP://x"])
def test_an_absolute_target_does_not_hide_the_host(
    server: BackgroundEmulator, unchanged: Check, authority: str
):
    target = _filled(authority, server) + "/_emulator/worlds/default/state"

    assert (
        exchange_raw(server.base_url, "GET", target, [("Host", "evil.example.com")]).status == 403
    )


@pytest.mark.parametrize("origin", ["http://evil.example.com", "null"])
@pytest.mark.parametrize("path", ["/_emulator/worlds", "/_emulator/idp/token", "/v1/projects/x"])
def test_no_preflight_is_granted(
    server: BackgroundEmulator, unchanged: Check, path: str, origin: str
):
    headers = [
        ("Host", host_of(server.base_url)),
        ("Origin", origin),
        ("Access-Control-Request-Method", "PUT"),
        ("Access-Control-Request-Headers", "authorization, content-type"),
        ("Access-Control-Request-Private-Network", "true"),
    ]

    response = exchange_raw(server.base_url, "OPTIONS", path, headers)

    assert response.status >= 400
    assert not [name for name in response.headers if name.lower().startswith("access-control")]


def test_a_websocket_handshake_of_another_site_is_refused(
    server: BackgroundEmulator, unchanged: Check
):
    headers = [
        ("Host", host_of(server.base_url)),
        ("Origin", "http://evil.example.com"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    assert (
        exchange_raw(server.base_url, "GET", "/_emulator/worlds/default/events", headers).status
        == 403
    )


def test_responses_cannot_be_embedded_in_another_page(server: BackgroundEmulator):
    host_headers = [("Host", host_of(server.base_url))]
    for path in ("/_emulator", "/_emulator/info", "/_emulator/docs", "/_emulator/nothing"):
        headers = exchange_raw(server.base_url, "GET", path, host_headers).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    for path, default in (("/_emulator", "'self'"), ("/_emulator/docs/errors", "'none'")):
        policy = exchange_raw(server.base_url, "GET", path, host_headers).headers[
            "Content-Security-Policy"
        ]
        assert "frame-ancestors 'none'" in policy
        assert f"default-src {default}" in policy
        assert "unsafe" not in policy
