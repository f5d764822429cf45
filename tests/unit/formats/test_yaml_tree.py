"""YAML is read safely, and only null, true, false and plain numbers mean more than their text."""

import pytest

from annotator.domain.errors import BadInput
from annotator.formats.yaml_tree import load_yaml, resolve


def load(text: str) -> object:
    return resolve(load_yaml(text.encode(), "f.yaml").value)


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        load_yaml(text.encode(), "f.yaml")
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
        ("a: &x 1\nb: *x\n", "f.yaml:2: expected YAML without aliases, found *x"),
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
    assert refusal(bomb) == "f.yaml:2: expected YAML without aliases, found *a"


def test_nesting_deeper_than_fifty_is_refused() -> None:
    assert "nesting of at most 50 levels" in refusal("[" * 100_000)
    assert load("[" * 50 + "]" * 50)


def test_places_are_located_by_line() -> None:
    tree = load_yaml(b"a:\n  - b: 1\n    c:\n      - 2\n      - 3\nd: {e: [4,\n 5]}\n", "f.yaml")
    places = [("a", 0, "b"), ("a", 0, "c", 1), ("d", "e", 1), ("d",)]
    found = tree.locate(places)
    assert [found[place] for place in places] == [2, 5, 7, 6]
