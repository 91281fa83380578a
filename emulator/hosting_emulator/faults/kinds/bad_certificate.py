"""Presents a TLS certificate that clients reject."""

from typing import ClassVar, Literal, TypeAlias

from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.world.fault_records import Rule

#: What is wrong with a certificate.
CertificateProblem: TypeAlias = Literal["expired", "wrong_host", "untrusted"]


class BadCertificate(FaultKind, frozen=True):
    """Present a certificate that has expired, is for the wrong host, or was signed by an untrusted
    issuer.

    The fault acts on handshakes on the TLS port. With `project`, it acts only on handshakes for
    that project's dev origin. The plain HTTP port, which serves the control API, is not affected. A
    server without a TLS port refuses the fault. Without `project`, the server also refuses it if
    another world on the same server is in use. For `times`, `skip_first` and `every`, a handshake
    counts as a request. The request log does not list handshakes.
    """

    example: ClassVar = {"reason": "expired"}
    stage = "handshake"

    reason: CertificateProblem

    @classmethod
    def note(cls, rule: Rule) -> str | None:
        if rule.project is not None:
            return None
        return (
            "The fault acts on every host on the TLS port. The plain HTTP port, which serves the "
            "control API, is not affected."
        )
