"""JSON is read strictly, and a complaint knows its line."""

import json

import pytest

from annotator.domain.errors import BadInput
from annotator.formats.syntax.json_text import load_json
from annotator.formats.syntax.tree import TreeProblems


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        TreeProblems(load_json(text.encode(), "f.json")).raise_if_any()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: expected a JSON document, found an empty file"),
        ('{"a": 1,\n "b": }', "f.json:2: expected JSON, found Expecting value"),
        ('{"a": 1,\n "b": [1', "f.json:2: expected JSON, found Expecting ',' delimiter"),
        ('{"a": 1,\n "b": NaN}', "f.json:2: expected a JSON number that fits, found NaN"),
        ('{"a": 1,\n "b": -Infinity}', "f.json:2: expected a JSON number that fits, found -Infinity"),
        ('{"a": 1,\n "b": 1e999}', "f.json:2: expected a JSON number that fits, found 1e999"),
        ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}', "f.json:3: expected each key once, found 'c' again"),
        ('{"a": 1,\n "b": "\\u0000"}', "f.json:2: expected text without NUL"),
        ('{"a": 1,\n "\\ud800": 1}', "f.json:2: expected text without NUL"),
        ("[\n" * 60 + "]" * 60, "f.json:51: expected nesting of at most 50 levels, found more"),
        ("[" * 100_000, "f.json:1: expected nesting of at most 50 levels, found more"),
        (
            '{"q": {"a": 1,\n "a": 2},\n "b": "\\u12"}',
            "f.json:2: expected each key once, found 'a' again\nf.json:3: expected a JSON string",
        ),
        (
            '{"q": {"a": 1,\n "a": 2},\n "\\u12": 1}',
            "f.json:2: expected each key once, found 'a' again\nf.json:3: expected a JSON string",
        ),
        ('{"a":\n' + "9" * 5_000 + "}", "f.json:2: expected a JSON number that fits"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, message: str) -> None:
    assert refusal(text).startswith(message)


def test_everything_that_the_parser_lets_pass_is_told_in_one_go() -> None:
    text = '{"a": 1,\n "a": NaN,\n "b": "\\u0000",\n "한": {"c": 1, "c": 1e999}}'
    assert refusal(text).split("\n") == [
        "f.json:2: expected each key once, found 'a' again",
        "f.json:2: expected a JSON number that fits, found NaN",
        'f.json:3: expected text without NUL characters or lone surrogates, found "\\u0000"',
        "f.json:4: expected each key once, found 'c' again",
        "f.json:4: expected a JSON number that fits, found 1e999",
    ]


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    assert load_json(rb'{"a": "\\u0000 \\ud800 \ud83d\udd0e"}', "f").value == {"a": "\\u0000 \\ud800 🔎"}


def test_places_are_located_by_line() -> None:
    value = {
        "queries": [{"id": 'a,]}"{', "x": [1, [], {}, 2]}, {"id": "b", "g": {"d\\": 3, "e\n": [True, None]}}]
    }
    text = json.dumps(value, indent=1)
    tree = load_json(text.encode(), "f.json")
    locations = [
        ("queries", 0, "x", 3),
        ("queries", 1),
        ("queries", 1, "g", "d\\"),
        ("queries", 1, "g", "e\n", 1),
    ]
    lines = tree.locate(locations)
    source = text.split("\n")
    assert [source[lines[location] - 1].strip() for location in locations] == [
        "2",
        "{",
        '"d\\\\": 3,',
        "null",
    ]
