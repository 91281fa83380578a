"""The pages can be reached, their links lead somewhere, and they name only existing options."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from pytest_hosting_emulator.options import OPTIONS
from tests.docs.command_line import all_option_names, command_of, option_names
from tests.docs.markdown import anchors, blocks, links, site_entries, without_blocks
from tests.docs.terminal import FILES

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
#: The text of each page by its path: README, the guides, the reference, and the pages for maintainers.
PAGES = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *sorted(DOCS.rglob("*.md")),
    )
    if path != DOCS / "index.md"
}
#: The guides for users, which stand directly in `docs/`.
GUIDES = [name for name in PAGES if PurePosixPath(name).parent.name == "docs"]
#: Languages of blocks that run: commands, and files that commands use.
RUNNABLE = {"console", *FILES, "go", "java", "js"}
#: Options in the text of a page that are not options of our commands.
OTHER_OPTIONS = {
    "--help",
    *(f"--hosting-emulator-{name.replace('_', '-')}" for name in OPTIONS),
    *("--cov-append", "--dist", "--no-daemon", "--numprocesses"),
}


@pytest.mark.parametrize("name", ["README.md", *GUIDES])
def test_every_block_of_a_guide_runs_or_states_why_not(name: str):
    """The comment `<!-- not run: REASON -->` stands before a block that the tests do not run."""
    unmarked = {block.language for block in blocks(PAGES[name]) if block.skipped is None}

    assert unmarked <= RUNNABLE


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


@pytest.mark.parametrize("name", ["README.md", *GUIDES])
def test_options_in_the_text_of_a_page_exist(name: str):
    options = set(re.findall(r"`(--[a-z-]+)", without_blocks(PAGES[name])))

    assert options - all_option_names() - OTHER_OPTIONS == set()


@pytest.mark.parametrize("name", GUIDES)
def test_the_lines_of_a_guide_are_at_most_120_characters_long(name: str):
    lines = without_blocks(PAGES[name]).splitlines()

    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []
    assert "\t" not in PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_have_targets(name: str):
    page = REPOSITORY / name
    broken_links = []
    for target in links(PAGES[name]):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            target_path = (page.parent / path).resolve() if path else page
            if not target_path.exists() or (
                anchor and anchor not in anchors(target_path.read_text(encoding="utf-8"))
            ):
                broken_links.append(target)

    assert broken_links == []


def linked_pages(name: str) -> set[str]:
    """Return the pages that a page links."""
    folder = (REPOSITORY / name).parent
    targets = {(folder / link.partition("#")[0]).resolve() for link in links(PAGES[name])}
    return {page for page in PAGES if REPOSITORY / page in targets}


def test_every_page_can_be_reached_from_the_readme_in_two_steps():
    first_step = linked_pages("README.md")
    second_step = {page for name in first_step for page in linked_pages(name)}

    assert set(PAGES) - first_step - second_step - {"README.md"} == set()


def test_the_documentation_site_has_every_page():
    index = DOCS / "index.md"
    tables = {index: site_entries(index.read_text(encoding="utf-8"))}
    for name in PAGES:
        tables[REPOSITORY / name] = site_entries(PAGES[name])
    listed = [
        (path.parent / f"{entry}.md").relative_to(DOCS).as_posix()
        for path, entries in tables.items()
        for entry in entries
    ]

    in_docs = [path.removeprefix("docs/") for path in PAGES if path.startswith("docs/")]
    assert set(in_docs) == set(listed)
    assert len(listed) == len(set(listed))
