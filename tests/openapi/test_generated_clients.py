"""Clients generated from the served documents compile and make every call.

One is Python's (openapi-python-client), one TypeScript's (openapi-typescript, which needs Node.js
and a package index for its own packages), one Java's (openapi-generator-cli, which needs a JDK and
takes long: `make schemathesis`).
"""

import compileall
import importlib.resources
import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.examples.programs import need
from tests.openapi.contrary import CONTRARY
from tests.support.http_world import HttpWorld
from tests.support.node_packages import LOCKED, link_packages

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"
TYPESCRIPT = CLIENTS / "typescript"
JAVA = CLIENTS / "java"
PACKAGE = "generated_hosting_client"
CONTROL_PACKAGE = "generated_control_client"
CALLS = (
    "organizations.create_user_api_key",
    "operations.get_operation",
    "projects.apply_project_domains",
    "projects.create_dev_access_ticket",
    "projects.get_dns_authorization",
    "projects.initialize_managed_source",
    "projects.list_deployments",
    "projects.read_database_compute",
    "projects.set_project_powered_by_flag",
)


def run(command: Sequence[str | Path], cwd: Path, **variables: str) -> str:
    """Run a command to its end and return its stdout; a failure shows all output."""
    process = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def assert_story(printed: str, log: str) -> None:
    """Expect what the programs that docs/languages.md links print, whatever their language."""
    *lines, refused = printed.splitlines()
    assert lines == ["time moved by 10000 ms", "fault-1 is armed", log]
    assert "'nothing'" in refused


def save_document(api: HttpWorld, folder: Path) -> Path:
    """Save the document of a world as served."""
    path = folder / "openapi.json"
    path.write_text(json.dumps(api.emulator.openapi()))
    return path


def save_control_document(api: HttpWorld, folder: Path) -> Path:
    """Save the document of the control API as served."""
    path = folder / "control.json"
    path.write_text(json.dumps(api.emulator.control.get("openapi.json")))
    return path


# --- Python ----------------------------------------------------------------------------------


class PythonClient:
    """A generated package, imported."""

    def __init__(self, api: HttpWorld) -> None:
        self.package = importlib.import_module(PACKAGE)
        self.models = importlib.import_module(f"{PACKAGE}.models")
        self.unset = importlib.import_module(f"{PACKAGE}.types").UNSET
        self.client = self.package.AuthenticatedClient(
            base_url=api.emulator.base_url,
            token=api.emulator.token(),
            raise_on_unexpected_status=True,
        )
        self._keys = 0

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{PACKAGE}.api.{name}")

    def call(self, name: str, *ids: str, **options: Any) -> Any:
        """Make a call and return the response as the client parsed it."""
        return self.module(name).sync(*ids, client=self.client, **options)

    def key(self) -> str:
        self._keys += 1
        return f"python-{self._keys}"

    def poll_to_end(self, operation: Any) -> Any:
        """Poll an operation to its end."""
        for _ in range(20):
            if operation.state.value in ("succeeded", "failed", "cancelled"):
                return operation
            operation = self.call("operations.get_operation", operation.id)
        raise AssertionError(f"the operation did not end: {operation}")


