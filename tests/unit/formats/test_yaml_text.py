"""YAML is read safely, and only null, true, false and plain numbers mean more than their text."""

import pytest

from annotator.domain.errors import BadInput
from annotator.formats.syntax.tree import TreeProblems
from annotator.formats.syntax.yaml_text import load_yaml, resolve


def load(text: str) -> object:
    return resolve(load_yaml(text.encode(), "f.yaml").value)


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        TreeProblems(load_yaml(text.encode(), "f.yaml")).raise_if_any()
    return str(caught.value)


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "yes",
        "on",
        "2026-01-01",
        "1e3",
        "12:30",
        "0o7",
        "007",
        "0x1F",
        "1_000",
        ".5",
        "nan",
        ".inf",
        "=",
        "<<",
    ],
)
def test_words_that_yaml_would_rather_read_as_something_else_stay_texts(word: str) -> None:
    assert load(f"a: {word}") == {"a": word}


def test_plain_words_of_the_core_schema_are_values_and_quoted_ones_are_texts() -> None:
    assert load('{a: true, b: "true", c: 3, d: "3", e: -0.5, f: null, g: ~, h: , i: 10000000000000000000000}') == {
        "a": True, "b": "true", "c": 3, "d": "3", "e": -0.5, "f": None, "g": None, "h": None, "i": 10**22,
    }  # fmt: skip


def test_line_separators_are_characters_and_do_not_move_line_numbers() -> None:
    text = 'a: "x\u2028 y\u0085z \u2029"\nb: \u2028plain\nb: again\n'
    assert refusal(text) == "f.yaml:3: expected each key once, found 'b' again"
    assert load(text.replace("b: again\n", "")) == {"a": "x\u2028 y\u0085z \u2029", "b": "\u2028plain"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml: expected a YAML document, found an empty file"),
        ("# only a comment\n", "f.yaml: expected a YAML document, found an empty file"),
        ("a: 1\nb: [1, 2\n", "f.yaml:3: expected YAML, found did not find expected ',' or ']'"),
        ("a:\n\t- b\n", "f.yaml:2: expected YAML, found found character that cannot start any token"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2: expected one YAML document, found a second one"),
        ("a: 1\nb: *x\n", "f.yaml:2: expected an alias of something complete above it, found *x"),
        ("a: &x\n  - *x\n", "f.yaml:2: expected an alias of something complete above it, found *x"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3: expected YAML without merge keys, found <<"),
        ("a: &x [1]\n*x : 2\n", "f.yaml:2: expected a text as a key, found a list"),
        ("a: !!python/object/apply:os.system [ls]\n", "f.yaml:1: expected YAML without tags, found "),
        ("a: 1\n? [b]\n: 2\n", "f.yaml:2: expected a text as a key, found a list"),
        ("a: 1\nb: \x07\n", "f.yaml:2: expected YAML without control characters, found U+0007"),
        ("a: 1\nb: 'x\n", "f.yaml:3: expected YAML, found found unexpected end of stream"),
    ],
)
def test_what_is_no_safe_yaml_is_refused_with_its_line(text: str, message: str) -> None:
    assert refusal(text).startswith(message)


def test_a_yaml_bomb_is_refused_before_it_goes_off() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, after in zip("abcdefghi", "bcdefghij", strict=True)
    )
    expected = "aliases of at most 10,000 values together"
    assert refusal(bomb) == f"f.yaml:5: expected {expected}, found more at *d"


def test_a_few_aliases_stand_for_what_they_name() -> None:
    text = "a: &x {b: [検索, 2]}\nc: *x\nd: [*x, &y e, *y]\n*y : 1\n"
    value = {"b": ["検索", 2]}
    assert load(text) == {"a": value, "c": value, "d": [value, "e", "e"], "e": 1}


def test_aliases_cannot_nest_deeper_than_fifty_either() -> None:
    chain = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60))
    assert refusal(chain) == "f.yaml:50: expected nesting of at most 50 levels, found more"


def test_what_stands_within_an_alias_is_located_at_the_alias() -> None:
    tree = load_yaml(b"a: &x\n  b: {c: 1}\nd:\n  - *x\n", "f.yaml")
    assert tree.locate([("d", 0, "b", "c")])["d", 0, "b", "c"] == 4


def test_every_key_given_twice_is_told() -> None:
    assert refusal("a: 1\na: 2\nb: {c: 1, c: 2}\n").split("\n") == [
        "f.yaml:2: expected each key once, found 'a' again",
        "f.yaml:3: expected each key once, found 'c' again",
    ]


def test_nesting_deeper_than_fifty_is_refused() -> None:
    assert "nesting of at most 50 levels" in refusal("[" * 100_000)
    assert load("[" * 50 + "]" * 50)


def test_places_are_located_by_line() -> None:
    tree = load_yaml(b"a:\n  - b: 1\n    c:\n      - 2\n      - 3\nd: {e: [4,\n 5]}\n", "f.yaml")
    locations = [("a", 0, "b"), ("a", 0, "c", 1), ("d", "e", 1), ("d",)]
    lines = tree.locate(locations)
    assert [lines[location] for location in locations] == [2, 5, 7, 6]
