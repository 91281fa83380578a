"""Provides TLS for dev origins, with certificates from a local authority that the user has to trust
only once.

A client that trusts the authority trusts everybody who has its key. For safety, only the owner of
the key file can read the key, and the authority can certify only this machine's own names (RFC
5280, section 4.2.1.10). If the authority is not stored, its key exists only in memory, so a killed
process leaves no key behind.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hosting_emulator.faults.kinds.bad_certificate import CertificateProblem
from hosting_emulator.storage.files import make_private, make_private_folder, write_atomically

CA_CERTIFICATE: Final = "ca.pem"
CA_KEY: Final = "ca.key"
_NAME: Final = "hosting-emulator, local development"
#: The lifetime of a new authority, and the minimum remaining lifetime of a stored one. An authority
#: that expires sooner is replaced when the emulator starts.
AUTHORITY_LIFETIME: Final = timedelta(days=3650)
_LEAST_REMAINING: Final = timedelta(days=30)
#: The lifetime of a server certificate. Some systems refuse lifetimes of more than 825 days.
CERTIFICATE_LIFETIME: Final = timedelta(days=397)
#: The maximum number of certificates to keep in memory.
_MOST_CONTEXTS: Final = 256
_LONGEST_HOST: Final = 253
#: The names in the certificate for clients that request no name under `.localhost`.
_OWN_NAMES: Final = ("localhost", "127.0.0.1", "::1")
#: The host name in a certificate for the wrong host. No client ever connects to this host.
_WRONG_HOST: Final = "wrong-host.localhost"
_LOOPBACK_NETWORKS: Final = ("127.0.0.0/8", "::1/128")


@dataclass(frozen=True, slots=True)
class _Authority:
    """An authority's certificate and key, in PEM format."""

    certificate: bytes
    key: bytes


class LocalAuthority:
    """Issues certificates from a local authority for the names that clients request (SNI).

    The authority is stored in `folder`, whose mode is set to 0700. The next start reads it, and
    replaces it if it expires soon or could certify other names. If `is_stored` is false, only the
    certificate is written, not the key. `problem_of` is called with the host that a client
    requests, in lowercase. It returns the problem that the host's certificate must have, or None.
    Raises OSError if a file cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        *,
        is_stored: bool = True,
        problem_of: Callable[[str], CertificateProblem | None] = lambda _: None,
    ) -> None:
        make_private_folder(folder)
        make_private(folder)
        self.ca_file = folder / CA_CERTIFICATE
        key_file = folder / CA_KEY
        authority = _read_authority(self.ca_file, key_file) if is_stored else None
        is_new = authority is None
        if authority is None:
            authority = _new_authority()
        #: The content of each file, in the order in which the files are written.
        self._contents: dict[Path, bytes] = {}
        if is_stored:
            self._contents[key_file] = authority.key
        self._contents[self.ca_file] = authority.certificate
        if is_new:
            self._write_files()
        self._authority = trustme.CA.from_pem(authority.certificate, authority.key)
        self._contexts: dict[tuple[str, CertificateProblem | None], ssl.SSLContext] = {}
        self._problem_of = problem_of

    def repair(self) -> bool:
        """Rewrite the authority's files if any of them were deleted. Return whether they were rewritten.

        If the folder contains a file of another authority, leaves all files alone. Raises OSError.
        """
        remaining_files = [path for path in self._contents if path.exists()]
        if len(remaining_files) == len(self._contents):
            return False
        if any(path.read_bytes() != self._contents[path] for path in remaining_files):
            return False
        self._write_files()
        return True

    def _write_files(self) -> None:
        make_private_folder(self.ca_file.parent)
        for path, content in self._contents.items():
            write_atomically(path, content)

    def server_context(self) -> ssl.SSLContext:
        """Return a context for localhost and, through SNI, for every name that ends in `.localhost`."""
        context = self._context_for(_OWN_NAMES)
        context.sni_callback = self._choose_context
        return context

    def _choose_context(
        self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext
    ) -> None:
        """Make the connection use the certificate for the name that the client requests."""
        name = (name or "").lower()
        problem = self._problem_of(name)
        zone = ""
        if name.endswith(".localhost") and len(name) <= _LONGEST_HOST:
            zone = name.partition(".")[2]
        elif problem is None:
            return
        if (zone, problem) not in self._contexts:
            if len(self._contexts) >= _MOST_CONTEXTS:
                self._contexts.clear()
            names = (f"*.{zone}", zone) if zone else _OWN_NAMES
            try:
                self._contexts[zone, problem] = self._context_for(names, problem)
            except ValueError:
                # The name is not a valid host name, so the client gets the certificate for
                # localhost.
                return
        connection.context = self._contexts[zone, problem]

    def _context_for(
        self, names: Sequence[str], problem: CertificateProblem | None = None
    ) -> ssl.SSLContext:
        """Return a context with a new certificate for `names`.

        If `problem` is not None, the certificate has this problem.
        """
        issuer = self._authority
        begin = None
        expiry = datetime.now(UTC) + CERTIFICATE_LIFETIME
        if problem == "expired":
            expiry = datetime.now(UTC) - timedelta(days=1)
            begin = expiry - CERTIFICATE_LIFETIME
        elif problem == "wrong_host":
            names = (_WRONG_HOST,)
        elif problem == "untrusted":
            issuer = trustme.CA(organization_name="untrusted issuer")
        certificate = issuer.issue_cert(*names, not_before=begin, not_after=expiry)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # Disable session tickets, because a client that resumes a session does not check the
        # certificate.
        context.num_tickets = 0
        chain = b"".join(part.bytes() for part in certificate.cert_chain_pems)
        # Use unnamed files, because a killed process leaves no trace of them. Use one for each
        # part, because some systems can read such a file only once.
        with TemporaryFile() as chain_file, TemporaryFile() as key_file:
            chain_file.write(chain)
            chain_file.seek(0)
            key_file.write(certificate.private_key_pem.bytes())
            key_file.seek(0)
            context.load_cert_chain(
                f"/dev/fd/{chain_file.fileno()}", f"/dev/fd/{key_file.fileno()}"
            )
        return context


def _new_authority() -> _Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, _NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + AUTHORITY_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_constraints(), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key_pem = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return _Authority(certificate.public_bytes(pem), key_pem)


def _key_usage() -> x509.KeyUsage:
    """Return the permitted uses of the authority's key."""
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _constraints() -> x509.NameConstraints:
    """Return the names and networks for which the authority can issue certificates."""
    networks = [x509.IPAddress(ip_network(network)) for network in _LOOPBACK_NETWORKS]
    return x509.NameConstraints([x509.DNSName("localhost"), *networks], None)


def _read_authority(ca_file: Path, key_file: Path) -> _Authority | None:
    """Return the stored authority, or None if a new one must be created.

    The stored authority is used if it is complete, does not expire soon, and can certify only this
    machine's names.
    """
    try:
        authority = _Authority(ca_file.read_bytes(), key_file.read_bytes())
        certificate = x509.load_pem_x509_certificate(authority.certificate)
        public_key = serialization.load_pem_private_key(authority.key, None).public_key()
        names = certificate.extensions.get_extension_for_class(x509.NameConstraints)
    except (FileNotFoundError, ValueError, x509.ExtensionNotFound):
        # A missing or damaged authority is replaced.
        return None
    if public_key != certificate.public_key():
        return None
    if certificate.not_valid_after_utc - datetime.now(UTC) <= _LEAST_REMAINING:
        return None
    if not names.critical or names.value != _constraints():
        return None
    return authority
