"""The Dockerfile, as far as it can be proven without an engine.

Its text is linted and read; the steps of its build stage are then run in order, each path moved
under a temporary root. What only an engine can show is left out: the base image, the user made in
the second stage, and the isolation itself.
"""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.request import urlopen

import pytest

from hosting_emulator import __version__
from tests.packaging.conftest import REPOSITORY, clean_variables, run
from tests.packaging.dockerfile import named, read_stages

pytestmark = pytest.mark.packaging

DOCKERFILE = REPOSITORY / "Dockerfile"
BUILD, RUNTIME = read_stages(DOCKERFILE)
# Every folder of the image that a step of the build stage may name.
FOLDERS = ("/src", "/dist", "/opt/hosting-emulator")


def test_hadolint_is_content():
    hadolint = shutil.which("hadolint", path=Path(sys.executable).parent)
    if hadolint is None:
        pytest.skip("there is no hadolint wheel for this platform")

    done = subprocess.run(
        [hadolint, "--no-color", DOCKERFILE], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_image_does_not_run_as_root():
    (user,) = named(RUNTIME, "USER")
    (make_user,) = named(RUNTIME, "RUN")

    uid, _, gid = user.rest.partition(":")
    assert uid == gid
    assert int(uid) >= 1000
    assert f"useradd --uid {uid} " in make_user.rest


def test_image_starts_the_emulator_on_its_volume_and_port():
    (entrypoint,) = named(RUNTIME, "ENTRYPOINT")
    (command,) = named(RUNTIME, "CMD")
    (volume,) = named(RUNTIME, "VOLUME")
    (port,) = named(RUNTIME, "EXPOSE")

    assert entrypoint.arguments() == ["hosting-emulator"]
    assert command.arguments() == ["start", "--host", "0.0.0.0", "--data-dir", "/data"]
    assert volume.arguments() == ["/data"]
    assert port.rest == "4620"


def test_image_is_healthy_when_the_command_says_so():
    (check,) = named(RUNTIME, "HEALTHCHECK")

    assert check.arguments() == ["hosting-emulator", "wait", "--timeout", "2s"]


def test_image_is_labelled_with_the_version():
    (label,) = named(RUNTIME, "LABEL")

    assert f'org.opencontainers.image.version="{__version__}"' in label.rest


def test_context_holds_what_the_build_copies():
    """.dockerignore lets in exactly the sources of the COPY steps."""
    lines = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {
        Path(source).name for step in named(BUILD, "COPY") for source in step.rest.split()[:-1]
    }

    assert "*" in lines
    assert let_in == copied


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root in which the build stage's steps were carried out in order."""
    root = tmp_path_factory.mktemp("image")
    base = base_image(root / "base")
    variables = {"PATH": f"{base}:/usr/bin:/bin"}
    cwd = root
    for step in BUILD:
        if step.word == "ENV":
            variables |= dict(pair.split("=", 1) for pair in step.rest.split())
        elif step.word == "WORKDIR":
            cwd = Path(moved(step.rest, root))
            cwd.mkdir(parents=True)
        elif step.word == "COPY":
            copy(step.rest.split(), cwd)
        elif step.word == "RUN":
            run(["/bin/sh", "-ec", moved(step.rest, root)], cwd, **variables)
    return root


def base_image(folder: Path) -> Path:
    """Return a folder with `python` and `pip`, which stand for those of the base image."""
    folder.mkdir()
    for name, words in {"python": "", "pip": "-m pip "}.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words}"$@"\n')
        path.chmod(0o755)
    return folder


def moved(text: str, root: Path) -> str:
    """Put the image's folders under `root`; refuse an absolute path that is not among them."""
    for path in re.findall(r"(?<![\w.$*}])/[\w./-]+", text):
        assert path.startswith(FOLDERS), f"{path}: where should this path go?"
    return re.sub(r"(?<![\w.$*}])(?=/[\w])", str(root), text)


def copy(words: list[str], cwd: Path) -> None:
    *sources, target = words
    for source in sources:
        found = REPOSITORY / source
        if found.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.py[cod]")
            shutil.copytree(found, cwd / target, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(found, cwd / target)


def test_second_stage_takes_the_environment_to_the_same_path():
    """A virtual environment's scripts name their interpreter in full: it cannot be moved."""
    (step,) = named(RUNTIME, "COPY")
    (path,) = (step.rest for step in named(RUNTIME, "ENV"))

    origin, source, target = step.rest.split()
    assert origin == "--from=build"
    assert named(BUILD, "FROM")[0].rest.endswith(" AS build")
    assert source == target
    assert f"PATH={source}/bin:$PATH" in path
    assert named(BUILD, "FROM")[0].rest.split()[0] == named(RUNTIME, "FROM")[0].rest


def test_built_command_knows_its_version(image: Path, tmp_path: Path):
    command = image / "opt/hosting-emulator/bin/hosting-emulator"

    assert run([command, "--version"], tmp_path) == f"hosting-emulator {__version__}\n"


def test_image_keeps_no_installer_and_no_tests(image: Path):
    environment = image / "opt/hosting-emulator"

    assert not (environment / "bin" / "pip").exists()
    assert not list(environment.glob("lib/*/site-packages/tests"))


def test_entrypoint_serves_until_it_is_told_to_stop(image: Path, tmp_path: Path):
    """Given the image's own words (but loopback and a free port), it serves, then stops on TERM."""
    commands = image / "opt/hosting-emulator/bin"
    words = named(RUNTIME, "ENTRYPOINT")[0].arguments() + named(RUNTIME, "CMD")[0].arguments()
    told = {"0.0.0.0": "127.0.0.1", "/data": str(tmp_path / "data")}
    words = [told.get(word, word) for word in words]

    with subprocess.Popen(
        [commands / words[0], *words[1:], "--port", "0", "--json"],
        cwd=tmp_path,
        env=clean_variables(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            ready = json.loads(read_object(process.stdout))
            with urlopen(f"{ready['control_url']}/health", timeout=10) as answer:
                health = json.load(answer)
            check = named(RUNTIME, "HEALTHCHECK")[0].arguments()
            run([commands / check[0], *check[1:], "--url", ready["base_url"]], tmp_path)
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(timeout=10)

    assert health == {"status": "ok", "version": __version__}
    assert status == 0


def read_object(lines: Iterable[str]) -> str:
    """Return the lines of one indented JSON object, and leave what follows unread."""
    taken: list[str] = []
    for line in lines:
        taken.append(line)
        if line.rstrip() == "}":
            break
    return "".join(taken)
