"""All pages together show every command, and they name only existing commands and options."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.contract.calls import CALLS
from tests.docs.command_line import all_option_names, command_names, command_of, option_names
from tests.docs.markdown import anchors, blocks, links, without_blocks
from tests.docs.terminal import Terminals
from tests.examples.programs import need
from tests.support.http_world import HttpWorld

REPOSITORY = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8")
    for path in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
    if path.stem != "index"
}
#: Pages without a test module of their own.
GUIDES = ("calls", "log", "running", "world-file", "worlds")
#: Pages for another language, with the program that runs it; None if its blocks do not run.
LANGUAGES = {"dotnet": None, "go": "go", "java": "javac", "node": "node"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, program in LANGUAGES.items() if program])
def test_the_programs_of_the_language_guides_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    need(LANGUAGES[name] or "")
    monkeypatch.delenv(
        "NODE_TEST_CONTEXT", raising=False
    )  # otherwise Node prints for another test runner
    if name == "java":
        quick_java(tmp_path / "bin", monkeypatch)
    with Terminals(tmp_path) as terminals:
        terminals.follow(PAGES[f"docs/{name}.md"], files=("go", "java", "js"))


def quick_java(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run Java without features that only pay in long runs: the second compiler and parallel collection."""
    folder.mkdir()
    for name, prefix in (("java", ""), ("javac", "-J")):
        options = f"{prefix}-XX:TieredStopAtLevel=1 {prefix}-XX:+UseSerialGC"
        script = f'#!/bin/sh\nexec {shutil.which(name)} {options} "$@"\n'
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("name", [name for name, program in LANGUAGES.items() if not program])
def test_a_guide_whose_programs_do_not_run_states_so(name: str):
    page = PAGES[f"docs/{name}.md"]

    assert "**Nothing on this page is run by our tests**" in page
    assert [block.line for block in blocks(page) if block.skipped is None] == []


def test_only_installing_commands_of_the_guides_do_not_run():
    guides = [block for name in GUIDES for block in blocks(PAGES[f"docs/{name}.md"])]

    assert [block.text.splitlines()[0] for block in guides if block.language == "bash"] == [
        "pip install . && hosting-emulator start",
        "docker build -t hosting-emulator .",
        "docker run --rm -p 127.0.0.1:4620:4620 -v hosting-emulator:/data \\",
    ]
    # Of the YAML, running.md's is a settings file: `tests/cli/test_settings_file.py` starts with it.
    assert {block.language for block in guides} == {"console", "bash", "yaml"}


def fields_below(schema: dict[str, Any], name: str) -> set[str]:
    """Return the fields of a definition of a JSON schema and of the definitions that it references."""
    definition = schema["$defs"][name]
    references = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(definition)))
    fields = set(definition.get("properties", {}))
    return fields.union(*(fields_below(schema, reference) for reference in references))


def test_the_world_file_guide_names_every_field(api: HttpWorld):
    schema = api.emulator.control.contract("scenario-schema.json")
    fields = fields_below(schema, "WorldPart")

    assert {"source_generation", "data_mode", "commit"} <= fields
    assert [name for name in fields if f"`{name}`" not in PAGES["docs/world-file.md"]] == []


def invocations(page: str) -> list[list[str]]:
    """Return every use of the command, in blocks and in the text, as words."""
    shell = [block for block in blocks(page) if block.language in ("console", "bash")]
    texts = [block.text.replace("\\\n", " ") for block in shell]
    texts += re.findall(r"`([^`\n]+)`", without_blocks(page))
    lines = [line for text in texts for line in text.splitlines()]
    uses = [
        use for line in lines for use in re.findall(r"hosting-emulator ([a-z-][^|)&;#]*)", line)
    ]
    return [use.replace('"', "").split() for use in uses]


@pytest.mark.parametrize("name", PAGES)
def test_options_in_the_commands_of_a_page_exist(name: str):
    unknown = []
    for words in invocations(PAGES[name]):
        known_options = option_names(command_of(words)) | {"--help"}
        # The words after `--` belong to another program.
        our_words = words[: words.index("--")] if "--" in words else words
        unknown += [
            words
            for word in our_words
            if re.match("--?[a-z]", word) and word.partition("=")[0] not in known_options
        ]

    assert unknown == []


def test_every_command_is_shown_on_a_page():
    commands = {words[0] for page in PAGES.values() for words in invocations(page)}

    assert set(command_names()) <= commands


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{name}.md" for name in GUIDES)])
def test_options_in_the_text_of_a_page_exist(name: str):
    options = set(re.findall(r"`(--[a-z-]+)", without_blocks(PAGES[name])))

    assert options - all_option_names() - {"--help"} == set()


@pytest.mark.parametrize("name", ["replay", "vary"])
def test_the_lines_of_a_page_are_at_most_120_characters_long(name: str):
    lines = without_blocks(PAGES[f"docs/{name}.md"]).splitlines()

    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []
    assert "\t" not in PAGES[f"docs/{name}.md"]


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_have_targets(name: str):
    page = REPOSITORY / name
    broken_links = []
    for target in links(PAGES[name]):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            target_path = (page.parent / path) if path else page
            if not target_path.exists() or (
                anchor and anchor not in anchors(target_path.read_text(encoding="utf-8"))
            ):
                broken_links.append(target)

    assert broken_links == []


def test_the_readme_links_every_page():
    linked = {target.partition("#")[0] for target in links(PAGES["README.md"])}

    assert set(PAGES) - linked == {"README.md"}


def test_the_documentation_site_has_every_page():
    index = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^[\w-]+$", index, re.MULTILINE)

    assert sorted(f"docs/{name}.md" for name in listed) == sorted(set(PAGES) - {"README.md"})


def test_the_calls_guide_lists_every_call():
    listed_calls = re.findall(
        r"`(GET|PUT|POST) (/v1[^`?]*)", without_blocks(PAGES["docs/calls.md"])
    )

    calls = {(call.method, call.path) for call in CALLS.values()}
    assert calls <= set(listed_calls), "describe the call in docs/calls.md"