@pytest.fixture(scope="module")
def python_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that a client is generated into."""
    return tmp_path_factory.mktemp("python-client")


@pytest.fixture
def python(
    moving: HttpWorld, python_package: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PythonClient]:
    """Generate the client, once for all tests, and import it."""
    if not (python_package / PACKAGE).exists():
        generate_python(save_document(moving, python_package), python_package)
    monkeypatch.syspath_prepend(python_package)
    python_client = PythonClient(moving)
    with python_client.client:
        yield python_client


def generate_python(document: Path, folder: Path, package: str = PACKAGE) -> None:
    # The generator formats its output with ruff, which it looks for on the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    run(
        [*command, "--meta", "none", "--path", document, "--output-path", folder / package],
        cwd=folder,
        PATH=path,
    )


def test_the_generated_python_client_compiles(python: PythonClient, python_package: Path):
    assert compileall.compile_dir(python_package / PACKAGE, quiet=1, force=True)


def test_the_generated_python_client_has_readable_names(python: PythonClient, python_package: Path):
    folder = python_package / PACKAGE

    calls = {
        ".".join(path.relative_to(folder / "api").with_suffix("").parts)
        for path in (folder / "api").glob("*/*.py")
        if path.name != "__init__.py"
    }

    assert calls == set(CALLS)
    assert set(python.models.__all__) == {
        "CreateUserApiKeyRequest",
        "DatabaseCompute",
        "DatabasePlacement",
        "Deployment",
        "DeploymentPage",
        "DevAccessTicket",
        "DnsAuthorization",
        "DnsAuthorizationStatus",
        "DnsScope",
        "Environment",
        "InitializeManagedSourceRequest",
        "Operation",
        "OperationError",
        "OperationResult",
        "OperationState",
        "PoweredByFlag",
        "ProblemCode",
        "ProblemDetails",
        "Progress",
        "Reconciliation",
        "SetPoweredByFlagRequest",
        "UserApiKey",
        "UserApiKeyCreation",
    }


def test_the_generated_python_client_requires_only_required_parameters(python: PythonClient):
    def required(name: str) -> set[str]:
        parameters = inspect.signature(python.module(name).sync).parameters
        return {n for n, p in parameters.items() if p.default is inspect.Parameter.empty}

    assert required("projects.list_deployments") == {"project_id", "client"}
    assert required("projects.read_database_compute") == {"project_id", "client", "environment"}
    assert required("projects.apply_project_domains") == {
        "project_id",
        "client",
        "idempotency_key",
    }


def test_the_generated_python_client_makes_every_call(moving: HttpWorld, python: PythonClient):
    # given
    call = python.call
    models = python.models
    project = moving.emulator.project
    organization = moving.emulator.organization

    # when
    flag = call(
        "projects.set_project_powered_by_flag",
        project,
        body=models.SetPoweredByFlagRequest(enabled=False),
        idempotency_key=python.key(),
    )
    source = call(
        "projects.initialize_managed_source",
        project,
        body=models.InitializeManagedSourceRequest(expected_source_generation=1),
        idempotency_key=python.key(),
    )
    key = call(
        "organizations.create_user_api_key",
        organization,
        body=models.CreateUserApiKeyRequest(name="python"),
        idempotency_key=python.key(),
    )
    domains = call("projects.apply_project_domains", project, idempotency_key=python.key())
    dns = call("projects.get_dns_authorization", project)
    page = call("projects.list_deployments", project, limit=2)
    following = call("projects.list_deployments", project, limit=2, cursor=page.next_cursor)
    ticket = call("projects.create_dev_access_ticket", project)
    compute = call("projects.read_database_compute", project, environment=models.Environment.PROD)
    ended = [python.poll_to_end(source), python.poll_to_end(domains)]

    # then
    assert flag.enabled is False
    assert flag.enabled_at is None
    assert [operation.state for operation in ended] == [models.OperationState.SUCCEEDED] * 2
    assert ended[0].deployment_id == source.deployment_id
    assert ended[0].error is python.unset
    assert domains.blocking_operation_id == source.id
    assert ended[1].result.additional_properties
    assert key.replayed is False
    assert key.value.startswith("phk_")
    assert key.key.last_used_at is python.unset
    assert dns.status is models.DnsAuthorizationStatus.AUTHORIZED
    assert dns.scopes == [models.DnsScope.DNS_WRITE, models.DnsScope.ZONE_READ]
    assert len({deployment.id for deployment in (*page.items, *following.items)}) == 4
    assert ticket.redeem_url.startswith(f"{ticket.origin}/.service/dev-access/redeem?stage=dev")
    assert compute.database.state == "ready"
    moving.emulator.conduct.assert_clean()


def test_the_generated_python_client_reads_problems(moving: HttpWorld, python: PythonClient):
    problem = python.call("projects.get_dns_authorization", "0" * 26)

    assert isinstance(problem, python.models.ProblemDetails)
    assert problem.code is python.models.ProblemCode.RESOURCE_NOT_FOUND
    assert problem.retry_after_seconds is python.unset


def test_a_python_client_can_be_generated_under_contrary_assumptions(
    api: HttpWorld, tmp_path: Path
):
    api.emulator.set_assumptions(CONTRARY)

    generate_python(save_document(api, tmp_path), tmp_path)

    model_files = (tmp_path / PACKAGE / "models").glob("*.py")
    assert not [path.stem for path in model_files if "type" in path.stem]


def test_a_generated_python_control_client_uses_a_world_of_its_own(
    moving: HttpWorld, tmp_path: Path
):
    generate_python(save_control_document(moving, tmp_path), tmp_path, CONTROL_PACKAGE)
    url = moving.emulator.control.info().base_url

    program = CLIENTS / "python" / "world.py"
    variables = {"HOSTING_EMULATOR_URL": url, "PYTHONPATH": str(tmp_path)}
    printed = run([sys.executable, program], tmp_path, **variables)

    assert_story(printed, "503 PUT 503 PUT 202")


@pytest.mark.schemathesis
def test_the_generated_python_clients_pass_strict_mypy(api: HttpWorld, tmp_path: Path):
    generate_python(save_document(api, tmp_path), tmp_path)
    generate_python(save_control_document(api, tmp_path), tmp_path, CONTROL_PACKAGE)
    shutil.copy(CLIENTS / "python" / "world.py", tmp_path)
    # One file of each client is fixed code of the generator.
    exceptions = f"[mypy-{PACKAGE}.client,{CONTROL_PACKAGE}.client]\nignore_errors = true\n"
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\n{exceptions}")

    run([sys.executable, "-m", "mypy", "world.py", PACKAGE, CONTROL_PACKAGE], tmp_path)


# --- TypeScript ------------------------------------------------------------------------------

#: Spends less time on optimizing code that runs for a second.
HASTY_NODE = "--no-opt"


@pytest.fixture(scope="module")
def typescript_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder away from the repository where the generator and the compiler can run."""
    folder = tmp_path_factory.mktemp("typescript-client")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    for name in ("tsconfig.json", "redocly.yaml"):
        shutil.copy(TYPESCRIPT / name, folder)
    link_packages(folder)
    return folder


