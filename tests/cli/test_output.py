"""Output is aligned, and files are written completely or not at all."""

import json
import os
from pathlib import Path

import pytest

from hosting_emulator_cli.files import PRIVATE, ready_file, remove_report, write_whole
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import fields
from hosting_emulator_cli.printable import printable_json
from hosting_emulator_cli.tables import cell_text, table


def test_a_table_aligns_columns_and_right_aligns_numbers():
    text = table(("NAME", "COUNT", "NOTE"), [["a", 5, "x"], ["bcdefg", 1234, ""]])

    assert text.splitlines() == [
        "NAME    COUNT  NOTE",
        "a           5  x",
        "bcdefg   1234",
    ]


def test_a_piped_table_does_not_shorten_cells():
    assert (
        table(("A", "B"), [["x" * 160, "y z " * 60]])
        .splitlines()[1]
        .startswith("x" * 160 + "  y z")
    )


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "40")):
        monkeypatch.setenv(name, value)


def test_a_wide_cell_is_wrapped_between_words_on_a_terminal(terminal: None):
    about = "one two three four five six seven"

    assert table(("NAME", "COUNT", "ABOUT"), [["alpha", 1, about]]).splitlines() == [
        "NAME   COUNT  ABOUT",
        "alpha      1  one two three four five",
        "              six seven",
    ]


def test_a_narrow_terminal_shows_columns_below_each_other(terminal: None):
    row = ["first", "a-word-that-is-rather-long-indeed", 7, "and some words that go on"]

    assert (
        table(("NAME", "ID", "N", "ABOUT"), [row, row]).split("\n\n")
        == ["first\n  ID a-word-that-is-rather-long-indeed\n  N 7  ABOUT and some words that go on"]
        * 2
    )


def test_a_table_without_rows_shows_its_headers():
    assert table(("A", "B"), []) == "A  B"


def test_a_missing_field_has_no_line():
    assert fields([("a", 1), ("gone", None), ("long", "x")]) == "a     1\nlong  x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (False, "no"),
        ([1, "b"], "1, b"),
        ([], "-"),
        ({}, "-"),
        ({"a": 1}, "a=1"),
        ("a\nb", "a b"),
        (1.5, "1.5"),
    ],
)
def test_a_cell_shows_a_value_as_text(value: object, text: str):
    assert cell_text(value) == text


def test_a_private_file_is_readable_by_its_owner_only(tmp_path: Path):
    path = tmp_path / "ready.json"
    path.write_text("", encoding="utf-8")
    path.chmod(0o644)

    write_whole(path, "secret", mode=PRIVATE)

    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failed_write_leaves_the_old_file_and_no_other_file(tmp_path: Path, monkeypatch):
    path = tmp_path / "state.json"
    path.write_text("old", encoding="utf-8")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(Failure, match="No space left"):
        write_whole(path, "new")

    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_to_a_link_replaces_its_target(tmp_path: Path):
    target = tmp_path / "target"
    link = tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)

    write_whole(link, "new")

    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_writing_to_a_device_does_not_replace_it(tmp_path: Path):
    before = Path(os.devnull).stat()
    link = tmp_path / "null"
    link.symlink_to(os.devnull)

    write_whole(link, "gone")

    assert Path(os.devnull).stat().st_rdev == before.st_rdev


def test_writing_to_a_folder_is_refused(tmp_path: Path):
    with pytest.raises(Failure, match="cannot write"):
        write_whole(tmp_path, "text")


def test_a_report_that_cannot_be_removed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    report = tmp_path / "report.html"
    report.touch()
    monkeypatch.setattr(Path, "unlink", refuse_removal)

    with pytest.raises(Failure) as caught:
        remove_report(report)

    assert caught.value.message == f"cannot replace {report}: Read-only file system"
    remove_report(None)
    remove_report(tmp_path / "missing")
    remove_report(Path(os.devnull))


def test_a_ready_file_that_cannot_be_replaced_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "ready.json"
    path.write_text("old")
    monkeypatch.setattr(Path, "unlink", refuse_removal)

    with pytest.raises(Failure) as caught, ready_file(path):
        pytest.fail("the emulator was started")

    assert caught.value.message == f"cannot replace {path}: Read-only file system"
    assert path.read_text() == "old"


def refuse_removal(*_: object) -> None:
    raise OSError(30, "Read-only file system")


def test_unprintable_characters_in_json_stay_json():
    text = printable_json({"a": "\x85\u202e", "b": 1})

    assert text == '{\n  "a": "\\u0085\\u202e",\n  "b": 1\n}'
    assert json.loads(text) == {"a": "\x85\u202e", "b": 1}
