"""Two path templates overlap if some path matches both."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.path_templates import overlap


@pytest.mark.parametrize(
    ("template", "other", "expected"),
    [
        ("/v1/a", "/v1/a", True),
        ("/v1/a", "/v1/b", False),
        ("/v1/a", "/v1/a/b", False),
        ("/v1/{id}", "/v1/a", True),
        ("/v1/{id}/a", "/v1/{other}/a", True),
        ("/v1/{id}/a", "/v1/{other}/b", False),
        ("/v1/{id}:poll", "/v1/x:poll", True),
        ("/v1/{id}:poll", "/v1/:poll", False),
        ("/v1/{id}:poll", "/v1/x:stop", False),
        ("/v1/op-{id}", "/v1/op-1", True),
        ("/v1/op-{id}", "/v1/op-", False),
        ("/v1/op-{id}", "/v1/x-1", False),
        ("/v1/{id}:poll", "/v1/{other}:stop", False),
        ("/v1/{id}:poll", "/v1/{other}", True),
        ("/v1/a-{id}", "/v1/b-{other}", False),
        ("/v1/a{id}", "/v1/a-{other}", True),
    ],
)
def test_templates_overlap_in_either_order(template: str, other: str, expected: bool) -> None:
    assert overlap(template, other) is expected
    assert overlap(other, template) is expected
