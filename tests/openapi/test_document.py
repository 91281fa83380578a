"""The served OpenAPI document is valid and complete, marks what is assumed, and fits its examples.

The possible responses of each call are listed here a second time, to notice mistakes in the tables.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from click.testing import CliRunner
from openapi_schema_validator import OAS31Validator, oas31_format_checker
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CallSpec
from hosting_emulator.contract.openapi import openapi_document
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.sample_responses import sample_problem, sample_success
from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from tests.openapi.contrary import CONTRARY
from tests.support.http_world import HttpWorld
from tests.support.openapi_documents import document_of_new_world
from tests.support.sampling import rotating

DOCUMENT = openapi_document(Assumptions())

PROJECT = "/v1/projects/{project_id}"
#: For each call: method, path, success statuses, and its problems beyond those of every call.
CALLS: dict[str, tuple[str, str, set[str], set[str]]] = {
    "setProjectPoweredByFlag": (
        "put",
        f"{PROJECT}/powered-by-flag",
        {"200"},
        {"idempotency_key_reused", "powered_by_flag_required"},
    ),
    "initializeManagedSource": (
        "post",
        f"{PROJECT}/source:initialize",
        {"202"},
        {"idempotency_key_reused", "etag_mismatch", "insufficient_organization_credits"},
    ),
    "createUserApiKey": (
        "post",
        "/v1/organizations/{organization_id}/user-api-keys",
        {"200", "201"},
        {
            "idempotency_key_reused",
            "interactive_login_required",
            "api_key_permissions_unavailable",
            "api_key_creation_uncertain",
        },
    ),
    "applyProjectDomains": (
        "put",
        f"{PROJECT}/domains",
        {"202"},
        {"idempotency_key_reused", "insufficient_organization_credits", "paid_plan_required"},
    ),
    "getDnsAuthorization": ("get", f"{PROJECT}/edge-dns", {"200"}, set()),
    "listDeployments": ("get", f"{PROJECT}/deployments", {"200"}, set()),
    "createDevAccessTicket": ("post", f"{PROJECT}/dev-access-tickets", {"201"}, set()),
    "readDatabaseCompute": (
        "get",
        f"{PROJECT}/database/compute",
        {"200"},
        {"compute_performance_unavailable"},
    ),
    "getOperation": ("get", "/v1/operations/{operation_id}", {"200"}, set()),
}
EVERY_CALL = {
    "400": {"invalid_request"},
    "401": {"unauthenticated"},
    "403": {"forbidden", "organization_required"},
    "404": {"resource_not_found"},
    "405": {"wrong_method"},
    "413": {"payload_too_large"},
    "429": {"rate_limited"},
    "503": {"service_unavailable"},
}
SOME_CALLS = {
    "insufficient_organization_credits": "402",
    "paid_plan_required": "402",
    "idempotency_key_reused": "409",
    "powered_by_flag_required": "409",
    "etag_mismatch": "409",
    "interactive_login_required": "403",
    "api_key_permissions_unavailable": "503",
    "api_key_creation_uncertain": "503",
    "compute_performance_unavailable": "503",
}


def alternatives() -> Iterator[tuple[str, Any]]:
    """Yield every alternative of every assumption (for open ones, one value that is not the default)."""
    for row in describe(Assumptions()):
        if isinstance(row["alternatives"], list):
            yield from ((row["name"], value) for value in row["alternatives"])
        elif row["name"] in CONTRARY:
            yield row["name"], CONTRARY[row["name"]]


ALTERNATIVES = list(alternatives())


@cache
def validate(document: str) -> None:
    """Validate a document, given as JSON to cache it: many alternatives do not change the document."""
    OpenAPIV31SpecValidator(json.loads(document)).validate()


def assuming(**values: Any) -> dict[str, Any]:
    return openapi_document(Assumptions().changed(values))


def operation(name: str, document: dict[str, Any] = DOCUMENT) -> dict[str, Any]:
    matches = [
        operation
        for item in document["paths"].values()
        for operation in item.values()
        if operation["operationId"] == name
    ]
    assert len(matches) == 1
    return dict(matches[0])


def parts(node: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object in the document, with the path that leads to it."""
    if isinstance(node, dict):
        yield path, node
        for name, value in node.items():
            yield from parts(value, f"{path}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from parts(value, f"{path}/{number}")


def schemas(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each schema: of resources, of their properties, of parameters and of headers."""
    for path, part in parts(document):
        if "/example" not in path and ({"type", "$ref", "anyOf"} & part.keys()):
            yield path, part


def complaints(document: dict[str, Any], path: str, value: Any) -> list[str]:
    """Return the errors of a value under the schema at a path of the document."""
    resource = DRAFT202012.create_resource(document)
    registry: Registry[Any] = Registry().with_resource("urn:document", resource)
    schema = {"$ref": f"urn:document{path}"}
    validator = OAS31Validator(schema, registry=registry, format_checker=oas31_format_checker)
    return [f"{path}: {error.message}" for error in validator.iter_errors(value)]


def marks(document: dict[str, Any]) -> set[str]:
    return {part["x-assumption"] for _, part in parts(document) if "x-assumption" in part}


def test_the_public_document_is_valid():
    validate(json.dumps(DOCUMENT))


@pytest.mark.parametrize(("name", "value"), rotating(ALTERNATIVES, 25))
def test_the_public_document_is_valid_under_every_alternative(name: str, value: Any):
    validate(json.dumps(assuming(**{name: value})))


def test_the_public_document_is_valid_under_all_alternatives_together():
    validate(json.dumps(assuming(**CONTRARY)))


@pytest.mark.parametrize(("name", "value"), ALTERNATIVES)
def test_the_public_document_marks_what_an_alternative_changes(name: str, value: Any):
    document = assuming(**{name: value})

    assert document == DOCUMENT or name in marks(DOCUMENT) | marks(document)


def test_the_marks_of_the_public_document_are_names_of_assumptions():
    assert marks(DOCUMENT) | marks(assuming(**CONTRARY)) <= {
        row["name"] for row in describe(Assumptions())
    }


def test_the_public_document_does_not_mark_what_the_contract_states():
    # given: the statuses that the contract lists for the flag, and the two it fixes for all calls
    flag = operation("setProjectPoweredByFlag")["responses"]
    domains = operation("applyProjectDomains")["responses"]

    assert flag.keys() == {"200", "400", "401", "403", "404", "409", "503"}
    assumed = {s: part["x-assumption"] for s, part in flag.items() if "x-assumption" in part}
    assert assumed == {"400": "listed_statuses"}  # with other statuses for other calls
    more = operation("setProjectPoweredByFlag", assuming(listed_statuses="open"))["responses"]
    assert {s for s in more if more[s].get("x-assumption") == "listed_statuses"} == {
        "405",
        "413",
        "429",
    }
    assert "x-assumption" not in domains["404"]
    assert "x-assumption" not in domains["409"]
    assert domains["202"]["x-assumption"] == "accepted_status"


@pytest.mark.parametrize("document", [DOCUMENT, assuming(**CONTRARY)], ids=["default", "contrary"])
def test_the_public_document_has_no_default_of_null(document: dict[str, Any]):
    # Generators make an optional field with this default a required one.
    assert not [path for path, part in parts(document) if "default" in part]


def test_the_public_document_names_the_eight_calls_and_the_poll():
    named_calls = {
        operation["operationId"]: (method, path)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
    }

    assert named_calls == {name: call[:2] for name, call in CALLS.items()}, (
        "write the new call down in CALLS above, independently of the product's table"
    )


@pytest.mark.parametrize("name", CALLS)
def test_the_public_document_names_every_status_and_problem_of_a_call(name: str):
    _, _, successes, own = CALLS[name]
    expected = {status: set(codes) for status, codes in EVERY_CALL.items()}
    if name == "setProjectPoweredByFlag":
        for status in ("405", "413", "429"):
            del expected[status]
        expected["400"] |= {"payload_too_large_400", "rate_limited_400"}
    for code in own:
        expected.setdefault(SOME_CALLS[code], set()).add(code)

    responses = operation(name)["responses"]

    assert responses.keys() == successes | expected.keys()
    for status, codes in expected.items():
        content = responses[status]["content"]
        assert content.keys() == {"application/problem+json"}
        assert content["application/problem+json"]["examples"].keys() == codes
    for status in successes:
        assert responses[status]["content"].keys() == {"application/json"}


@pytest.mark.parametrize("name", CALLS)
def test_the_public_document_names_the_headers_of_every_problem(name: str):
    for status, response in operation(name)["responses"].items():
        more = {"401": "WWW-Authenticate", "405": "Allow", "429": "Retry-After"}
        if name == "setProjectPoweredByFlag":
            more["400"] = "Retry-After"
        expected = {"X-Request-Id", more.get(status, "X-Request-Id")} if status >= "400" else set()
        assert response.get("headers", {}).keys() == expected


@pytest.mark.parametrize("name", CALLS)
def test_the_public_document_requires_an_idempotency_key_for_the_first_four_calls(name: str):
    headers = {
        parameter["name"]: parameter["required"]
        for parameter in operation(name)["parameters"]
        if parameter["in"] == "header"
    }

    keyed = list(CALLS).index(name) < 4
    assert headers == {"X-Request-Id": False} | ({"Idempotency-Key": True} if keyed else {})


def test_the_public_document_lists_all_problem_codes():
    assert DOCUMENT["components"]["schemas"]["ProblemCode"]["enum"] == list(PROBLEMS)
    assert len(PROBLEMS) == 57


def test_links_of_the_public_document_name_existing_operations_and_parameters():
    for document in (DOCUMENT, assuming(**CONTRARY)):
        links = [
            part for path, part in parts(document) if path.rpartition("/")[0].endswith("links")
        ]
        assert len(links) == 8
        for link in links:
            target = operation(link["operationId"], document)
            assert link["parameters"].keys() <= {p["name"] for p in target["parameters"]}


def test_the_public_document_closes_the_objects_that_the_contract_closes():
    schemas = DOCUMENT["components"]["schemas"]

    closed = {name for name in schemas if schemas[name].get("additionalProperties") is False}

    assert closed == {"PoweredByFlag", "SetPoweredByFlagRequest"}


def test_the_public_document_allows_null_where_the_contract_does():
    def nullable(document: dict[str, Any]) -> set[str]:
        schemas = document["components"]["schemas"].values()
        fields = [field for schema in schemas for field in schema.get("properties", {}).items()]
        return {name for name, schema in fields if {"type": "null"} in schema.get("anyOf", [])}

    nullable_fields = {"enabled_at", "value", "zone", "expires_at", "database"}

    assert nullable(DOCUMENT) == nullable_fields
    assert nullable(assuming(last_page_cursor="null")) == nullable_fields | {"next_cursor"}


def test_assumptions_do_not_change_the_schema_of_problems():
    details = DOCUMENT["components"]["schemas"]["ProblemDetails"]

    assert assuming(**CONTRARY)["components"]["schemas"]["ProblemDetails"] == details
    assert set(details["required"]) == {
        "type",
        "title",
        "status",
        "code",
        "request_id",
        "retryable",
        "suggested_action",
    }


@pytest.mark.parametrize("document", [DOCUMENT, assuming(**CONTRARY)], ids=["default", "contrary"])
def test_every_example_of_the_public_document_fits_its_schema(document: dict[str, Any]):
    errors = []
    example_count = 0
    for path, schema in schemas(document):
        for example in schema.get("examples", ()):
            example_count += 1
            errors += complaints(document, path, example)
    for example in document["components"]["examples"].values():
        example_count += 1
        errors += complaints(document, "#/components/schemas/ProblemDetails", example["value"])

    assert not errors, "\n".join(errors)
    assert example_count > 60


def test_each_description_in_the_public_document_is_a_sentence():
    """The description of a response is a title, and that of a server is a name."""
    texts = {
        part["description"]
        for path, part in parts(DOCUMENT)
        if isinstance(part.get("description"), str)
        and not re.search(r"/(responses/[^/]+|servers/\d+)$", path)
    }

    assert len(texts) > 30
    assert [text for text in texts if not re.fullmatch(r"(?s)[A-Z0-9`].*[.]\n?", text)] == []


@pytest.mark.parametrize("document", [DOCUMENT, assuming(**CONTRARY)], ids=["default", "contrary"])
def test_every_problem_example_is_listed_under_its_status(document: dict[str, Any]):
    for item in document["paths"].values():
        for call in item.values():
            for status, response in call["responses"].items():
                content = response["content"].get("application/problem+json", {"examples": {}})
                for name in content["examples"]:
                    example = document["components"]["examples"][name]
                    assert str(example["value"]["status"]) == status


def test_the_command_prints_the_served_document(api: HttpWorld):
    served = api.emulator.control.get("/contract/openapi.json")

    printed = json.loads(command("contract", "openapi"))
    requested = json.loads(
        command("contract", "openapi", "--url", api.emulator.control.control_url)
    )

    assert requested == served
    # Without a running emulator only the address, and what points at it, can differ.
    address = served["servers"][0]["url"]
    usual = json.dumps(printed).replace("http://127.0.0.1:4620", address)
    assert json.loads(usual) == served


def test_each_world_serves_its_own_document(api: HttpWorld):
    api.emulator.set_assumptions(CONTRARY)

    document = api.emulator.openapi()

    assert document == document_of_new_world(CONTRARY, api.emulator.base_url)


def test_the_examples_of_a_document_exist_in_its_world(api: HttpWorld):
    document = api.emulator.openapi()

    for call in ("applyProjectDomains", "createUserApiKey", "getOperation"):
        path, *_ = operation(call, document)["parameters"]
        names = (
            api.emulator.projects if path["name"] == "project_id" else api.emulator.organizations
        )
        for alias, example in path["examples"].items():
            assert names.get(alias, example["value"]) == example["value"]
        if path["name"] == "operation_id":
            assert [api.poll(example["value"]).status for example in path["examples"].values()] == [
                200
            ] * 3
    body = operation("initializeManagedSource", document)["requestBody"]["content"]
    assert body["application/json"]["example"] == {"expected_source_generation": 1}
    assert api.initialize(1).status == 202


def test_a_world_without_organizations_has_a_valid_document(api: HttpWorld):
    empty: dict[str, Any] = {"organizations": [], "users": [], "projects": []}

    with HostingEmulator.fresh(api.emulator.control, scenario={"world": empty}) as world:
        OpenAPIV31SpecValidator(world.openapi()).validate()


@pytest.mark.parametrize(
    ("value", "minimum", "description"),
    [
        ("checked", 0, "The project's current source generation, which"),
        ("any_integer", None, "The project's current source generation, which"),
        ("ignored", 0, "The value is ignored."),
    ],
)
def test_the_schema_of_the_source_generation_follows_the_assumption(
    value: str, minimum: int | None, description: str
):
    schemas = assuming(source_generation=value)["components"]["schemas"]

    schema = schemas["InitializeManagedSourceRequest"]["properties"]["expected_source_generation"]

    assert schema.get("minimum") == minimum
    assert schema["description"].startswith(description)


@pytest.mark.parametrize("spec", ALL_CALLS.values(), ids=lambda spec: spec.call_id)
def test_the_sample_responses_of_a_call_fit_the_document_and_have_every_field(spec: CallSpec):
    for variant in (0, 1):
        success = sample_success(spec, Assumptions(), variant)
        document = json.loads(success.body)
        assert complaints(DOCUMENT, f"#/components/schemas/{spec.response}", document) == []
        assert (
            document.keys() == DOCUMENT["components"]["schemas"][spec.response]["properties"].keys()
        )
        for code in ("forbidden", "rate_limited"):
            problem = sample_problem(spec, code, Assumptions(), variant)
            document = json.loads(problem.body)
            assert complaints(DOCUMENT, "#/components/schemas/ProblemDetails", document) == []
            assert document["status"] == problem.status
            assert document["suggested_action"] == PROBLEMS[code].suggested_action
            assert document["request_id"] == problem.header("X-Request-Id")
            wait = "1" if code == "rate_limited" else None
            assert (problem.header("Retry-After"), str(document.get("retry_after_seconds"))) == (
                wait,
                str(wait),
            )


def test_the_public_document_does_not_require_an_ignored_source_generation():
    def required(document: dict[str, Any]) -> list[str]:
        return list(document["components"]["schemas"]["InitializeManagedSourceRequest"]["required"])

    assert required(DOCUMENT) == ["expected_source_generation"]
    assert required(assuming(source_generation="ignored")) == []


def test_the_public_document_bounds_a_cursor_as_the_call_does():
    cursor = next(p for p in operation("listDeployments")["parameters"] if p["name"] == "cursor")

    assert cursor["schema"]["minLength"] == 1
    assert cursor["schema"]["maxLength"] == 512


def test_the_public_document_marks_the_objects_whose_required_members_are_assumed():
    schemas = DOCUMENT["components"]["schemas"]

    chosen = {name for name in schemas if schemas[name].get("x-assumption") == "optional_fields"}

    assert chosen == {
        "Operation",
        "Progress",
        "Reconciliation",
        "Deployment",
        "UserApiKey",
        "DevAccessTicket",
        "DatabaseCompute",
        "DatabasePlacement",
        "OperationError",
        "DeploymentPage",
        "UserApiKeyCreation",
        "DnsAuthorization",
    }, (
        "write the new resource down here, unless the contract states which of its members are required"
    )


def test_the_public_document_marks_assumed_bounds():
    schemas = DOCUMENT["components"]["schemas"]
    cursor = next(p for p in operation("listDeployments")["parameters"] if p["name"] == "cursor")
    progress = schemas["Progress"]["properties"]["next_poll_after_seconds"]
    timeout = schemas["DatabasePlacement"]["properties"]["suspend_timeout_seconds"]

    assert cursor["schema"]["x-assumption"] == "cursor_life"
    assert (progress["minimum"], progress["x-assumption"]) == (0, "next_poll")
    assert (timeout["minimum"], timeout["x-assumption"]) == (-1, "suspend_timeout")


def test_the_public_document_marks_assumed_success_statuses():
    marked = {}
    for path in DOCUMENT["paths"].values():
        for call in path.values():
            status, success = next(iter(call["responses"].items()))
            marked[call["operationId"]] = (status, success.get("x-assumption"))

    assert marked == {
        "setProjectPoweredByFlag": ("200", None),
        "initializeManagedSource": ("202", "accepted_status"),
        "createUserApiKey": ("201", "key_created_status"),
        "applyProjectDomains": ("202", "accepted_status"),
        "getDnsAuthorization": ("200", "read_status"),
        "listDeployments": ("200", "read_status"),
        "createDevAccessTicket": ("201", "ticket_created_status"),
        "readDatabaseCompute": ("200", "read_status"),
        "getOperation": ("200", "read_status"),
    }, "write down the status of the new call, and the assumption that decides it"


def test_the_public_document_marks_a_response_with_an_assumed_problem_status():
    """The contract gives 409 to a reused key, but not to call 2's etag_mismatch."""
    source = operation("initializeManagedSource")["responses"]

    assert source["409"]["x-assumption"] == "problem_statuses"
    assert "x-assumption" not in source["404"]
    assert "x-assumption" not in operation("applyProjectDomains")["responses"]["409"]


def command(*arguments: str) -> str:
    """Run our command in this process and return what it printed."""
    result = CliRunner().invoke(cli, arguments, prog_name="hosting-emulator")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_public_document_marks_the_required_name_of_a_new_key_as_assumed() -> None:
    """ "{ name: string, length 1 to 64 }" [call 1's body alone has the word "required"]."""
    schemas = DOCUMENT["components"]["schemas"]

    assert schemas["CreateUserApiKeyRequest"]["required"] == ["name"]
    name = schemas["CreateUserApiKeyRequest"]["properties"]["name"]
    assert name["x-assumption"] == "required_body"
    assert "x-assumption" not in schemas["SetPoweredByFlagRequest"]["properties"]["enabled"]
