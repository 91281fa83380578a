"""Credentials of one world are invalid in another, and no name leads out of the data directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.calls import Response
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.forged_tokens import decode_part, encode_part
from tests.support.wire import exchange_raw, host_of


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BackgroundEmulator, Path]]:
    """An emulator that stores its worlds, and the folder around its data directory."""
    parent_folder = tmp_path_factory.mktemp("around")
    (parent_folder / "secret.yaml").write_text("name: secret")
    data = parent_folder / "data"
    with emulator_in_thread(data_dir=data, library=FOLDER) as running:
        yield running, parent_folder


def send(server: BackgroundEmulator, method: str, path: str, body: object = None, **headers: str):
    all_headers = [("Host", host_of(server.base_url)), ("Content-Type", "application/json")]
    all_headers += [(name.replace("_", "-"), value) for name, value in headers.items()]
    return exchange_raw(
        server.base_url, method, path, all_headers, "" if body is None else json.dumps(body)
    )


# --- Credentials --------------------------------------------------------------------------------


def test_credentials_of_one_world_are_refused_in_another(server: BackgroundEmulator):
    """Both worlds have the same seed and drew equally many secrets, but the secrets differ."""
    control = server.control
    for name in ("here", "there"):
        control.create_world(name)
        control.world(name).create_api_key("owner")
    control.world("there").create_api_key("owner")
    projects = {
        name: next(p.id for p in control.world(name).summary.projects if p.alias == "shop")
        for name in ("here", "there")
    }
    jwt = control.world("here").mint_token("owner").access_token
    key = control.world("here").create_api_key("owner").value
    for credential in (jwt, key):
        for name, status in (("here", 200), ("there", 401), ("default", 401)):
            prefix = "" if name == "default" else f"/worlds/{name}"
            project = projects.get(name, server.ready.project_id)
            path = f"{prefix}/v1/projects/{project}/edge-dns"
            response = send(server, "GET", path, Authorization=f"Bearer {credential}")
            assert response.status == status, (name, response.body)


def test_tickets_and_sessions_of_one_world_are_refused_in_another(server: BackgroundEmulator):
    control = server.control
    origins = {}
    urls = {}
    for name in ("mine", "yours"):
        control.create_world(name)
        token = control.world(name).mint_token("owner").access_token
        project = next(p.id for p in control.world(name).summary.projects if p.alias == "shop")
        path = f"/worlds/{name}/v1/projects/{project}/dev-access-tickets"
        ticket = send(server, "POST", path, Authorization=f"Bearer {token}").json
        origins[name] = urlsplit(ticket["origin"]).netloc
        urls[name] = ticket["redeem_url"].partition(origins[name])[2]

    def visit(name: str, path: str, **headers: str) -> Response:
        all_headers = [("Host", origins[name])]
        all_headers += list(headers.items())
        return exchange_raw(server.base_url, "GET", path, all_headers)

    assert visit("yours", urls["mine"]).status == 404
    opened = visit("mine", urls["mine"])
    cookie = opened.headers["Set-Cookie"].partition(";")[0]
    assert visit("mine", "/", Cookie=cookie).status == 200
    assert visit("yours", "/", Cookie=cookie).status == 401


HEADERS = [
    {"jku": "http://127.0.0.1:9/jwks.json"},
    {"x5u": "http://127.0.0.1:9/key.pem"},
    {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}},
    {"x5c": ["AAAA"]},
    {"kid": "../../../../dev/null"},
    {"kid": "' OR 1=1 --"},
    {"kid": ["a"]},
    {"alg": "none"},
    {"alg": "HS256"},
    {"alg": ""},
]


@pytest.mark.parametrize("changed", HEADERS, ids=str)
def test_a_token_with_a_changed_header_is_refused(server: BackgroundEmulator, changed: dict):
    token = server.control.world().mint_token("owner").access_token
    header, claims, signature = token.split(".")
    forged = encode_part({**json.loads(decode_part(header)), **changed})
    path = f"/v1/projects/{server.ready.project_id}/edge-dns"

    for signed in (signature, ""):
        bearer = f"Bearer {forged}.{claims}.{signed}"
        assert send(server, "GET", path, Authorization=bearer).status == 401


# --- Names --------------------------------------------------------------------------------------

NAMES = [
    "..",
    ".",
    "../secret",
    "../../etc/passwd",
    "..\\secret",
    "%2e%2e",
    "%2e%2e%2fsecret",
    "..%2f",
    "/etc/passwd",
    "/tmp",
    "C:\\Windows",
    "\\\\server\\share",
    "file:///etc/passwd",
    "a/../b",
    "a/b",
    "a\x00b",
    "\x00",
    "a\nb",
    "a\r\nX: y",
    "-rf",
    "~",
    "$HOME",
    "CON",
    "NUL.txt",
    "a:b",
    "a.",
    "a ",
    " a",
    "A",
    "ａ",  # noqa: RUF001 - a wide letter
    "а",  # noqa: RUF001 - a Cyrillic one
    "․․",  # noqa: RUF001 - one-dot leaders
    "a\u202eb",
    "😀",
    "snapshot.json",
    ".hidden",
    "x" * 64,
    "x" * 5_000,
]


def _files(parent_folder: Path) -> set[str]:
    return {str(path.relative_to(parent_folder)) for path in parent_folder.rglob("*")}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:20]))
def test_no_name_leads_out_of_the_data_directory(
    stored: tuple[BackgroundEmulator, Path], name: str
):
    server, parent_folder = stored
    before = _files(parent_folder)
    state = server.control.world().export()
    quoted = quote(name, safe="")
    twice = quote(quote(name, safe=""), safe="")
    requests: list[tuple[str, str, object]] = [
        ("POST", "/_emulator/worlds", {"name": name}),
        ("POST", "/_emulator/worlds/default/fork", {"name": name}),
        ("POST", "/_emulator/worlds/default/scenario", {"name": name}),
        ("POST", "/_emulator/scenarios/run", {"name": name}),
        ("POST", "/_emulator/worlds", {"name": "fine", "scenario": {"name": name}}),
        ("POST", "/_emulator/worlds/default/tokens", {"user": name}),
        ("POST", "/_emulator/worlds/default/api-keys", {"user": name, "organization": name}),
    ]
    for part in (quoted, twice):
        requests += [
            ("PUT", f"/_emulator/worlds/{part}/state", state),
            ("DELETE", f"/_emulator/worlds/{part}", None),
            ("POST", f"/_emulator/worlds/{part}/reset", None),
            ("GET", f"/_emulator/worlds/{part}/state", None),
            ("GET", f"/_emulator/scenarios/{part}", None),
            ("GET", f"/_emulator/docs/errors/{part}", None),
            ("GET", f"/_emulator/docs/{part}", None),
            ("GET", f"/worlds/{part}/v1/projects/x/edge-dns", None),
            ("GET", f"/v1/operations/{part}", None),
        ]
    for method, path, body in requests:
        response = send(server, method, path, body)
        assert 400 <= response.status < 500, (method, path, response.status)
        assert b"root:" not in response.body
    assert _files(parent_folder) == before


@pytest.mark.parametrize("name", [n for n in NAMES if n and "\x00" not in n and len(n) < 100])
def test_a_name_in_an_imported_state_creates_no_file(
    stored: tuple[BackgroundEmulator, Path], name: str
):
    """A state contains the name of its world, but the importing caller chooses the world."""
    server, parent_folder = stored
    before = _files(parent_folder)
    state = {**server.control.world().export(), "world": name}

    server.control.world().import_state(state)

    assert server.control.world().summary.name == "default"
    assert _files(parent_folder) == before
