"""What is vendored is as it was fetched: all of the update that can be checked without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.vendor import update

TABLE = json.loads(update.TABLE.read_text(encoding="utf-8"))
FILES = [
    (f"{row['into']}/{name}", row.get("imports", {}))
    for row in TABLE["packages"]
    for name in row["files"].values()
]
ROW = {"package": "p", "version": "1.0.0", "into": "there", "files": {"dist/a.js": "a.js"}}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with one vendored file, and nothing of ours."""
    monkeypatch.setattr(update, "ROOT", tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.js").write_bytes(b"export default 1;\n")
    return tmp_path


def table(**hashes: str) -> dict[str, Any]:
    return {"packages": [ROW], "sha256": {f"there/{name}.js": h for name, h in hashes.items()}}


#: That of `export default 1;` and a line's end.
HASH = "96909e1dce85ca534fd8881f6c8369a8a87e06df5a4bf81ef44a72db195b0704"


def test_vendored_files_are_as_they_were_fetched(capsys: pytest.CaptureFixture[str]):
    assert update.main(["--check"]) == 0

    assert capsys.readouterr().out.strip() == (
        f"{len(FILES)} vendored files are as they were fetched"
    )


def test_nothing_lies_beside_them_that_nobody_fetched():
    folders = {Path(path).parent for path, _ in FILES}
    there = {
        file.relative_to(update.ROOT).as_posix()
        for folder in folders
        for file in (update.ROOT / folder).iterdir()
    }

    assert there == {path for path, _ in FILES}


@pytest.mark.parametrize(("path", "imports"), FILES, ids=[path for path, _ in FILES])
def test_they_are_fitted_for_a_browser(path: str, imports: dict[str, str]):
    content = (update.ROOT / path).read_bytes()

    assert update._fitted(content, path, imports) == content


def test_a_fitting_names_the_file_beside_and_no_source_map():
    fetched = b'import{h}from"preact";import"preact/hooks"\n//# sourceMappingURL=a.js.map'

    fitted = update._fitted(fetched, "a.js", {"preact": "./preact.js"})

    assert fitted == b'import{h}from"./preact.js";import"preact/hooks"\n'


def test_a_file_as_it_was_fetched_is_no_difference(elsewhere: Path):
    assert update.differing(table(a=HASH)) == []


def test_a_changed_file_is_found(elsewhere: Path):
    (elsewhere / "there" / "a.js").write_bytes(b"export default 2;\n")

    assert update.differing(table(a=HASH)) == ["there/a.js is not as it was fetched"]


def test_a_file_that_is_not_written_down_is_found(elsewhere: Path):
    assert update.differing(table()) == ["there/a.js is not as it was fetched"]


def test_a_missing_file_is_found_whoever_names_it(elsewhere: Path):
    (elsewhere / "there" / "a.js").unlink()

    assert update.differing(table(b=HASH)) == ["there/a.js is missing", "there/b.js is missing"]
