"""Whatever YAML is read line by line has the value that the parser gives it; everything else is left to the parser."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.errors import BadInput, Problems
from annotator.formats.syntax.yaml_lines import read_plain_style
from annotator.formats.syntax.yaml_text import _build, write_entry

TEXTS = st.text("ab 1:#-\"'\\[]{}&*!|>%@`,?\n\t\r\u00a0\u0085\u2028\u3000\ufeff検색é🙂", max_size=12)
SCALARS = st.one_of(
    TEXTS,
    st.integers(-1000, 1000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
)
KEYS = st.one_of(st.sampled_from(["id", "query", "on", "null", "x-y", "y", "a1"]), TEXTS.filter(bool))
VALUES = st.recursive(
    SCALARS,
    lambda held: st.one_of(st.lists(held, max_size=3), st.dictionaries(KEYS, held, max_size=3)),
    max_leaves=12,
)
ODD = st.sampled_from(
    [
        "", " ", "#", "# c", "  # c", "---", "...", "%YAML 1.1", "a:", "a: ", "a:  1", "a: 1 ", "a: 1 # c", "a: 1#c", "a: # c",
        "a: x", "a: -", "a: []", "a: {}", "a: [1]", "a: {b: 1}", 'a: "x"', 'a: "x" # c', 'a: "x"y', "a: 'x'", 'a: "x', 'y"',
        'a: "\\u3042\\x41\\n\\""', 'a: "\\q"', 'a: "\\ud800"', 'a: "\\/"', 'a: "\\x"', "a: null", "a: true", "a: 1.5", "a: 007",
        "a: -1", "a: 1e3", "a: &x 1", "a: *x", "a: !!str 1", "a: |", "a: >", "b:", "b: 2", "<<: 1", "? a", ": 1", "-", "- ", "- 1",
        '- "x"', "- x", "- a:", "- a: 1", "- - 1", "- []", "-1", "- b: 2", '"a": 1', '"a b":', '"": 1', "'a': 1", "a:1", "é: 1",
        "a: ~", "a: \t1", "\ta: 1", "a: 1\r", "a: \"\u2028\"", "a: \"\u0085\"", "# \u0085", "a: \u00a0", "aé: 1", '- "a": 1',
    ]
)  # fmt: skip


def parse(text: str) -> Any:
    """Return the parser's value; None if it refuses the text."""
    problems = Problems("f.yaml")
    try:
        value = _build(text, problems, frozenset(), {})
    except BadInput:
        return None
    return None if problems.errors else value


def show(value: Any) -> Any:
    """Return the value with the types of its parts, in order."""
    if isinstance(value, dict):
        return [(type(key).__name__, key, show(item)) for key, item in value.items()]
    if isinstance(value, list):
        return ["list", *map(show, value)]
    return type(value).__name__, value


@given(
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.integers(0, 20),
    st.sampled_from(["", "  ", "    ", " "]),
    ODD,
)
def test_a_line_of_any_kind_in_between_is_read_as_the_parser_reads_it_or_left_to_it(
    value: dict[str, Any], place: int, indent: str, line: str
) -> None:
    lines = [text for key, item in value.items() for text in write_entry(key, item, 0)]
    lines.insert(place, indent + line)
    text = "\n".join(lines)
    read = read_plain_style(text)
    if read is not None:
        assert show(read) == show(parse(text))


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_what_this_program_writes_is_read_as_the_parser_reads_it_or_left_to_it(value: dict[str, Any]) -> None:
    text = "\n".join(line for key, item in value.items() for line in write_entry(key, item, 0))
    read = read_plain_style(text)
    if read is not None:
        assert show(read) == show(parse(text))


def test_every_kind_of_line_of_the_evaluators_files_is_read_without_the_parser() -> None:
    text = """# head
dataset:
  version: "1.0.0"
  total_queries: 2

queries:
  - id: "Q\\"1\\" \\u2028"
    "a key": []
    expected_docs:
      - doc_id: "検색"
        relevance: 3   # Perfect
        description: "x"
      - doc_id: "b"
        relevance: 0
    metadata:
      tags:
        - "a"
        - 1.5
      known: true
  - id: "Q2"
    expected_docs: []
"""
    assert read_plain_style(text) is not None
    assert show(read_plain_style(text)) == show(parse(text))
    for before, after in pairwise(text.splitlines(keepends=True)):  # and with any line twice, or left out
        for changed in (text.replace(before, before + before, 1), text.replace(after, "", 1)):
            value = read_plain_style(changed)
            assert value is None or show(value) == show(parse(changed))
