"""Certificates: the local authority that is kept, and what a running emulator presents by it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator_cli.doctor.finding import Finding, note, ok, problem

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

#: Names that stand for all a running emulator must have certificates for.
NAMES = ("localhost", "x.dev.localhost")
#: With less than this left, the next start makes another authority.
_LEFT = timedelta(days=30)
_PATIENCE_S = 3.0
_RENEW = (
    "Start again with --tls-port, which makes another where this one is of no use, and trust the "
    "new one where your client looks"
)


def check_authority(folder: Path, now: datetime) -> list[Finding]:
    """Judge the authority in a data directory's folder `tls`. Raises OSError."""
    certificate, key = folder / "ca.pem", folder / "ca.key"
    if not certificate.exists() and not key.exists():
        return [ok("certificates", "None are kept; `start --tls-port` makes an authority.")]
    for path in (certificate, key):
        if not path.exists():
            return [problem("certificates", f"{path} is missing.", f"{_RENEW}.")]
    entered = all(above.stat().st_mode & 0o011 for above in (folder, folder.absolute().parent))
    if key.stat().st_mode & 0o077 and entered:
        return [
            problem(
                "certificates",
                f"Others on this machine may read {key}, and pose as your dev origins with it.",
                f"`chmod 600 {key}`; if others may have read it, remove {folder}, start again with "
                "--tls-port, and no longer trust the old one.",
            )
        ]
    return [_judged(certificate, key, now)]


def _judged(path: Path, key: Path, now: datetime) -> Finding:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate

    try:
        certificate = load_pem_x509_certificate(path.read_bytes())
        private = load_pem_private_key(key.read_bytes(), None)
    except (ValueError, TypeError):
        return problem("certificates", f"{path} or its key is damaged.", f"{_RENEW}.")
    if private.public_key() != certificate.public_key():
        return problem("certificates", f"{key} is not the key of {path}.", f"{_RENEW}.")
    return _lasting(path, certificate, now)


def _lasting(path: Path, certificate: Certificate, now: datetime) -> Finding:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > ends:
        return problem("certificates", f"{path} ran out on {ends:%Y-%m-%d}.", f"{_RENEW}.")
    if now < begins:
        return problem(
            "certificates",
            f"{path} is valid from {begins:%Y-%m-%d} only, which is yet to come.",
            "Set this machine's clock, or remove the folder and start again with --tls-port.",
        )
    if ends - now < _LEFT:
        seen = f"{path} runs out on {ends:%Y-%m-%d}."
        return note("certificates", seen, f"{_RENEW}.")
    return ok("certificates", f"The authority {path} is valid until {ends:%Y-%m-%d}.")


def check_served(
    ca_file: Path, port: int, names: Iterable[str], shake: Callable[[Path, int, str], None]
) -> list[Finding]:
    """Judge what the emulator's TLS port presents for these names; `shake` raises where it will not do."""
    served = []
    for name in names:
        try:
            shake(ca_file, port, name)
        except (OSError, ValueError) as error:
            why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error
            return [
                problem(
                    "certificates",
                    f"What port {port} presents for {name} does not verify with {ca_file}: {why}.",
                    "Restart the emulator; if clients still refuse it, trust this file anew.",
                )
            ]
        served.append(name)
    return [ok("certificates", f"Port {port} presents good ones for {' and '.join(served)}.")]


def shake_hands(ca_file: Path, port: int, name: str) -> None:
    """Connect by TLS as a client that trusts the file and asks for a name. Raises OSError."""
    context = ssl.create_default_context(cafile=str(ca_file))
    with (
        socket.create_connection(("127.0.0.1", port), _PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname=name),
    ):
        pass
