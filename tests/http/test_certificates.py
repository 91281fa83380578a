"""The local certificate authority: what its certificates are valid for, and where its key is stored."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
import trustme
from cryptography import x509

from hosting_emulator.http import tls
from hosting_emulator.http.tls import (
    AUTHORITY_LIFETIME,
    CA_CERTIFICATE,
    CA_KEY,
    CERTIFICATE_LIFETIME,
    LocalAuthority,
)
from tests.support.private_keys import files_with_a_private_key


def _issue(authority: LocalAuthority, folder: Path, *names: str) -> tuple[Path, Path]:
    """Issue a certificate as the finder of a leaked key would."""
    leaf = trustme.CA.from_pem(
        (folder / CA_CERTIFICATE).read_bytes(), (folder / CA_KEY).read_bytes()
    ).issue_cert(*names)
    certificate = folder / "leaf.pem"
    key = folder / "leaf.key"
    leaf.cert_chain_pems[0].write_to_path(certificate)
    leaf.private_key_pem.write_to_path(key)
    return certificate, key


def _shake_hands(authority: LocalAuthority, name: str, server: ssl.SSLContext) -> None:
    """Let a client that trusts the authority connect to a server. Raises SSLError."""
    client = ssl.create_default_context(cafile=str(authority.ca_file))
    to_server = ssl.MemoryBIO()
    to_client = ssl.MemoryBIO()
    client_side = client.wrap_bio(to_client, to_server, server_hostname=name)
    server_side = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(6):
        for side in (client_side, server_side):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert client_side.getpeercert()


@pytest.mark.parametrize(
    "name",
    [
        "localhost",
        "127.0.0.1",
        "::1",
        "Dev-Olive.Dev.LocalHost",
        "dev-olive.dev.localhost",
        "dev-a.ci-1.dev.localhost",
    ],
)
def test_certificates_for_names_of_this_machine_are_accepted(tmp_path: Path, name: str):
    authority = LocalAuthority(tmp_path)

    _shake_hands(authority, name, authority.server_context())


@pytest.mark.parametrize("name", ["a._x.localhost", "a.xn--a-.localhost", "a.-b-.localhost"])
def test_a_name_that_no_host_can_have_is_shown_the_certificate_of_localhost(
    tmp_path: Path, name: str
):
    authority = LocalAuthority(tmp_path)

    # Only the client fails, because it refuses the certificate.
    with pytest.raises(ssl.SSLCertVerificationError):
        _shake_hands(authority, name, authority.server_context())


@pytest.mark.parametrize("name", ["localhost", "dev-olive.dev.localhost"])
@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "certificate is not valid for '"),
        ("untrusted", "unable to get local issuer certificate"),
    ],
)
def test_a_client_refuses_a_certificate_with_a_problem(
    tmp_path: Path,
    problem: Literal["expired", "wrong_host", "untrusted"],
    words: str,
    name: str,
):
    problems = {name: problem}
    authority = LocalAuthority(tmp_path, problem_of=problems.get)
    server = authority.server_context()

    with pytest.raises(ssl.SSLCertVerificationError, match=words):
        _shake_hands(authority, name, server)

    problems.clear()
    _shake_hands(authority, name, server)


@pytest.mark.parametrize(
    "name", ["example.com", "10.0.0.1", "2001:db8::1", "localhost.example.com", "evillocalhost"]
)
def test_a_leaked_authority_cannot_vouch_for_the_world(tmp_path: Path, name: str):
    authority = LocalAuthority(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*_issue(authority, tmp_path, name))

    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree"):
        _shake_hands(authority, name, server)


def test_the_authority_cannot_make_another_authority(tmp_path: Path):
    authority = LocalAuthority(tmp_path)
    certificate = x509.load_pem_x509_certificate(authority.ca_file.read_bytes())

    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value == (
        x509.BasicConstraints(ca=True, path_length=0)
    )
    assert certificate.extensions.get_extension_for_class(x509.NameConstraints).critical


def test_the_authority_is_stored_and_used_again(tmp_path: Path):
    first = LocalAuthority(tmp_path).ca_file.read_bytes()

    assert LocalAuthority(tmp_path).ca_file.read_bytes() == first


@pytest.mark.parametrize("names", [(CA_CERTIFICATE, CA_KEY), (CA_CERTIFICATE,), (CA_KEY,)])
def test_deleted_files_of_the_authority_are_written_again(tmp_path: Path, names: tuple[str, ...]):
    authority = LocalAuthority(tmp_path / "tls")
    before = {path.name: path.read_bytes() for path in (tmp_path / "tls").iterdir()}
    for name in names:
        (tmp_path / "tls" / name).unlink()

    assert authority.repair()
    assert {path.name: path.read_bytes() for path in (tmp_path / "tls").iterdir()} == before
    assert (tmp_path / "tls" / CA_KEY).stat().st_mode & 0o077 == 0
    assert not authority.repair()


def test_the_files_of_another_authority_are_not_mixed_with_ours(tmp_path: Path):
    authority = LocalAuthority(tmp_path / "tls")
    other = LocalAuthority(tmp_path / "other")
    (tmp_path / "tls" / CA_KEY).unlink()
    other.ca_file.rename(authority.ca_file)

    assert not authority.repair()
    assert [path.name for path in (tmp_path / "tls").iterdir()] == [CA_CERTIFICATE]


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


@pytest.mark.parametrize("break_authority", [_unconstrained, _damaged, _another_key, _half])
def test_a_stored_authority_that_is_unusable_is_replaced(tmp_path: Path, break_authority):
    break_authority(tmp_path)

    authority = LocalAuthority(tmp_path)

    _shake_hands(authority, "localhost", authority.server_context())
    private_files = [path for path in tmp_path.iterdir() if path.stat().st_mode & 0o077]
    assert private_files == []


def test_certificates_do_not_last_too_long(tmp_path: Path):
    """Some systems refuse a server's certificate of more than 825 days."""
    assert timedelta(days=825) > CERTIFICATE_LIFETIME
    authority = LocalAuthority(tmp_path)
    certificate = x509.load_pem_x509_certificate(authority.ca_file.read_bytes())
    assert certificate.not_valid_after_utc - datetime.now(UTC) <= AUTHORITY_LIFETIME


def test_a_servers_key_is_in_no_file_that_a_kill_could_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load = ssl.SSLContext.load_cert_chain
    key_files: list[list[Path]] = []

    def load_and_record(context: ssl.SSLContext, *files: str) -> None:
        key_files.append(files_with_a_private_key(tmp_path))
        load(context, *files)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", load_and_record)

    LocalAuthority(tmp_path, is_stored=False).server_context()

    assert key_files == [[]]


def test_certificates_for_many_zones_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tls, "_MOST_CONTEXTS", 2)
    authority = LocalAuthority(tmp_path)
    server = authority.server_context()

    for name in ("a.one.localhost", "a.two.localhost", "a.three.localhost", "a.one.localhost"):
        _shake_hands(authority, name, server)
        assert len(authority._contexts) <= 2
