"""Reading YAML: plain values only, bounded, YAML 1.2, and every refusal at its place."""

from __future__ import annotations

import pytest

from hosting_emulator.scenario import yaml_text
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.yaml_text import DEEPEST, LONGEST, read_yaml, write_yaml


def refusal(text: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        read_yaml(text, "file.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("10m", "10m"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ('"12"', "12"),
        ('"\\U0010FFFF"', "\U0010ffff"),
        ("[a, 1]", ["a", 1]),
        ("{a: {b: c}}", {"a": {"b": "c"}}),
    ],
)
def test_values_are_those_of_yaml_1_2(text, value):
    result = read_yaml(f"key: {text}\n", "file.yaml").data["key"]

    assert result == value
    assert type(result) is type(value)


def test_a_file_may_declare_the_version_1_2():
    assert read_yaml("%YAML 1.2\n---\na: yes\n", "file.yaml").data == {"a": "yes"}


def test_yaml_keys_are_always_text():
    assert read_yaml("1: a\ntrue: b\nyes: c\n", "file.yaml").data == {
        "1": "a",
        "true": "b",
        "yes": "c",
    }


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the file is empty, but a scenario needs a name and a description"),
        (
            "# only a comment\n",
            1,
            1,
            "the file is empty, but a scenario needs a name and a description",
        ),
        ("a: 1\nb: *a\n", 2, 4, "the alias *a is refused: repeat the value instead"),
        ("a: &x [1]\nb: *x\n", 2, 4, "the alias *x is refused: repeat the value instead"),
        ("a: 1\n<<: *x\n", 2, 5, "the alias *x is refused: repeat the value instead"),
        ("a: 1\n---\nb: 2\n", 2, 1, "the file must not have more than one document"),
        ("a: 1\nb: 2\na: 3\n", 3, 1, "the key 'a' occurs twice (first on line 1)"),
        ("a: {x: 1, x: 2}\n", 1, 11, "the key 'x' occurs twice (first on line 1)"),
        (
            "a: !!python/object:os.system x\n",
            1,
            4,
            "the tag 'tag:yaml.org,2002:python/object:os.system' is refused: write a plain "
            "value without a tag",
        ),
        (
            "a: 1\nb: !env HOME\n",
            2,
            4,
            "the tag '!env' is refused: write a plain value without a tag",
        ),
        (
            "a: !!set {b}\n",
            1,
            4,
            "the tag 'tag:yaml.org,2002:set' is refused: write a plain value without a tag",
        ),
        ("? [a, b]\n: c\n", 1, 3, "a key must be a string, not a mapping or a list"),
        ("a: .inf\n", 1, 4, "'.inf' is not a number"),
        ("a: 1e999\n", 1, 4, "the number '1e999' is too large"),
        ("a: 99999999999999999999\n", 1, 4, "the number '99999999999999999999' is too large"),
        (f"a: {'9' * 5000}\n", 1, 4, "'9999999999999999999999999999999999999999' is not a number"),
        ('a: 1\nb: "\\ud800"\n', 2, 4, "the text contains half a character (a lone surrogate)"),
        ("a: 1\nb: \x01\n", 2, 1, "this is not YAML: the character '\\x01' is not allowed here"),
        (
            "a: [1\nb: 2\n",
            1,
            4,
            "this is not YAML: this quote or bracket is not closed (line 2: expected ',' or "
            "']', but got ':')",
        ),
        (
            'a: "x\nb: 2\n',
            1,
            4,
            "this is not YAML: this quote or bracket is not closed (line 3: found "
            "unexpected end of stream)",
        ),
        (
            "a:\n  b: 1\n c: 2\n",
            3,
            2,
            "this is not YAML: expected <block end>, but found '<block mapping start>'; "
            "check the indentation",
        ),
        ("a: b: c\n", 1, 5, "this is not YAML: mapping values are not allowed here"),
        (
            "a:\n\tb: 1\n",
            2,
            1,
            "this is not YAML: found character '\\t' that cannot start any token",
        ),
        ("@a: 1\n", 1, 1, "this is not YAML: found character '@' that cannot start any token"),
        (
            "%YAML 1.1\n---\na: yes\n",
            1,
            1,
            "a scenario is YAML 1.2, not YAML 1.1: remove this line",
        ),
        (
            "# a comment\n%YAML 1.5\n---\na: 1\n",
            2,
            1,
            "a scenario is YAML 1.2, not YAML 1.5: remove this line",
        ),
        (
            "# a comment\r%YAML 1.1\r---\ra: yes\r",
            1,
            13,
            "a scenario is YAML 1.2, not YAML 1.1: remove this line",
        ),
        (
            'a: 1\nb: ["\\U00110000"]\n',
            2,
            6,
            "the character \\U00110000 does not exist: the last is \\U0010FFFF",
        ),
        (
            'a: "\\UFFFFFFFF"\n',
            1,
            5,
            "the character \\UFFFFFFFF does not exist: the last is \\U0010FFFF",
        ),
    ],
)
def test_refused_yaml_is_refused_at_its_line_and_column(text, line, column, message):
    error = refusal(text)

    assert (error.line, error.column) == (line, column)
    assert error.message == message
    assert str(error) == f"file.yaml:{line}:{column}: {error.message}"


def test_the_length_of_a_file_is_limited():
    line = "# 456789\n"
    text = "a: 1\n" + line * (LONGEST // len(line) - 1)
    assert read_yaml(text, "file.yaml").data == {"a": 1}

    error = refusal("a: 1\n" + "#" * LONGEST)
    assert str(error) == "file.yaml:1:1: the file is longer than 250000 characters"


def test_the_number_of_values_in_a_file_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(yaml_text, "MOST", 10)

    # The starts and ends of the list and of the document count too.
    read_yaml("[1, 2, 3, 4, 5]", "file.yaml")

    assert refusal("[1, 2, 3, 4, 5, 6]").message == "the file has more than 10 values"


def test_the_depth_of_a_file_is_limited():
    def nested(depth: int) -> str:
        return "[" * depth + "]" * depth

    read_yaml(nested(DEEPEST), "file.yaml")

    message = "this value is nested more than 20 levels deep"
    assert refusal(nested(DEEPEST + 1)).message == message
    assert refusal("{a: " * 50_000).message == message
    deep = "".join(f"{'  ' * depth}a:\n" for depth in range(200))
    assert refusal(deep).line == DEEPEST + 1


def test_nested_yaml_aliases_are_refused_at_the_first_nested_line():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
    )

    assert refusal(bomb).line == 2


@pytest.mark.parametrize("length", range(1, 12))
def test_written_yaml_breaks_a_line_at_the_first_space_from_the_hundredth_character(length: int):
    words = " ".join(["x" * length] * 60)

    text = write_yaml({"note": words})

    *broken, _ = text.splitlines()
    assert broken
    assert all(len(line) >= 100 > len(line) - length - 1 for line in broken)
    assert read_yaml(text, "small.yaml").data == {"note": words}