def compile_programs(folder: Path, api: HttpWorld) -> None:
    """Generate types of both documents, and compile the programs against them, once for all tests.

    The compiler checks programs and types in strict mode: the generated `.ts` is source code.
    """
    if (folder / "built").exists():
        return
    tools = folder / "node_modules" / ".bin"
    save_document(api, folder)
    save_control_document(api, folder)
    for program in ("calls.ts", "world.ts"):
        shutil.copy(TYPESCRIPT / program, folder)
    run(["node", HASTY_NODE, tools / "openapi-typescript", "--redocly", "redocly.yaml"], cwd=folder)
    run(["node", HASTY_NODE, tools / "tsc", "--noEmitOnError"], cwd=folder)


def test_the_generated_typescript_client_makes_every_call(
    moving: HttpWorld, typescript_folder: Path
):
    # given: types generated from the document, and a program that type-checks against them
    emulator = moving.emulator
    compile_programs(typescript_folder, moving)

    # when
    printed = run(
        ["node", "built/calls.js"],
        cwd=typescript_folder,
        BASE_URL=emulator.base_url,
        TOKEN=emulator.token(),
        PROJECT_ID=emulator.project,
        ORGANIZATION_ID=emulator.organization,
    )

    # then
    results = json.loads(printed)
    assert results["flag"] is False
    assert results["source"][0] == "succeeded"
    assert results["source"][1]
    assert results["key"][0] is False
    assert results["key"][2] == "typescript"
    assert results["domains"][0] == "succeeded"
    assert results["dns"] == ["authorized", "acme.example"]
    assert len(set(results["deployments"])) == 4
    assert results["ticket"][1].startswith(results["ticket"][0])
    assert results["compute"] == ["prod", 0.25]
    assert results["problem"] == [404, "resource_not_found", False]
    emulator.conduct.assert_clean()


