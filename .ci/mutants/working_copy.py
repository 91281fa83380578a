"""A working copy: a copy of the repository, with an environment in which its packages are installed.

Mutants are written into a copy, so the checkout stays unchanged. Every process that a test starts
also runs the mutant, whatever its environment variables are. Only one pytest run uses a copy at a
time.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PLUGINS = ("process_recorder", "pytest_recorder", "pytest_selection")
_HOOK = "import mutants_process_recorder; mutants_process_recorder.install()\n"
#: Marks the processes of one run, so that none of them outlives it.
_MARK_VARIABLE = "MUTANTS_RUN"
#: Tests of large tables draw a sample of rows by commit. Fix this sample, because a run must try the
#: same rows as the recording.
_SAME_SAMPLE = {"TEST_SAMPLE": "0"}


@dataclass(frozen=True)
class Run:
    """The result of a run of pytest."""

    exit_code: int | None  #: None if the run took too long and was killed
    output: str
    seconds: float


class WorkingCopy:
    """A copy of the repository at `path`."""

    def __init__(self, repository: Path, path: Path) -> None:
        self._repository = repository
        self.path = path
        self.environment = path / ".venv"
        self.records = self.environment / "records"

    def refresh(self) -> None:
        """Make the copy, or bring it up to date with the checkout."""
        self.path.mkdir(parents=True, exist_ok=True)
        names = _files_of(self._repository)
        for name in sorted(set(_existing_files(self.path)) - set(names)):
            (self.path / name).unlink()
        for name in names:
            _copy_if_changed(self._repository / name, self.path / name)
        self._refresh_environment()

    def _refresh_environment(self) -> None:
        original = self._repository / ".venv"
        stamp = self.environment / "copied-from"
        state = f"{original} {(original / '.installed-dev').stat().st_mtime_ns}"
        if not stamp.exists() or stamp.read_text("utf-8") != state:
            shutil.rmtree(self.environment, ignore_errors=True)
            shutil.copytree(original, self.environment, symlinks=True, copy_function=_link)
            self._move_environment()
            stamp.write_text(state, "utf-8")
        packages = self._site_packages()
        for name in _PLUGINS:
            shutil.copy(Path(__file__).with_name(f"{name}.py"), packages / f"mutants_{name}.py")
        self.record_processes(False)

    def _move_environment(self) -> None:
        """Replace the checkout's path in the environment's files with the path of the copy."""
        packages = self._site_packages()
        moved = [*(self.environment / "bin").iterdir(), *packages.glob("*hosting_emulator*.pth")]
        moved += packages.glob("hosting_emulator-*.dist-info/*")
        for file in moved:
            if file.is_symlink() or not file.is_file():
                continue
            with suppress(UnicodeDecodeError):
                text = file.read_text("utf-8")
                if str(self._repository) in text:
                    mode = file.stat().st_mode
                    file.unlink()  # the file is a link to the original
                    file.write_text(text.replace(str(self._repository), str(self.path)), "utf-8")
                    file.chmod(mode)

    def _site_packages(self) -> Path:
        (packages,) = self.environment.glob("lib/python3*/site-packages")
        return packages

    def record_processes(self, wanted: bool) -> None:
        """Turn the recording of lines in the environment's processes on or off."""
        hook = self._site_packages() / "mutants.pth"
        hook.unlink(missing_ok=True)
        shutil.rmtree(self.records, ignore_errors=True)
        (self.environment / "current-test").unlink(missing_ok=True)
        if wanted:
            self.records.mkdir()
            hook.write_text(_HOOK, "utf-8")

    @contextmanager
    def changed(self, name: str, source: str) -> Iterator[None]:
        """Replace a file's content within a `with` block."""
        path = self.path / name
        original = path.read_bytes()
        try:
            _write_module(path, source.encode())
            yield
        finally:
            _write_module(path, original)

    def pytest(
        self, arguments: Sequence[str], *, timeout: float, variables: dict[str, str] | None = None
    ) -> Run:
        """Run pytest in the copy, and end every process that it leaves behind."""
        mark = f"{self.path}:{time.monotonic_ns()}"
        environment = {**os.environ, **(variables or {}), **_SAME_SAMPLE, _MARK_VARIABLE: mark}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [str(self.environment / "bin" / "python"), "-m", "pytest"]
        command += ["-q", "-n", "0", "-p", "no:cacheprovider", *arguments]
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        exit_code: int | None = None
        try:
            output, _ = process.communicate(timeout=timeout)
            exit_code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            _end_processes(mark)
            output, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
        finally:
            _end_processes(mark)
        return Run(exit_code, output, time.monotonic() - started)


def _files_of(repository: Path) -> list[str]:
    """Return the files that git tracks or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout
    names = output.decode().split("\0")
    return [name for name in names if name and (repository / name).is_file()]


def _existing_files(root: Path) -> Iterator[str]:
    """Return the files of a copy that came from the repository."""
    left_alone = {".venv", "__pycache__", ".hypothesis", ".pytest_cache", "node_modules"}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in left_alone]
        for name in files:
            yield str(Path(folder, name).relative_to(root))


def _copy_if_changed(source: Path, target: Path) -> None:
    wanted = source.stat()
    if target.exists():
        present = target.stat()
        if (present.st_mtime_ns, present.st_size) == (wanted.st_mtime_ns, wanted.st_size):
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".py" and target.exists():
        _forget_compiled(target)
    shutil.copy2(source, target)


def _write_module(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _forget_compiled(path)


def _forget_compiled(path: Path) -> None:
    """Delete a module's compiled files.

    Python compares only the source's size and its modification time in whole seconds, so it could
    miss a change.
    """
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink(missing_ok=True)


def _link(source: str, target: str) -> str:
    os.link(source, target)
    return target


def _end_processes(mark: str) -> None:
    """Kill every process that has the mark in its environment."""
    wanted = f"{_MARK_VARIABLE}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
