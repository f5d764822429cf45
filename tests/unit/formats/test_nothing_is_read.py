"""Grades that are not where they are expected are named. A row without a grade is left out and counted."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, Problems
from annotator.formats.input_tables import read_grade
from annotator.formats.judgments import read_judgments
from annotator.formats.registry import detect_format, find_format, read_truth
from annotator.formats.runs import read_run_file
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import TableLine, read_rows

MARK = "\ufeff"


def make_beir(folder: Path, **files: str) -> Path:
    folder.mkdir()
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "x"}\n')
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "name", ["qrels/test.jsonl", "qrels/test.tsv.gz", "qrels/test.txt", "qrels/test.TSV", "qrels.tsv"]
)
def test_a_beir_folder_whose_grades_are_not_read_is_refused_with_their_file(
    tmp_path: Path, name: str
) -> None:
    folder = make_beir(tmp_path / "b")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    with pytest.raises(BadInput, match=f"expected qrels as qrels/NAME.tsv, found {name}"):
        read_truth(InputSource(str(folder)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.qrels", f"q1 0 d1 3\n{MARK}q2 0 d1 2\n"),
        ("a.csv", f"query_id,doc_id,grade\n{MARK}q2,d1,2\n"),
        ("a.tsv", f"query-id\tcorpus-id\tscore\n{MARK}q2\td1\t2\n"),
        (
            "a.jsonl",
            f'{{"query_id": "q1", "doc_id": "d1", "grade": 3}}\n{MARK}{{"query_id": "q2", "doc_id": "d1", "grade": 3}}\n',
        ),
    ],
)
def test_a_byte_order_mark_within_a_file_is_refused_with_its_line(name: str, text: str) -> None:
    with pytest.raises(BadInput, match=rf"{name}:2: expected no byte order mark within the file"):
        read_truth(InputSource(name, text.encode()))
    read_truth(InputSource(name, (MARK + text.replace(MARK, "")).encode()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.qrels", "q1 0 d1 3\n"),
        ("a.csv", "query_id,doc_id,grade\nq1,d1,2\n"),
        ("a.jsonl", '{"query_id": "q1", "doc_id": "d1", "grade": 3}\n'),
        ("a.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t3\n"),
        ("a.yaml", 'queries: [{id: q1, query: "x", expected_docs: [{doc_id: d1, relevance: 3}]}]\n'),
    ],
)
def test_a_second_byte_order_mark_at_the_beginning_is_named(name: str, text: str) -> None:
    read_truth(InputSource(name, (MARK + text).encode()))
    with pytest.raises(BadInput) as caught:
        read_truth(InputSource(name, (2 * MARK + text).encode()))
    assert list(map(str, caught.value.problems)) == [
        f"{name}:1: expected no byte order mark within the file, found U+FEFF"
    ]


@pytest.mark.parametrize("text", ["q1 Q0 d1 1 0.5 s\n", '{"query_id": "q1", "doc_id": "d1"}\n'])
def test_a_second_byte_order_mark_of_a_run_or_a_table_is_named(text: str) -> None:
    for read in (read_run_file, read_rows):
        with pytest.raises(BadInput, match=r"a\.jsonl:1: expected no byte order mark within the file"):
            read((2 * MARK + text).encode(), "a.jsonl")


def test_a_byte_order_mark_in_a_quoted_cell_is_text() -> None:
    table = read_rows(f'query_id,text\nq1,"a\n{MARK}b"\n"{MARK}q2",c\n'.encode(), "a.csv")
    assert [row.cells["query_id"] for row in table.rows] == ["q1", f"{MARK}q2"]
    with pytest.raises(BadInput, match=r"a\.csv:3: expected no byte order mark"):
        read_rows(f"query_id,text\nq1,a\n{MARK}q2,c\n".encode(), "a.csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.qrels", "q1 0 d1 3.0\n"),
        ("a.csv", "query_id,doc_id,grade\nq1,d1,3.0\n"),
        ("a.jsonl", '{"query_id": "q1", "doc_id": "d1", "grade": 3.0}\n'),
        ("a.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t3.00\n"),
        ("a.yaml", 'queries: [{id: q1, query: "x", expected_docs: [{doc_id: d1, relevance: 3.0}]}]\n'),
    ],
)
def test_a_whole_grade_with_decimals_is_that_grade_and_a_fraction_is_none(name: str, text: str) -> None:
    _, truth = read_truth(InputSource(name, text.encode()))
    assert [qrel.grade for qrel in truth.qrels] == [3]
    with pytest.raises(BadInput, match=r"0, 1, 2 or 3, found '?0\.7"):
        read_truth(InputSource(name, text.replace("3.00", "3.0").replace("3.0", "0.7").encode()))


def test_decisions_and_judgments_may_have_decimals_too() -> None:
    assert read_grade(TableLine(2, {"grade": "2.0"}), Problems("f")) == 2
    lines = read_judgments(b"query_id,doc_id,annotator,grade\nq,d,a,1.0\n", "j.csv")
    assert [line.grade for line in lines] == [1]


def test_rows_without_a_grade_are_left_out_and_counted() -> None:
    scale = GradeScale()
    data = b"query_id,doc_id,annotator,grade\nq,d1,a,2\nq,d2,a,\nq,d3,,\n"
    assert len(read_judgments(data, "j.csv", scale=scale)) == 1
    assert scale.note_mapped() == ("2 rows without a grade left out",)
    scale = GradeScale()
    source = InputSource("t.csv", b"query_id,doc_id,grade\nq,d1,2\nq,d2,\n", scale=scale)
    assert len(read_truth(source)[1].qrels) == 1
    assert scale.note_mapped() == ("1 row without a grade left out",)


def test_annotators_grades_of_a_row_without_a_settled_grade_are_kept() -> None:
    data = b"query_id,doc_id,grade,annotator_1,annotator_2\nq,d1,,2,0\n"
    _, truth = read_truth(InputSource("t.csv", data))
    assert (truth.qrels, [line.grade for line in truth.further_judgments]) == ((), [2, 0])


@pytest.mark.parametrize(("name", "chosen"), [("a.qrels", "trec"), ("a.csv", "csv"), ("a.jsonl", "jsonl")])
def test_the_only_format_of_a_suffix_is_read_so_that_its_fault_is_named(name: str, chosen: str) -> None:
    source = InputSource(name, b"# a comment\n")
    assert detect_format(source) is find_format(chosen)
    with pytest.raises(BadInput, match=f"{name}:1: expected "):
        read_truth(source)
