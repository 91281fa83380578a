"""`make image` where it cannot build, and with a Dockerfile that does not build.

Scripts replace its tools; the real build takes a minute and runs in CI.
"""

from pathlib import Path

import pytest

import image

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)


@pytest.fixture(params=[0, 1])
def steps(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    """The exit code of running the steps of the Dockerfile, where nothing can be built."""
    monkeypatch.setattr(image, "STEPS", ["/bin/sh", "-c", f"exit {request.param}"])
    return int(request.param)


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "STEPS", ["true"])


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with replacements of all tools, which do nothing and print a root folder."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in image.TOOLS:
        stand_for(
            folder / name, f"mkdir -p {tmp_path}/rootfs/usr/local/bin; echo {tmp_path}/rootfs"
        )
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(image, "__file__", "/dev/null")
    return folder


def stand_for(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_make_image_reports_missing_tools_and_builds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], steps: int
):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert image.main([]) == steps
    assert capsys.readouterr().out.startswith(
        "image: NOT BUILT: not installed: buildah, mmdebstrap, "
    )


def test_make_image_without_root_builds_nothing(
    tools: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    assert image.main([]) == 0
    assert capsys.readouterr().out == "image: NOT BUILT: only root can build it\n"


def test_make_image_without_a_base_system_builds_nothing(
    tools: Path, capsys: pytest.CaptureFixture[str]
):
    stand_for(tools / "mmdebstrap", "echo E: nobody there >&2; exit 25")

    assert image.main([]) == 0
    assert "Debian trixie could not be installed: E: nobody there" in capsys.readouterr().out


def test_make_image_without_unshare_builds_nothing(tools: Path, capsys: pytest.CaptureFixture[str]):
    stand_for(tools / "unshare", "echo unshare: Operation not permitted >&2; exit 1")

    assert image.main([]) == 0
    assert capsys.readouterr().out == (
        "image: NOT BUILT: unshare does not work: unshare: Operation not permitted\n"
    )


def test_make_image_fails_when_the_dockerfile_does_not_build(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    stand_for(
        tools / "buildah",
        'case "$*" in *bud*) echo no such step >&2; exit 1;; esac;'
        f"mkdir -p {tmp_path}/rootfs/usr/local/bin; echo {tmp_path}/rootfs",
    )

    assert image.main([]) == 1
    printed = capsys.readouterr().out
    assert "image: FAILED: buildah " in printed
    assert "no such step" in printed


def test_make_image_passes_the_settings_of_pip_into_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    index = tmp_path / "packages" / "simple"
    authority = tmp_path / "authority.pem"
    index.mkdir(parents=True)
    authority.touch()
    build_folder = tmp_path / "room"
    build_folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    (tmp_path / "pip.conf").write_text(
        f"[global]\nindex-url = https://other.example\ncert = {authority}\nquiet = 0\n"
        f"extra-index-url =\n    file://{index}\n    https://more.example\n"
    )

    volumes = list(image.index_volumes(build_folder))

    assert (build_folder / "pip.conf").read_text() == (
        "[global]\n"
        "index-url = https://index.example/simple\n"
        f"extra-index-url = file://{index}\n    https://more.example\n"
        f"cert = {authority}\n"
    )
    assert volumes == [
        f"{build_folder}/pip.conf:/etc/pip.conf:ro",
        f"{index.parent}:{index.parent}:ro",
        f"{authority}:{authority}:ro",
    ]
