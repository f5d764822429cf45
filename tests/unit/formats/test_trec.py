"""TREC qrels and runs: fields by white space as C sees it, and every bad line."""

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query, Run, RunEntry
from annotator.formats import trec
from annotator.formats.runs import keep_tags, read_run_file, require_system
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files


def read_run(data: bytes, path: str, *, system: str | None = None) -> Run:
    file = read_run_file(data, path)
    name = system or require_system(file, path)
    return Run(name, tuple(line.entry for line in keep_tags(file.lines, name)))


def write(*qrels: Qrel) -> bytes:
    ids = dict.fromkeys(qrel.query_id for qrel in qrels)
    return write_files(trec.FORMAT, GroundTruth(tuple(Query(name, "") for name in ids), qrels))[""]


def messages(error: BadInput) -> list[str]:
    return [str(problem).removeprefix("f:") for problem in error.problems]


def test_every_bad_line_of_qrels_is_named() -> None:
    text = "q 0 a 3\nq 0 a 2\nq 0 b 4\nq 0 c -1\nq 0 d\nq 0 e f 1\nq 0 g 2.5\n"
    with pytest.raises(BadInput) as caught:
        trec.read(InputSource("f", text.encode()))
    assert messages(caught.value) == [
        "2: expected each document of a query once (first on line 1), found a",
        "3: expected a grade 0, 1, 2 or 3, found '4'",
        "4: expected a grade 0, 1, 2 or 3, found '-1'",
        "5: expected 4 fields: query_id iteration doc_id grade, found 3 fields",
        "6: expected 4 fields: query_id iteration doc_id grade, found 5 fields",
        "7: expected a grade 0, 1, 2 or 3, found '2.5'",
    ]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_no_qrels_and_no_run(text: str) -> None:
    with pytest.raises(BadInput, match="found an empty file"):
        trec.read(InputSource("f", text.encode()))
    with pytest.raises(BadInput, match="found an empty file"):
        read_run(text.encode(), "f")


@pytest.mark.parametrize("bad", ["a b", "a\tb", " a", "a\u3000b", "a\u00a0", "a\nb", "\ufeffa", ""])
def test_an_id_with_white_space_is_refused_with_the_id(bad: str) -> None:
    with pytest.raises(ValidationError, match="white space and cannot hold the doc_id"):
        write(Qrel("q", bad, 1))
    with pytest.raises(ValidationError, match="white space and cannot hold the query_id"):
        write(Qrel(bad, "d", 1))


def test_a_full_width_space_does_not_separate_fields() -> None:
    assert trec.read(InputSource("f", "q 0 a　b 1".encode())).qrels == (Qrel("q", "a　b", 1),)


def test_grade_0_is_always_written() -> None:
    assert write(Qrel("q", "d", 0)) == b"q 0 d 0\n"


def test_a_run_keeps_ranks_and_scores_as_they_are() -> None:
    run = read_run("Q1 Q0 제17조 0 1.5e-3 bm25\r\nQ1\tQ0\tb\t1\t-2\tbm25\n".encode(), "f")
    assert run.system == "bm25"
    assert run.entries == (RunEntry("Q1", "제17조", 0, 0.0015), RunEntry("Q1", "b", 1, -2.0))


def test_every_bad_line_of_a_run_is_named() -> None:
    text = """\
q Q0 a 1 2.0 t
q Q0 b 2 1.0 t
q Q0 a 3 1.0 t
q Q0 c x 1.0 t
q Q0 d 4 nan t
q Q0 e 5 inf t
q Q0 f 6 1_0 t
q Q0 g 7 1e999 t
q Q0 h 8 1.0
q Q0 i 1.5 1.0 t
q Q0 j -1 1.0 t
q Q0 k 99999999999 1.0 t
q Q0 l ٣ 1.0 t
r Q0 a 1 1.0 t
"""
    with pytest.raises(BadInput) as caught:
        read_run(text.encode(), "f")
    assert messages(caught.value) == [
        "4: expected rank to be a whole number from 0, found x",
        "5: expected score to be a finite number, found nan",
        "6: expected score to be a finite number, found inf",
        "7: expected score to be a finite number, found 1_0",
        "8: expected score to be a finite number, found 1e999",
        "9: expected 6 fields: query_id Q0 doc_id rank score tag, found 5 fields",
        "10: expected rank to be a whole number from 0, found 1.5",
        "11: expected rank to be a whole number from 0, found -1",
        "12: expected rank to be a whole number from 0, found 99999999999",
        "13: expected rank to be a whole number from 0, found ٣",
    ]


def test_what_follows_the_tag_is_kept_as_a_remark_as_trec_eval_ignores_it() -> None:
    text = b"q\tQ0\ta\t99\t 2.1\tt more junk at\nq\tQ0\tb\t99\t 1.8\tt\n"
    run = read_run(text, "f")
    assert run.system == "t"
    assert run.entries == (
        RunEntry("q", "a", 99, 2.1, {"after_tag": "more junk at"}),
        RunEntry("q", "b", 99, 1.8),
    )
    notes = read_run_file(text, "f").notes
    assert notes == ("1 line continues after the tag; the rest is kept as a remark and changes nothing",)


def test_several_systems_in_a_file_need_one_name_for_all() -> None:
    text = b"q Q0 a 1 1 x\nq Q0 b 2 1 y\n"
    with pytest.raises(BadInput, match=r"f:2: expected one system in a file .*one name.*found 'x', 'y'"):
        read_run(text, "f")
    run = read_run(text, "f", system="x")
    assert run.entries == (RunEntry("q", "a", 1, 1.0), RunEntry("q", "b", 2, 1.0, {"tag": "y"}))


def test_a_jsonl_run_keeps_every_further_field() -> None:
    text = (
        '{"query_id": 1, "doc_id": "検索", "rank": 1, "score": 0.5, "system": "hybrid", "signals": {"bm25": 3.5}, "label": null}\n'
        '{"query_id": 1, "doc_id": "b", "rank": 2, "system": "hybrid"}\n'
    )
    run = read_run(text.encode(), "f")
    assert run.system == "hybrid"
    assert run.entries == (
        RunEntry("1", "検索", 1, 0.5, {"bm25": 3.5, "label": None}),
        RunEntry("1", "b", 2, None),
    )


def test_every_bad_line_of_a_jsonl_run_is_named() -> None:
    text = """\
{"query_id": "q", "doc_id": "a", "rank": "1", "score": 1, "system": "s"}
{"query_id": "q", "doc_id": "b", "rank": true, "score": "2", "system": "s"}
{"query_id": "q", "rank": 3, "score": 1, "system": "s", "signals": [1]}
{"query_id": "q", "doc_id": "d", "rank": 4, "system": 5}
"""
    with pytest.raises(BadInput) as caught:
        read_run(text.encode(), "f")
    assert messages(caught.value) == [
        "1: expected rank to be a whole number from 0, found '1'",
        "2: expected rank to be a whole number from 0, found true",
        "2: expected score to be a finite number, found '2'",
        "3: expected doc_id to be a text that is not empty, found nothing",
        "3: expected signals to be a mapping, found a list",
        "4: expected system to be a text, found 5",
    ]


def test_a_run_without_a_name_needs_one() -> None:
    with pytest.raises(BadInput, match="expected the system's name"):
        read_run(b'{"query_id": "q", "doc_id": "d", "rank": 1}', "f")
