"""A problem of the contract in place of the answer."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.world.fault_records import Fault


class Abort(FaultKind, frozen=True):
    """Return a problem: any code, with its usual status unless you give another.

    With rate_limited, retry_after_seconds defaults to 1; with other codes it is outside the contract,
    which has it only for a rate limit.
    """

    order = 1
    example: ClassVar = {"code": "service_unavailable"}
    answers = True
    explore_order = 2

    code: str
    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    detail: str | None = None
    retry_after_seconds: Annotated[int, Meta(ge=1, le=86_400)] | None = None

    def __post_init__(self) -> None:
        if self.code not in PROBLEMS:
            raise ValueError(f"no problem has the code {self.code!r}{nearest(self.code, PROBLEMS)}")
        if self.status is not None:
            PROBLEMS[self.code].check_status(self.status)

    def problem(self, fault: Fault, now_ms: int) -> Refused:
        return Refused(
            self.code,
            PROBLEMS[self.code].detail if self.detail is None else self.detail,
            status=self.status,
            retry_after_seconds=self.retry_after_seconds
            or (1 if self.code == "rate_limited" else None),
        )

    @classmethod
    def explored(cls, detail: str, body_bytes: int, late_ms: int) -> dict[str, Any]:
        return {"code": detail or "service_unavailable"}
