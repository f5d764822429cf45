"""CSV, TSV and JSONL rows: kept exactly, with the line each begins on, and every bad line named."""

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.formats.syntax.tables import read_rows


def problems(data: bytes, kind: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_rows(data, "f", kind=kind)
    return [str(problem).removeprefix("f:") for problem in caught.value.problems]


def test_cells_are_kept_exactly_and_lines_are_where_rows_begin() -> None:
    text = 'query_id,text\n" a ","line one\nline ""two"", \u2028 three"\r\n\nb\u3099,\n'
    table = read_rows(b"\xef\xbb\xbf" + text.encode(), "f.csv")
    assert table.columns == ("query_id", "text")
    assert [tuple(row) for row in table.rows] == [
        (2, {"query_id": " a ", "text": 'line one\nline "two", \u2028 three'}),
        (5, {"query_id": "b\u3099"}),
    ]


def test_the_kind_is_known_by_suffix_or_by_the_first_line() -> None:
    assert read_rows(b"query_id\ttext\na\tb\n", "f").kind == "tsv"
    assert read_rows(b"query_id,text\na,b\n", "f").kind == "csv"
    assert read_rows(b'{"a": 1}\n', "f").kind == "jsonl"
    with pytest.raises(ValidationError, match=r"name it, one of: csv, tsv, jsonl$"):
        read_rows(b"hello\n", "f")


def test_a_cell_of_twenty_megabytes_is_read() -> None:
    assert (
        len(read_rows(b"a,b\n1," + b"x" * 20_000_000 + b"\n", "f", kind="csv").rows[0].cells["b"])
        == 20_000_000
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [" expected rows of a table, found an empty file"]),
        (" \n\n", [" expected rows of a table, found an empty file"]),
        ("a,b\n1\n1,2\n1,2,3\n", ["2: expected 2 cells, found 1", "4: expected 2 cells, found 3"]),
        ("a,b, a\n1,2,3\n", ["1: expected each column once, found 'a' again"]),
        (",a\n0,1\n", ["1: expected a name for every column, found an empty one"]),
        ('a,b\n1,2\n"3,4\n5,6\n', ["3: expected a CSV row, found unexpected end of data"]),
        ('a,b\n"1"x,2\n', ["2: expected a CSV row, found ',' expected after '\"'"]),
    ],
)
def test_every_bad_line_of_a_csv_is_named(text: str, expected: list[str]) -> None:
    assert problems(text.encode(), "csv") == expected


def test_every_bad_line_of_a_jsonl_is_named() -> None:
    text = '{"a": 1}\n[1]\n{"a": }\n\n{"a": 1, "a": 2}\n{"a": NaN}\n{"a": "\\ud800"}\n{"a": 1e999}\n'
    assert problems(text.encode(), "jsonl") == [
        "2: expected a JSON object, found a list",
        "3: expected a JSON object, found Expecting value at character 7",
        '5: expected each key once, found \'{"a": 1, "a": 2}\'',
        "6: expected JSON without NaN, found '{\"a\": NaN}'",
        '7: expected text without NUL characters or lone surrogates, found \'{"a": "\\\\ud800"}\'',
        "8: expected a number that fits, found '{\"a\": 1e999}'",
    ]


def test_a_line_of_jsonl_ends_at_its_line_feed_whatever_is_before_it() -> None:
    data = b'\xef\xbb\xbf{"a": "1"}\r\n {"a": "2"} \n\n\t\n{"a": "3\xe2\x80\xa8"}\r\n{"a": "4"}'
    table = read_rows(data, "f.jsonl")
    assert [(row.line, row.cells) for row in table.rows] == [
        (1, {"a": "1"}),
        (2, {"a": "2"}),
        (5, {"a": "3\u2028"}),
        (6, {"a": "4"}),
    ]


def test_what_follows_the_object_of_a_line_is_refused() -> None:
    text = '{"a": 1} {"b": 2}\n{"a": 1}x\n{"a": "1\n{"a": 1}\r\r\n{"a": 1}\x0c\n'
    assert problems(text.encode(), "jsonl") == [
        "1: expected a JSON object, found Extra data at character 10",
        "2: expected a JSON object, found Extra data at character 9",
        "3: expected a JSON object, found Unterminated string starting at at character 7",
        "5: expected a JSON object, found Extra data at character 9",
    ]


def test_a_jsonl_with_bytes_that_are_no_text_is_refused_with_their_line() -> None:
    assert problems(b'{"a": 1}\n{\n{"a": "\xff"}\n', "jsonl") == [
        "3: expected UTF-8 text (save it as UTF-8, or name the file's encoding), found byte 0xff"
    ]
