"""Ground truth as CSV and JSONL: columns in use, other names for them, what rows say of their query, lossless names."""

import json

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.format import write_file
from annotator.formats.registry import detect_format, find_format, read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

TRUTH = GroundTruth(
    (
        Query("Q1", "顧客, 満足度", category="c", metadata={"needs_a2a": "yes", "category": "shadow"}),
        Query("Q2", "없음"),
    ),
    (
        Qrel("Q1", "d1", 3, "adjudicated", "説明", 'say "no"', (("annotator_2", 3), ("annotator_10", 2)), {"law_type": "법률"}),
        Qrel("Q1", "d2", 0, metadata={"grade": "B", "query.x": "1", "qrel.y": "2", " note ": "3", "": "4"}),
    ),
)  # fmt: skip


def said(name: str, text: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_truth(InputSource("f", text.encode()), format_name=name)
    return [str(problem).removeprefix("f:") for problem in caught.value.problems]


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_everything_comes_back_with_names_that_mean_something_else(name: str) -> None:
    file_format = find_format(name)
    files = write_files(file_format, TRUTH)
    assert read_truth(InputSource("f", files[""])) == (file_format, TRUTH)


def test_a_csv_has_only_the_columns_that_are_used() -> None:
    bare = GroundTruth((Query("Q", ""),), (Qrel("Q", "d", 1, metadata={"empty": "", "none": None}),))
    assert write_files(find_format("csv"), bare)[""] == b"query_id,doc_id,grade\nQ,d,1\n"
    header = write_files(find_format("csv"), TRUTH)[""].decode().split("\n")[0]
    assert header == (
        "query_id,doc_id,grade,query,category,origin,description,note,annotator_2,annotator_10,"
        'query.needs_a2a,query.category,law_type,qrel.grade,qrel.query.x,qrel.qrel.y,"qrel. note ",qrel.'
    )


def test_a_csv_is_not_written_without_knowing_all_of_it() -> None:
    (writer,) = find_format("csv").files
    with pytest.raises(ValidationError, match="laid out for the whole"):
        list(write_file(writer, TRUTH, []))


def test_a_line_of_jsonl_is_flat_and_typed() -> None:
    truth = GroundTruth(
        (Query("Q", "t", metadata={"w": 0.5}),), (Qrel("Q", "d", 1, metadata={"n": [1, None]}),)
    )
    assert json.loads(write_files(find_format("jsonl"), truth)[""]) == {
        "query_id": "Q",
        "doc_id": "d",
        "grade": 1,
        "query": "t",
        "query.w": 0.5,
        "n": [1, None],
    }


@pytest.mark.parametrize("value", [float("nan"), {1, 2}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="values that JSON can hold"):
        write_files(find_format("jsonl"), GroundTruth((Query("Q", "", metadata={"a": value}),)))


@pytest.mark.parametrize(
    "text",
    [
        "query_text,query_id,relevance,doc_id\nt,q,2,d\n",
        "text\tquery_id\trelevance\tdoc_id\nt\tq\t2\td\n",
        " query_id , doc_id,grade,query\nq,d,2,t\n",
        '{"query_id": "q", "doc_id": "d", "relevance": 2, "text": "t"}\n',
        '{"doc_id": "d", "grade": 2, "query_id": "q"}\n{"query_id": "q2", "query_text": "t"}\n',
    ],
)
def test_other_names_of_columns_are_known(text: str) -> None:
    _, truth = read_truth(InputSource("f", text.encode()))
    assert truth.qrels == (Qrel("q", "d", 2),)
    assert truth.queries[-1].text == "t"


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_a_second_name_for_what_is_there_is_metadata_of_the_qrel(name: str) -> None:
    if name == "csv":
        text = "query_id,doc_id,grade,relevance,query,text\nq,d,2,high,t,document's\nq,e,1,low,,another's\n"
    else:
        text = '{"query_id": "q", "doc_id": "d", "grade": 2, "relevance": "high", "query": "t", "text": "document\'s"}\n'
    _, truth = read_truth(InputSource("f", text.encode()))
    assert truth.queries == (Query("q", "t"),)
    assert truth.qrels[0] == Qrel("q", "d", 2, metadata={"relevance": "high", "text": "document's"})


def test_what_is_said_of_a_query_on_any_row_counts_for_all() -> None:
    text = "query_id,doc_id,grade,query,category\nq,d,1,,\nr,d,1,u,\nq,e,1,t,\nq,f,1,,c\n"
    _, truth = read_truth(InputSource("f", text.encode()))
    assert truth.queries == (Query("q", "t", category="c"), Query("r", "u"))
    assert [qrel.query_id for qrel in truth.qrels] == ["q", "r", "q", "q"]


def test_rows_of_a_query_share_its_id_and_empty_metadata_costs_nothing() -> None:
    text = "query_id,doc_id,grade\n" + "".join(f"query-{n % 2},d{n},1\n" for n in range(6))
    _, truth = read_truth(InputSource("f", text.encode()))
    assert len({id(qrel.query_id) for qrel in truth.qrels}) == 2
    assert len({id(qrel.metadata) for qrel in truth.qrels}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doc_id,grade\nd,1\n", ["1: expected a column query_id, found doc_id, grade"]),
        ("query_id,text\nq,t\n", ["1: expected a column doc_id, grade, found query_id, text"]),
        ("query_id,doc_id,grade,grade\n", ["1: expected each column once, found 'grade' again"]),
        ("query_id,doc_id,grade,\n", ["1: expected a name for every column, found an empty one"]),
        (
            "query_id,doc_id,grade\nq,d,1,x\nq,e\n\nq,f,1\nq,d,9\n",
            [
                "2: expected 3 cells, found 4",
                "3: expected 3 cells, found 2",
                "6: expected a grade 0, 1, 2 or 3, found '9'",
            ],
        ),
        (
            'query_id,doc_id,grade\nq,"a\nb",7\nq,c,"1\n',
            [
                "2: expected a grade 0, 1, 2 or 3, found '7'",
                "4: expected a CSV row, found unexpected end of data",
            ],
        ),
        (
            "query_id,doc_id,grade,note,origin,annotator_1\nq,,,why,,\nr,d,1,,guessed,5\ns,,,,,\ns,,,,,\nq,d,1,,,\nt,,,,,\nt,d,1,,,\n",
            [
                "2: expected a doc_id and a grade for 'note', found neither",
                "2: expected a doc_id and a grade, as the query's other rows have, found neither",
                "3: expected annotator_1 to be a grade 0, 1, 2, 3 or unrateable, found '5'",
                "3: expected origin to be one of unanimous, adjudicated, single, imported, found 'guessed'",
                "5: expected each query_id once (first on line 4), found 's'",
                "7: expected a doc_id and a grade, as the query's other rows have, found neither",
            ],
        ),
    ],
)
def test_every_bad_row_of_a_csv_is_named(text: str, expected: list[str]) -> None:
    assert said("csv", text) == expected


def test_judgments_are_told_from_qrels() -> None:
    table = "query_id,doc_id,annotator,grade\nq,d,kim,1\n"
    line = '{"query_id": "q", "doc_id": "d", "annotator": "kim", "grade": 1}\n'
    for name, text in (("csv", table), ("jsonl", line)):
        with pytest.raises(ValidationError, match="does not say which format"):
            detect_format(InputSource("f", text.encode()))
        (problem,) = said(name, text)
        assert "import judgments" in problem


@pytest.mark.parametrize(
    "text",
    [
        "query_id,text\nq,t\n",
        "query_id,doc_id\nq,d\n",
        "query_id,doc_id,rank,score\nq,d,1,0.5\n",
        '{"query_id": "q", "doc_id": "d", "rank": 1, "score": 0.5}\n',
        '{"query_id": "q", "text": "t"}\n',
        '{"query_id": "q", "doc_id": "d", "grade": 1}\nnot json\n',
    ],
)
def test_other_tables_are_not_taken_for_qrels(text: str) -> None:
    with pytest.raises(ValidationError, match="does not say which format"):
        detect_format(InputSource("f", text.encode()))


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        ('{"query-id": "q", "corpus-id": "d", "score": 1}', "query_id, doc_id, grade"),
        ('{"query_id": "q", "doc_id": "d", "rating": 1}', "grade"),
    ],
)
def test_a_file_of_objects_with_other_names_is_refused_once_with_the_missing_names(
    row: str, missing: str
) -> None:
    names = ", ".join(json.loads(row))
    assert said("jsonl", f"{row}\n{row}\n") == [f"1: expected a column {missing}, found {names}"]
