"""Answers of search endpoints, read by JMESPath: what is kept, and what is refused instead of being taken for no results."""

from typing import Any

import pytest

from annotator.importing.search_endpoint.answer import AnswerRefused, find_repeated, read_page
from annotator.importing.search_endpoint.endpoint_records import AnswerPaths

ELASTIC = {
    "took": 7,
    "timed_out": False,
    "_shards": {"failed": 0},
    "hits": {
        "total": {"value": 143},
        "hits": [
            {"_id": "a", "_score": 2.5, "_source": {"title": "T", "ids": {"page": 3}}},
            {"_id": 7, "_score": 1, "_source": {}},
        ],
    },
}
PATHS = AnswerPaths(
    results="hits.hits",
    doc_id="_id",
    score="_score",
    total="hits.total.value",
    engine_ms="took",
    failed_if="timed_out || _shards.failed > `0`",
    signals={"title": "_source.title", "page": "_source.ids.page"},
    query_signals={"shards": "_shards"},
)


def test_ids_scores_and_signals_are_read_by_their_paths() -> None:
    page = read_page(ELASTIC, PATHS)
    assert page.results == (
        {"doc_id": "a", "score": 2.5, "signals": {"title": "T", "page": 3}},
        {"doc_id": "7", "score": 1.0},
    )
    assert (page.total, page.engine_ms, page.signals) == (143, 7.0, {"shards": {"failed": 0}})


def test_an_expression_or_a_cursor_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = "x"
    for _ in range(200_000):
        deep = [deep]
    for answer, paths in (
        ({"r": [], "next": deep}, AnswerPaths("r", "id", next_cursor="next")),
        ({"r": []}, AnswerPaths("r", "id", total=f"{'(' * 5_000}a{')' * 5_000}")),
        ({"r": [], "next": deep}, AnswerPaths("r", "id", total="to_string(next)")),
    ):
        with pytest.raises(AnswerRefused, match="nested too deeply"):
            read_page(answer, paths)
    while isinstance(deep, list):  # so that it is freed without recursion
        (deep,) = deep


def test_a_list_of_bare_ids_is_a_list_of_results() -> None:
    page = read_page({"ids": ["b", "a"]}, AnswerPaths("ids", "@"))
    assert [result["doc_id"] for result in page.results] == ["b", "a"]


def test_an_empty_list_is_an_answer() -> None:
    assert read_page({"r": []}, AnswerPaths("r", "id")).results == ()


def test_the_engines_seconds_become_milliseconds() -> None:
    paths = AnswerPaths("r", "id", engine_seconds="time")
    assert read_page({"r": [], "time": 0.0125}, paths).engine_ms == 12.5
    assert read_page({"r": []}, paths).engine_ms is None
    with pytest.raises(AnswerRefused, match="engine time: time to be a number from 0"):
        read_page({"r": [], "time": 1e308}, paths)


@pytest.mark.parametrize(
    ("answer", "paths", "message"),
    [
        (
            {"result": []},
            AnswerPaths("results", "id"),
            "results: results to be a list, found nothing (there are: result)",
        ),
        ({}, AnswerPaths("r", "id"), "results: r to be a list, found nothing (an empty object)"),
        ({"r": {"a": 1}}, AnswerPaths("r", "id"), "results: r to be a list, found a mapping"),
        (["x"], AnswerPaths("r", "id"), "results: r to be a list, found nothing in a list"),
        (
            {"r": [{"key": 1}]},
            AnswerPaths("r", "id"),
            "id: id of result 1 to be a text that is not empty, found nothing (there are: key)",
        ),
        (
            {"r": [{"id": True}]},
            AnswerPaths("r", "id"),
            "id: id of result 1 to be a text that is not empty, found true",
        ),
        ({"r": [{"id": ""}]}, AnswerPaths("r", "id"), "found ''"),
        ({"r": [{"id": "x" * 1001}]}, AnswerPaths("r", "id"), "found 1,001 characters"),
        (
            {"r": [{"id": "a", "s": "0.9"}]},
            AnswerPaths("r", "id", score="s"),
            "score: s of result 1 to be a finite number; for a number in quotes write to_number(s), found '0.9'",
        ),
        (
            {"r": [{"id": "a"}]},
            AnswerPaths("r", "id", score="s"),
            "score: s of result 1 to be a finite number, found nothing",
        ),
        ({"r": [{"id": "a", "s": True}]}, AnswerPaths("r", "id", score="s"), "found true"),
        ({"r": [{"id": "a", "s": float("nan")}]}, AnswerPaths("r", "id", score="s"), "found nan"),
        (
            {"r": [{"id": "a", "n": 1.5}]},
            AnswerPaths("r", "id", rank="n"),
            "rank: n of result 1 to be a whole number from 0, found 1.5",
        ),
        (
            {"r": [], "t": "many"},
            AnswerPaths("r", "id", total="t"),
            "total: t to be a whole number from 0, found 'many'",
        ),
        (
            {"r": [], "t": -1},
            AnswerPaths("r", "id", engine_ms="t"),
            "engine time: t to be a number from 0, found -1",
        ),
        (
            {"r": [], "error": "no index"},
            AnswerPaths("r", "id", failed_if="error"),
            "not whole (failed_if: error is 'no index')",
        ),
        (
            {"r": "abc"},
            AnswerPaths("keys(r)", "id"),
            "results: keys(r) to fit the answer, found that it does not",
        ),
    ],
)
def test_an_answer_that_is_not_what_the_spec_says_is_refused(
    answer: Any, paths: AnswerPaths, message: str
) -> None:
    with pytest.raises(AnswerRefused) as caught:
        read_page(answer, paths)
    assert message in str(caught.value)


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_a_number_that_no_float_holds_is_refused(huge: int) -> None:
    answer = {"hits": {"hits": [{"_id": "a", "_score": huge}]}, "took": 1}
    with pytest.raises(AnswerRefused, match="score: _score of result 1 to be a finite number"):
        read_page(answer, PATHS)
    with pytest.raises(AnswerRefused, match="engine time: took to be a number"):
        read_page({"hits": {"hits": []}, "took": huge}, AnswerPaths("hits.hits", "_id", engine_ms="took"))


def test_a_document_that_stands_twice_is_told_with_both_places() -> None:
    assert find_repeated(({"doc_id": "a"}, {"doc_id": "b"}, {"doc_id": "a"})) == ("a", 1, 3)
    assert find_repeated(({"doc_id": "a"}, {"doc_id": "b"})) is None
