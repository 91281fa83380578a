"""TLS for dev origins: a local certificate authority, kept so that it need be trusted only once."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator.storage.files import write_atomically

if TYPE_CHECKING:
    import trustme

CA_CERTIFICATE = "ca.pem"
CA_KEY = "ca.key"


class LocalAuthority:
    """Issues certificates for the names clients ask for (SNI), under one local authority.

    With a folder, the authority is kept there (mode 0600) and found again at the next start.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.ca_file = folder / CA_CERTIFICATE
        self._authority = self._load(folder)
        self._contexts: dict[str, ssl.SSLContext] = {}

    def _load(self, folder: Path) -> trustme.CA:
        # Imported here: only a server with --tls-port needs it.
        import trustme

        key = folder / CA_KEY
        if self.ca_file.exists() and key.exists():
            return trustme.CA.from_pem(self.ca_file.read_bytes(), key.read_bytes())
        authority = trustme.CA(
            organization_name="hosting-emulator", organization_unit_name="local development"
        )
        write_atomically(key, authority.private_key_pem.bytes())
        write_atomically(self.ca_file, authority.cert_pem.bytes())
        return authority

    def server_context(self) -> ssl.SSLContext:
        """Return a context that answers for localhost, and by SNI for any name asked for."""
        context = self._context_for("localhost", "127.0.0.1", "::1")
        context.sni_callback = self._choose
        return context

    def _choose(
        self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext
    ) -> None:
        if name is None or not name.endswith(".localhost") or len(name) > 253:
            return
        zone = name.partition(".")[2]
        if zone not in self._contexts:
            if len(self._contexts) >= 256:
                self._contexts.clear()
            self._contexts[zone] = self._context_for(f"*.{zone}", zone)
        connection.context = self._contexts[zone]

    def _context_for(self, *names: str) -> ssl.SSLContext:
        certificate = self._authority.issue_cert(*names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        certificate.configure_cert(context)
        return context
