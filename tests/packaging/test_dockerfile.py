"""The Dockerfile, as far as it can be tested without a container engine.

Its text is linted and read. The steps of its first stages can run in order under a temporary root,
which `make image` does where it cannot build. A real build also shows the base, user and isolation.
"""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from urllib.request import urlopen

import pytest

from hosting_emulator import __version__
from tests.packaging.conftest import REPOSITORY, clean_variables, run
from tests.packaging.dockerfile import Step, read_stages, steps_of

pytestmark = pytest.mark.packaging

DOCKERFILE = REPOSITORY / "Dockerfile"
DEPENDENCIES, BUILD, RUNTIME = read_stages(DOCKERFILE)
STOP = signal.Signals[steps_of(RUNTIME, "STOPSIGNAL")[0].rest]
# Every folder of the image that a step of the first stages may name.
FOLDERS = ("/src", "/dist", "/ours", "/opt/hosting-emulator")


def test_the_dockerfile_passes_hadolint():
    hadolint = shutil.which("hadolint", path=Path(sys.executable).parent)
    if hadolint is None:
        pytest.skip("there is no hadolint wheel for this platform")

    process = subprocess.run(
        [hadolint, "--no-color", DOCKERFILE], capture_output=True, text=True, check=False
    )

    assert process.returncode == 0, process.stdout + process.stderr


def test_the_image_does_not_run_as_root():
    (user,) = steps_of(RUNTIME, "USER")
    (make_user,) = steps_of(RUNTIME, "RUN")

    uid, _, gid = user.rest.partition(":")
    assert uid == gid
    assert int(uid) >= 1000
    assert f"useradd --uid {uid} " in make_user.rest


def test_the_image_starts_the_emulator_on_its_volume_and_port():
    (entrypoint,) = steps_of(RUNTIME, "ENTRYPOINT")
    (command,) = steps_of(RUNTIME, "CMD")
    (volume,) = steps_of(RUNTIME, "VOLUME")
    (port,) = steps_of(RUNTIME, "EXPOSE")

    assert entrypoint.arguments() == ["hosting-emulator"]
    assert command.arguments() == ["start"]
    assert {"HOST": "0.0.0.0", "DATA_DIR": "/data"}.items() <= settings().items()
    assert volume.arguments() == ["/data"]
    assert port.rest == "4620"


def test_the_image_is_stopped_with_sigint():
    """The first process of a container ignores a SIGTERM that arrives while Python starts."""
    assert STOP is signal.SIGINT


def settings() -> dict[str, str]:
    """Return the settings of the emulator in the variables of the image."""
    (step,) = steps_of(RUNTIME, "ENV")
    return dict(re.findall(r"HOSTING_EMULATOR_(\w+)=(\S+)", step.rest))


def test_the_image_checks_its_health_with_the_wait_command():
    (check,) = steps_of(RUNTIME, "HEALTHCHECK")

    assert check.arguments() == ["hosting-emulator", "wait", "--timeout", "2s"]


def test_the_image_is_labeled_with_the_version():
    (label,) = steps_of(RUNTIME, "LABEL")

    assert f'org.opencontainers.image.version="{__version__}"' in label.rest


def test_the_build_context_holds_exactly_what_the_dockerfile_copies():
    """.dockerignore lets in exactly the sources of the COPY steps."""
    lines = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {
        source for step in steps_of([*DEPENDENCIES, *BUILD], "COPY") for source in step.paths()[0]
    }

    assert "*" in lines
    assert let_in == copied


