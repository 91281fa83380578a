"""An excerpt of the output of a run shows its end and the last frame in the user's own code."""

import subprocess
import sys
from pathlib import Path

import pytest

from hosting_emulator_cli.command_output import excerpt

DEEP = [f'  File "/usr/lib/python3.11/json/decoder.py", line {n}, in decode' for n in range(20)]
HEAD = "Traceback (most recent call last):"
OWN = ['  File "/home/ann/lib/deploy.py", line 7, in ask', "    return json.loads(answer)"]
END = "json.decoder.JSONDecodeError: Expecting value"


def test_an_excerpt_of_a_short_output_is_the_whole_output():
    assert excerpt(["a", "b"]) == ("a", "b")


def test_an_excerpt_of_a_long_output_has_its_last_twelve_lines():
    assert excerpt([str(n) for n in range(40)]) == tuple(str(n) for n in range(28, 40))


def test_an_excerpt_begins_with_the_last_frame_in_the_users_code():
    lines = excerpt(["Hello", HEAD, *OWN, *DEEP, END])

    assert lines[:3] == (*OWN, "…")
    assert lines[-1] == END
    assert len(lines) == 12


def test_a_frame_without_its_source_is_one_line():
    assert excerpt([HEAD, OWN[0], *DEEP, END])[:2] == (OWN[0], "…")


def test_a_frame_that_is_shown_anyway_is_not_repeated():
    lines = [*DEEP, HEAD, *OWN, END]

    assert excerpt(lines) == tuple(lines[-12:])


@pytest.mark.parametrize(
    "path",
    [
        "/x/.venv/lib/python3.12/site-packages/httpx/_client.py",
        "/usr/lib/python3/dist-packages/requests/api.py",
        "/opt/lib64/python3.13t/asyncio/runners.py",
        "<frozen runpy>",
        "C:\\Python311\\Lib\\json\\decoder.py",
    ],
)
def test_a_frame_in_an_installed_package_is_not_the_users_code(path: str):
    lines = [HEAD, *OWN, *[f'  File "{path}", line 1, in x'] * 20, END]

    assert excerpt(lines)[:2] == tuple(OWN)


def test_only_the_last_traceback_counts():
    lines = [HEAD, *OWN, "KeyError: 1", "Handled.", HEAD, *DEEP, END]

    assert excerpt(lines) == tuple(lines[-12:])


def test_a_real_traceback_keeps_the_users_frame(tmp_path: Path):
    script = tmp_path / "deploy.py"
    script.write_text(
        "import json\n\n\ndef odd(pairs):\n    raise ValueError('odd')\n\n\ndef ask():\n"
        "    import asyncio\n    asyncio.run(later())\n\n\nasync def later():\n"
        "    json.loads('no' * 9)\n\n\nask()\n",
        encoding="utf-8",
    )
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )

    lines = excerpt(result.stderr.splitlines())

    assert any(str(script) in line and "in later" in line for line in lines)
    assert lines[-1].startswith("json.decoder.JSONDecodeError")
