"""What a user installs: the four packages with their data, and a command that runs anywhere."""

import re
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from hosting_emulator import __version__
from tests.docs.markdown import links
from tests.packaging.conftest import REPOSITORY, Distributions, link, make_environment, pip, run

pytestmark = pytest.mark.packaging

PACKAGES = {
    "hosting_emulator": "emulator",
    "hosting_emulator_lab": "emulator",
    "hosting_emulator_scenarios": "scenarios",
    "pytest_hosting_emulator": "fixtures",
    "hosting_emulator_cli": "cli",
}
METADATA = f"hosting_emulator-{__version__}.dist-info"


@pytest.fixture
def wheel_files(distributions: Distributions) -> set[str]:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        return set(wheel.namelist())


def source_files() -> set[str]:
    """Return the files of the four packages, named as a wheel names them."""
    roots = [(REPOSITORY / root, package) for package, root in PACKAGES.items()]
    return {
        path.relative_to(root).as_posix()
        for root, package in roots
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_only_the_four_packages(wheel_files: set[str]):
    assert {name.partition("/")[0] for name in wheel_files} == {*PACKAGES, METADATA}


def test_the_wheel_holds_every_file_of_the_packages(wheel_files: set[str]):
    packaged = {name for name in wheel_files if not name.startswith(METADATA)}

    assert packaged - source_files() == {"hosting_emulator/build-id.txt"}
    assert source_files() <= packaged


def test_the_wheel_holds_style_sheets_and_type_markers(wheel_files: set[str]):
    typed = {f"{package}/py.typed" for package in PACKAGES}

    assert typed <= wheel_files
    assert any(name.endswith("/style.css") for name in wheel_files)


def test_the_wheel_holds_the_files_that_pages_load_with_their_licenses(wheel_files: set[str]):
    vendored = {name.partition("/dashboard/files/")[2] for name in wheel_files}

    assert {"docs.js", "sign-in.css", "swagger-ui/swagger-ui-bundle.js"} <= vendored
    assert {"swagger-ui/LICENSE", "swagger-ui/NOTICE"} <= vendored


def test_the_wheel_holds_no_tests(wheel_files: set[str]):
    assert not [name for name in wheel_files if "/tests/" in name or "/test_" in name]


def test_the_metadata_of_the_wheel_describes_the_project(distributions: Distributions):
    with zipfile.ZipFile(distributions.wheel) as wheel:
        metadata = Parser().parsestr(wheel.read(f"{METADATA}/METADATA").decode())
        entry_points = wheel.read(f"{METADATA}/entry_points.txt").decode()

    assert metadata["Name"] == "hosting-emulator"
    assert metadata["Version"] == __version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT AND Apache-2.0"
    bundled = {name for name in source_files() if "LICENSE" in name or name.endswith("/NOTICE")}
    named = {
        name.partition("/hosting_emulator/")[2] for name in metadata.get_all("License-File", [])
    }
    assert named == {"", *(name.partition("/")[2] for name in bundled)}
    assert set(metadata.get_all("Provides-Extra", [])) == {"dev", "docs", "pytest"}
    assert "hosting-emulator = hosting_emulator_cli.main:main" in entry_points
    assert "hosting_emulator = pytest_hosting_emulator.plugin" in entry_points


def test_the_description_for_a_package_index_has_only_absolute_links(distributions: Distributions):
    with zipfile.ZipFile(distributions.wheel) as wheel:
        page = str(Parser().parsestr(wheel.read(f"{METADATA}/METADATA").decode()).get_payload())

    assert page.startswith("# hosting-emulator\n")
    assert [link for link in links(page) if not link.startswith("https://")] == []
    assert "| `hosting-emulator conduct` | Conduct (docs/conduct.md) |" in page
    assert "pip install hosting-emulator && hosting-emulator start" in page
    assert "pip install 'hosting-emulator[pytest]'" in page


def test_the_sdist_holds_the_files_that_a_packager_needs(distributions: Distributions):
    with tarfile.open(distributions.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile"} <= names
    assert {
        "Dockerfile",
        "docs/testing.md",
        ".ci/side_by_side.py",
    } <= names  # `make test` uses them
    assert "tests/packaging/test_wheel.py" in names
    assert {
        ".ci/run",
        ".ci/locks/tests.txt",
        ".github/workflows/ci.yml",
        "docs/SECURITY.md",
    } <= names
    assert not [name for name in names if name.startswith((".venv", ".git/"))]


@pytest.fixture(scope="module")
def commands(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel, its dependencies and those of the plugin.

    And with what the settings of all tests name. That the command needs none of these, the image shows.
    """
    folder = tmp_path_factory.mktemp("installed")
    found = make_environment(folder / "environment")
    with zipfile.ZipFile(distributions.wheel) as wheel:
        metadata = Parser().parsestr(wheel.read(f"{METADATA}/METADATA").decode())
    asked = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    brought = [r for r in asked if r.marker is None or r.marker.evaluate({"extra": "pytest"})]
    link(found, "pytest-asyncio", "hypothesis", *(str(r).partition(";")[0] for r in brought))
    pip(found, "install", "--no-deps", distributions.wheel, cwd=folder)
    return found


def test_the_command_runs_in_a_clean_environment(commands: Path, tmp_path: Path):
    """Given only the wheel and what it asks for, the command answers from any folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    for command in (["hosting-emulator"], ["python", "-m", "hosting_emulator"]):
        answer = run([commands / command[0], *command[1:], "--version"], cwd=elsewhere)
        build = re.fullmatch(
            rf"hosting-emulator {__version__} \(build ([0-9a-f]{{12}})\)\n", answer
        )
        assert build, answer
    helped = run([commands / "hosting-emulator", "start", "--help"], cwd=tmp_path)
    assert "Run the emulator until Ctrl-C." in helped
    pip(commands, "check", cwd=elsewhere)


def test_the_plugin_loads_in_a_clean_environment(commands: Path, tmp_path: Path):
    """Given the wheel with its `pytest` extra, an empty project's pytest finds the plugin."""
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n")

    told = run([commands / "python", "-m", "pytest", "--trace-config", "test_nothing.py"], tmp_path)

    assert "pytest_hosting_emulator" in told
    assert "1 passed" in told


def test_tests_of_the_sdist_pass_with_the_dependencies_of_the_wheel(
    distributions: Distributions, commands: Path, tmp_path: Path
):
    """Given the unpacked sdist and its wheel beside pytest, some of its tests pass there."""
    with tarfile.open(distributions.sdist) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()

    told = run(
        [
            *(commands / "python", "-m", "pytest", "-q"),
            "tests/service/test_polling.py",
            "tests/service/test_tickets.py",
        ],
        folder,
    )

    assert " passed" in told
    assert "failed" not in told
