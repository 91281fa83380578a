"""TLS for dev origins: a local certificate authority, kept so that it need be trusted only once.

Whoever trusts the authority trusts whoever has its key. So the key is its owner's alone to read,
and the authority can vouch for nothing but this machine's own names (RFC 5280, 4.2.1.10). Where nothing
is kept, neither is a key: none is ever in a file that a killed process could leave behind.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryFile

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hosting_emulator.storage.files import make_private, make_private_folder, write_atomically

CA_CERTIFICATE = "ca.pem"
CA_KEY = "ca.key"
_NAME = "hosting-emulator, local development"
_USES = (
    "digital_signature content_commitment key_encipherment data_encipherment key_agreement "
    "key_cert_sign crl_sign encipher_only decipher_only"
).split()
#: How long an authority lasts; with less than the second of it left, the next start makes another.
_LASTS = timedelta(days=3650)
_LEFT = timedelta(days=30)
#: Some systems refuse a server's certificate that lasts longer than 825 days.
_CERTIFICATE_LASTS = timedelta(days=397)


class LocalAuthority:
    """Issues certificates for the names clients ask for (SNI), under one local authority.

    The authority is kept in `folder` (mode 0700, its files 0600) and found again at the next start,
    unless it has run out or could vouch for other names. If it is not `kept`, its certificate alone is
    there. Raises OSError.
    """

    def __init__(self, folder: Path, *, kept: bool = True) -> None:
        make_private_folder(folder)
        make_private(folder)
        self.ca_file, key_file = folder / CA_CERTIFICATE, folder / CA_KEY
        authority = _kept_authority(self.ca_file, key_file) if kept else None
        if authority is None:
            authority = _new_authority()
            if kept:
                write_atomically(key_file, authority[1])
            write_atomically(self.ca_file, authority[0])
        self._authority = trustme.CA.from_pem(*authority)
        self._contexts: dict[str, ssl.SSLContext] = {}

    def server_context(self) -> ssl.SSLContext:
        """Return a context that answers for localhost, and by SNI for any name asked for."""
        context = self._context_for("localhost", "127.0.0.1", "::1")
        context.sni_callback = self._choose
        return context

    def _choose(
        self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext
    ) -> None:
        name = (name or "").lower()
        if not name.endswith(".localhost") or len(name) > 253:
            return
        zone = name.partition(".")[2]
        if zone not in self._contexts:
            if len(self._contexts) >= 256:
                self._contexts.clear()
            try:
                self._contexts[zone] = self._context_for(f"*.{zone}", zone)
            except ValueError:  # no host can be called so: the certificate for localhost is shown
                return
        connection.context = self._contexts[zone]

    def _context_for(self, *names: str) -> ssl.SSLContext:
        ends = datetime.now(UTC) + _CERTIFICATE_LASTS
        certificate = self._authority.issue_cert(*names, not_after=ends)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        chain = b"".join(part.bytes() for part in certificate.cert_chain_pems)
        # Files without a name, of which a kill leaves nothing; two, for some systems read each once.
        with TemporaryFile() as shown, TemporaryFile() as key:
            for file, content in ((shown, chain), (key, certificate.private_key_pem.bytes())):
                file.write(content)
                file.seek(0)
            context.load_cert_chain(f"/dev/fd/{shown.fileno()}", f"/dev/fd/{key.fileno()}")
        return context


def _new_authority() -> tuple[bytes, bytes]:
    """Return the certificate of a new authority, and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, _NAME)])
    now = datetime.now(UTC)
    only = {"digital_signature", "key_cert_sign", "crl_sign"}
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LASTS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**{use: use in only for use in _USES}), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_constraints(), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    return certificate.public_bytes(pem), kept


def _constraints() -> x509.NameConstraints:
    """Return all that the authority can vouch for."""
    networks = (x509.IPAddress(ip_network(one)) for one in ("127.0.0.0/8", "::1/128"))
    return x509.NameConstraints([x509.DNSName("localhost"), *networks], None)


def _kept_authority(ca_file: Path, key_file: Path) -> tuple[bytes, bytes] | None:
    """Return what is kept, if it lasts, has its own key and vouches for our names alone."""
    try:
        certificate, key = ca_file.read_bytes(), key_file.read_bytes()
        known = x509.load_pem_x509_certificate(certificate)
        own = serialization.load_pem_private_key(key, None).public_key() == known.public_key()
        names = known.extensions.get_extension_for_class(x509.NameConstraints)
    except (FileNotFoundError, ValueError, x509.ExtensionNotFound):
        return None  # damaged: nobody can have got far with it
    lasts = known.not_valid_after_utc - datetime.now(UTC) > _LEFT
    fit = own and lasts and names.critical and names.value == _constraints()
    return (certificate, key) if fit else None
