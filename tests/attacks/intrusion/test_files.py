"""What lies on disk is its owner's alone, whatever the umask and whatever lay there before."""

from __future__ import annotations

import os
import signal
import ssl
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import PIPE

import pytest
import trustme
from cryptography import x509

from hosting_emulator.server.tls import (
    _CERTIFICATE_LASTS,
    _LASTS,
    CA_CERTIFICATE,
    CA_KEY,
    LocalAuthority,
)
from tests.support.emulator_process import emulator, failed_start
from tests.support.exec_process import execution


def modes(folder: Path) -> dict[str, str]:
    """Return the mode of a folder and of all in it."""
    found = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode)) for path in found}


def private(folder: Path) -> None:
    for name, mode in modes(folder).items():
        assert mode == ("0o700" if (folder / name).is_dir() else "0o600"), name


# Under 0o277 whatever is left to the umask comes out as 0o400, and what is set too wide as it is.
@pytest.mark.parametrize(
    "umask",
    [0o277, *(pytest.param(n, marks=pytest.mark.torture) for n in (0o000, 0o022, 0o077, 0o777))],
)
def test_a_new_data_directory_is_private(tmp_path: Path, umask: int):
    data, ready = tmp_path / "data", tmp_path / "ready.json"
    arguments = ("--data-dir", str(data), "--tls-port", "0", "--ready-file", str(ready))
    # An odd umask is about the modes of what is made: Python's own caches are left alone.
    shell = (
        "bash",
        "-c",
        f'umask {umask:o}; exec {sys.executable} -B -m hosting_emulator_cli "$@"',
        "emu",
    )

    with emulator(*arguments, command=shell) as process:
        client = process.client()
        client.control("POST", "worlds", {"name": "ci"})
        private(data)
        assert oct(stat.S_IMODE(ready.stat().st_mode) & 0o177) == "0o0"
        process.stop()

    private(data)


def test_an_existing_one_is_made_private(tmp_path: Path):
    with emulator("--data-dir", str(tmp_path), "--tls-port", "0") as process:
        process.stop()
    before = (tmp_path / "tls" / CA_CERTIFICATE).read_bytes()
    for path in tmp_path.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)

    with emulator("--data-dir", str(tmp_path), "--tls-port", "0") as process:
        found = modes(tmp_path)
        process.stop()

    open_to_others = {name: mode for name, mode in found.items() if int(mode, 8) & 0o077}
    assert set(open_to_others) <= {"."}  # the folder itself may be shared, what is in it is not
    assert (tmp_path / "tls" / CA_CERTIFICATE).read_bytes() == before


# --- Links that lead out ------------------------------------------------------------------------

LINKS = [
    "worlds",
    "lock",
    ".gitignore",
    "worlds/default",
    "worlds/default/snapshot.json",
    "worlds/default/journal.ndjson",
    "tls",
    "tls/ca.key",
]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        # Each name once, each kind of target as often as the others; the rest is torture.
        pytest.param(name, target, marks=[] if (n + m) % 3 == 0 else pytest.mark.torture)
        for n, name in enumerate(LINKS)
        for m, target in enumerate(["file", "folder", "nothing"])
    ],
)
def test_a_link_in_the_data_directory_is_refused(tmp_path: Path, name: str, target: str):
    """A folder that somebody else packed must not make us write, cut or read elsewhere."""
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    elsewhere.mkdir()
    victim = elsewhere / "precious"
    victim.write_text("one line\nand a last one without its newline")
    victim.chmod(0o644)
    if target == "folder":
        (elsewhere / "snapshot.json").write_text("precious, too")
    link = data / name
    link.parent.mkdir(parents=True)
    link.symlink_to({"file": victim, "folder": elsewhere}.get(target, elsewhere / "new"))
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}

    failed = failed_start("--port", "0", "--tls-port", "0", "--data-dir", str(data))

    assert failed.returncode != 0
    assert "symbolic link" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before
    assert stat.S_IMODE(victim.stat().st_mode) == 0o644


