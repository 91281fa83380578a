"""States and transitions, in the contract's own words."""

from __future__ import annotations

SAID: dict[str, tuple[tuple[str, ...], ...]] = {
    "States: flag": (
        (
            "flag.on",
            "| enabled=false | PUT flag with enabled=true | caller is owner | enabled=true | "
            "enabled_at becomes the switch-on time |",
        ),
        (
            "flag.off",
            "| enabled=true | PUT flag with enabled=false | no Free workspace's domain depends on "
            "the flag | enabled=false | enabled_at becomes null |",
        ),
        (
            "flag.off-refused",
            "| enabled=true | PUT flag with enabled=false | a Free workspace's domain depends on "
            "the flag | unchanged | request refused |",
        ),
        (
            "flag.retry",
            "| any | retry with same Idempotency-Key and same body | | unchanged | first result "
            "returned, no second switch |",
        ),
    ),
    "States: operation": (
        ("states.operation", "States: queued, running, succeeded, failed, cancelled."),
        (
            "states.blocking",
            "A queued operation may name the active operation holding the project mutation claim in "
            "blocking_operation_id.",
        ),
    ),
    "States: DNS authorization": (
        ("states.dns", "States: not_authorized, pending, authorized, expired, revoked."),
    ),
    "States: dev access ticket": (
        ("states.ticket-once", "1. A ticket is single use and valid ten minutes."),
        (
            "states.ticket-revoked",
            "2. Issuing a new ticket revokes unused tickets previously issued to the same "
            "principal.",
        ),
    ),
}
