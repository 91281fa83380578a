"""Running schemathesis against one world, and reading what it found."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosting_emulator.sdk import HostingEmulator
from tests.conftest import Api

HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
PHASES = ("examples", "coverage", "fuzzing", "stateful")
#: How often a generated request uses a sample; the rest is made up.
SAMPLED = 0.85


@dataclass(frozen=True)
class Findings:
    """What a run of schemathesis reported."""

    report: dict[str, Any]
    output: str

    @property
    def cases(self) -> int:
        return int(self.report["test_cases"]["generated"])

    @property
    def failures(self) -> dict[str, int]:
        """Failures by kind: empty when every answer was as documented."""
        found: Counter[str] = Counter()
        for failure in self.report["failures"]:
            found[failure["type"]] += failure["count"]
        return dict(found)

    @property
    def phases(self) -> dict[str, str]:
        return {name: phase["status"] for name, phase in self.report["phases"].items()}

    @property
    def accepted(self) -> dict[str, int]:
        """How many valid requests of each call were answered with success."""
        return {
            call: sum(phase["accepted"] for phase in phases.values())
            for call, phases in self.report["valid_rates"].items()
        }

    def summary(self) -> str:
        """Return the figures of a run in a few lines."""
        found = ", ".join(f"{count} x {kind}" for kind, count in self.failures.items())
        found = found or f"no failures ({self.report['filtered']} made-up cursors put aside)"
        links = [
            line for line in self.output.splitlines() if "Scenarios:" in line or "Links:" in line
        ]
        accepted = [f"  {count:6} accepted  {call}" for call, count in self.accepted.items()]
        took = f"{self.cases} cases in {self.report['running_time']:.1f} s: {found}"
        return "\n".join(["", took, *links, *accepted])


def samples(api: Api) -> dict[str, dict[str, list[Any]]]:
    """Return values that reach deep: ids of the world, generations of a source, many new keys."""
    emulator = api.emulator
    page = api.deployments("").json["items"]
    return {
        "path": {
            "project_id": list(emulator.projects.values()),
            "organization_id": list(emulator.organizations.values()),
            "operation_id": [deployment["operation_id"] for deployment in page[:6]],
        },
        "body": {"expected_source_generation": [1, 1, 2, 0]},
        "header": {"Idempotency-Key": [f"key-{number}" for number in range(2_000)]},
    }


def configuration(found: dict[str, dict[str, list[Any]]]) -> str:
    """Return schemathesis.toml: the hooks, and the samples as dictionaries of the generators."""
    lines = [f"hooks = {json.dumps(str(HOOKS))}"]
    bound = ["[parameters]"]
    for place, parameters in found.items():
        for name, values in parameters.items():
            lines += [f"[dictionaries.{name}]", f"values = {json.dumps(values)}"]
            binding = f'{{dictionary = "{name}", probability = {SAMPLED}}}'
            bound.append(f'"{place}.{name}" = {binding}')
    return "\n".join([*lines, *bound]) + "\n"


def run(
    api: Api,
    folder: Path,
    *,
    examples: int,
    phases: tuple[str, ...] = PHASES,
    token: str | None = None,
    hidden: tuple[str, ...] = (),
) -> Findings:
    """Run the phases with every check, `examples` cases a call at most in each that generates.

    `hidden` are statuses and problem codes to take out of the document first.
    """
    emulator, found = api.emulator, samples(api)
    config, report = folder / "schemathesis.toml", folder / "report.json"
    config.write_text(configuration(found))
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
        *("run", openapi_url(emulator), "--checks", "all", "--phases", ",".join(phases)),
        *("--header", f"Authorization: Bearer {token or emulator.token()}"),
        *("--max-examples", str(examples), "--seed", "1", "--continue-on-failure"),
        *("--generation-database", "none", "--suppress-health-check", "all"),
        *("--report", "json", "--report-json-path", str(report), "--no-color"),
    ]
    told = {"path": found["path"], "hidden": hidden}
    variables = {**os.environ, "EMULATOR_FUZZING": json.dumps(told)}
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert report.exists(), done.stdout + done.stderr
    return Findings(json.loads(report.read_text()), done.stdout + done.stderr)


def openapi_url(emulator: HostingEmulator) -> str:
    """Return where the world's own document is served."""
    return f"{emulator.control.control_url}/worlds/{emulator.name}/openapi.json"
