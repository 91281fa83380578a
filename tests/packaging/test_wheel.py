"""The distributions that a user installs: four packages with data, a command and a plugin."""

import re
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from build_hook import project_links
from packaging.requirements import Requirement

from hosting_emulator import __version__
from tests.docs.markdown import links
from tests.packaging.conftest import REPOSITORY, Distributions, link, make_environment, pip, run
from tests.support.manual_pages import page_names, served_files

pytestmark = pytest.mark.packaging

PACKAGES = {
    "hosting_emulator": "emulator",
    "hosting_emulator_lab": "emulator",
    "hosting_emulator_scenarios": "scenarios",
    "pytest_hosting_emulator": "fixtures",
    "hosting_emulator_cli": "cli",
}
#: The folder of the manual in a wheel.
MANUAL = "hosting_emulator/manual/"
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

    manual = {name for name in packaged if name.startswith(MANUAL)}
    assert packaged - source_files() - manual == {"hosting_emulator/build-id.txt"}
    assert source_files() <= packaged


def test_the_wheel_holds_the_pages_of_the_manual_that_a_checkout_shows(wheel_files: set[str]):
    """A running emulator of the wheel shows them too: see the test of an installed command."""
    shipped = {name.removeprefix(MANUAL) for name in wheel_files if name.startswith(MANUAL)}

    shown = [*served_files(), REPOSITORY / "docs" / "index.md"]
    assert shipped == {path.relative_to(REPOSITORY).as_posix() for path in shown}
    assert {"README.md", "docs/failures.md", "docs/reference/cli.md"} <= shipped
    assert not [name for name in shipped if "maintainers" in name]


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
    bundled_files = {
        name for name in source_files() if "LICENSE" in name or name.endswith("/NOTICE")
    }
    license_files = {
        name.partition("/hosting_emulator/")[2] for name in metadata.get_all("License-File", [])
    }
    assert license_files == {"", *(name.partition("/")[2] for name in bundled_files)}
    assert set(metadata.get_all("Provides-Extra", [])) == {"dev", "docs", "pytest"}
    assert "hosting-emulator = hosting_emulator_cli.main:main" in entry_points
    assert "hosting_emulator = pytest_hosting_emulator.plugin" in entry_points


def test_the_metadata_of_the_wheel_states_links_and_platforms(distributions: Distributions):
    with zipfile.ZipFile(distributions.wheel) as wheel:
        metadata = Parser().parsestr(wheel.read(f"{METADATA}/METADATA").decode())

    platforms = [text for text in metadata.get_all("Classifier", []) if "Operating" in text]
    assert platforms == ["Operating System :: MacOS", "Operating System :: POSIX :: Linux"]
    links = dict(text.split(", ") for text in metadata.get_all("Project-URL", []))
    assert links["Manual of a running emulator"].endswith(":4620/_emulator/docs")


def test_the_links_of_a_release_lead_to_files_of_its_repository():
    variables = {
        "GITHUB_SERVER_URL": "https://git.example",
        "GITHUB_REPOSITORY": "us/emulator",
        "GITHUB_REF_NAME": "v1.2.3",
    }

    links = project_links(variables)

    assert links["Homepage"] == "https://git.example/us/emulator"
    prefix = "https://git.example/us/emulator/blob/v1.2.3/"
    files = [link.removeprefix(prefix) for link in links.values() if link.startswith(prefix)]
    assert len(files) == 4
    assert [name for name in files if not (REPOSITORY / name).is_file()] == []
    assert all(len(name) <= 32 for name in links), "the index refuses longer labels"


def test_the_description_for_a_package_index_has_only_absolute_links(distributions: Distributions):
    with zipfile.ZipFile(distributions.wheel) as wheel:
        page = str(Parser().parsestr(wheel.read(f"{METADATA}/METADATA").decode()).get_payload())

    assert page.startswith("# hosting-emulator\n")
    assert [link for link in links(page) if not link.startswith("https://")] == []
    assert "(docs/" in page, "a link to a file becomes its path"
    assert "pip install 'hosting-emulator[pytest]'" in page
    assert not re.search(r"pip install (-e )?'?\.", page)


def test_the_sdist_holds_the_files_that_a_packager_needs(distributions: Distributions):
    with tarfile.open(distributions.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile"} <= names
    assert {
        "Dockerfile",
        "docs/index.md",
        ".ci/side_by_side.py",
    } <= names  # `make test` uses them
    assert "tests/packaging/test_wheel.py" in names
    assert {
        ".ci/run",
        ".ci/locks/tests.txt",
        ".github/workflows/ci.yml",
        "SECURITY.md",
    } <= names
    assert not [name for name in names if name.startswith((".venv", ".git/"))]


@pytest.fixture(scope="module")
def commands(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel, its dependencies and those of the plugin.

    It also has the packages that the pytest settings name; the image shows that the command needs none.
    """
    folder = tmp_path_factory.mktemp("installed")
    bin_folder = make_environment(folder / "environment")
    with zipfile.ZipFile(distributions.wheel) as wheel:
        metadata = Parser().parsestr(wheel.read(f"{METADATA}/METADATA").decode())
    requirements = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    needed = [
        requirement
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": "pytest"})
    ]
    link(
        bin_folder,
        "pytest-asyncio",
        "hypothesis",
        *(str(requirement).partition(";")[0] for requirement in needed),
    )
    pip(bin_folder, "install", "--no-deps", distributions.wheel, cwd=folder)
    return bin_folder


def test_the_command_runs_in_a_clean_environment(commands: Path, tmp_path: Path):
    """With only the wheel and its dependencies, the command runs in any folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    for command in (["hosting-emulator"], ["python", "-m", "hosting_emulator"]):
        output = run([commands / command[0], *command[1:], "--version"], cwd=elsewhere)
        build = re.fullmatch(
            rf"hosting-emulator {__version__} \(build ([0-9a-f]{{12}})\)\n", output
        )
        assert build, output
    help_text = run([commands / "hosting-emulator", "start", "--help"], cwd=tmp_path)
    assert "Run the emulator until Ctrl-C or `stop`." in help_text
    pip(commands, "check", cwd=elsewhere)


def test_the_installed_command_shows_the_pages_of_the_manual(commands: Path, tmp_path: Path):
    program = (
        "from hosting_emulator.dashboard.manual.files import pages\n"
        "from hosting_emulator.dashboard.manual.pages import manual_page\n"
        "for name in pages():\n"
        "    print(name, '<h1' in manual_page(name))\n"
    )

    output = run([commands / "python", "-c", program], cwd=tmp_path)

    assert output.splitlines() == [f"{name} True" for name in page_names()]


def test_the_plugin_loads_in_a_clean_environment(commands: Path, tmp_path: Path):
    """With the `pytest` extra of the wheel, pytest in an empty project finds the plugin."""
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n")

    output = run(
        [commands / "python", "-m", "pytest", "--trace-config", "test_nothing.py"], tmp_path
    )

    assert "pytest_hosting_emulator" in output
    assert "1 passed" in output


def test_tests_of_the_sdist_pass_with_the_dependencies_of_the_wheel(
    distributions: Distributions, commands: Path, tmp_path: Path
):
    """Some tests of the unpacked sdist pass with the installed wheel and pytest."""
    with tarfile.open(distributions.sdist) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()

    output = run(
        [
            commands / "python",
            "-m",
            "pytest",
            "-q",
            "tests/service/test_polling.py",
            "tests/service/test_tickets.py",
        ],
        folder,
    )

    assert " passed" in output
    assert "failed" not in output
