"""Run files as they are read for scoring: order, times, and what is refused with its line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.evaluation.records import RankedRun, Truth
from annotator.evaluation.run_files import RunReading, parse_run, read_run, read_trec_columns

TRUTH = Truth(
    "t", {"q1": {"a": 1}, "q2": {"b": 2}, "q3": {}}, texts={"q1": "검색", "q2": "same", "q3": "same"}
)
TREC = "q1 Q0 a 1 2.5 bm25\nq1 Q0 b 2 1.5 bm25\nq2 Q0 a 1 0.5 bm25\n"


def parse(text: str, name: str = "run.txt", **options: Any) -> RankedRun:
    return parse_run(text.encode(), name, TRUTH, RunReading(**options))


def list_results(run: RankedRun) -> dict[str, list[str]]:
    return {query_id: run.list_documents(index) for index, query_id in enumerate(run.query_ids)}


def refuse(text: str, name: str = "run.txt", **options: Any) -> str:
    with pytest.raises(BadInput) as refused:
        parse(text, name, **options)
    return str(refused.value)


def test_a_trec_run_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bm25.txt"
    path.write_text(TREC)
    run = read_run(path, TRUTH)
    assert run.system == "bm25"
    assert list_results(run) == {"q1": ["a", "b"], "q2": ["a"]}
    assert run.scores is not None
    assert run.scores.tolist() == [2.5, 1.5, 0.5]
    assert (run.contradictions, run.notes, run.signals) == (0, (), ())


@pytest.mark.parametrize(
    "text",
    [
        TREC,
        TREC.replace(" ", "\t"),
        TREC.replace("\n", "\r\n"),
        TREC.rstrip("\n"),
        "\ufeff" + TREC,
        TREC.replace("bm25\nq2", "bm25\n\nq2"),
        TREC.replace(" b ", " 文書 "),
        TREC.replace(" b ", ' "b ').replace("2.5", "1e3"),
        TREC.replace(" b ", " NA ").replace(" a ", " null "),
    ],
)
def test_columns_and_the_reader_of_lines_agree(text: str) -> None:
    quick = read_trec_columns(text.encode())
    assert quick is not None
    from_columns = parse(text)
    from_lines = parse(text + "\n \t\n")  # a line of white space is nothing that columns know
    assert read_trec_columns((text + "\n \t\n").encode()) is None
    assert list_results(from_columns) == list_results(from_lines)
    assert from_columns.scores is not None
    assert from_lines.scores is not None
    assert from_columns.scores.tolist() == from_lines.scores.tolist()
    assert from_columns.system == from_lines.system


@pytest.mark.parametrize(
    "text",
    [
        TREC.replace(" Q0 ", "  Q0 "),  # two spaces
        " " + TREC,
        TREC.replace("q2 Q0 a", "q2 Q0\ta"),
        TREC.replace("2.5", "nan"),
        TREC.replace("2.5", "inf"),
        TREC.replace("2.5", "+2.5"),
        TREC.replace(" 1 2.5", " -1 2.5"),
        TREC.replace(" 1 2.5", " 99999999999 2.5"),
        TREC.replace("0.5 bm25", "0.5 other"),
        TREC.replace("a 1 0.5", "a 1"),
        TREC.replace("a 1 0.5", "a 1 0.5 x"),
        TREC.replace("a 1 0.5", "\x00 1 0.5"),
        TREC.replace(" a 1 2.5", " " + "a" * 2_000 + " 1 2.5"),
        "",
        "\n",
        json.dumps({"query_id": "q1", "results": []}),
    ],
)
def test_what_is_not_well_formed_goes_to_the_reader_that_knows_lines(text: str) -> None:
    assert read_trec_columns(text.encode()) is None
    assert read_trec_columns(b"q1 Q0 \xff 1 2 t\n") is None


def test_bad_lines_are_named() -> None:
    bad = TREC.replace("2.5", "nan").replace("a 1 0.5", "a one")
    assert refuse(bad) == (
        "run.txt:1: expected score to be a finite number, found nan\n"
        "run.txt:3: expected 6 fields: query_id Q0 doc_id rank score tag, found 5 fields"
    )
    assert refuse("") == "run.txt: expected lines of query_id Q0 doc_id rank score tag, found an empty file"
    assert "one system in a file" in refuse(TREC.replace("0.5 bm25", "0.5 other"))


def test_a_trec_line_that_goes_on_after_the_tag_counts_as_trec_eval_counts_it() -> None:
    longer = TREC.replace("2.5 bm25\n", "2.5 bm25 more junk at\n")
    run = parse(longer)
    assert (run.system, list_results(run)) == ("bm25", list_results(parse(TREC)))
    assert run.notes == ("1 line continues after the tag; the rest is kept as a remark and changes nothing",)


def test_a_document_twice_in_a_query_is_refused_with_both_lines() -> None:
    assert refuse(TREC + "q1 Q0 a 3 0.1 bm25\n") == (
        "run.txt:4: expected each document of a query once (first on line 1; --keep-first keeps one), found 'a' again"
    )


def test_ranks_that_contradict_scores_are_named_and_the_order_can_be_chosen() -> None:
    text = "q1 Q0 a 1 1.0 s\nq1 Q0 b 2 2.0 s\n"
    by_score, by_rank = parse(text), parse(text, order="rank")
    assert (list_results(by_score), list_results(by_rank)) == ({"q1": ["b", "a"]}, {"q1": ["a", "b"]})
    assert by_score.notes == ("ranks and scores disagree in 1 query: ordered by score, as trec_eval does",)
    assert by_rank.notes == (
        "ranks and scores disagree in 1 query: ordered by rank (trec_eval orders by score)",
    )


def test_results_of_equal_score_that_move_are_counted_and_the_order_of_the_file_can_be_chosen() -> None:
    text = "q1 Q0 a 1 2.0 s\nq1 Q0 b 2 1.0 s\nq1 Q0 c 3 1.0 s\nq2 Q0 d 1 1.0 s\nq2 Q0 c 2 1.0 s\n"
    (note,) = parse(text).notes
    assert note == (
        "2 results of equal score are not where their file has them: ordered by id, as trec_eval does; "
        "--order rank keeps the order of the file"
    )
    assert list_results(parse(text)) == {"q1": ["a", "c", "b"], "q2": ["d", "c"]}
    assert parse(text, order="rank").notes == ()


def test_results_that_share_a_rank_do_not_count_as_moved() -> None:
    assert parse("q1 Q0 a 1 1.0 s\nq1 Q0 b 1 1.0 s\n").notes == ()


def test_by_rank_a_rank_given_twice_is_refused() -> None:
    text = "q1 Q0 a 1 1.0 s\nq1 Q0 b 1 2.0 s\n"
    assert list_results(parse(text)) == {"q1": ["b", "a"]}
    assert refuse(text, order="rank") == (
        "run.txt:2: expected each rank of a query once (--order score uses the scores), found rank 1 again"
    )
    lines = '{"query_id": "q1", "doc_id": "a", "rank": 1, "score": 1}\n{"query_id": "q1", "doc_id": "b", "score": 2}\n'
    assert "run.jsonl:2: expected a rank" in refuse(lines, "run.jsonl", order="rank")


def test_answers_bring_latency_times_and_further_fields() -> None:
    answers = [
        {
            "query_id": "q1",
            "latency_ms": 12,
            "hops": 2,
            "results": [
                {"doc_id": "a", "score": 1.0, "time_ms": 9, "stages": ["rne"]},
                {"doc_id": "b", "score": 2.0},
            ],
        },
        {"query_id": "q2", "latency_ms": 5, "results": []},
    ]
    run = parse(json.dumps(answers), "hybrid.json")
    assert (run.system, list_results(run)) == ("hybrid", {"q1": ["b", "a"]})
    assert dict(run.latency_ms) == {"q1": 12.0, "q2": 5.0}
    assert run.times_ms is not None
    assert np.isnan(run.times_ms[0])
    assert run.times_ms[1] == 9.0
    assert [dict(signals) for signals in run.signals] == [{}, {"time_ms": 9, "stages": ["rne"]}]
    assert run.query_signals["q1"]["hops"] == 2
    assert list_results(parse(json.dumps(answers), "hybrid.json", order="rank")) == {"q1": ["a", "b"]}


def test_a_query_takes_as_long_as_its_slowest_result() -> None:
    lines = [
        {"query_id": "q1", "doc_id": doc_id, "score": 1, "latency_ms": at}
        for doc_id, at in (("a", 3), ("b", 7))
    ]
    run = parse("\n".join(map(json.dumps, lines)), "run.jsonl", system="x")
    assert (run.system, dict(run.latency_ms)) == ("x", {"q1": 7.0})


def test_a_time_that_is_no_number_is_refused() -> None:
    line = json.dumps({"query_id": "q1", "doc_id": "a", "score": 1, "time_ms": "fast", "latency_ms": -1})
    assert refuse(line, "run.jsonl") == (
        "run.jsonl:1: expected time_ms to be a number from 0, found 'fast'\n"
        "run.jsonl:1: expected latency_ms to be a number from 0, found -1"
    )


def test_a_query_may_be_named_by_its_text() -> None:
    run = parse(json.dumps({"query": " 검색 ", "results": [{"doc_id": "a"}]}), "run.json")
    assert list_results(run) == {"q1": ["a"]}
    assert "a text that one query has" in refuse(
        json.dumps({"query": "same", "results": [{"doc_id": "a"}]}), "run.json"
    )
    unknown = parse(json.dumps({"query": "other", "results": [{"doc_id": "a"}]}), "run.json")
    assert unknown.query_ids == ("other",)


def test_two_answers_to_one_query_are_refused() -> None:
    answers = [
        {"query_id": "q1", "results": [{"doc_id": "a"}]},
        {"query_id": "q1", "results": [{"doc_id": "b"}]},
    ]
    assert "expected one answer to each query" in refuse(json.dumps(answers), "run.json")


def test_options_for_json_are_refused_with_a_trec_run() -> None:
    with pytest.raises(ValidationError, match=r"--id-field: run\.txt is no JSON"):
        parse(TREC, id_field="doc_id")