@pytest.mark.parametrize("name", ["worlds.json", "lock", "worlds/default/journal.ndjson"])
def test_a_pipe_in_the_data_directory_is_refused(tmp_path: Path, name: str):
    """To read from it would wait for somebody to write."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / name)

    failed = failed_start("--port", "0", "--data-dir", str(tmp_path))

    assert failed.returncode != 0
    assert "is neither a file nor a folder" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_data_directory_may_itself_be_reached_by_a_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with emulator("--data-dir", str(tmp_path / "link")) as process:
        assert process.stop()[0] == 0


# --- The certificate authority ------------------------------------------------------------------


def _issue(authority: LocalAuthority, folder: Path, *names: str) -> tuple[Path, Path]:
    """Do with a leaked key what its finder would."""
    found = trustme.CA.from_pem(
        (folder / CA_CERTIFICATE).read_bytes(), (folder / CA_KEY).read_bytes()
    ).issue_cert(*names)
    certificate, key = folder / "leaf.pem", folder / "leaf.key"
    found.cert_chain_pems[0].write_to_path(certificate)
    found.private_key_pem.write_to_path(key)
    return certificate, key


def _shake_hands(authority: LocalAuthority, name: str, server: ssl.SSLContext) -> None:
    """Let a client that trusts the authority meet a server. Raises SSLError."""
    client = ssl.create_default_context(cafile=str(authority.ca_file))
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(down, up, server_hostname=name)
    answering = server.wrap_bio(up, down, server_side=True)
    for _ in range(6):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert asking.getpeercert()


@pytest.mark.parametrize(
    "name",
    [
        *("localhost", "127.0.0.1", "::1", "Dev-Olive.Dev.LocalHost"),
        *("dev-olive.dev.localhost", "dev-a.ci-1.dev.localhost"),
    ],
)
def test_its_certificates_are_accepted_for_this_machine(tmp_path: Path, name: str):
    authority = LocalAuthority(tmp_path)

    _shake_hands(authority, name, authority.server_context())


@pytest.mark.parametrize("name", ["a._x.localhost", "a.xn--a-.localhost", "a.-b-.localhost"])
def test_a_name_that_no_host_can_have_is_shown_the_certificate_of_localhost(
    tmp_path: Path, name: str
):
    authority = LocalAuthority(tmp_path)

    with pytest.raises(ssl.SSLCertVerificationError):  # by the client: here nothing fails
        _shake_hands(authority, name, authority.server_context())


@pytest.mark.parametrize(
    "name", ["example.com", "10.0.0.1", "2001:db8::1", "localhost.example.com", "evillocalhost"]
)
def test_a_leaked_authority_cannot_vouch_for_the_world(tmp_path: Path, name: str):
    authority = LocalAuthority(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*_issue(authority, tmp_path, name))

    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree"):
        _shake_hands(authority, name, server)


def test_it_cannot_make_another_authority(tmp_path: Path):
    authority = LocalAuthority(tmp_path)
    certificate = x509.load_pem_x509_certificate(authority.ca_file.read_bytes())

    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value == (
        x509.BasicConstraints(ca=True, path_length=0)
    )
    assert certificate.extensions.get_extension_for_class(x509.NameConstraints).critical


def test_it_is_kept_and_found_again(tmp_path: Path):
    first = LocalAuthority(tmp_path).ca_file.read_bytes()

    assert LocalAuthority(tmp_path).ca_file.read_bytes() == first


def _unconstrained(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / CA_CERTIFICATE)
    authority.private_key_pem.write_to_path(folder / CA_KEY)


def _damaged(folder: Path) -> None:
    LocalAuthority(folder)
    (folder / CA_KEY).write_text("no key")


def _another_key(folder: Path) -> None:
    LocalAuthority(folder)
    trustme.CA().private_key_pem.write_to_path(folder / CA_KEY)


def _half(folder: Path) -> None:
    LocalAuthority(folder)
    (folder / CA_KEY).unlink()


@pytest.mark.parametrize("spoil", [_unconstrained, _damaged, _another_key, _half])
def test_one_that_is_not_fit_is_replaced(tmp_path: Path, spoil):
    spoil(tmp_path)

    authority = LocalAuthority(tmp_path)

    _shake_hands(authority, "localhost", authority.server_context())
    private_files = [path for path in tmp_path.iterdir() if path.stat().st_mode & 0o077]
    assert private_files == []


def test_its_certificates_do_not_last_too_long(tmp_path: Path):
    """Some systems refuse a server's certificate of more than 825 days."""
    assert timedelta(days=825) > _CERTIFICATE_LASTS
    authority = LocalAuthority(tmp_path)
    certificate = x509.load_pem_x509_certificate(authority.ca_file.read_bytes())
    assert certificate.not_valid_after_utc - datetime.now(UTC) <= _LASTS


def holding_a_key(folder: Path) -> list[Path]:
    """Return the files that hold a private key."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if b"PRIVATE KEY" in path.read_bytes()]


def test_no_key_is_left_of_an_emulator_that_keeps_nothing_and_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with execution(
        *("--tls-port", "0", "--", "sh", "-c", "echo ready; sleep 1000"), stdout=PIPE, cold=True
    ) as running:
        assert running.popen.stdout is not None
        assert running.popen.stdout.readline() == "ready\n"
        running.send(signal.SIGKILL)
        running.ended()

    assert [path.name for path in tmp_path.rglob("ca.*")] == ["ca.pem"]
    assert holding_a_key(tmp_path) == []


def test_a_servers_key_is_in_no_file_that_a_kill_could_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load, found = ssl.SSLContext.load_cert_chain, []

    def look(context: ssl.SSLContext, *files: str) -> None:
        found.append(holding_a_key(tmp_path))
        load(context, *files)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", look)

    LocalAuthority(tmp_path, kept=False).server_context()

    assert found == [[]]
