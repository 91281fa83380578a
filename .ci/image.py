"""Builds the image in the Dockerfile without a container engine, and runs it as an engine would.

    image.py            build the image, run it and send requests; exits with 1 if anything fails
    image.py ROOT       only run the image in the folder ROOT; used inside separate namespaces

The base image is a Debian with Python, built here under the name of the official image. During the
build, pip uses the same package index as on the host. If the image cannot be built, because root
rights, tools or a base image are missing, the script says so. A test then runs the first stages of
the Dockerfile under a temporary root instead.
"""

from __future__ import annotations

import ast
import fcntl
import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

BASE = "docker.io/library/python:3.13-slim"
#: The Debian release that contains this Python version.
SUITE = "trixie"
PACKAGES = "python3,python3-pip,passwd,ca-certificates"
TOOLS = ("buildah", "mmdebstrap", "unshare", "chroot", "mount")
SPACES = ("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child")
#: The settings in pip's configuration that determine how pip reaches an index.
INDEX = ("index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "proxy", "cert")
#: The tests that run the Dockerfile's steps if the image cannot be built.
STEPS = [sys.executable, *"-m pytest -q -n 0 -m torture tests/packaging/test_dockerfile.py".split()]
PATIENCE_S = 60.0
#: The longest time in seconds that a container may take to stop.
STOP_S = 5.0


class NotHere(Exception):
    """The image cannot be built on this machine. The message gives the reason."""


def main(arguments: Sequence[str]) -> int:
    """Build and run the image, or only run it, and return the exit code."""
    if arguments:
        return run_in(Path(arguments[0]), json.loads(sys.stdin.read()))
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="image-") as room:
            return build_and_run(Store(Path(room)), began)
    except NotHere as reason:
        print(f"image: NOT BUILT: {reason}", flush=True)
        return subprocess.call(STEPS)


def build_and_run(store: Store, began: float) -> int:
    """Build and run the image in a separate store, and return the exit code."""
    try:
        try:
            store.make_base()
        except subprocess.CalledProcessError as error:
            raise NotHere(f"{error.cmd[0]} does not work: {last_line(error.stderr)}") from error
        base_at = time.monotonic()
        options = [word for volume in index_volumes(store.room) for word in ("--volume", volume)]
        store.buildah("bud", "--quiet", "--pull-never", "--isolation=chroot", "--format=docker",
                      *options, "--tag=hosting-emulator", ".")  # fmt: skip
        built_at = time.monotonic()
        container = store.buildah("from", "--pull-never", "hosting-emulator")
        config = json.loads(store.buildah("inspect", container))["Docker"]["config"]
        root = store.buildah("mount", container)
        done = subprocess.run(
            [*SPACES, sys.executable, __file__, root], input=json.dumps(config), text=True
        )
        size = sum(path.lstat().st_size for path in Path(root).rglob("*") if not path.is_symlink())
        print(
            f"image: base {base_at - began:.0f} s, build {built_at - base_at:.0f} s,"
            f" run {time.monotonic() - built_at:.0f} s; {size / 1e6:.0f} MB"
        )
        return done.returncode
    except subprocess.CalledProcessError as error:
        print(f"image: FAILED: {' '.join(error.cmd)}\n{error.stdout}{error.stderr}")
        return 1
    finally:
        store.remove()


# --- Building ------------------------------------------------------------------------------------


class Store:
    """Images and containers in a folder, separate from other images and containers on this machine."""

    def __init__(self, room: Path) -> None:
        self.room = room
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if missing:
            raise NotHere(f"not installed: {', '.join(missing)}")
        if os.geteuid() != 0:
            raise NotHere("only root can build it")
        self._places = [f"--root={room / 'store'}", f"--runroot={room / 'run'}"]
        # Try the overlay driver first. It takes half the time that copies take, but not every kernel
        # allows it.
        for driver in ("overlay", "vfs"):
            self._options = [*self._places, f"--storage-driver={driver}"]
            try:
                self.buildah("rm", self.buildah("from", "scratch"))
                return
            except subprocess.CalledProcessError as error:
                reason = last_line(error.stderr)
            shutil.rmtree(room / "store", ignore_errors=True)
        raise NotHere(f"buildah cannot store images: {reason}")

    def buildah(self, *words: str) -> str:
        """Run buildah in this store and return what it prints."""
        command = ["buildah", *self._options, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def make_base(self) -> None:
        """Make the base image, and check that commands run in it.

        Raises NotHere if Debian cannot be installed, or CalledProcessError if a command fails.
        """
        subprocess.run([*SPACES, "true"], capture_output=True, text=True, check=True)
        container = self.buildah("from", "scratch")
        root = Path(self.buildah("mount", container))
        made = subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=apt", f"--include={PACKAGES}", SUITE, root],
            capture_output=True,
            text=True,
        )
        if made.returncode != 0:
            raise NotHere(f"Debian {SUITE} could not be installed: {last_line(made.stderr)}")
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        self.buildah("run", "--isolation=chroot", container, "--", "pip", "--version")
        self.buildah("commit", "--quiet", "--rm", container, BASE)

    def remove(self) -> None:
        """Unmount all file systems, so that the folder can be deleted."""
        self.buildah("rm", "--all")


