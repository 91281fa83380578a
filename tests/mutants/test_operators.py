"""The mutation operators: what each changes, what is left alone, and how a mutant is named."""

from __future__ import annotations

import ast

import pytest

from mutants.operators import DESCRIPTIONS, changes

#: An expression or statement, the operator, and every result of that operator.
EXAMPLES = [
    ("x = a < b", "comparison", ["x = (a <= b)"]),
    ("x = a in b", "comparison", ["x = (a not in b)"]),
    ("x = a < b == c", "comparison", ["x = (a <= b == c)", "x = (a < b != c)"]),
    ("x = a and b", "boolean operator", ["x = (a or b)"]),
    ("x = a + b * c", "arithmetic", ["x = (a - b * c)", "x = a + (b / c)"]),
    ("x += 1", "arithmetic", ["x -= 1"]),
    ("x = 3", "number plus one", ["x = 4"]),
    ("x = 0", "number minus one", ["x = (-1)"]),
    ("x = 'a'", "string", ["x = 'XXaXX'"]),
    ("x = f'a{b}'", "string", ["x = f'XXaXX{b}'"]),
    ("x = True", "true or false", ["x = False"]),
    ("x = not (a or b)", "not", ["x = (a or b)"]),
    ("f(x)", "statement", ["pass"]),
    ("self.x = 1", "statement", ["pass"]),
    ("raise ValueError", "statement", ["pass"]),
    ("return x", "return", ["return None"]),
    ("break", "loop", ["continue"]),
    ("x = f(a, b=c)", "keyword argument", ["x = f(a)"]),
    ("x = a if b else c", "condition true", ["x = a if True else c"]),
    ("x = [a for a in b if a]", "condition false", ["x = [a for a in b if False]"]),
]


def changed_sources(source: str, operator: str) -> list[str]:
    return [change.apply(source) for change in changes(source) if change.operator == operator]


@pytest.mark.parametrize(("statement", "operator", "expected"), EXAMPLES)
def test_an_operator_changes_one_place_at_a_time(
    statement: str, operator: str, expected: list[str]
) -> None:
    source = f"def f():\n    {statement}\n"

    assert changed_sources(source, operator) == [f"def f():\n    {text}\n" for text in expected]


def test_an_argument_of_a_decorator_is_removed() -> None:
    source = "@command('a', hidden=True)\ndef f(): ...\n"

    assert changed_sources(source, "decorator argument") == [
        "@command(hidden=True)\ndef f(): ...\n",
        "@command('a')\ndef f(): ...\n",
    ]


def test_a_default_is_changed() -> None:
    assert changed_sources("def f(a, b=1, *, c=True): ...\n", "default") == [
        "def f(a, b=2, *, c=True): ...\n",
        "def f(a, b=1, *, c=False): ...\n",
    ]


def test_every_operator_has_a_description_and_an_example() -> None:
    operators = {operator for _, operator, _ in EXAMPLES} | {"decorator argument", "default"}

    assert operators == set(DESCRIPTIONS)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""\n',
        'def f():\n    """A docstring."""\n',
        "def f(a: Literal['x']) -> 'Value': ...\n",
        "class A:\n    size: Annotated[int, 'bytes']\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "__all__ = ['a']\n",
        "@overload\ndef f(a=1): ...\n",
        "def f():\n    raise NotImplementedError\n",
        "from a import b\n",
    ],
)
def test_text_that_never_decides_anything_is_left_alone(source: str) -> None:
    assert changes(source) == []


def test_a_mutant_in_an_f_string_changes_the_whole_f_string() -> None:
    source = "def f(a):\n    return f'{a + 1} of {a}'\n"

    (changed,) = changed_sources(source, "arithmetic")

    assert changed == "def f(a):\n    return f'{a - 1} of {a}'\n"


def test_the_name_of_a_mutant_survives_new_code_around_it() -> None:
    function = "def f(a):\n    g(a)\n    return a < 1\n"
    before = changes(function)
    after = changes(f"X = 1\n\ndef e(b):\n    return b < 2\n\n\n{function}")

    names = [(change.function, change.operator, change.ordinal) for change in before]
    assert names == [
        (change.function, change.operator, change.ordinal)
        for change in after
        if change.function == "f"
    ]
    assert len(names) > 3


def test_a_constant_has_its_own_ordinals() -> None:
    before = {(c.function, c.operator, c.ordinal) for c in changes("B = 2\n")}
    after = {(c.function, c.operator, c.ordinal) for c in changes("A = 1\nB = 2\n")}

    assert before <= after


def test_functions_of_the_same_name_are_different_mutants() -> None:
    source = "def f(): g()\ndef f(): g()\nclass A:\n    def f(self): g()\n"

    functions = [change.function for change in changes(source)]

    assert functions == ["f", "f#2", "A.f"]


def test_code_that_runs_at_import_is_marked() -> None:
    source = "A = 1\ndef f(b=2):\n    return 3\n"

    marked = {(c.line, c.runs_at_import) for c in changes(source)}

    assert marked == {(1, True), (2, True), (3, False)}


def test_every_change_compiles() -> None:
    source = (
        "def f(a, *b, c=1, **d):\n"
        "    for e in sorted(b, key=lambda x: -x):\n"
        "        if a and not (e or c):\n"
        "            continue\n"
        "        with g(a, b=1) as h:\n"
        "            print(f'{a!r:>{c}} {h}', 'x' 'y')\n"
        "        yield e if c > 1 else [i for i in b if i]\n"
        "    match a:\n"
        "        case 'x' | 1:\n"
        "            del d['k']\n"
    )

    changed = [change.apply(source) for change in changes(source)]

    assert len(changed) > 25
    for text in changed:
        ast.parse(text)
