"""Samples of what clients exercised of the contract."""

from __future__ import annotations

from hosting_emulator.messages import CallCoverage, ContractCoverage

NO_COVERAGE = ContractCoverage(calls={}, operation_ends={}, pages=0, following_pages=0)
SAMPLE_COVERAGE = ContractCoverage(
    calls={
        "list_deployments": CallCoverage(
            responses=3,
            statuses={"200": 3},
            codes={},
            roles={"reader": 2, "api_key": 1},
            replays=0,
        ),
        "create_user_api_key": CallCoverage(
            responses=3,
            statuses={"200": 1, "201": 1, "409": 1},
            codes={"idempotency_key_reused": 1},
            roles={},
            replays=1,
        ),
    },
    operation_ends={"succeeded": 2},
    pages=3,
    following_pages=2,
)
