"""Sends one of the contract's problems instead of the call's response."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.world.fault_records import Fault


class Abort(FaultKind, frozen=True):
    """Return a problem with any code. By default, the code determines the status.

    With this kind, set_project_powered_by_flag returns only the error statuses that the contract
    lists. A fault that matches only this call cannot set any other status.

    With code rate_limited, retry_after_seconds defaults to 1. With other codes, setting
    retry_after_seconds goes beyond the contract.
    """

    example: ClassVar = {"code": "service_unavailable"}
    replaces_response = True

    code: str
    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    detail: str | None = None
    retry_after_seconds: Annotated[int, Meta(ge=1, le=86_400)] | None = None

    def __post_init__(self) -> None:
        if self.code not in PROBLEMS:
            raise ValueError(
                f"there is no problem code {self.code!r}{nearest(self.code, PROBLEMS)}"
            )
        if self.status is not None:
            PROBLEMS[self.code].check_status(self.status)

    def problem(self, fault: Fault, now_ms: int) -> Refused:
        detail = self.detail
        if detail is None:
            detail = PROBLEMS[self.code].detail
        retry_after_seconds = self.retry_after_seconds
        if retry_after_seconds is None and self.code == "rate_limited":
            retry_after_seconds = 1
        return Refused(
            self.code, detail, status=self.status, retry_after_seconds=retry_after_seconds
        )
