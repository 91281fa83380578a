"""A process of the warm interpreter behaves as a process that was started."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm

ENDS = {
    "well": "print('said')",
    "with a code": "import sys; sys.exit(42)",
    "with a word": "import sys; sys.exit('a word')",
    "with what nobody catches": "raise ValueError('uncaught')",
    "by a signal": "import os; os.kill(os.getpid(), 9)",
    "by ctrl-c": "import os, signal; os.kill(os.getpid(), signal.SIGINT); signal.pause()",
    "with what runs at exit": "import atexit; atexit.register(print, 'last')",
    "with a thread": "import threading, time; threading.Timer(0.01, print, ['late']).start()",
    "deaf": "import os; os.close(1); os.open('/dev/full', os.O_WRONLY); print('nobody')",
}


def started(args: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a real process."""
    words = [*warm.TERMINAL_SIGNALS_PREFIX, *args]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_a_warm_process_ends_as_a_real_process_does(code: str):
    args = [sys.executable, "-c", code]

    real_process = started(args)
    warm_process = warm.run(args)

    assert (warm_process.returncode, warm_process.stdout) == (
        real_process.returncode,
        real_process.stdout,
    )
    assert warm_process.stderr.splitlines()[-1:] == real_process.stderr.splitlines()[-1:]


def test_a_warm_process_sees_what_a_real_process_sees(tmp_path: Path):
    code = (
        "import os, signal, sys\n"
        "print(ascii([sys.argv, os.getcwd(), dict(os.environ), sys.path[0], __name__]))\n"
        "print([signal.getsignal(n) for n in (1, 2, 3, 13, 15, 17)])\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, []), os.listdir('/dev/fd'))\n"
        "print(sys.stdin.read())\n"
    )
    args = [sys.executable, "-c", code, "two words", "", "\udcff"]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "ODD": "\udcff\n="}
    options: dict[str, Any] = {"cwd": tmp_path, "env": environment}

    real_process = started(args, input="typed", **options)
    warm_process = warm.run(args, input="typed", **options)

    assert warm_process.stdout == real_process.stdout


def test_a_warm_program_passes_on_input_output_and_exit_code(tmp_path: Path):
    with subprocess.Popen(
        [
            "sh",
            "-c",
            f"{shlex.quote(str(warm.programs() / 'python'))} -c 'print(input())'; echo $?",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        assert shell.communicate("typed\n", 60)[0] == "typed\n0\n"
