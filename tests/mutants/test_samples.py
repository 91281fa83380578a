"""Samples of mutants: how they are drawn, stored, continued and compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.equivalents import read_equivalent_mutants, read_untested_lines
from mutants.product import Product, Renames
from mutants.report import print_comparison, print_summary
from mutants.samples import (
    Outcome,
    Result,
    append_result,
    draw,
    quotas,
    read_results,
)


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """Two packages, one with three times as many lines as the other."""
    for package, count in (("small", 10), ("large", 30)):
        folder = tmp_path / "emulator" / "hosting_emulator" / package
        folder.mkdir(parents=True)
        lines = [f"    g({number} < a)\n" for number in range(count)]
        (folder / "part.py").write_text("def f(a):\n" + "".join(lines))
    return Product(tmp_path)


def result(**fields: object) -> Result:
    values = {
        "function": "hosting_emulator.large.part:f",
        "operator": "comparison",
        "ordinal": 0,
        "package": "hosting_emulator.large",
        "outcome": Outcome.KILLED,
        "killer": "tests/test_a.py::test_a",
        "tests_run": 1,
        "tests_covering": 2,
        "seconds": 1.5,
        "file": "emulator/hosting_emulator/large/part.py",
        "line": 2,
        "diff": "-a\n+b",
    }
    return Result(**{**values, **fields})  # type: ignore[arg-type]


def test_a_seed_draws_the_same_sample_again(product: Product) -> None:
    first = draw(product.all_mutants(), 8, "seed")
    repeated = draw(Product(product.root).all_mutants(), 8, "seed")
    other = draw(product.all_mutants(), 8, "another seed")

    assert [m.identity for m in first] == [m.identity for m in repeated]
    assert {m.identity for m in first} != {m.identity for m in other}


def test_each_package_has_its_share_of_a_sample(product: Product) -> None:
    sample = draw(product.all_mutants(), 8, "seed")

    counts = Counter(mutant.package for mutant in sample)
    assert counts == {"hosting_emulator.large": 6, "hosting_emulator.small": 2}


def test_a_sample_has_at_most_one_mutant_of_a_line(product: Product) -> None:
    sample = draw(product.all_mutants(), 30, "seed")

    assert max(Counter((m.file, m.change.line) for m in sample).values()) == 1


def test_mutants_that_were_drawn_are_not_drawn_again(product: Product) -> None:
    mutants = list(product.all_mutants())
    first = draw(mutants, 20, "seed")

    second = draw(mutants, 20, "seed", {mutant.identity for mutant in first})

    lines = {(mutant.file, mutant.change.line) for mutant in first}
    assert not lines & {(mutant.file, mutant.change.line) for mutant in second}
    assert len(second) == 20


def test_quotas_add_up_to_the_count() -> None:
    assert quotas({"a": 1, "b": 1, "c": 1}, 100) == {"a": 34, "b": 33, "c": 33}


def test_a_stored_mutant_is_found_again(product: Product) -> None:
    for mutant in draw(product.all_mutants(), 8, "seed"):
        assert product.find(mutant.identity) == mutant


def test_a_diff_shows_the_changed_line(product: Product) -> None:
    (mutant, *_) = [m for m in product.all_mutants() if m.identity.operator == "comparison"]

    assert mutant.diff() == "@@ -2 +2 @@\n-    g(0 < a)\n+    g((0 <= a))"


def test_renames_take_the_longest_name_that_begins_a_function(tmp_path: Path) -> None:
    path = tmp_path / "renames.txt"
    path.write_text(
        "# moved\n"
        "hosting_emulator.server = hosting_emulator.http\n"
        "hosting_emulator.server.guard:Site = hosting_emulator.http.origin:Origin\n"
    )
    renames = Renames.read(path)

    new = "hosting_emulator.http.origin:Origin.base_url"
    assert renames.new_name("hosting_emulator.server.guard:Site.base_url") == new
    assert renames.old_name(new) == "hosting_emulator.server.guard:Site.base_url"
    assert renames.new_name("hosting_emulator.server.app:run") == "hosting_emulator.http.app:run"
    assert renames.new_name("hosting_emulator.servers:run") == "hosting_emulator.servers:run"


def test_a_rename_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "renames.txt"
    path.write_text("a = b\nc\n")

    with pytest.raises(ValueError, match=r"renames\.txt:2"):
        Renames.read(path)


def test_results_are_read_back_and_the_last_of_a_mutant_holds(tmp_path: Path) -> None:
    path = tmp_path / "results" / "seed.jsonl"
    survived = result(outcome=Outcome.SURVIVED, killer="")
    append_result(path, survived)
    append_result(path, result(ordinal=1))
    append_result(path, result())

    results = read_results(path)

    assert list(results.values()) == [result(), result(ordinal=1)]


def test_a_mutant_that_only_the_record_notices_counts_as_surviving(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = print_summary([result(), result(ordinal=1, outcome=Outcome.KILLED_BY_RECORD)], {})

    output = capsys.readouterr().out
    assert failed
    assert "killed only by the record: emulator/hosting_emulator/large/part.py:2" in output
    assert "50.0 % of those that count are killed" in output


def test_an_undecided_mutant_is_not_killed_but_is_counted_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    undecided = result(ordinal=2, outcome=Outcome.UNDECIDED)
    survivor = result(ordinal=1, outcome=Outcome.SURVIVED)

    failed = print_summary([result(), survivor, undecided], {})

    output = capsys.readouterr().out
    assert failed
    assert "33.3 % of those that count are killed" in output
    assert "50.0 % of those that are decided are killed" in output


def test_an_equivalent_mutant_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    survivor = result(outcome=Outcome.SURVIVED)

    failed = print_summary([survivor, result(ordinal=1)], {survivor.identity: "It is the same."})

    assert not failed
    assert "100.0 % of those that count are killed" in capsys.readouterr().out


def test_a_mutant_that_was_killed_and_survives_after_a_move_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = [result(), result(ordinal=1, outcome=Outcome.SURVIVED)]
    moved = [replace(row, function="hosting_emulator.new.part:f") for row in before]
    after = [replace(row, outcome=Outcome.SURVIVED) for row in moved]
    renames = Renames({"hosting_emulator.large": "hosting_emulator.new"})

    assert print_comparison(before, after, renames)
    output = capsys.readouterr().out
    assert "lost: hosting_emulator.new.part:f [comparison 0]" in output
    assert "1 lost" in output
    assert not print_comparison(before, moved, renames)


def test_each_equivalent_mutant_exists_and_each_untested_line_has_a_reason() -> None:
    product = Product(Path(__file__).parents[2])

    gone = [name for name in read_equivalent_mutants() if product.find(name) is None]

    assert gone == []
    assert all(read_untested_lines().values())


def test_an_equivalent_mutant_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.toml"
    path.write_text('[[mutant]]\nfunction = "a:b"\noperator = "not"\nordinal = 0\nreason = ""\n')

    with pytest.raises(ValueError, match="row 1 has no reason"):
        read_equivalent_mutants(path)
