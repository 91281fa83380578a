"""Running schemathesis against a document and what serves it, and reading what it found."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosting_emulator.sdk import HostingEmulator
from tests.support.http_world import HttpWorld

HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
#: Where hypothesis keeps its table of all characters, as for our own tests: to make it takes a second.
STORAGE = Path(__file__).parents[2] / ".hypothesis"
PHASES = ("examples", "coverage", "fuzzing", "stateful")
#: How often a generated request uses a sample; the rest is made up.
SAMPLED = 0.85


@dataclass(frozen=True)
class Findings:
    """What a run of schemathesis reported."""

    report: dict[str, Any]
    output: str
    answers: dict[str, int]

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

    @property
    def share(self) -> float:
        """The share of answers that are of a resource that exists: they do not say it is missing."""
        return 1 - self.answers["missing"] / self.answers["all"]

    def summary(self) -> str:
        """Return the figures of a run in a few lines."""
        found = ", ".join(f"{count} x {kind}" for kind, count in self.failures.items())
        found = found or f"no failures ({self.report['filtered']} put aside)"
        links = [
            line for line in self.output.splitlines() if "Scenarios:" in line or "Links:" in line
        ]
        accepted = [f"  {count:6} accepted  {call}" for call, count in self.accepted.items()]
        took = f"{self.cases} cases in {self.report['running_time']:.1f} s: {found}"
        took += f"; {self.share:.0%} of {self.answers['all']} answers on resources that exist"
        return "\n".join(["", took, *links, *accepted])


@dataclass(frozen=True)
class Target:
    """A document and whose requests are made up from it.

    `samples` are values by place and parameter that reach deep; `hidden` are statuses and problem
    codes to take out of the document first; `left_out` fits the paths that are not asked.
    """

    document_url: str
    token: str
    samples: dict[str, dict[str, list[Any]]]
    hidden: tuple[str, ...] = ()
    left_out: str = ""


def public_target(api: HttpWorld, token: str | None = None) -> Target:
    """Return a world's public API: ids of the world, generations of a source, many new keys."""
    emulator = api.emulator
    page = api.deployments("").json["items"]
    found: dict[str, dict[str, list[Any]]] = {
        "path": {
            "project_id": list(emulator.projects.values()),
            "organization_id": list(emulator.organizations.values()),
            "operation_id": [deployment["operation_id"] for deployment in page[:6]],
        },
        "body": {"expected_source_generation": [1, 1, 2, 0]},
        "header": {"Idempotency-Key": [f"key-{number}" for number in range(2_000)]},
    }
    url = f"{emulator.control.control_url}/worlds/{emulator.name}/openapi.json"
    return Target(url, token or emulator.token(), found)


def control_target(emulator: HostingEmulator) -> Target:
    """Return the control API of a process of its own: it is asked to change and delete all it has."""
    control = emulator.control
    shop = control.get(emulator.control_path("projects"))["items"]
    operations = [each["operation_id"] for project in shop for each in project["deployments"][:2]]
    found: dict[str, dict[str, list[Any]]] = {
        "path": {
            "world": [emulator.name],
            "n": list(range(1, 6)),
            "name": [scenario["name"] for scenario in control.scenarios()[:5]],
            "operation": operations,
            "fault": [f"fault-{number}" for number in range(1, 6)],
            "snapshot": [f"snapshot-{number}" for number in range(1, 6)],
            "observation": [f"observation-{number}" for number in range(1, 6)],
            "chapter": ["0", "1"],
        },
    }
    # A stream of events has no end.
    return Target(f"{control.control_url}/openapi.json", emulator.token(), found, (), "/events$")


def configuration(target: Target) -> str:
    """Return schemathesis.toml: the hooks, and the samples as dictionaries of the generators."""
    lines = [f"hooks = {json.dumps(str(HOOKS))}"]
    bound = ["[parameters]"]
    for place, parameters in target.samples.items():
        for name, values in parameters.items():
            lines += [f"[dictionaries.{name}]", f"values = {json.dumps(values)}"]
            binding = f'{{dictionary = "{name}", probability = {SAMPLED}}}'
            bound.append(f'"{place}.{name}" = {binding}')
    return "\n".join([*lines, *bound]) + "\n"


def run(
    target: Target, folder: Path, *, examples: int, phases: tuple[str, ...] = PHASES
) -> Findings:
    """Run the phases with every check, `examples` cases a call at most in each that generates."""
    config, report, answers = (
        folder / name for name in ("schemathesis.toml", "report.json", "answers.json")
    )
    config.write_text(configuration(target))
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
        *("run", target.document_url, "--checks", "all", "--phases", ",".join(phases)),
        *("--header", f"Authorization: Bearer {target.token}"),
        *("--max-examples", str(examples), "--seed", "1", "--continue-on-failure"),
        *("--generation-database", "none", "--suppress-health-check", "all"),
        *("--report", "json", "--report-json-path", str(report), "--no-color"),
        *(("--exclude-path-regex", target.left_out) if target.left_out else ()),
    ]
    told = {"hidden": target.hidden, "answers": str(answers)}
    variables = {
        "HYPOTHESIS_STORAGE_DIRECTORY": str(STORAGE),
        **os.environ,
        "EMULATOR_FUZZING": json.dumps(told),
    }
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert report.exists(), done.stdout + done.stderr
    counts = json.loads(answers.read_text())
    return Findings(json.loads(report.read_text()), done.stdout + done.stderr, counts)
