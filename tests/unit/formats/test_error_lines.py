"""Bad places in the files of single formats: the exact words, with the lines, all of them in one go."""

import pytest

from annotator.domain.errors import BadInput
from annotator.formats.registry import FORMATS, find_format, read_truth
from annotator.formats.syntax.source import MAX_LINE, InputSource
from annotator.formats.syntax.tree import MAX_TEXT

OWN = ("nablarch", "law", "law-compact", "ranked", "trec")

LAW = """\
{"queries": [
 {"query_id": "Q1", "query_text": "검색", "ground_truth": {"a": %s}},
 {"query_id": "Q1", "query_text": null, "ground_truth": {"b": %s,
   "c": %s, "c": %s}},
 {"query_text": ["x"], "ground_truth": [1]},
 {"query_id": "Q2", "query_text": "", "ground_truth": {"d": %s, "e": %s}}
]}
"""
LAW_LINES = [
    ":2: expected queries[0].ground_truth.a{0} to be a grade 0, 1, 2 or 3, found '3'",
    ":3: expected queries[1].query_text to be a text, found nothing",
    ":3: expected queries[1].ground_truth.b{0} to be a grade 0, 1, 2 or 3, found 2.5",
    ":3: expected queries[1].query_id to be given once, found 'Q1'",
    ":4: expected each key once, found 'c' again",
    ":5: expected queries[2].query_id to be an id: a text that is not empty, found nothing",
    ":5: expected queries[2].query_text to be a text, found a list",
    ":5: expected queries[2].ground_truth to be a mapping, found a list",
    ":6: expected queries[3].ground_truth.d{0} to be a grade 0, 1, 2 or 3, found -1",
    ":6: expected queries[3].ground_truth.e{0} to be a grade 0, 1, 2 or 3, found nothing",
]
GRADES = ('"3"', "2.5", "1", "2", "-1", "null")

NABLARCH = """\
queries:
  - id: Q1
    query: 検索
    expected_docs:
      - {doc_id: a, relevance: "3"}
      - {doc_id: a, relevance: 2}
      - {doc_id: b, relevance: 2.5, relevance: 1.5}
      - {relevance: -1}
  - id: Q1
    expected_docs: a
  - id: ""
    query: [x]
"""
NABLARCH_LINES = [
    ":5: expected queries[0].expected_docs[0].relevance to be a grade 0, 1, 2 or 3, found '3'",
    ":6: expected queries[0].expected_docs[1].doc_id to be given once in a query, found 'a'",
    ":7: expected each key once, found 'relevance' again",
    ":7: expected queries[0].expected_docs[2].relevance to be a grade 0, 1, 2 or 3, found '1.5'",
    ":8: expected queries[0].expected_docs[3].doc_id to be an id: a text that is not empty, found nothing",
    ":8: expected queries[0].expected_docs[3].relevance to be a grade 0, 1, 2 or 3, found '-1'",
    ":9: expected queries[1].query to be a text, found nothing",
    ":9: expected queries[1].id to be given once, found 'Q1'",
    ":10: expected queries[1].expected_docs to be a list, found 'a'",
    ":11: expected queries[2].id to be an id: a text that is not empty, found ''",
    ":12: expected queries[2].query to be a text, found a list",
]
RANKED = """\
[
 {"query": "검색", "relevant_documents": ["a", "b",
   "a", "", 2.5, null]},
 {"query": 7, "query": null, "relevant_documents": "a"},
 {"relevant_documents": []},
 "x",
 {"query": "y"}
]
"""
RANKED_LINES = [
    ":3: expected [0].relevant_documents[2] to be given once in a query, found 'a'",
    ":3: expected [0].relevant_documents[3] to be an id: a text that is not empty, found ''",
    ":3: expected [0].relevant_documents[4] to be an id: a text that is not empty, found 2.5",
    ":3: expected [0].relevant_documents[5] to be an id: a text that is not empty, found nothing",
    ":4: expected each key once, found 'query' again",
    ":4: expected [1].query to be a text, found nothing",
    ":4: expected [1].relevant_documents to be a list, found 'a'",
    ":5: expected [2].query to be a text, found nothing",
    ":6: expected [3] to be a mapping with query and relevant_documents, found 'x'",
    ":7: expected [4].relevant_documents to be a list, found nothing",
]
TREC = 'q 0 a 3\nq 0 a 2\nq 0 b 2.5\nq 0 c -1\nq 0 d "3"\nq 0 e\n'
TREC_LINES = [
    ":2: expected each document of a query once (first on line 1), found a",
    ":3: expected a grade 0, 1, 2 or 3, found '2.5'",
    ":4: expected a grade 0, 1, 2 or 3, found '-1'",
    ":5: expected a grade 0, 1, 2 or 3, found '\"3\"'",
    ":6: expected 4 fields: query_id iteration doc_id grade, found 3 fields",
]