def test_the_build_stage_copies_the_build_hook():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    hook = project["tool"]["hatch"]["build"]["hooks"]["custom"]["path"]

    copied = [source for step in steps_of(BUILD, "COPY") for source in step.rest.split()[:-1]]

    assert hook in copied


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root folder in which the steps of the first stages ran in order."""
    root = tmp_path_factory.mktemp("image")
    base = base_image(root / "base")
    variables = {"PATH": f"{base}:/usr/bin:/bin"}
    cwd = root
    for step in [*DEPENDENCIES, *BUILD]:
        if step.word == "ENV":
            variables |= dict(pair.split("=", 1) for pair in step.rest.split())
        elif step.word == "WORKDIR":
            cwd = Path(moved(step.rest, root))
            cwd.mkdir(parents=True, exist_ok=True)
        elif step.word == "COPY":
            copy(step, cwd, root)
        elif step.word == "RUN":
            run(["/bin/sh", "-ec", moved(step.rest, root)], cwd, **variables)
    for step in steps_of(RUNTIME, "COPY"):
        (source,), target = step.paths()
        if source != target:
            shutil.copytree(moved(source, root), moved(target, root), dirs_exist_ok=True)
    return root


def base_image(folder: Path) -> Path:
    """Return a folder with `python` and `pip` in place of those of the base image."""
    folder.mkdir()
    for name, words in {"python": "", "pip": "-m pip "}.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words}"$@"\n')
        path.chmod(0o755)
    return folder


def moved(text: str, root: Path) -> str:
    """Move the folders of the image below `root`; refuse any other absolute path."""
    for path in re.findall(r"(?<![\w.$*}])/[\w./-]+", text):
        assert path.startswith(FOLDERS), f"{path}: where should this path go?"
    return re.sub(r"(?<![\w.$*}])(?=/[\w])", str(root), text)


def copy(step: Step, cwd: Path, root: Path) -> None:
    sources, target = step.paths()
    destination = cwd / moved(target, root)
    destination.parent.mkdir(parents=True, exist_ok=True)
    for source in sources:
        path = REPOSITORY / source
        if path.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.py[cod]")
            shutil.copytree(path, destination, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(path, destination)


def test_the_last_stage_copies_the_environment_to_the_same_path_and_our_code_over_it():
    """Scripts of a virtual environment contain the path of their interpreter, so it cannot be moved."""
    environment, ours = steps_of(RUNTIME, "COPY")
    (path,) = (step.rest for step in steps_of(RUNTIME, "ENV"))

    origin, source, target = environment.rest.split()
    assert origin == "--from=dependencies"
    assert source == target
    assert ours.rest.split() == ["--from=build", "/ours", target]
    assert f"PATH={source}/bin:$PATH" in path
    assert (
        steps_of(DEPENDENCIES, "FROM")[0].rest
        == f"{steps_of(RUNTIME, 'FROM')[0].rest} AS dependencies"
    )
    assert steps_of(BUILD, "FROM")[0].rest == "dependencies AS build"


def test_the_layer_of_dependencies_does_not_depend_on_our_code():
    """The layer copies only the lock file; our code is a later layer."""
    copied = [step.paths()[0] for step in steps_of(DEPENDENCIES, "COPY")]
    words = [step.word for step in RUNTIME]

    assert copied == [[".ci/locks/image.txt"]]
    assert words.index("RUN") < words.index("COPY"), "else the user is made anew as well"
    assert "--require-hashes" in steps_of(DEPENDENCIES, "RUN")[0].rest
    assert "--no-deps" in steps_of(BUILD, "RUN")[0].rest


@pytest.mark.torture
def test_the_command_of_the_image_prints_its_version(image: Path, tmp_path: Path):
    command = image / "opt/hosting-emulator/bin/hosting-emulator"

    version = run([command, "--version"], tmp_path)
    assert re.fullmatch(rf"hosting-emulator {__version__} \(build [0-9a-f]{{12}}\)\n", version)


@pytest.mark.torture
def test_the_image_holds_no_installer_and_no_tests(image: Path):
    environment = image / "opt/hosting-emulator"

    assert not (environment / "bin" / "pip").exists()
    assert not list(environment.glob("lib/*/site-packages/tests"))


@pytest.mark.torture
def test_the_entrypoint_serves_until_the_stop_signal(image: Path, tmp_path: Path):
    """The entrypoint serves on loopback and a free port, then stops on the signal.

    The health check finds it with the variables of the image alone.
    """
    commands = image / "opt/hosting-emulator/bin"
    words = steps_of(RUNTIME, "ENTRYPOINT")[0].arguments() + steps_of(RUNTIME, "CMD")[0].arguments()
    settings_by_name = {
        "HOST": "127.0.0.1",
        "DATA_DIR": "data",
        "READY_FILE": "ready.json",
        "PORT": "1",
    }
    assert settings().keys() <= settings_by_name.keys()
    # Nothing listens on PORT: the health check must not use it.
    variables = clean_variables(
        **{f"HOSTING_EMULATOR_{name}": settings_by_name[name] for name in settings_by_name}
    )

    with subprocess.Popen(
        [commands / words[0], *words[1:], "--port", "0", "--json"],
        cwd=tmp_path,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            ready = json.loads(read_object(process.stdout))
            with urlopen(f"{ready['control_url']}/health", timeout=10) as response:
                health = json.load(response)
            check = steps_of(RUNTIME, "HEALTHCHECK")[0].arguments()
            subprocess.run(
                [commands / check[0], *check[1:]], cwd=tmp_path, env=variables, check=True
            )
        finally:
            process.send_signal(STOP)
            status = process.wait(timeout=10)

    assert health == {"status": "ok", "version": __version__}
    assert status == 0
    ended = subprocess.run(
        [commands / check[0], *check[1:]], cwd=tmp_path, env=variables, capture_output=True
    )
    assert ended.returncode == 1


def read_object(lines: Iterable[str]) -> str:
    """Return the lines of one indented JSON object, and leave what follows unread."""
    object_lines: list[str] = []
    for line in lines:
        object_lines.append(line)
        if line.rstrip() == "}":
            break
    return "".join(object_lines)