def test_a_generated_typescript_control_client_uses_a_world_of_its_own(
    moving: HttpWorld, typescript_folder: Path
):
    """The program that docs/languages.md links."""
    url = moving.emulator.control.info().base_url
    compile_programs(typescript_folder, moving)

    printed = run(["node", "built/world.js"], cwd=typescript_folder, HOSTING_EMULATOR_URL=url)

    assert_story(printed, "503 [ 'PUT 503', 'PUT 202' ]")


def test_the_lock_file_of_the_node_packages_names_no_registry():
    # An installation uses the registry of the user's configuration.
    lock = json.loads((LOCKED / "package-lock.json").read_text())

    packages = {name: entry for name, entry in lock["packages"].items() if name}

    assert packages
    assert not [name for name, entry in packages.items() if "resolved" in entry]
    assert all("integrity" in entry for entry in packages.values())


# --- Java ------------------------------------------------------------------------------------

#: Spends less time on optimizing code that runs for a second.
HASTY = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
NO_CODE = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"


@pytest.fixture(scope="module")
def java_generator() -> Path:
    """Return the generator's jar, which also holds the packages that its code needs."""
    jar = Path(str(importlib.resources.files("openapi_generator_cli") / "openapi-generator.jar"))
    need("javac")
    return jar


def generate_java(jar: Path, document: Path, package: str) -> list[Path]:
    """Generate a client beside its document and return the files of its code."""
    folder = document.parent / package
    options = {
        "invokerPackage": package,
        "apiPackage": f"{package}.api",
        "modelPackage": f"{package}.model",
        "openApiNullable": "false",
        "documentationProvider": "none",
    }
    properties = ",".join(f"{name}={value}" for name, value in options.items())
    run(
        [
            "java",
            *HASTY,
            "-jar",
            jar,
            "generate",
            "--generator-name",
            "java",
            "--library",
            "native",
            "--input-spec",
            document,
            "--output",
            folder,
            "--global-property",
            f"apis,models,supportingFiles,{NO_CODE}",
            "--additional-properties",
            properties,
        ],
        cwd=document.parent,
    )
    return sorted((folder / "src" / "main").rglob("*.java"))


def compile_java(jar: Path, sources: Sequence[Path], classes: Path) -> None:
    """Compile with every warning as an error.

    One warning is excluded: the generated code was written for an older Jackson than the jar's.
    """
    hasty = [f"-J{option}" for option in HASTY]
    strict = ["-proc:none", "-Xlint:all,-deprecation", "-Werror"]
    absent = sorted((JAVA / "absent").glob("*.java"))
    run(
        ["javac", *hasty, *strict, "-cp", jar, "-d", classes, *absent, *sources], cwd=classes.parent
    )


@pytest.mark.schemathesis
def test_a_generated_java_control_client_uses_a_world_of_its_own(
    moving: HttpWorld, java_generator: Path, tmp_path: Path
):
    """The program that docs/languages.md links."""
    sources = generate_java(java_generator, save_control_document(moving, tmp_path), "control")
    compile_java(java_generator, [*sources, JAVA / "World.java"], tmp_path / "classes")
    url = moving.emulator.control.info().base_url

    classes = f"{tmp_path / 'classes'}{os.pathsep}{java_generator}"
    printed = run(["java", *HASTY, "-cp", classes, "World"], tmp_path, HOSTING_EMULATOR_URL=url)

    assert_story(printed, "503 PUT 503 PUT 202")


@pytest.mark.schemathesis
def test_the_generated_java_client_compiles(
    moving: HttpWorld, java_generator: Path, tmp_path: Path
):
    sources = generate_java(java_generator, save_document(moving, tmp_path), "hosting")

    compile_java(java_generator, sources, tmp_path / "classes")