def last_line(text: str) -> str:
    """Return the last line of a program's output, which usually says why it failed."""
    return text.strip().rpartition("\n")[2]


def index_volumes(room: Path) -> Iterator[str]:
    """Write pip's configuration for the build, and yield the volumes that the build must mount."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    settings = {"cert": os.environ.get("REQUESTS_CA_BUNDLE", "")}
    # Sort environment variables to the end, because they take precedence. Some versions of pip list
    # them first.
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    found = {name: settings[name].split() for name in INDEX if settings.get(name)}
    file = room / "pip.conf"
    lines = [f"{name} = " + "\n    ".join(words) for name, words in found.items()]
    file.write_text("[global]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    yield f"{file}:/etc/pip.conf:ro"
    for word in [word for words in found.values() for word in words]:
        # The pages in a local index link to files outside its folder, so mount the parent folder.
        path = Path(word.removeprefix("file://")).parent if "://" in word else Path(word)
        if path.is_absolute() and path.exists():
            yield f"{path}:{path}:ro"


# --- Running -------------------------------------------------------------------------------------


def run_in(root: Path, config: dict[str, Any]) -> int:
    """Run an image in the current namespaces, read-only except for its volume and /dev/shm."""
    mount(root)
    bring_loopback_up()
    container = Container(root, config)
    assert not container.healthy([]), "the health check passes although no emulator is running"
    print(f"image: {container.serve(4620, config['Cmd'], [])}")
    words = ["start", "--port", "4700", "--public-url", "http://hosting.test"]
    print(f"image: {container.serve(4700, words, [])}")
    anybody = Container(root, {**config, "User": "54321:0"})
    env = ["HOSTING_EMULATOR_PORT=4701", "HOSTING_EMULATOR_EPHEMERAL=1"]
    print(f"image: {anybody.serve(4701, config['Cmd'], env)}")
    return 0


def mount(root: Path) -> None:
    """Mount what an engine would mount. The mounts disappear with the namespace."""
    data = (root / "data").stat()  # A new volume takes over this folder's owner and mode.
    owner = f"uid={data.st_uid},gid={data.st_gid},mode={stat.S_IMODE(data.st_mode):o}"
    mounts: Sequence[Sequence[str | Path]] = (
        ["--bind", root, root],
        ["-o", "remount,bind,ro", root],
        ["-t", "proc", "proc", root / "proc"],
        ["--bind", "/dev", root / "dev"],
        ["-t", "tmpfs", "tmpfs", root / "dev/shm"],
        ["-t", "tmpfs", "-o", owner, "tmpfs", root / "data"],
    )
    for words in mounts:
        subprocess.run(["mount", *words], check=True)


def bring_loopback_up() -> None:
    """Bring up the loopback interface, which is down in a new network namespace."""
    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", up_and_running))


class Container:
    """Runs commands as an engine would, according to the image's configuration."""

    def __init__(self, root: Path, config: dict[str, Any]) -> None:
        self._root = root
        self._config = config
        self._ready_file = root / "dev/shm/hosting-emulator.json"

    def command(self, words: Sequence[str], env: Sequence[str]) -> list[str]:
        """Return the command line that runs a command as the image's user, in its environment."""
        inside = ["chroot", f"--userspec={self._config['User']}", str(self._root)]
        clean = ["env", "--ignore-environment", f"--chdir={self._config['WorkingDir']}"]
        return [*inside, *clean, *self._config["Env"], *env, *words]

    def healthy(self, env: Sequence[str]) -> bool:
        """Run the health check once."""
        check = self._config["Healthcheck"]["Test"]
        assert check[0] == "CMD", check
        return subprocess.run(self.command(check[1:], env), capture_output=True).returncode == 0

    def serve(self, port: int, words: Sequence[str], env: Sequence[str]) -> str:
        """Start the container, send a request and a health check, stop it, and describe the result."""
        began = time.monotonic()
        with self.started([*self._config["Entrypoint"], *words], env) as process:
            while not (self._ready_file.exists() and self.healthy(env)):
                assert process.poll() is None, f"the emulator exited with {process.returncode}"
                assert time.monotonic() - began < PATIENCE_S, "the health check never passes"
            took_s = time.monotonic() - began
            self.ask(port)
            began = time.monotonic()
            process.send_signal(signal.Signals[self._config["StopSignal"]])
            assert process.wait(timeout=STOP_S) == 0, f"the stop exited with {process.returncode}"
            stop_s = time.monotonic() - began
        return f"port {port}: healthy after {took_s:.1f} s, stopped in {stop_s:.1f} s"

    def ask(self, port: int) -> None:
        """Request a page of deployments with the token from the ready file."""
        ready = json.loads(self._ready_file.read_bytes())
        url = f"http://127.0.0.1:{port}/v1/projects/{ready['project_id']}/deployments"
        request = Request(url, headers={"Authorization": f"Bearer {ready['token']}"})
        with urlopen(request, timeout=PATIENCE_S) as answer:
            assert json.load(answer)["items"], "there are no deployments"

    @contextmanager
    def started(
        self, words: Sequence[str], env: Sequence[str]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run a process, and kill it at the end of the block if it is still running."""
        with subprocess.Popen(self.command(words, env), stdout=subprocess.DEVNULL) as process:
            try:
                yield process
            finally:
                process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
