"""Small YAML files that would grow into large work: refused in one line, after bounded work."""

from __future__ import annotations

import pytest

from hosting_emulator.scenario import yaml_text
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.yaml_text import LONGEST, read_yaml
from tests.support.function_calls import count_calls


def billion_laughs(levels: int) -> str:
    lines = ["l0: &l0 [ha, ha]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


YAML_BOMBS = {
    "a billion laughs": (billion_laughs(10), "alias"),
    "one alias": ("a: &a 1\nb: *a", "alias"),
    "an alias of itself": ("a: &a [*a]", "alias"),
    "a merge of itself": ("a: &a {<<: *a}", "alias"),
    "nested lists": ("a: " + "[" * 50_000, "nested"),
    "nested mappings": ("\n".join(" " * n + "a:" for n in range(600)), "nested"),
    "nested lists in a block": ("- " * 10_000 + "x", "nested"),
    "many values": ("a: [" + "1," * 100_000 + "]", "more than"),
    "many keys": ("\n".join(f"k{n}: 1" for n in range(20_000)), "more than"),
    "a long file": ("# " + "x" * LONGEST, "longer than"),
    "a large number": ("name: " + "9" * 200_000, "number"),
    "a large hexadecimal number": ("name: 0x" + "f" * 200_000, "too large"),
    "an infinite number": ("name: 1e999", "too large"),
    "infinity itself": ("name: .inf", "not a number"),
    "a key twice": ("name: a\nname: b", "twice"),
    "a tag": ("name: !!python/object/apply:os.system [id]", "tag"),
    "binary": ("name: !!binary AAAA", "tag"),
    "a set": ("name: !!set {a, b}", "tag"),
    "two documents": ("name: a\n---\nname: b", "one document"),
    "a list as a key": ("? [a]\n: b", "must be a string"),
    "half a character": ('name: "\\ud800"', "surrogate"),
    "a long anchor": ("a: &" + "a" * 100_000 + " 1", ""),
}


@pytest.mark.parametrize("name", YAML_BOMBS)
def test_a_yaml_bomb_is_refused_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch):
    if name == "many values":  # many keys come to the bound itself, which takes half a second
        monkeypatch.setattr(yaml_text, "MOST", 2_000)
    text, why = YAML_BOMBS[name]

    with pytest.raises(ScenarioError) as refused:
        read_scenario(text, "bomb.yaml")

    assert why in str(refused.value)
    assert len(str(refused.value)) < 1_000
    assert "\n" not in str(refused.value)


def test_the_work_on_a_large_file_is_bounded(monkeypatch: pytest.MonkeyPatch):
    """Three times as many values are no more work: reading stops at the bound."""
    bound = 1_000
    monkeypatch.setattr(yaml_text, "MOST", bound)

    def work(values: int) -> int:
        def read() -> None:
            with pytest.raises(ScenarioError):
                read_yaml("a: [" + "1," * values + "]", "bomb.yaml")

        return count_calls(read)

    assert work(bound * 3) < 1.2 * work(bound + 10)
