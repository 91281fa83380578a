"""Settings with which an emulator does not start, and addresses on which it cannot listen."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.support.emulator_in_loop import emulator_in_loop, refusal_of_settings
from tests.support.emulator_process import emulator, failed_start
from tests.support.ports import free_ports

#: A file of another state, which would replace a stored world.
SCENARIO = "name: other\ndescription: Another world.\n"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty registry, and no outer `make`."""
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("MAKELEVEL", raising=False)


@pytest.mark.parametrize(
    "url", ["host.test:4620", "ftp://host.test", "http://", "https://host.test/path"]
)
def test_an_invalid_public_url_is_refused(url: str):
    assert refusal_of_settings(public_url=url) == (
        f"--public-url {url!r} is not a URL such as http://host:port"
    )


def test_an_unknown_variation_point_is_refused():
    message = refusal_of_settings(vary="7", vary_only=("page-sise",))

    assert message.startswith("--vary: ")
    assert "page-size" in message


@pytest.mark.usefixtures("registry")
def test_a_port_in_use_is_refused_with_the_way_to_a_free_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        by_command = refusal_of_settings(port=port, data_dir=tmp_path / "data")
        monkeypatch.setenv("HOSTING_EMULATOR_MAKE_RUN", "1")
        by_make = refusal_of_settings(port=port, data_dir=tmp_path / "data")

    assert by_command.startswith(f"port {port} on 127.0.0.1 is in use")
    assert by_command.endswith("or use --port 0 for a free port")
    assert by_make.endswith("or run `make run ARGS='--port 0'` for a free port")
    assert not (tmp_path / "data").exists()


@pytest.mark.usefixtures("registry")
def test_a_port_in_use_at_an_ipv6_address_is_refused(tmp_path: Path):
    try:
        other = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 address")
    with other:
        port = other.getsockname()[1]

        message = refusal_of_settings(host="::1", port=port, data_dir=tmp_path / "data")

    assert message.startswith(f"port {port} on ::1 is in use")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("control-token: é", "--control-token must be printable ASCII"),
        ("{at: '2030-01-01T00:00:00Z', scenario: stuck-operation}", "--at cannot be used"),
    ],
)
def test_a_setting_that_does_not_allow_a_start_is_refused_with_the_name_of_its_file(
    tmp_path: Path, text: str, message: str
):
    (tmp_path / "hosting-emulator.yaml").write_text(text, encoding="utf-8")

    failed = failed_start("--port", "0", "--ephemeral", cwd=tmp_path)

    assert failed.returncode == 2
    assert failed.stderr.startswith(f"Error: hosting-emulator.yaml: {message}")


async def test_an_address_of_another_machine_is_refused():
    with pytest.raises(Exception, match=r"cannot listen on 192\.0\.2\.1 port 0: ") as caught:
        async with emulator_in_loop(host="192.0.2.1", control_token="token"):
            pytest.fail("the emulator started")

    assert type(caught.value).__name__ == "StartError"


@pytest.mark.parametrize(
    ("host", "option"),
    [
        ("0.0.0.0", ""),  # commands use the default address
        ("::1", " --url 'http://[::1]:4620'"),
        ("127.0.0.2", " --url http://127.0.0.2:4620"),
    ],
)
async def test_the_refusal_to_replace_a_world_names_commands_that_reach_the_emulator(
    tmp_path: Path, host: str, option: str
):
    data = tmp_path / "data"
    async with emulator_in_loop(data_dir=data):
        pass
    (tmp_path / "other.yaml").write_text(SCENARIO)

    message = refusal_of_settings(data_dir=data, host=host, scenario=str(tmp_path / "other.yaml"))

    assert "already has a stored world, which --scenario would replace" in message
    assert f"`hosting-emulator world import old.json --replace{option}` restores" in message


async def test_the_user_of_an_emulator_must_exist():
    async with emulator_in_loop(user="reader") as emulator:
        assert emulator.ready().user == "reader"

    assert "'raeder'" in refusal_of_settings(user="raeder")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenario: ours.yaml", "ours.yaml:3:"),
        ("scenario: handshake.yaml", "acts at the TLS port"),
        ("user: nobody", "'nobody'"),
        ("assume: {accepted_status: 299}", "accepted_status"),
        ("tls-port: {port}", "--tls-port {port} is also the port of --port"),
        ("host: 192.0.2.1", "cannot listen on 192.0.2.1"),
    ],
)
def test_a_failed_first_start_stores_no_world(tmp_path: Path, text: str, message: str):
    """Otherwise, the next start would continue with this world, and ignore the corrected settings."""
    port = str(next(free_ports()))
    (tmp_path / "ours.yaml").write_text(f"{SCENARIO}prot: 1\n")
    handshake = "faults: [{bad_certificate: {reason: expired}}]\n"
    (tmp_path / "handshake.yaml").write_text(f"{SCENARIO}{handshake}")
    settings = tmp_path / "hosting-emulator.yaml"
    settings.write_text(f"port: {port}\n{text.replace('{port}', port)}\n")

    failed = failed_start(cwd=tmp_path)

    assert (failed.returncode, failed.stdout) == (2, "")
    assert message.replace("{port}", port) in failed.stderr
    assert list(tmp_path.glob(".hosting-emulator/worlds/*")) == []
    (tmp_path / "ours.yaml").write_text(SCENARIO)
    settings.write_text("port: 0\nscenario: ours.yaml\n")
    with emulator(cwd=tmp_path) as process:
        assert process.ready["fresh"]
        assert process.stop() == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--user", "nobody"),
        ("--scenario", "admission", "--replace", "--user", "nobody"),
        ("--scenario", "admission", "--replace", "--host", "192.0.2.1"),
    ],
)
def test_a_failed_start_keeps_the_world_of_an_earlier_start(
    tmp_path: Path, arguments: tuple[str, ...]
):
    with emulator("--seed", "ours", cwd=tmp_path) as process:
        before = process.client().state()
        process.stop()

    failed = failed_start("--port", "0", *arguments, cwd=tmp_path)

    assert failed.returncode == 2
    with emulator(cwd=tmp_path) as process:
        assert not process.ready["fresh"]
        assert process.client().state() == before


def test_the_ports_for_http_and_https_must_differ(tmp_path: Path):
    port = next(free_ports())

    message = refusal_of_settings(port=port, tls_port=port, data_dir=tmp_path / "data")

    assert message == (
        f"--tls-port {port} is also the port of --port, but HTTP and HTTPS need two different ports: "
        "change one of them (with its option, with HOSTING_EMULATOR_PORT or "
        "HOSTING_EMULATOR_TLS_PORT, or with `port` or `tls-port` in the settings file), or use "
        "--tls-port 0 for a free port"
    )
    assert not (tmp_path / "data").exists()
