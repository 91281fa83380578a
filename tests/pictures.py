"""Draws the pictures of the documents from a running emulator, so that they stay true.

`make pictures`, or `python -m tests.pictures`. It wants Chromium. The page's pictures are screenshots;
the terminal's is what the command writes, as SVG without a font of somebody else's.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from hosting_emulator.sdk import HostingEmulator
from pytest_hosting_emulator import BackgroundEmulator
from tests.browser.chromium import Chromium, program
from tests.browser.tab import Scheme
from tests.support.http_world import HttpWorld

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
#: The port that readers know, for it is read in the pictures.
PORT = 4620
WIDTH, HEIGHT, SCALE = 1280, 860, 1.5
COLUMNS, LAST = 104, 20
#: Names of pictures, and the panels that they show.
PANELS: dict[str, tuple[str, Scheme]] = {
    "request": ("requests/{request}", "light"),
    "operations": ("operations/{operation}", "light"),
}
TERMINAL = "requests-tail"
_SETTLED = "document.querySelector('main h1') && !document.querySelector('main .loading')"


def main() -> int:
    """Draw them all into `docs/pictures`; return the exit code."""
    found = program()
    if found is None:
        print("error: Chromium is not installed", file=sys.stderr)
        return 1
    with _browser(found) as browser:
        for file in draw(browser, FOLDER, PORT):
            print(file.name)
    return 0


def draw(browser: Chromium, folder: Path, port: int = 0) -> Iterator[Path]:
    """Draw all into a folder; yields each file when it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    with BackgroundEmulator(port=port) as background:
        with HostingEmulator.fresh(background.base_url) as warm:
            HttpWorld(
                warm
            ).initialize()  # what is loaded for the first of its kind is no story to tell
        with HostingEmulator.connect(background.base_url) as emulator:
            names = a_day_of(HttpWorld(emulator))
        for name, (panel, scheme) in PANELS.items():
            url = f"{background.base_url}/_emulator#/{panel.format(**names)}"
            file = folder / f"{name}.png"
            file.write_bytes(photograph(browser, url, scheme))
            yield file
        file = folder / f"{TERMINAL}.svg"
        file.write_text(terminal(background.base_url, int(names["newest"])), encoding="utf-8")
        yield file


def a_day_of(api: HttpWorld) -> dict[str, str]:
    """Let a little of everything happen; return the names that the pictures need."""
    clock, world = api.emulator.clock, api.emulator
    api.deployments("?limit=5")
    api.initialize(project="blog")
    clock.advance("6s")
    api.apply_domains(project="labs", user="outsider")
    labs = api.apply_domains(project="labs").json["id"]
    clock.advance("9s")
    api.poll(labs)
    api.ticket(user="reader")
    blog = api.apply_domains(project="blog", user="member").json["id"]
    clock.advance("2s")
    world.intervene("stick_operation", operation=blog)
    clock.advance("20s")
    world.fault("connection_reset", call="apply_project_domains", after_commit=True, times=1)
    with suppress(OSError):  # the answer is lost
        api.apply_domains(key="domains-7")
    clock.advance("3s")
    applied = api.apply_domains(key="domains-7").json["id"]
    world.intervene("release_operation", operation=blog)
    api.set_flag("yes")
    clock.advance("4s")
    api.poll(applied)
    lost = next(made.n for made in world.requests if made.lost)
    return {"request": str(lost), "operation": blog, "newest": str(world.requests.total)}


@contextmanager
def _browser(chromium: str) -> Iterator[Chromium]:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        Chromium(chromium, Path(profile), "--hide-scrollbars") as browser,
    ):
        yield browser


def photograph(browser: Chromium, url: str, scheme: Scheme) -> bytes:
    """Return what a reader sees at an address, as PNG."""
    with browser.page(url, width=WIDTH, scheme=scheme) as page:
        page.wait(_SETTLED)
        page.ask(
            "Emulation.setDeviceMetricsOverride",
            width=WIDTH,
            height=HEIGHT,
            deviceScaleFactor=SCALE,
            mobile=False,
        )
        page.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
        page.read("Live")
        page.watch(0.5)
        return page.picture()


def terminal(base_url: str, newest: int) -> str:
    """Return what `requests tail` writes into a terminal up to a request's number, as SVG."""
    command = ["hosting-emulator", "requests", "tail", "--lines", str(LAST)]
    environment = {
        **os.environ,
        "FORCE_COLOR": "1",
        "COLUMNS": str(COLUMNS),
        "HOSTING_EMULATOR_URL": base_url,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "hosting_emulator_cli", *command[1:]],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if f"#{newest} " in line:
                break
        process.terminate()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(f"[bold]$[/bold] {' '.join(command)}", highlight=False)
    console.print(Text.from_ansi("".join(lines)), end="")
    drawn = console.export_svg(title="hosting-emulator", unique_id="tail", code_format=_FORMAT)
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


#: Rich's own form asks a foreign host for its font.
_FORMAT = re.sub(
    r"@font-face \{\{.*?\n    \}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL
).replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas")


if __name__ == "__main__":
    sys.exit(main())
