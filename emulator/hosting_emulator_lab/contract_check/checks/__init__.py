"""The checks, in the order in which they are made.

Checks that only read, or whose requests must be refused, come first.

Each file contains the checks of one topic.
"""

from __future__ import annotations

from hosting_emulator_lab.contract_check.checks import (
    authentication,
    deployment_pages,
    dev_access_tickets,
    flag,
    fresh_observations,
    malformed_requests,
    polling_operations,
    reads,
    request_ids,
    roles,
    starting_operations,
    unknown_subjects,
    user_api_keys,
)

CHECKS = (
    reads.read_dns,
    reads.read_compute,
    unknown_subjects.request_unknown_subjects,
    request_ids.send_request_ids,
    deployment_pages.list_deployments,
    authentication.authenticate_in_other_ways,
    roles.call_as_reader,
    roles.call_as_maintainer,
    roles.read_with_each_role,
    roles.call_as_outsider,
    roles.call_without_organization,
    malformed_requests.send_invalid_idempotency_keys,
    malformed_requests.send_invalid_bodies,
    request_ids.send_request_ids_to_other_reads,
    flag.switch_flag,
    user_api_keys.create_user_api_key,
    user_api_keys.use_user_api_key,
    dev_access_tickets.issue_tickets,
    starting_operations.initialize_source,
    starting_operations.apply_domains,
    starting_operations.start_with_each_role,
    polling_operations.poll_operations,
    polling_operations.poll_as_others,
    polling_operations.poll_remaining_operations,
    dev_access_tickets.outwait_ticket,
    fresh_observations.read_fresh_observations,
)
