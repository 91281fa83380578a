"""Routes: the contract's paths and nothing beside them."""

import pytest

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import call_table
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.routes import MethodRefused, Routes

PATH = Assumptions().operation_path
TABLE = call_table(Assumptions())


@pytest.mark.parametrize("spec", TABLE, ids=lambda spec: spec.call_id)
def test_every_call_is_found_with_its_id(spec):
    path = spec.path.replace(f"{{{spec.subject}_id}}", "THE-ID")

    found, subject_id = Routes(PATH).find(spec.method, path)

    assert (found.call_id, subject_id) == (spec.call_id, "THE-ID")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1",
        "/v1/",
        "/v1/projects",
        "/v1/projects/X",
        "/v1/projects//edge-dns",
        "/v1/projects/X/edge-dns/",
        "/v1//projects/X/edge-dns",
        "/V1/projects/X/edge-dns",
        "/v2/projects/X/edge-dns",
        "/v1/projects/X/Y/edge-dns",
        "/v1/projects/X/source",
        "/v1/projects/X/source:Initialize",
        "/v1/operations/",
        "/v1/operations/X/Y",
        "/v1/organizations/X/edge-dns",
        "/v1/projects/X%2Fedge-dns",
        "/" * 5_000,
        "%",
    ],
)
def test_other_paths_are_not_found(path):
    with pytest.raises(Refused) as refused:
        Routes(PATH).find("GET", path)

    assert (refused.value.code, refused.value.status) == ("resource_not_found", 404)


def test_escapes_say_the_same():
    found, subject_id = Routes(PATH).find("POST", "/v1/projects/%41/source%3Ainitialize")

    assert (found.call_id, subject_id) == ("initialize_managed_source", "A")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "put", "X" * 500])
def test_a_wrong_method_is_told_the_right_one(method):
    with pytest.raises(MethodRefused, match="it takes PUT") as refused:
        Routes(PATH).find(method, "/v1/projects/X/domains")

    assert (refused.value.status, refused.value.allow) == (405, "PUT")
    assert len(refused.value.detail) < 200


@pytest.mark.parametrize("template", ["/v1/projects/{operation_id}", "/x/{operation_id}/y/z"])
def test_operations_are_polled_where_the_assumption_says(template):
    routes = Routes(template)

    found, subject_id = routes.find("GET", template.replace("{operation_id}", "OP"))

    assert (found.call_id, subject_id) == ("get_operation", "OP")
    assert routes.find("GET", "/v1/projects/P/edge-dns")[0].call_id == "get_dns_authorization"