BAD = {
    "nablarch": (NABLARCH, NABLARCH_LINES),
    "law": (
        LAW % tuple(f'{{"relevance": {grade}}}' for grade in GRADES),
        [line.format(".relevance") for line in LAW_LINES],
    ),
    "law-compact": (LAW % GRADES, [line.format("") for line in LAW_LINES]),
    "ranked": (RANKED, RANKED_LINES),
    "trec": (TREC, TREC_LINES),
}

GOOD = {
    "nablarch": 'queries:\n  - id: "Q1"\n    query: "検索"\n    expected_docs:\n      - {doc_id: "a", relevance: 1}\n',
    "law": '{"queries": [\n {"query_id": "Q1", "query_text": "検索",\n  "ground_truth": {"a": {"relevance": 1}}}]}\n',
    "law-compact": '{"queries": [\n {"query_id": "Q1", "query_text": "検索",\n  "ground_truth": {"a": 1}}]}\n',
    "ranked": '[\n {"query": "検索",\n  "relevant_documents": ["a"]}]\n',
    "trec": "検索 0 a 1\n検索 0 b 1\n",
}


def read(name: str, data: bytes) -> None:
    file_format = find_format(name)
    read_truth(
        InputSource("f", data), format_name=name, grades_by="all=1" if file_format.needs_grades_by else None
    )


def complaints(name: str, data: bytes) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(name, data)
    return [str(problem).removeprefix("f") for problem in caught.value.problems]


@pytest.mark.parametrize("name", OWN)
def test_every_bad_place_is_told_in_one_go_with_its_line(name: str) -> None:
    text, lines = BAD[name]
    assert complaints(name, text.encode()) == lines


@pytest.mark.parametrize("name", OWN)
def test_bad_places_are_told_with_the_same_lines_after_a_bom_and_with_crlf(name: str) -> None:
    text, lines = BAD[name]
    assert complaints(name, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == lines


@pytest.mark.parametrize("name", [file_format.name for file_format in FORMATS if file_format.name in GOOD])
def test_the_good_file_of_these_tests_is_good(name: str) -> None:
    read(name, GOOD[name].encode())


@pytest.mark.parametrize("name", ["law", "law-compact", "ranked"])
def test_a_truncated_file_is_refused_wherever_it_ends(name: str) -> None:
    whole = GOOD[name].encode().strip()
    for end in range(1, len(whole)):
        assert complaints(name, whole[:end])[0].startswith(":")


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n\n"])
def test_an_empty_file_is_refused(name: str, data: bytes) -> None:
    (message,) = complaints(name, data)
    assert message.endswith("found an empty file")


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("encoding", ["cp932", "euc-jp", "utf-16"])
def test_a_wrong_encoding_is_refused_with_the_line_and_the_option(name: str, encoding: str) -> None:
    (message, *_) = complaints(name, GOOD[name].encode(encoding))
    assert message.startswith(":")
    assert "the file's encoding" in message or "NUL" in message


@pytest.mark.parametrize("name", ["nablarch", "law", "law-compact", "ranked"])
def test_an_endless_text_is_refused_with_its_line(name: str) -> None:
    text = GOOD[name].replace("検索", "検" * (MAX_TEXT + 1))
    (message,) = complaints(name, text.encode())
    assert "to be a text of at most 1,000,000 characters, found 1,000,001 characters" in message
    assert message[0] == ":"


def test_a_line_over_the_limit_is_refused_with_its_number(is_long_run: bool) -> None:
    data = b"q 0 a 1\n" + b"x" * (MAX_LINE + 1) + b"\n"
    assert complaints("trec", data) == [
        f":2: expected lines of at most {MAX_LINE // 1_000_000} MB, found a longer one"
    ]
    size = 100_000_000 if is_long_run else 2_000_000
    assert complaints("nablarch", b"queries:\n- " + b"x" * size)[0].startswith(":2: expected queries[0]")


def test_what_was_bad_before_the_line_that_ends_the_reading_is_told_too() -> None:
    problems = complaints("trec", b"q 0 a 9\nq 0 b\nq 0 \xff 1\nq 0 c 8\n")
    assert problems == [
        ":1: expected a grade 0, 1, 2 or 3, found '9'",
        ":2: expected 4 fields: query_id iteration doc_id grade, found 3 fields",
        ":3: expected UTF-8 text (save it as UTF-8, or name the file's encoding), found byte 0xff",
    ]


def test_an_alias_bomb_in_a_nablarch_file_is_refused_with_its_line() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, after in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert complaints("nablarch", f"{bomb}queries: []\n".encode())[0].startswith(":5: expected aliases of")
