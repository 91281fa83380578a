"""Shows a TLS certificate that clients reject."""

from typing import ClassVar, Literal, TypeAlias

from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.world.fault_records import Rule

#: The flaw of a certificate.
CertificateProblem: TypeAlias = Literal["expired", "wrong_host", "untrusted"]


class BadCertificate(FaultKind, frozen=True):
    """Show a certificate that has expired, is for the wrong host, or comes from an untrusted issuer.

    The fault acts on handshakes at the TLS port. With `project`, the fault acts only on handshakes
    for the dev origin of this project. The plain HTTP port, which serves the control API, is
    unaffected. A server without a TLS port refuses the fault. Without `project`, the fault is also
    refused if a different world of the server is in use. Handshakes are counted as requests, but do
    not appear in the request log.
    """

    example: ClassVar = {"reason": "expired"}
    stage = "handshake"

    reason: CertificateProblem

    @classmethod
    def note(cls, rule: Rule) -> str | None:
        if rule.project is not None:
            return None
        return (
            "The fault acts on every host of the TLS port. The plain HTTP port, which serves the control "
            "API, is unaffected."
        )
